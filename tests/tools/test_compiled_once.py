# SPDX-License-Identifier: MIT
"""tools/compiled-once: what is the same is compiled once, what differs is not mistaken for it, and no warning is lost."""

import pathlib
import shutil
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "compiled-once"
COMPILER = """#!/bin/sh
case " $* " in *" --version "*) cat "$(dirname "$0")/version" && exit ;; *" -E "*) ;; *" -c "*) echo "$*" >>"$(dirname "$0")/calls" ;; esac
exec gcc "$@"
"""


@pytest.fixture
def build(tmp_path):
    """build(text, *options): the answer, the bytes of the object, and how often the compiler compiled so far."""
    (tmp_path / "src" / "cpu" / "kernels").mkdir(parents=True)
    compiler, source, target = tmp_path / "compiler", tmp_path / "src" / "cpu" / "kernels" / "some.c", tmp_path / "some.o"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    (tmp_path / "version").write_text("1")

    def run(text, *options, launcher=()):
        source.write_text(text)
        target.unlink(missing_ok=True)
        files = ["-MD", "-MT", "some.o", "-MF", f"{target}.d", "-o", target, "-c", source]
        done = subprocess.run([TOOL, tmp_path / "kept", *launcher, compiler, "-O1", *options, *files], capture_output=True, text=True)
        calls = len((tmp_path / "calls").read_text().splitlines())
        return done, target.read_bytes() if target.exists() else None, calls

    return run


GOOD = "int add(int a, int b) { return a + b; }\n"


def test_the_same_is_compiled_once(build, tmp_path):
    done, made, calls = build(GOOD)
    assert done.returncode == 0 and made and calls == 1
    (tmp_path / "some.o.d").unlink()
    for options in ([], ["-Werror"]):
        done, taken, calls = build(GOOD, *options)
        assert done.returncode == 0 and taken == made and calls == 1
        assert "some.c" in (tmp_path / "some.o.d").read_text()


def test_what_differs_is_compiled(build):
    made = [build(GOOD), build(GOOD, "-O0"), build(GOOD.replace("+", "-")), build(GOOD, "-DX=1"), build(GOOD, "-O1", "-fPIC")]
    assert [calls for _, _, calls in made] == [1, 2, 3, 4, 5]
    assert made[0][1] != made[1][1] and made[0][1] != made[2][1]


@pytest.mark.parametrize("launcher", [(), ("env",)])
def test_another_version_compiles_again(build, tmp_path, launcher):
    for calls, version in ((1, "1"), (1, "1"), (2, "2")):
        (tmp_path / "version").write_text(version)
        assert build(GOOD, launcher=launcher)[2] == calls


def test_warnings_come_again(build):
    text = "int forget(int a) { int unused; return a; }\n"
    for calls in (1, 2):
        done, made, counted = build(text, "-Wall")
        assert done.returncode == 0 and made and "unused" in done.stderr and counted == calls
    done, _, _ = build(text, "-Wall", "-Werror")
    assert done.returncode != 0 and "unused" in done.stderr


@pytest.mark.parametrize("text", ["int broken(", '#include "nowhere.h"\n'])
def test_errors(build, tmp_path, text):
    (tmp_path / "calls").touch()
    done, made, _ = build(text)
    assert done.returncode != 0 and made is None and "error" in done.stderr
    assert not list((tmp_path / "kept").iterdir())


def test_other_sources_pass_through(tmp_path):
    (tmp_path / "other.c").write_text(GOOD)
    subprocess.run([TOOL, tmp_path / "kept", shutil.which("gcc"), "-o", tmp_path / "other.o", "-c", tmp_path / "other.c"], check=True)
    assert (tmp_path / "other.o").exists() and not (tmp_path / "kept").exists()
