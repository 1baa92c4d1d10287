# SPDX-License-Identifier: MIT
"""Each exit code, each kind of failure: files, pipes, devices, memory, the environment, signals."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest
from terminal import read_terminal

np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")

GATHER = ["gather", "[1,2,3]", "[2,0]"]


def test_done(garner):
    answer = garner(*GATHER)
    assert (answer.code, answer.text, answer.err) == (0, "[3,1]\n", "")


def test_the_command_line_is_wrong(refuses, tmp_path):
    refuses(2, "file:PATH", "gather", "nothing", "[0]")
    refuses(2, "file:PATH", "gather", "", "[0]")
    for name in ("2024_data.bin", "info", "nan.bin", "true-story"):
        refuses(2, ["character 1", "file:PATH"], "gather", name, "[0]")
    refuses(2, "no path", "gather", "file:", "[0]")
    refuses(2, "once", "gather", "-", "-")
    refuses(2, [".npy", "y.txt"], *GATHER, "-o", "y.txt")
    refuses(2, [".npy"], *GATHER, "-o", "")
    refuses(2, ["--format", "--out"], *GATHER, "-o", "y.npy", "--format", "raw")
    refuses(2, "error|zero|clamp|wrap", *GATHER, "--oob", "zeros")
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_is_wrong_elsewhere(refuses, tmp_path):
    """What stands where something else belongs, and that is named."""
    refuses(2, ["cpu takes options alone", "'x'"], "cpu", "x")
    for argument in ("nothing", "", "x.bin"):
        refuses(2, [f"'{argument}'", ".safetensors", ".onnx or .xml", "file:PATH"], "info", argument)
    refuses(2, "no path", "info", "file:")
    refuses(2, ["'x.npy' is no operator", "gather-nd", ".onnx or .xml"], "explain", "x.npy")
    for command in ("explain", "bench"):
        refuses(2, ["'gahter' is no operator", "did you mean gather?"], command, "gahter", "[1]", "[0]")
        refuses(2, "did you mean gather-nd?", command, "gather_n", "[1]", "[0]")
    refuses(2, ["MODEL takes no more", "'[1]'"], "explain", "x.onnx", "[1]", "[0]")
    refuses(2, ".onnx and .xml", "run", "x.npy")
    for arguments in (["check", ""], ["explain", "gather", "[1]", "[0]", "--svg", ""]):
        refuses(5, "garner: '': cannot", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_the_operator_refuses(refuses):
    refuses(3, "indices[0] = 9", "gather", "[1]", "[9]")


def test_a_refusal_leaves_no_file(garner, tmp_path):
    (tmp_path / "y.npy").write_bytes(b"precious")
    assert garner("gather", "[1]", "[9]", "-o", "y.npy").code == 3
    assert (tmp_path / "y.npy").read_bytes() == b"precious"
    assert [p.name for p in tmp_path.iterdir()] == ["y.npy"]


def test_a_file_is_malformed(refuses, tmp_path):
    (tmp_path / "x.npy").write_bytes(b"no such thing")
    refuses(4, "x.npy", "gather", "x.npy", "[0]")
    refuses(4, "x.npy", "gather", "file:x.npy", "[0]")
    refuses(4, "-", "gather", "-", "[0]", stdin=b"junk")
    refuses(4, "-", "gather", "-", "[0]", stdin=b"")


def test_a_file_holds_something_unsupported(refuses, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    refuses(4, "without a name", "gather", "x.npy:a", "[0]")
    refuses(4, "without a name", "gather", "file:x.npy#a", "[0]")
    refuses(4, "strings", "gather", '["a"]', "[0]", "--format", "raw")
    refuses(4, "bf16", "gather", "[1]:bf16", "[0]", "-o", "y.npy")


def test_the_system_failed(refuses, tmp_path):
    refuses(5, ["nosuch.npy", "No such file"], "gather", "nosuch.npy", "[0]")
    refuses(5, ["nosuch", "No such file"], "gather", "file:nosuch", "[0]")
    refuses(5, "nosuch/y.npy", *GATHER, "-o", "nosuch/y.npy")
    refuses(5, "No space left", *GATHER, "-o", "/dev/full")
    (tmp_path / "d.npy").mkdir()
    refuses(5, "d.npy", *GATHER, "-o", "d.npy")


def test_devices_are_written_through(garner):
    assert garner(*GATHER, "-o", "/dev/null").code == 0
    assert pathlib.Path("/dev/null").is_char_device()


@pytest.mark.parametrize("arguments", [GATHER, ["--help"], ["--version"], ["help", "--man"], [*GATHER, "-o", "-"],
                                       ["gather", "iota(300000)", "iota(300000)"],
                                       [*GATHER, "--format", "raw"], [*GATHER, "--format", "json"]],
                         ids=lambda a: " ".join(a)[-20:])
def test_output_that_cannot_be_written(garner, program, surroundings, arguments):
    with open("/dev/full", "wb") as full:
        answer = garner(*arguments, stdout=full)
    assert answer.code == 5 and "No space left" in answer.err and answer.err.count("\n") == 1, answer
    reading, writing = os.pipe()
    os.close(reading)
    try:
        answer = garner(*arguments, stdout=writing)
    finally:
        os.close(writing)
    assert answer.code == 5 and "Broken pipe" in answer.err and answer.err.count("\n") == 1, answer
    command = ["sh", "-c", 'exec "$0" "$@" >&-', program, *arguments]
    closed = subprocess.run(command, env=surroundings, capture_output=True, timeout=600)
    assert closed.returncode == 5 and closed.stderr.startswith(b"garner: "), closed


def test_closed_standard_streams_do_no_harm(program, surroundings, tmp_path):
    """A file must not be opened on the descriptor of a closed standard stream and then be overwritten."""
    np.save(tmp_path / "x.npy", np.arange(3))
    before = (tmp_path / "x.npy").read_bytes()
    for redirect in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        for arguments in (["gather", "x.npy", "[7]"], ["gather", "x.npy", "[1]"], ["gather", "x.npy", "[1]", "-o", "y.npy"]):
            command = ["sh", "-c", f'exec "$0" "$@" {redirect}', program, *arguments]
            done = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, timeout=600)
            code = done.returncode
            assert code in (0, 3, 5), (redirect, arguments, code)
            assert (tmp_path / "x.npy").read_bytes() == before
            if "-o" in arguments:
                assert code == 0 and np.load(tmp_path / "y.npy").tolist() == [1]


@pytest.mark.parametrize("name,good,bad", [
    ("GARNER_NUM_THREADS", ["", "0", "1", "64"], ["x", "-1", "1.5", "99999999999", " ", "2x", "+1", "01", "0x1"]),
    ("GARNER_CPU", ["", "scalar"], ["sse", "neon", "sve", "fast", "SCALAR", "scalar ", "0"]),
])
def test_environment(garner, refuses, name, good, bad):
    for value in good:
        assert garner(*GATHER, env={name: value}).text == "[3,1]\n"
    for value in bad:
        refuses(2, [name, f"'{value}'"], *GATHER, env={name: value})
        refuses(2, name, *GATHER, "--threads", "1", env={name: value})
        refuses(2, name, "explain", "gather", "[1]", "[0]", env={name: value})


def test_levels_that_this_machine_lacks(garner, refuses):
    """The library ignores them, so the command refuses them, and names those that the machine has alone."""
    levels = json.loads(garner("cpu", "--json").text)["levels"]
    for level in levels:
        assert garner(*GATHER, env={"GARNER_CPU": level}).text == "[3,1]\n"
    for level in {"avx2", "avx512", "avx512-gather"} - set(levels):
        answer = refuses(2, f"GARNER_CPU is '{level}', and must be scalar", *GATHER, env={"GARNER_CPU": level})
        assert {word for word in ("scalar", "avx2", "avx512", "avx512-gather")
                if word in re.split(r"[ ,]+", answer.err.partition("must be ")[2])} == set(levels)


@pytest.mark.parametrize("name", ["GARNER_NUM_THREADS", "GARNER_CPU"])
def test_a_bad_environment_is_refused_by_every_command(garner, refuses, tmp_path, name):
    """Before anything else is looked at: not even the files need to be there."""
    (tmp_path / "d").mkdir()
    for arguments in (GATHER, ["gather-elements", "[1]", "[0]"], ["gather-nd", "[1]", "[[0]]"], ["explain", "gather", "[1]", "[0]"],
                      ["explain", "m.onnx"], ["run", "m.onnx"], ["info", "x.npy"], ["info", "m.onnx"], ["diff", "[1]", "[1]"],
                      ["convert", "[1]", "y.npy"], ["check", "d"], ["bench", "--seconds", "0"], ["cpu"]):
        refuses(2, [name, "'fast'"], *arguments, env={name: "fast"})
    for arguments in ([], ["--help"], ["--version"], ["help"], ["help", "info"], ["help", "--man"], ["info", "--help"]):
        answer = garner(*arguments, env={name: "fast"})
        assert answer.code == 0 and answer.out and answer.err == "", answer
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_messages_steer_no_terminal(garner):
    evil = "\033]0;owned\007\r\n\u202e\u009b31m\u00ad\u061c\ufff9\ufffb"
    for arguments in (["gather", f"file:{evil}", "0"], ["gather", f"{evil}.npy", "0"], [evil], ["gather", evil, "0"],
                      ["gather", "[1]", "0", f"--{evil}"], ["gather", "[1]", "0", "--oob", evil],
                      ["gather", f"[{evil}]", "0"], ["gather", "[1]", "0", "--spec", evil],
                      ["gather", "[1]", "0", "-o", evil], ["gather", f"[1]:{evil}", "0"],
                      ["explain", evil, "[1]", "0"], ["gather", b"\xff\xfe.npy", "0"], ["gather", "[1]", "0", b"-\xff"]):
        answer = garner(*arguments)
        assert answer.code in (2, 5), answer
        assert answer.err.startswith("garner: ") and answer.err.endswith("\n")
        assert all(c.isprintable() for c in answer.err[:-1]), ascii(answer.err)


def test_a_mapped_file_that_shrinks(program, surroundings, tmp_path):
    """DATA is mapped, then INDICES are awaited on standard input: time enough to cut the file."""
    path = tmp_path / "x.npy"
    np.save(path, np.arange(1 << 20))
    np.save(tmp_path / "i.npy", np.array([(1 << 20) - 1]))
    pipe = subprocess.PIPE
    command = [program, "gather", str(path), "-"]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=surroundings)
    maps = pathlib.Path(f"/proc/{process.pid}/maps")
    deadline = time.monotonic() + 30
    while str(path) not in maps.read_text():
        assert time.monotonic() < deadline and process.poll() is None, "x.npy was never mapped"
        time.sleep(0.01)
    os.truncate(path, 4096)
    out, err = process.communicate((tmp_path / "i.npy").read_bytes(), timeout=600)
    assert (process.returncode, out) == (5, b""), err
    assert err.startswith(b"garner: ") and err.count(b"\n") == 1


@pytest.mark.parametrize("code,arguments", [
    (0, ["gather", '["a","bb"]', "[1,0]"]),
    (2, ["gather", '["a","bb"]', "[1,0"]),
    (3, ["gather", "x.npy", "[9]"]),
    (4, ["gather", "text.npy", "[0]"]),
    (0, ["gather", "text.npy", "[0]", "-o", "y.npy"]),
    (0, ["explain", "gather", "x.npy", "[1]"]),
], ids=lambda v: " ".join(v) if isinstance(v, list) else v)
@pytest.mark.slow
def test_no_leaks(garner, program, tmp_path, code, arguments):
    if b"__asan_init" not in pathlib.Path(program).read_bytes():
        pytest.skip("SKIP: leaks are looked for where garner is built with the address sanitizer")
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2))
    np.save(tmp_path / "text.npy", np.array(["ab", "c"]))
    answer = garner(*arguments, env={"ASAN_OPTIONS": "detect_leaks=1"})
    assert answer.code == code and "LeakSanitizer" not in answer.err, answer


@pytest.mark.slow
def test_long_work_shows_progress(program, surroundings, tmp_path):
    """Only on a terminal, only after a second; the size grows until the work takes long enough."""
    generator = np.random.default_rng(3)
    for millions in (1, 2, 4, 8, 16, 32):
        count = millions << 20
        np.save(tmp_path / "x.npy", generator.random(count))
        master, slave = os.openpty()
        begun = time.monotonic()
        command = [program, "gather", str(tmp_path / "x.npy"), f"iota({count})"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=slave, env=surroundings, timeout=120, check=True)
        elapsed = time.monotonic() - begun
        os.close(slave)
        seen = read_terminal(master)
        assert b"\n" not in seen
        if seen:
            assert elapsed > 1 and seen.startswith(b"\rgarner: ") and b"%" in seen and seen.endswith(b"\033[K")
            return
        assert elapsed < 5, "nothing was shown in five seconds"
    pytest.fail("the machine was too fast for every size")
