# SPDX-License-Identifier: MIT
"""What the scripts and the tests use of a machine is what a bare Debian 12 has, or what tools/setup installs there."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The options that pip 23.0 knows, of those that are of use here: python3-venv of Debian 12 brings that one. It has no -C yet.
PIP_OPTIONS = {"-q", "--quiet", "-r", "--disable-pip-version-check", "--no-deps", "--no-index", "--force-reinstall", "--no-build-isolation",
               "--wheel-dir", "--target", "--config-settings", "--upgrade", "--only-binary", "--no-binary", "--find-links", "--index-url",
               "--extra-index-url", "--platform", "--python-version", "--implementation", "--abi", "--dest", "--no-cache-dir", "--pre",
               "--constraint", "--ignore-installed", "--version", "--no-compile", "--root-user-action"}  # fmt: skip
# What a bare Debian has of what tests look for: in essential packages, or brought by a package that tools/setup installs.
THERE_ANYWAY = {"bash": "bash", "sh": "dash", "cc": "gcc", "clang++": "clang", "localedef": "libc-bin"}
OF_A_GPU = {"nvcc", "nvidia-smi"}  # NVIDIA's own, where there is a GPU to be tested


def files():
    """The tracked texts that run something: scripts, Python, CMake."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\0")
    if names == [""]:  # no clone
        names = [str(path.relative_to(ROOT)) for folder in ("tools", "tests", "bench", "fuzz", ".ci") for path in (ROOT / folder).rglob("*")]
    for name in names:
        path = ROOT / name
        if path.is_file() and (path.suffix in {".py", ".sh", ".cmake", ".md"} or path.read_bytes()[:2] == b"#!"):
            yield name, path.read_text().replace("\\\n", " ")


def test_options_of_pip():
    """Every option that pip gets, in scripts, in Python's lists of arguments and in the documents."""
    calls, strangers = 0, []
    for name, text in files():
        if name == "tests/tools/test_portable.py":
            continue
        for call in re.findall(r"""\bpip\b["',]* *["']?(?:install|wheel|download)\b[^\n;|&)\]]*""", text):
            calls += 1
            options = re.findall(r"""(?<=[\s"'])--?[A-Za-z][A-Za-z-]*""", call)
            strangers += [f"{name}: {option} in {call}" for option in options if option not in PIP_OPTIONS]
    assert calls >= 10, "the calls of pip are no longer found"
    assert not strangers, "pip 23.0 of Debian 12 may not know these; if it does, add them to PIP_OPTIONS"


def test_tests_do_not_miss_programs():
    """A test that looks for a program would be skipped where tools/setup does not install it."""
    installed = set(re.findall(r"^ +need \S+ has (\S+)$", (ROOT / "tools/setup").read_text(), re.MULTILINE))
    assert {"gcc", "cmake", "zsh"} <= installed, "the lines of tools/setup are no longer found"
    looked_for = {(found, name) for name, text in files() if name.endswith(".py") for found in re.findall(r"""\bwhich\(["']([\w+.-]+)["']""", text)}
    assert looked_for, "nothing looks for a program any more"
    missing = sorted(f"{name} looks for {program}" for program, name in looked_for if program not in installed | set(THERE_ANYWAY) | OF_A_GPU)
    assert not missing
