# SPDX-License-Identifier: MIT
"""Runs the built command. GARNER_BUILD names the build folder (default: build)."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

for folder in ("support", "failing"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / folder))

import injector  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIME_LIMIT = 600  # seconds, against what never ends; machines may be busy, and sanitizer builds are slow


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long where sanitizers check: make check runs it there, make test without them")
    config.addinivalue_line("markers", "long: takes long anywhere: make check runs it")


class Answer:
    """What one run gave: code, out (bytes), text, err."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.text = process.stdout.decode("utf-8", "surrogateescape")
        self.err = process.stderr.decode("utf-8", "surrogateescape")
        if self.code < 0:
            raise AssertionError(f"garner was killed by {signal.Signals(-self.code).name}: {self.err}")

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.text[:2000]}\nstderr: {self.err[:2000]}"


def binary():
    build = pathlib.Path(os.environ.get("GARNER_BUILD", "build"))
    return (build if build.is_absolute() else ROOT / build) / "garner"


@pytest.fixture(scope="session")
def program():
    path = binary()
    if not path.is_file():
        pytest.fail(f"{path} does not exist: build first, or set GARNER_BUILD", pytrace=False)
    return str(path)


@pytest.fixture(scope="session")
def surroundings():
    """The environment that garner runs in: nothing in it is meant for garner."""
    clean = {k: v for k, v in os.environ.items() if k != "NO_COLOR" and not k.startswith("GARNER_")}
    # Looking for leaks takes seconds for each run on some machines: test_no_leaks does it for all.
    return {**clean, "ASAN_OPTIONS": clean.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


@pytest.fixture(scope="session")
def failing(tmp_path_factory):
    """The environment in which calls fail: FAIL_CALL says which."""
    reason = injector.why_not()
    if reason:
        pytest.skip(reason)
    return injector.environment(injector.build(tmp_path_factory.mktemp("failing")))


@pytest.fixture
def garner(program, surroundings, tmp_path):
    """garner(*arguments, stdin=None, env={}, stdout=PIPE): runs in an empty folder, answers an Answer."""

    def run(*arguments, stdin=None, env=None, stdout=subprocess.PIPE):
        process = subprocess.run(
            [program, *(a if isinstance(a, bytes) else os.fsencode(str(a)) for a in arguments)],
            input=stdin if stdin is not None else b"",
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**surroundings, **(env or {})},
            cwd=tmp_path,
            timeout=TIME_LIMIT,
            check=False,
        )
        process.stdout = process.stdout or b""
        return Answer(process)

    return run


MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.fixture
def peak(program, tmp_path):
    """Runs a command that prints nothing; answers with its exit code, its message and its peak memory in KiB. A child counts
    what its parent had when it was made, so a small program of its own starts it."""

    def run(*arguments, stdin=None):
        command = [sys.executable, "-IS", "-c", MEASURE, program, *arguments]
        done = subprocess.run(command, stdin=stdin, cwd=tmp_path, capture_output=True)
        return done.returncode, done.stderr, int(done.stdout)

    return run


@pytest.fixture
def refuses(garner):
    """refuses(code, words, *arguments): that exit code, nothing printed, one line that has the words."""

    def check(code, words, *arguments, **options):
        answer = garner(*arguments, **options)
        assert answer.code == code, answer
        assert answer.out == b"", answer
        lines = answer.err.splitlines()
        assert len(lines) == 1 and answer.err.endswith("\n"), answer
        assert lines[0].startswith("garner: "), answer
        for word in [words] if isinstance(words, str) else words:
            assert word in lines[0], answer
        return answer

    return check
