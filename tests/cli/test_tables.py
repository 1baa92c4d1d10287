# SPDX-License-Identifier: MIT
"""DATA in a file that is larger than the memory the command may take: every way of reading, every format, and what
happens when something goes wrong on the way."""

import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import numpy as np
import pytest

import injector
from protobuf import block, number
from terminal import read_terminal

HOWS = ["mapped", "ring", "pread"]
MIB = 1 << 20


def sparse_table(path, rows, width=128):
    """A table of f32 whose rows are zeros, but for each hundredth, which holds its own number."""
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, width))
    table[::100] = np.arange(0, rows, 100, dtype=np.float32)[:, None]
    table.flush()
    return table


@pytest.fixture
def table(tmp_path):
    made = np.random.default_rng(1).standard_normal((5000, 33)).astype(np.float32)
    np.save(tmp_path / "table.npy", made)
    return made


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("target", ["out.npy", "out.npz", "out.safetensors", "out.pb"])
def test_into_files(garner, tmp_path, table, how, target):
    indices = np.random.default_rng(2).integers(-5000, 5000, (70, 3))
    np.save(tmp_path / "indices.npy", indices)
    said = garner("gather", "table.npy", "indices.npy", "--how", how, "--memory", "1M", "-o", target)
    assert said.code == 0 and said.err == "" and said.text == "", said
    assert garner("convert", target, "plain.npy").code == 0
    assert np.array_equal(np.load(tmp_path / "plain.npy"), table[indices])


@pytest.mark.parametrize("how", HOWS)
def test_onto_standard_output(garner, table, how):
    said = garner("gather", "table.npy", "[4999,0,-1]", "--how", how, "--format", "json")
    assert np.array_equal(np.array(json.loads(said.text)["data"], np.float32), table[[4999, 0, -1]]), said
    assert garner("gather", "table.npy", "[1]", "--how", how, "--axis", "1", "-o", "-").out.startswith(b"\x93NUMPY")


@pytest.mark.parametrize("how", HOWS)
def test_members(garner, tmp_path, table, how):
    np.savez(tmp_path / "two.npz", other=np.zeros(3), table=table)
    np.savez_compressed(tmp_path / "packed.npz", table=table)
    assert garner("convert", "two.npz", "two.safetensors").code == 0
    wanted = garner("gather", "table.npy", "[7,4000]").text
    for name in ("two.npz:table", "packed.npz:table", "two.safetensors:table"):
        said = garner("gather", name, "[7,4000]", "--how", how)
        assert said.code == 0 and said.text == wanted, (name, said)
    said = garner("gather", "two.npz", "[7]", "--how", how)
    assert said.code == 4 and "'other', 'table'" in said.err, said


def told(said):
    """What -v tells of the reads of a gather: how, whether past the page cache, blocks, bytes."""
    assert said.code == 0, said
    line = re.search(r"^garner: table: (\w+)( past the page cache)?, \d+ rows, (\d+) blocks read, (\d+) bytes$", said.err, re.M)
    return line[1], bool(line[2]), int(line[3]), int(line[4])


def test_members_that_are_read_in_place(garner, tmp_path, table):
    """A row of what is stored as it is takes no more reads than that row, and what is deflated lies in memory."""
    np.savez(tmp_path / "two.npz", other=np.zeros(3), table=table)
    np.savez_compressed(tmp_path / "packed.npz", table=table)
    assert garner("convert", "two.npz", "two.safetensors").code == 0
    for name in ("table.npy", "two.npz:table", "two.safetensors:table"):
        assert told(garner("gather", name, "[7,4000]", "--how", "pread", "-v")) == ("pread", False, 2, 2 * 33 * 4), name
    assert told(garner("gather", "packed.npz:table", "[7,4000]", "--how", "pread", "-v")) == ("mapped", False, 0, 0)


def test_rings(garner, table):
    """tests/table has more of them."""
    how, direct, blocks, size = told(garner("gather", "table.npy", "[7,4000]", "--how", "ring", "-v"))
    if how != "ring":
        pytest.skip("SKIP: io_uring is missing or not allowed here")
    assert blocks == 2 and size >= 2 * 33 * 4
    if not direct:
        pytest.skip("SKIP: the file system takes no O_DIRECT")
    assert size % 512 == 0


@pytest.mark.parametrize("how", HOWS)
def test_external_data_of_a_model(garner, tmp_path, table, how):
    (tmp_path / "weights.bin").write_bytes(b"\0" * 100 + table.tobytes())
    entries = b"".join(
        block(13, block(1, key) + block(2, value)) for key, value in ((b"location", b"weights.bin"), (b"offset", b"100"))
    )
    tensor = number(1, 5000) + number(1, 33) + number(2, 1) + block(8, b"embedding") + entries + number(14, 1)
    small = number(1, 2) + number(2, 7) + block(8, b"small") + block(9, np.array([5, 6]).tobytes())
    (tmp_path / "model.onnx").write_bytes(number(1, 8) + block(7, block(5, tensor) + block(5, small)))
    said = garner("gather", "file:model.onnx#embedding", "[7,4000]", "--how", how)
    assert said.code == 0 and said.text == garner("gather", "table.npy", "[7,4000]").text, said
    assert garner("gather", "file:model.onnx#small", "[1]", "--how", how).text == "[6]\n"
    said = garner("gather", "file:model.onnx#absent", "[1]")
    assert said.code == 4 and "no initializer 'absent'" in said.err, said
    os.truncate(tmp_path / "weights.bin", 5000)
    said = garner("gather", "file:model.onnx#embedding", "[1]")
    words = "embedding': its 660000 bytes at offset 100 reach past the end of external data of 5000 bytes"
    assert said.code == 4 and words in said.err, said


@pytest.mark.parametrize("memory", [MIB, MIB + 2, MIB + 7, MIB + 12345])
def test_parts_of_long_runs_in_the_other_order(garner, tmp_path, memory):
    """A run that is written in parts, whatever the budget, is cut between numbers."""
    made = np.arange(3 * 400_000, dtype=">i4").reshape(3, -1)
    np.save(tmp_path / "swapped.npy", made)
    said = garner("gather", "swapped.npy", "[2,0]", "--how", "pread", "--memory", str(memory), "-o", "out.npy")
    assert said.code == 0 and np.array_equal(np.load(tmp_path / "out.npy"), made[[2, 0]]), said


def test_other_orders(garner, tmp_path, table):
    """Numbers whose highest byte comes first, and arrays whose first axis varies fastest."""
    np.save(tmp_path / "swapped.npy", table.astype(">f4"))
    np.save(tmp_path / "fortran.npy", np.asfortranarray(table))
    wanted = garner("gather", "table.npy", "[7,4000]").text
    for name, hows in (("swapped.npy", ["ring", "pread"]), ("fortran.npy", HOWS)):
        for how in hows:
            said = garner("gather", name, "[7,4000]", "--how", how)
            assert said.text == wanted, (name, how, said)
    said = garner("gather", "swapped.npy", "[7]", "--how", "mapped")
    assert said.code == 4 and "ring and pread" in said.err, said


@pytest.mark.parametrize("how", HOWS)
def test_errors_are_the_operators(garner, table, how):
    for arguments in (["[5000]"], ["[0,1]", "--axis", "5"], ["[1.5]"], ["[-5001]", "--strict"]):
        plain, told = garner("gather", "table.npy", *arguments), garner("gather", "table.npy", *arguments, "--how", how)
        assert (told.code, told.err) == (plain.code, plain.err) and told.code == 3


@pytest.mark.parametrize("arguments, words", [
    (["[1,2]", "[0]", "--how", "ring"], "--how is for DATA in a file"),
    (["[1,2]", "[0]", "--memory", "2G"], "--memory is for DATA in a file"),
    (["table.npy", "[0]", "--how", "fast"], "mapped|ring|pread"),
    (["table.npy", "[0]", "--memory", "1023K"], "at least 1M"),
    (["table.npy", "[0]", "--memory", "99999999999T"], "at least 1M"),
    (["table.npy", "[0]", "--memory", "2Q"], "at least 1M"),
])  # fmt: skip
def test_options_that_make_no_sense(garner, table, arguments, words):
    said = garner("gather", *arguments)
    assert said.code == 2 and words in said.err, said


# ---- A file four times as large as the memory --------------------------------------------------------

LIMIT = 64 * MIB


def test_four_times_the_memory(program, surroundings, tmp_path):
    """With 64 MiB of addresses in all, for the program and its libraries too, a table of 256 MiB is gathered into a file."""
    if "asan" in program or os.environ.get("ASAN_OPTIONS"):
        pytest.skip("AddressSanitizer takes terabytes of addresses")
    rows = 4 * LIMIT // 512
    table = sparse_table(tmp_path / "big.npy", rows)
    indices = np.random.default_rng(3).integers(0, rows // 100, 200_000) * 100
    np.save(tmp_path / "indices.npy", indices.astype(np.int32))

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    for how in ("ring", "pread", None):
        command = [program, "gather", "big.npy", "indices.npy", "--memory", "16M", "-o", "out.npy", *(["--how", how] if how else [])]
        said = subprocess.run(command, cwd=tmp_path, env=surroundings, stderr=subprocess.PIPE, preexec_fn=limit)
        assert said.returncode == 0 and said.stderr == b"", said
        result = np.load(tmp_path / "out.npy", mmap_mode="r")
        assert result.shape == (200_000, 128) and np.array_equal(result[:, 77], indices.astype(np.float32))
    del table


# ---- Which way ---------------------------------------------------------------------------------------


def forget(path):
    """Lets the page cache drop a file; whether it did."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.preadv(descriptor, [bytearray(1)], os.fstat(descriptor).st_size // 2, os.RWF_NOWAIT)
        return False
    except BlockingIOError:
        return True
    except OSError:  # it cannot be asked
        return False
    finally:
        os.close(descriptor)


@pytest.fixture
def way(program, surroundings, failing, tmp_path, table):
    """The way that a gather takes in a folder where reads that may not wait are refused, as by NFS and FUSE."""
    np.save(tmp_path / "indices.npy", np.arange(0, 5000, 7))

    def run(folder=tmp_path, program=program, library=None, **more):
        environment = {**surroundings, **(injector.environment(library) if library else failing), "FAIL_CALL": "preadv2:0:95"}
        command = [program, "gather", "table.npy", "indices.npy", "--memory", "16M", "-v", "-o", "-"]
        said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, **more)
        assert said.returncode == 0 and b"failing: preadv2" in said.stderr, said
        return re.search(rb"table: (\w+)", said.stderr)[1].decode()

    return run


def test_file_systems_that_do_not_say_what_is_cached(way, tmp_path):
    assert (tmp_path / "table.npy").read_bytes() and way() == "mapped"
    if not forget(tmp_path / "table.npy"):
        pytest.skip(f"SKIP: the page cache does not forget files in {tmp_path}")
    assert way() != "mapped"
    assert (tmp_path / "table.npy").read_bytes() and way() == "mapped"


def test_a_file_system_in_memory(way, tmp_path):
    if subprocess.run(["stat", "-f", "-c", "%T", "/dev/shm"], capture_output=True).stdout != b"tmpfs\n":
        pytest.skip("SKIP: /dev/shm is not in memory here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in ("table.npy", "indices.npy"):
            shutil.copy(tmp_path / name, folder)
        assert way(folder) == "mapped"


def test_a_file_of_somebody_else(way, program, failing, tmp_path):
    """To those who may not write to a file Linux says that all its pages are there."""
    if os.geteuid() != 0:
        pytest.skip("SKIP: only the administrator can be somebody else")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        for file in (tmp_path / "table.npy", tmp_path / "indices.npy", program, failing["LD_PRELOAD"].split()[0]):
            shutil.copy(file, folder)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        if not forget(f"{folder}/table.npy"):
            pytest.skip("SKIP: the page cache does not forget files in /var/tmp")
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        assert way(folder, f"{folder}/garner", f"{folder}/failing.so", **nobody) != "mapped"


# ---- Faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", HOWS)
def test_a_full_disk(program, surroundings, tmp_path, table, how):
    """A limit on the size of files is met as a full disk is; the old file stays."""
    np.save(tmp_path / "indices.npy", np.arange(5000))
    (tmp_path / "out.npy").write_bytes(b"old")
    before = sorted(os.listdir(tmp_path))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    command = [program, "gather", "table.npy", "indices.npy", "--how", how, "-o", "out.npy"]
    said = subprocess.run(command, cwd=tmp_path, env=surroundings, stderr=subprocess.PIPE, preexec_fn=limit)
    assert said.returncode == 5 and said.stderr == b"garner: out.npy: cannot write: File too large, at offset 1000\n", said
    assert sorted(os.listdir(tmp_path)) == before and (tmp_path / "out.npy").read_bytes() == b"old"


@pytest.mark.parametrize("fault", ["EPERM", "ENOSYS", "ENOMEM"])
def test_a_ring_that_cannot_be_had(program, surroundings, tmp_path, table, fault):
    """In a sandbox that forbids io_uring, or where no more memory may be locked, preads do the same."""
    if not shutil.which("strace"):
        pytest.skip("SKIP: strace is not installed")
    np.save(tmp_path / "indices.npy", np.arange(0, 5000, 7))
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=io_uring_setup:error={fault}",
               program, "gather", "table.npy", "indices.npy", "--how", "ring", "-v", "-o", "out.npy"]  # fmt: skip
    said = subprocess.run(command, cwd=tmp_path, env=surroundings, stderr=subprocess.PIPE)
    if b"PTRACE" in said.stderr:
        pytest.skip("SKIP: strace is not allowed here")
    assert said.returncode == 0 and b"table: pread" in said.stderr, said
    assert np.array_equal(np.load(tmp_path / "out.npy"), table[::7])


@pytest.mark.parametrize("fault, words", [("EIO", b"Input/output error"), ("EINTR:when=1..50", None), ("EAGAIN:when=1..50", None)])
def test_reads_that_fail(program, surroundings, tmp_path, table, fault, words):
    if not shutil.which("strace"):
        pytest.skip("SKIP: strace is not installed")
    np.save(tmp_path / "indices.npy", np.arange(0, 5000, 7))
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", tmp_path / "table.npy", "-e", f"inject=pread64:error={fault}",
               program, "gather", "table.npy", "indices.npy", "--how", "pread", "-o", "out.npy"]  # fmt: skip
    said = subprocess.run(command, cwd=tmp_path, env=surroundings, stderr=subprocess.PIPE)
    if b"PTRACE" in said.stderr:
        pytest.skip("SKIP: strace is not allowed here")
    if words:
        assert said.returncode == 5 and words in said.stderr and b"at offset" in said.stderr, said
        assert not (tmp_path / "out.npy").exists()
    else:
        assert said.returncode == 0 and np.array_equal(np.load(tmp_path / "out.npy"), table[::7]), said


def test_a_header_that_is_cut_off_while_it_is_read(program, surroundings, tmp_path):
    """The file has its whole size when it is opened, and ends behind the size of its header when that is read."""
    if not shutil.which("strace"):
        pytest.skip("SKIP: strace is not installed")
    header = json.dumps({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "__metadata__": {"of": "x" * 50000}}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\7")
    for at in (1, 2):
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", tmp_path / "x.safetensors", "-e", f"inject=read:retval=0:when={at}",
                   program, "gather", "x.safetensors", "[0]", "--how", "pread"]  # fmt: skip
        said = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True)
        if b"PTRACE" in said.stderr:
            pytest.skip("SKIP: strace is not allowed here")
        assert said.returncode == 4 and said.stderr.startswith(b"garner: x.safetensors: "), said


# ---- On a terminal -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("watched", [True, False])
def test_progress_on_a_terminal_alone(program, surroundings, tmp_path, table, watched):
    """Reads that take most of a second each, so that there is something to be shown."""
    if not shutil.which("strace"):
        pytest.skip("SKIP: strace is not installed")
    np.save(tmp_path / "indices.npy", np.arange(0, 5000, 50))
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", tmp_path / "table.npy", "-e", "inject=pread64:delay_enter=400000",
               program, "gather", "table.npy", "indices.npy", "--how", "pread", "--memory", "1M", "-o", "out.npy"]  # fmt: skip
    master, other = pty.openpty()
    process = subprocess.Popen(command, cwd=tmp_path, env=surroundings, stderr=other if watched else subprocess.PIPE)
    os.close(other)
    seen = read_terminal(master) if watched else process.stderr.read()
    if b"PTRACE" in seen:
        pytest.skip("SKIP: strace is not allowed here")
    assert process.wait() == 0
    if watched:
        assert b"rows/s" in seen and b"left" in seen and b"%" in seen and seen.endswith(b"\r\x1b[K"), seen[-300:]
    else:
        assert seen == b""


# ---- In the middle of a gather -----------------------------------------------------------------------

ENDING = [signal.SIGINT, signal.SIGTERM]


def obey():
    """Tests that run behind nohup, or in the background, ignore some, and so would what they start."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def is_writing(process, folder):
    """Whether something is in its output, which has no name yet, or one of its own."""
    for file in [*pathlib.Path(f"/proc/{process.pid}/fd").iterdir(), *folder.glob(".garner-*")]:
        try:
            held = os.path.relpath(os.readlink(file) if file.is_symlink() else file, folder)
            if not held.startswith("..") and held not in (".", "big.npy", "indices.npy") and file.stat().st_size > 0:
                return True
        except FileNotFoundError:
            continue
    return False


@pytest.fixture
def begin(program, surroundings, failing, tmp_path):
    """A gather of 200 MiB out of 8 MiB that has begun to write, in small parts, and goes on for seconds."""
    sparse_table(tmp_path / "big.npy", 8 * MIB // 512)
    np.save(tmp_path / "indices.npy", np.random.default_rng(4).integers(0, 8 * MIB // 512, 400_000))

    def start(how):
        command = [program, "gather", "big.npy", "indices.npy", "--how", how, "--memory", "1M", "-o", "out.npy"]
        process = subprocess.Popen(command, cwd=tmp_path, env={**surroundings, **failing, "FAIL_CALL": "write:0:short"},
                                   stderr=subprocess.PIPE, preexec_fn=obey)  # fmt: skip
        while process.poll() is None and not is_writing(process, tmp_path):
            time.sleep(0.001)
        assert process.poll() is None, "the command is too quick for this test"
        return process

    return start


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_an_interrupt_leaves_nothing(begin, tmp_path, how, number):
    process = begin(how)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == -number
    assert sorted(os.listdir(tmp_path)) == ["big.npy", "indices.npy"]


@pytest.mark.parametrize("how", HOWS)
def test_a_file_that_becomes_shorter(begin, tmp_path, how):
    """One sentence with file and offset, also of a mapped file, where the system answers by a signal."""
    process = begin(how)
    os.truncate(tmp_path / "big.npy", 8192)
    sentence = process.communicate()[1].decode().removeprefix("failing: write\n")
    assert process.returncode == 5 and re.fullmatch(r"garner: .*bec[ao]me shorter.*\n", sentence), sentence
    said = re.search(r"(\S*big\.npy): cannot read .*at offset (\d+)", sentence)
    assert said, sentence
    file, offset = said.groups()
    assert (tmp_path / file).samefile(tmp_path / "big.npy") and 8192 <= int(offset) < 9 * MIB, sentence
    assert sorted(os.listdir(tmp_path)) == ["big.npy", "indices.npy"]
