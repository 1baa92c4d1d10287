# SPDX-License-Identifier: MIT
"""garner.open: gathers from files, against the same gathers in memory."""

import array
import inspect
import os
import subprocess
import sys
import threading
import time

import pytest

import garner
from garner import _garner

HOWS = [None, "mapped", "ring", "pread"]


@pytest.fixture
def path(tmp_path):
    rows = [[100 * i + j for j in range(7)] for i in range(500)]
    garner.save(tmp_path / "table.npy", rows)
    return tmp_path / "table.npy"


@pytest.mark.parametrize("how", HOWS)
def test_take_and_gather(path, how):
    data = garner.load(path)
    with garner.Table(path, how=how) as table:
        assert table.shape == (500, 7) and table.dtype == "i64" and len(table) == 500
        for indices in ([3, -1, 3], [[0], [499]], 7, []):
            assert table.take(indices).tolist() == garner.gather(data, indices).tolist()
        assert table.take([6, 0], axis=-1).tolist() == garner.gather(data, [6, 0], axis=1).tolist()
        assert table.gather([[1], [2]] * 250, axis=1, batch_dims=1).tolist() == garner.gather(data, [[1], [2]] * 250, axis=1, batch_dims=1).tolist()
        assert table.gather([1, 900], oob="zero").tolist() == garner.gather(data, [1, 900], oob="zero").tolist()
        with pytest.raises(garner.OutOfRange, match=r"indices\[1\] = 500 is outside \[-500, 499\]") as caught:
            table.take([0, 500])
        assert caught.value.position == 1 and caught.value.value == 500 and caught.value.bound == 500
        with pytest.raises(garner.OutOfRange, match=str(10**30)):
            table.take([10**30])
        with pytest.raises(garner.BadType):
            table.take([0.5])
        with pytest.raises(garner.BadShape):
            table.take([0], axis=2)


def test_results_are_numpys(path):
    numpy = pytest.importorskip("numpy")
    table = garner.open(path)
    result = table.take(numpy.array([5, 6], numpy.int32))
    assert type(result) is numpy.ndarray and result.dtype == numpy.int64 and result.flags.writeable
    half = numpy.zeros((4, 14), numpy.int64)
    assert table.take([1, 2], out=half[::2, ::2]).base is half
    assert (half[::2, ::2] == numpy.load(path)[[1, 2]]).all() and (half[1::2] == 0).all()


def test_out_of_any_kind(path):
    table = garner.open(path)
    out = array.array("q", bytes(7 * 8 * 2))
    view = memoryview(out).cast("B").cast("q", (2, 7))
    assert table.take([1, 2], out=view) is view and out.tolist() == [*range(100, 107), *range(200, 207)]
    with pytest.raises(garner.BadShape):
        table.take([1], out=view)
    with pytest.raises(garner.BadType):
        table.take([1], out=memoryview(bytearray(7 * 4)).cast("f", (1, 7)))
    with pytest.raises(garner.BadArgument, match="read-only"):
        table.take([1], out=memoryview(bytes(56)).cast("q", (1, 7)))


def test_members(tmp_path):
    garner.save(tmp_path / "two.safetensors", {"a": [1, 2, 3], "b": [[0.5, 1.5]]})
    assert garner.open(tmp_path / "two.safetensors", "b").take([0]).tolist() == [[0.5, 1.5]]
    with pytest.raises(garner.BadFile, match="'a', 'b'"):
        garner.open(tmp_path / "two.safetensors")
    with pytest.raises(garner.BadFile, match="holds no 'c'"):
        garner.open(tmp_path / "two.safetensors", "c")


def test_batches(path):
    table, data = garner.open(path), garner.load(path)
    batches = [[i, 499 - i, i // 2] for i in range(20)]
    for got, indices in zip(table.batches(batches), batches, strict=True):
        assert got.tolist() == garner.gather(data, indices).tolist()
    assert list(table.batches([])) == []
    with pytest.raises(garner.OutOfRange):
        list(table.batches([[0], [500], [1]]))


def test_the_next_batch_is_under_way(path):
    """Before the first batch has been worked on, the second one has been asked for."""
    asked = []

    def indices():
        for i in range(3):
            asked.append(i)
            yield [i]

    batches = garner.open(path).batches(indices())
    next(batches)
    assert asked == [0, 1]
    batches.close()


def test_the_next_batch_is_read_meanwhile(path):
    """While the first batch is worked on, and nobody asks for more, the blocks of the second one are read."""
    table = garner.Table(path, how="pread")
    rows = [[*range(50)], [*range(100, 150)], [*range(300, 350)]]

    def report():
        return _garner._table_report(table._handle)[1:]

    table.take(rows[0])
    blocks, size = report()
    batches = table.batches(rows)
    next(batches)
    deadline = time.monotonic() + 100
    while report() != (3 * blocks, 3 * size) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert report() == (3 * blocks, 3 * size) and size == 50 * 7 * 8
    assert [batch[0][0] for batch in batches] == [100 * 100, 300 * 100]


def test_threads_share_a_table(path):
    table, data = garner.Table(path, how="pread"), garner.load(path)
    wrong = []

    def work(start):
        for i in range(start, 500, 8):
            if table.take([i, -1 - i]).tolist() != garner.gather(data, [i, -1 - i]).tolist():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("how", HOWS)
def test_files_that_change(path, how):
    table = garner.Table(path, how=how)
    os.truncate(path, 1000)
    with pytest.raises(OSError, match="has become shorter"):
        table.take([499] * 100)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import garner

signal.signal(signal.SIGINT, signal.default_int_handler)  # which whoever began the tests in the background has let be ignored
path, how = sys.argv[1:]
indices = np.broadcast_to(np.arange(1000), (100_000 if how == 'mapped' else 10_000, 1000))
out = np.zeros(indices.shape, np.uint8)
table = garner.Table(path, how=how)

def press():
    while not out.any():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

pressing = threading.Thread(target=press)
pressing.start()
try:
    table.take(indices, out=out)
    print("it ran to its end")
except KeyboardInterrupt:
    print("interrupted" if not out.all() else "interrupted at its end")
pressing.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS[1:])
def test_ctrl_c(tmp_path, how):
    """Pressed when the first rows are there, it ends a gather before the last ones are."""
    pytest.importorskip("numpy")
    garner.save(tmp_path / "ones.npy", garner.gather(bytes([1]) * 1000, list(range(1000))))
    environment = {**os.environ, "GARNER_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    said = subprocess.run([sys.executable, "-c", INTERRUPTED, tmp_path / "ones.npy", how], env=environment, capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout == "interrupted\n", said


def test_no_descriptor_is_left(path):
    before = len(os.listdir("/proc/self/fd"))
    for how in HOWS:
        table = garner.Table(path, how=how)
        table.take(list(range(100)))
        table.close()
        with pytest.raises(garner.BadArgument, match="closed"):
            table.take([0])
        with pytest.raises(garner.BadArgument, match="closed"):
            table.batches([])
        del table
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        garner.open(tmp_path / "absent.npy")
    with pytest.raises(garner.BadArgument, match="must be 'mapped', 'ring', 'pread' or None"):
        garner.Table(path, how="fast")
    with pytest.raises(garner.BadArgument, match="at least 1048576 are needed"):
        garner.Table(path, memory=1000)
    for memory in (-1, 1 << 64):
        with pytest.raises(garner.BadArgument, match=f"memory is {memory} bytes"):
            garner.Table(path, memory=memory)
    with pytest.raises(TypeError):
        garner.Table(path, memory=1.5)
    with pytest.raises(garner.BadArgument, match="how is"):
        garner.Table(path, how=["mapped", "ring"])
    with pytest.raises(garner.BadType, match="name is 5"):
        garner.Table(path, 5)
    garner.save(tmp_path / "two.npz", {"a": [1], "b": [2]})
    with pytest.raises(ValueError, match="null"):
        garner.Table(tmp_path / "two.npz", "a\0b")
    assert repr(garner.open(path)).endswith("table.npy': i64[500, 7]>")


def test_signatures():
    assert str(inspect.signature(garner.open)) == "(path, name=None)"
    assert str(inspect.signature(garner.Table.take)) == "(self, indices, axis=0, out=None)"
    assert str(inspect.signature(garner.Table.batches)) == "(self, iterable)"
