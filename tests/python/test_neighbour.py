# SPDX-License-Identifier: MIT
"""A good neighbour in the process: threads, interrupts, forks, sub-interpreters, the end of the interpreter, memory."""

import array
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import SANITIZED

import garner

BIG = 8 << 20  # bytes of data that make a call long


def big_call():
    """Arguments of a call of some hundred milliseconds, that gathers bytes at scattered places."""
    data = bytes(BIG)
    indices = memoryview(array.array("q", range(0, BIG, 97)) * 400).cast("B").cast("q")
    return data, indices


def run(code, *, timeout=120, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}, **options)  # fmt: skip


def test_lock_is_released():
    """Another thread goes on counting while a long call works."""
    data, indices = big_call()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    garner.gather(data, indices, threads=1)
    end = time.perf_counter()
    stop.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert end - begin < 0.02 or len(during) >= (end - begin) / 0.1


INTERRUPT = """
import array, os, signal, threading, time, garner
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
data = bytes(64 << 20)
indices = array.array("i", range(0, 64 << 20, 97)) * 30
if {bad}: indices[-1] = -1 << 30
indices = memoryview(indices).cast("B").cast("i")
out = bytearray(len(indices))
def call():
    try: garner.gather(data, indices, out=out, threads={threads})
    except IndexError: pass
begin = time.perf_counter()
call()
wait = 0.5 * (time.perf_counter() - begin)  # a bad index is then being looked for
sent = []
def press():
    time.sleep(wait)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
thread = threading.Thread(target=press)
try:
    thread.start()
    for _ in range(200):
        call()
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
    thread.join()
    assert garner.gather(b"abc", [2]).tolist() == [99]
"""


@pytest.mark.slow
@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize("threads", [1, "None"])
def test_interrupt(threads, bad):
    """Ctrl-C ends a long call within 100 ms; the allowance is for a busy machine."""
    waits = []
    for _ in range(3):
        said = run(INTERRUPT.format(threads=threads, bad=bad))
        assert said.returncode == 0, said.stderr
        waits.append(float(said.stdout))
        if waits[-1] < 0.1:
            break
    assert min(waits) < 0.1


@pytest.mark.parametrize("call", ["garner.gather(numbers, [0])", "numbers.tolist()"])
def test_interrupt_while_lists_are_read_or_made(call):
    code = f"""
import signal, garner
class Enough(Exception): pass
def handler(*_): raise Enough
signal.signal(signal.SIGALRM, handler)
numbers = [7] * 20_000_000 if "gather" in {call!r} else garner.gather([7], memoryview(bytes(20_000_000)))
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    {call}
except Enough:
    print("caught")
else:
    raise AssertionError("it went on to its end")
"""
    said = run(code)
    assert said.stdout == "caught\n", said.stderr


def test_handlers_may_raise_anything():
    code = """
import array, signal, garner
class Enough(Exception): pass
def handler(*_): raise Enough
signal.signal(signal.SIGALRM, handler)
data, indices, out = bytes(1 << 20), memoryview(array.array("i", range(1 << 20)) * 8), bytearray(8 << 20)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        garner.gather(data, indices, out=out)
except Enough:
    print("caught")
"""
    assert run(code).stdout == "caught\n"


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer's allocator does not survive fork() beside other threads")
def test_fork():
    """A child of a process whose pool is at work gathers on its own."""
    data, indices = big_call()
    small = indices[: 1 << 18]
    right = bytes(garner.gather(data, small))
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            garner.gather(data, small)
            garner.gather([1, 2, 3], [0])

    threads = [threading.Thread(target=keep_busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                same = bytes(garner.gather(data, small)) == right and garner.gather([1, 2, 3], [0]).tolist() == [1]
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    code = f"""
import array, multiprocessing, garner
def work(n):
    return bytes(garner.gather(bytes(range(256)) * 4096, memoryview(array.array("i", [n] * 100000))))[-1]
if __name__ == "__main__":
    work(1)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(work, [3, 4, 5]))
"""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(code)
        script.flush()
        said = subprocess.run([sys.executable, script.name], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})  # fmt: skip
    assert said.stdout == "[3, 4, 5]\n", said.stderr


def test_sub_interpreters():
    """Each interpreter has its own module, or is told that it cannot have one."""
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import garner
script = '''
try:
    import garner
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    assert garner.gather([1, 2, 3], [2]).tolist() == [3]
    try: garner.gather([1], [5])
    except garner.OutOfRange as error: assert error.bound == 1
    else: raise AssertionError
'''
for _ in range(3):
    other = interpreters.create()
    failed = interpreters.run_string(other, script)
    assert not failed, failed
    interpreters.destroy(other)
assert garner.gather([1, 2, 3], [2]).tolist() == [3]
print("fine")
"""
    said = run(code)
    assert said.stdout == "fine\n", said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "sys.exit(3)", "os._exit(3)", "raise SystemExit(3)"])
def test_end_of_the_interpreter(end):
    """Daemon threads in the middle of calls, exports still held, arrays still there: the process ends all the same."""
    code = f"""
import array, os, sys, threading, time, atexit, garner
data, indices = bytes(1 << 22), memoryview(array.array("i", range(1 << 22)))
def forever():
    while True: garner.gather(data, indices)
for _ in range(4): threading.Thread(target=forever, daemon=True).start()
kept = [garner.gather(data, indices), garner.gather([1], [0]).__dlpack__(), memoryview(garner.gather(b"ab", [0]))]
atexit.register(lambda: garner.gather(data, indices))
class Late:
    def __del__(self): self.gather([1], [0])
late = Late(); Late.gather = staticmethod(garner.gather)
time.sleep(0.05)
{end}
"""
    said = run(code, timeout=600)
    assert said.returncode == (3 if end else 0), said.stderr


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_memory_and_references_stay(scale):
    """Very many calls, half of them errors: nothing is left behind."""
    data, indices, bad, table = array.array("d", range(10)), array.array("q", [3, 1]), array.array("q", [3, 77]), [[1, 2], [3, 4]]
    out, plan = array.array("d", [0, 0]), garner.Plan("gather", [10], [2], dtype="f64")
    own, shared = [data, indices, bad, out, table, plan], [None, True, garner.OutOfRange, garner.Array]

    def errors(*calls):
        for call in calls:
            try:
                call()
            except garner.Error:
                continue
            raise AssertionError("this should have failed")

    def once():
        garner.gather(data, indices)
        garner.gather(data, indices, out=out)
        plan(data, indices)
        garner.take_along_axis(table, [[0, 0], [1, 1]])
        garner.gather(garner.gather(data, indices).__dlpack__(), [1])
        errors(lambda: garner.gather(data, bad), lambda: garner.gather(data, bad, out=out), lambda: garner.gather(data, indices, axis=4),
               lambda: garner.gather(data, "x"), lambda: garner.gather(table, [[0], 1]), lambda: plan(data, bad))  # fmt: skip

    for _ in range(2000):
        once()
    gc.collect()
    owned, held, before = [*map(sys.getrefcount, own)], [*map(sys.getrefcount, shared)], resident()
    rounds = max(1000, int(4000 * scale))
    for _ in range(rounds):
        once()
    gc.collect()
    assert [*map(sys.getrefcount, own)] == owned
    # The rest of the process takes and drops shared objects too; a leak would show in every round.
    assert all(abs(sys.getrefcount(thing) - count) < rounds / 2 for thing, count in zip(shared, held, strict=True))
    assert resident() - before < 1 << 20 or SANITIZED  # which keeps freed memory back


def test_plan_cache_is_bounded():
    for extent in range(1, 500):
        garner.gather(bytes(extent), [0])
    before = resident()
    for extent in range(500, 5000):
        assert garner.gather(bytes(extent), [extent - 1]).tolist() == [0]
    assert resident() - before < 1 << 20 or SANITIZED


def test_stress(scale):
    """16 threads, all operators, errors, arrays that come and go: every result right."""
    failures, end = [], time.monotonic() + 2 * scale

    def work(seed):
        n = seed
        try:
            while time.monotonic() < end and not failures:
                n = n * 1103515245 + 12345 & 0x7FFFFFFF
                size = 1 + n % (50_000 if n % 37 == 0 else 60)
                data = array.array("i", range(size))
                at = [n % size, -1, size // 2]
                assert garner.gather(data, at).tolist() == [data[i] for i in at]
                assert garner.gather_nd(data, [[i] for i in at], threads=1 + n % 3).tolist() == [data[i] for i in at]
                assert garner.take_along_axis(data, array.array("q", at)).tolist() == [data[i] for i in at]
                whole = garner.gather(data, memoryview(array.array("q", range(size - 1, -1, -1))))
                assert memoryview(whole)[0] == size - 1 and memoryview(whole)[-1] == 0
                try:
                    garner.gather(data, [0, size])
                    raise AssertionError
                except IndexError as error:
                    assert error.value == size and error.position == 1
                del data
                if n % 50 == 0:
                    gc.collect()
        except BaseException as error:  # noqa: BLE001
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_resizing_from_another_thread(scale):
    """Memory that a call works on cannot be taken away from it: its owner is refused, or it is kept."""
    stop = threading.Event()
    shared = bytearray(1 << 20)

    def resize():
        while not stop.is_set():
            try:
                shared.append(0)
                del shared[1 << 20 :]
            except BufferError:
                pass  # a call has it

    thread = threading.Thread(target=resize)
    thread.start()
    indices = memoryview(array.array("i", range(1 << 20)))
    try:
        for _ in range(int(60 * scale)):
            garner.gather(shared, indices)
    finally:
        stop.set()
        thread.join()
    assert len(shared) >= 1 << 20


def test_numpy_arrays_resized_and_dropped_by_another_thread(scale):
    np = pytest.importorskip("numpy")
    stop = threading.Event()
    box = [np.zeros(1 << 18)]

    def meddle():
        while not stop.is_set():
            array_now = box[0]
            try:
                array_now.resize(1 << 10, refcheck=False)
                array_now.resize(1 << 18, refcheck=False)
            except ValueError:
                pass
            del array_now
            box[0] = np.zeros(1 << 18)
            gc.collect(0)

    thread = threading.Thread(target=meddle)
    thread.start()
    indices = np.tile(np.arange(1 << 10), 256)
    try:
        for _ in range(int(200 * scale)):
            assert not garner.gather(box[0], indices).any()
    finally:
        stop.set()
        thread.join()
