# SPDX-License-Identifier: MIT
"""A signal that ends the command while it writes leaves nothing behind, on any file system."""

import signal
import subprocess
import time

import pytest

from test_writer import OLD, names

COMMAND = ["gather", "iota(300000)", "iota(300000)", "-o", "x.npy"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
           signal.SIGVTALRM, signal.SIGPROF]  # fmt: skip


def obey():
    """Tests that run behind nohup, or in the background, ignore some, and so would what they start."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def begin(program, surroundings, failing, tmp_path):
    """The command while it writes, slowly, to a file that has a name already."""

    def start(shell):
        environment = {**surroundings, **failing, "FAIL_CALL": "write:0:short", "NO_TMPFILE": "1"}
        process = subprocess.Popen(["sh", "-c", shell + 'exec "$@"', "sh", program, *COMMAND],
                                   cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, preexec_fn=obey)  # fmt: skip
        while process.poll() is None and not list(tmp_path.glob(".garner-*")):
            time.sleep(0.001)
        assert process.poll() is None, "the command is too quick for this test"
        return process

    return start


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_no_name_is_left(begin, tmp_path, number):
    (tmp_path / "x.npy").write_bytes(OLD)
    process = begin("")
    process.send_signal(number)
    assert process.wait() == -number  # as a program that does nothing about it
    assert names(tmp_path) == ["x.npy"] and (tmp_path / "x.npy").read_bytes() == OLD


def test_what_is_ignored_stays_ignored(begin, tmp_path):
    """As by nohup."""
    process = begin("trap '' HUP INT; ")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0 and names(tmp_path) == ["x.npy"]
