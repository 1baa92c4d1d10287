# SPDX-License-Identifier: MIT
"""tools/bare: what it refuses, in a sentence; and, where GARNER_TEST_BARE is set (make check sets it), a real bare system."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BARE = ROOT / "tools/bare"
real = pytest.mark.skipif("GARNER_TEST_BARE" not in os.environ, reason="a bare system takes a minute to make: make check does (GARNER_TEST_BARE)")


def bare(*arguments, **more):
    return subprocess.run([BARE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=600, **more)


@pytest.mark.parametrize("arguments, sentence", [
    ([], "no command was given"),
    (["--with", "tests"], "no command was given"),
    (["--without", "true"], "there is no option --without"),
    (["--with"], "--with needs a folder"),
    (["--with", "tests/nowhere", "true"], "--with tests/nowhere: that is no folder of this tree"),
    (["--with", "README.md", "true"], "--with README.md: that is no folder of this tree"),
    (["--with", "/usr", "true"], "--with /usr: that is no folder of this tree"),
    (["--with", "tests/../..", "true"], "--with tests/../..: that is no folder of this tree"),
])  # fmt: skip
def test_refused(arguments, sentence):
    said = bare(*arguments)
    assert said.returncode == 2 and said.stdout == ""
    assert said.stderr.startswith(f"tools/bare: {sentence}") and said.stderr.count("\n") == 1


def test_needs_root(tmp_path):
    """Whoever else calls it is told so, and nothing is made."""
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    if other and subprocess.run(["test", "-r", BARE], check=False, **other).returncode != 0:
        pytest.skip("SKIP: this tree is closed to all but the administrator, so nobody else can run its tools")
    said = bare("true", env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, **other)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == "tools/bare: this needs root: it mounts file systems in a namespace of its own\n"
    assert not list(tmp_path.iterdir())


def leftovers():
    store = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "garner/bare")
    return {path.name for path in store.glob("run.*")}


@real
def test_a_bare_clone():
    """A clean clone in a system without compiler and Python, with this tree's name for it alone."""
    before = leftovers()
    said = bare("--with", "tests/tools", "test -d .git && test ! -e build && pwd", "which cc python3 pip cmake || echo bare", "git status --short", "exit 7", "echo never")
    assert said.returncode == 7, said.stderr
    assert said.stdout.splitlines()[1] == "/garner" and "bare\n" in said.stdout and "never" not in said.stdout.splitlines()
    assert "(took " in said.stdout and "(failed after " in said.stdout
    assert leftovers() <= before


@real
def test_settings_stay_unseen():
    """Addresses of this machine's package sources are blotted out, whoever prints them."""
    address = "http://someone:secret@index.example.net:8080/simple"
    said = bare("env; echo index.example.net; cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true",
                env={**os.environ, "PIP_INDEX_URL": address})  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert "PIP_INDEX_URL=(address)" in said.stdout
    assert "secret" not in said.stdout and "example" not in said.stdout.split("$ env", 1)[1].split("\n", 1)[1]
    for line in said.stdout.splitlines():
        assert not line.startswith(("URIs:", "deb ")) or "://" not in line


def hear_interrupts():
    """What a shell starts in the background ignores them, and so would the programs that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@real
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ends_with_the_signal(end):
    """What runs inside ends with it, and its folder goes."""
    before = leftovers()
    process = subprocess.Popen([BARE, "echo begun; sleep 1234.5"], stdout=subprocess.PIPE, text=True, start_new_session=True,
                               preexec_fn=hear_interrupts)  # fmt: skip
    while process.stdout.readline() != "begun\n":
        assert process.poll() is None
    process.send_signal(end)
    assert process.wait(timeout=60) == 130
    assert leftovers() <= before
    time.sleep(0.5)
    assert b"sleep\0" + b"1234.5" not in b"".join(Path(f"/proc/{n}/cmdline").read_bytes() for n in os.listdir("/proc") if n.isdigit() and Path(f"/proc/{n}/cmdline").exists())
