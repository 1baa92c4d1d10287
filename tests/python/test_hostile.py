# SPDX-License-Identifier: MIT
"""Arguments that change each other while they are read, and calls within calls: an error or the right answer, never more."""

import copyreg
import ctypes
import gc
import os
import pickle
import signal
import threading
import time
import weakref

import pytest

import garner
from capsule import capsule
from conftest import NO_NUMPY
from test_model import f32, model  # noqa: F401

np = None if NO_NUMPY else pytest.importorskip("numpy")
needs_numpy = pytest.mark.skipif(NO_NUMPY, reason="of NumPy's arrays")
LARGE = 1 << 20


class Acts:
    """An index, or an array of one, that does something when it is read."""

    def __init__(self, act, value=1):
        self.act, self.value = act, value

    def __index__(self):
        self.act()
        return self.value

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        self.act()
        return np.array([self.value]).__dlpack__(**options)


GATHERS = {
    "gather": lambda d, at: garner.gather(d, [at, LARGE // 2]),
    "take": lambda d, at: garner.take(d, [at, LARGE // 2]),
    "gather_elements": lambda d, at: garner.gather_elements(d, [at, LARGE // 2]),
    "gather_nd": lambda d, at: garner.gather_nd(d, [[at], [LARGE // 2]]),
    "plan": lambda d, at: garner.Plan("gather", (LARGE,), (2,), dtype="f64")(d, [at, LARGE // 2]),
    "explain": lambda d, at: garner.explain("gather", d, [at, LARGE // 2]),
    "out": lambda d, at: garner.gather(d, [LARGE // 2], out=Acts(at.act, 1.0)),
}


@needs_numpy
@pytest.mark.parametrize("name", GATHERS)
@pytest.mark.parametrize("change", ["resize", "setstate"])
def test_data_that_loses_its_memory_meanwhile(name, change):
    data = np.arange(LARGE, dtype="f8")
    acts = {
        "resize": lambda: data.resize((1,), refcheck=False),
        "setstate": lambda: data.__setstate__((1, (1,), np.dtype("f8"), False, b"12345678")),
    }
    with pytest.raises(garner.BadArgument, match="given other memory"):
        GATHERS[name](data, Acts(acts[change]))


@needs_numpy
@pytest.mark.parametrize("name", [name for name in GATHERS if name not in ("explain", "out")])
def test_data_that_is_seen_otherwise_meanwhile(name):
    """Its memory stays: the result is that of the array as it was when it was read."""
    for change in (lambda: setattr(data, "dtype", "i1"), lambda: setattr(data, "shape", (2, LARGE // 2))):
        data = np.arange(LARGE, dtype="f8")
        result = GATHERS[name](data, Acts(change))
        assert result.dtype == np.float64 and result.tolist() == [1, LARGE // 2]


@needs_numpy
def test_inputs_and_files_that_lose_their_memory_meanwhile(tmp_path, model):  # noqa: F811
    data = np.ones((LARGE, 3), "f4")
    loses = Acts(lambda: data.resize((1, 1), refcheck=False))
    with pytest.raises(garner.BadArgument, match="given other memory"):
        model.run({"x": data, "i": loses})
    data = np.ones(LARGE)
    with pytest.raises(garner.BadArgument, match="given other memory"):
        garner.save(tmp_path / "lost.npz", {"a": data, "b": Acts(lambda: data.resize((1,), refcheck=False))})
    assert not (tmp_path / "lost.npz").exists()


@needs_numpy
def test_the_base_of_a_view_stays_meanwhile():
    """It cannot be resized: it is referred to weakly, which NumPy refuses, and which can be seen."""
    base, indices, stop, held = np.zeros(LARGE), np.zeros(LARGE, np.int64), threading.Event(), threading.Event()
    view = base[1:].reshape(-1)[::2]

    def watch():
        while not stop.is_set() and not held.is_set():
            if weakref.getweakrefcount(base):
                held.set()

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(200):
        garner.gather(view, indices)
        if held.is_set():
            break
    stop.set()
    thread.join()
    assert held.is_set() and not weakref.getweakrefcount(base)


def test_a_buffer_of_too_many_axes():
    kind = ctypes.c_int
    for _ in range(1000):
        kind = kind * 1
    for call in (lambda: garner.gather(kind(), [0]), lambda: garner.gather([1], kind()), lambda: garner.gather([1], [0], out=kind())):
        with pytest.raises(garner.BadShape, match="rank 1000"):
            call()


@needs_numpy
def test_an_out_between_the_elements_of_data():
    data = np.arange(20.0)
    before = data.tobytes()
    out = np.lib.stride_tricks.as_strided(data, (3,), (9,))
    with pytest.raises(garner.BadShape, match="shares memory with data"):
        garner.gather(data, [3, 2, 1], out=out)
    assert data.tobytes() == before


def test_the_highest_ranks_are_copied():
    for rank in (63, 64):
        shape = [2, 3] + [1] * (rank - 2)
        flat = memoryview(bytes(range(6))).cast("B", shape) if rank < 64 else None
        made = garner.gather(flat if flat is not None else nested(shape), [1, 0])
        assert made.ndim == rank and made[::-1].tobytes() == made.tobytes()[3 * made.nbytes // 6 :] + made.tobytes()[: 3 * made.nbytes // 6]


def nested(shape):
    """A list of lists of that shape, the numbers from 0 on."""
    values, count = iter(range(6)), shape[0] * shape[1]
    assert count == 6

    def make(axes):
        return next(values) if not axes else [make(axes[1:]) for _ in range(axes[0])]

    return make(shape)


def test_a_model_that_is_run_by_its_own_input(model):  # noqa: F811
    x = f32([[1, 2, 3]])

    class Runs:
        def __index__(self):
            model.run({"x": x, "i": [0, 1]})
            return 1

    with pytest.raises(garner.BadArgument, match="while it runs"):
        model.run({"x": x, "i": [Runs(), 0]})
    (output,) = model.outputs
    assert model.run({"x": x, "i": [1, 0]})[output].tolist() == [[2, 1]]


def test_a_model_in_a_child_that_was_forked_while_it_ran(model):  # noqa: F811
    x, forked = f32([[1, 2, 3]]), threading.Event()
    reading = threading.Event()

    class Waits:
        def __index__(self):
            reading.set()
            forked.wait(60)
            return 1

    other = threading.Thread(target=lambda: model.run({"x": x, "i": [Waits(), 0]}))
    other.start()
    assert reading.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        (output,) = model.outputs
        os._exit(0 if model.run({"x": x, "i": [2, 0]})[output].tolist() == [[3, 1]] else 1)
    forked.set()
    other.join()
    assert os.waitpid(child, 0)[1] == 0


class Clears:
    """An array that empties every list and dictionary that anything like it is in, once it is read."""

    def __init__(self, *others):
        self.others = others

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        for referred in (self, *self.others):
            for holder in gc.get_referrers(referred):
                if isinstance(holder, (list, dict)) and holder is not self.__dict__:
                    holder.clear()
        self.others = ()
        gc.collect()
        return np.array([1, 1]).__dlpack__(**options)


@needs_numpy
def test_containers_that_lose_their_arrays_meanwhile(tmp_path, model):  # noqa: F811
    """Arrays that nobody but the call holds any more stay for the call."""

    def two(kind):
        first = np.ones((LARGE, 3), kind)
        return first, Clears(first)

    garner.save(tmp_path / "a.npz", dict(zip("ab", two("f4"))))
    assert garner.load(tmp_path / "a.npz")["a"][-1].tolist() == [1, 1, 1]
    assert model.run(dict(zip("xi", two("f4"))))
    plan = garner.Plan("gather", (LARGE, 3), (2,))
    assert plan(**dict(zip(("data", "indices"), two("f4")))).tolist() == [[1, 1, 1], [1, 1, 1]]


def nested_lists(inner, times, depth):
    for _ in range(depth):
        inner = [inner] * times
    return inner


@pytest.fixture
def patience():
    """Fails a test that is not done, nor can be interrupted, within seconds."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < 10


READ_LISTS = {
    "data": lambda e: garner.gather(e, [0]),
    "indices": lambda e: garner.gather([1, 2], e),
    "take": lambda e: garner.take(e, [0]),
    "gather_nd": lambda e: garner.gather_nd([1, 2], e),
    "explain": lambda e: garner.explain("gather", e, [0]),
    "plan": lambda e: garner.Plan("gather", (2,), (2,))(e, [0, 1]),
}


@pytest.mark.parametrize("reader", READ_LISTS)
@pytest.mark.parametrize("leaf", [[], 1, ()], ids=repr)
def test_lists_of_lists_without_end(reader, leaf, patience):
    """A few thousand words of memory that would take longer to walk through than anybody waits."""
    with pytest.raises((garner.BadShape, MemoryError), match="no number in them|more numbers"):
        READ_LISTS[reader](nested_lists(leaf, 1000, 8))


def interrupt_soon():
    def interrupt(*unused):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)


@pytest.fixture
def no_collection():
    """Whoever watches the collection of garbage in Python would swallow an interrupt that comes meanwhile, as hypothesis does."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_lists_of_nothing_can_be_interrupted(patience, no_collection):
    many = nested_lists([], 4000, 2)
    empty = garner.gather(capsule(None, [4000, 4000, 0]), [0], axis=0)
    assert empty.shape == (1, 4000, 0)
    for call in (lambda: garner.gather(many, [0]), lambda: garner.gather([1], many), garner.gather(capsule(None, [4000, 4000, 0]), range(4000)).tolist):
        before = signal.getsignal(signal.SIGALRM)
        begin = time.monotonic()
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            call()
        signal.signal(signal.SIGALRM, before)
        assert time.monotonic() - begin < 1


def test_lists_of_nothing_are_fine():
    assert garner.gather([1, 2], nested_lists([], 100, 3)).shape == (100, 100, 100, 0)
    assert garner.gather([[]] * 1000, [0, 999]).shape == (2, 0)


@pytest.mark.parametrize("length", [10**13, 2**63 - 1, 2**63, 2**200])
def test_ranges_are_refused_by_their_length(length, patience):
    for reader in READ_LISTS.values():
        with pytest.raises((garner.BadShape, MemoryError), match="longer than|more numbers"):
            reader(range(length))
    for shape in (range(length), iter(int, 1)):
        with pytest.raises(garner.BadShape, match="64 extents"):
            garner.Plan("gather", shape, (1,))
    assert garner.gather(range(10**6), range(0, 10**6, 10**5)).tolist() == list(range(0, 10**6, 10**5))


class Lies(list):
    """A list that says another length than it has."""

    def __init__(self, values, *lengths):
        super().__init__(values)
        self.lengths = iter(lengths)

    def __len__(self):
        return next(self.lengths, 2)


def test_lists_that_lie_about_their_length(patience):
    for lengths in ((10**15,), (3, 2), (1, 2, 3), (2, 2, 5), (2, 2, 10**9)):
        for reader in READ_LISTS.values():
            with pytest.raises((garner.Error, MemoryError, IndexError)):
                reader(Lies([0, 1], *lengths))
                reader(object())  # those that happen to be fine


PICKLED = copyreg.dispatch_table[garner.Array](garner.gather([3, 1], [0, 1]))


@pytest.mark.parametrize(
    "dtype, item, format, descr",
    [
        ("i64", 0, "O", None), ("i64", 0, "d", None), ("i64", 0, "i", None), ("i64", 0, "2i", None), ("i64", 0, "", None),
        ("i64", 0, "T{O:x:}", None), ("i64", 0, "q", "'<i8'"), ("opaque", 8, "O", None), ("opaque", 8, "T{<i:a::<O:b:}", None),
        ("opaque", 8, "d", None), ("opaque", 8, "b", None), ("opaque", 8, "c", None), ("opaque", 16, "P", None), ("opaque", 8, None, "'|O'"),
        ("opaque", 8, None, "'<M8[s]', junk"), ("opaque", 8, None, "'|S7'"), ("opaque", 8, None, "'<i8'"), ("opaque", 8, None, "__import__('os')"),
        ("bf16", 0, "e", None), ("u4", 0, "B", None), ("opaque", 2**63, "8x", None), ("opaque", 0, "8x", None), ("str", 0, None, None),
    ],
)  # fmt: skip
def test_pickles_whose_names_do_not_fit(dtype, item, format, descr):
    rebuild, (elements, *_) = PICKLED
    with pytest.raises(garner.Error, match="Array: "):
        rebuild(elements, dtype, item, (2,), format, descr)


def test_pickles_whose_names_fit():
    rebuild, (elements, *_) = PICKLED
    for dtype, item, format, descr in [("i64", 0, ">q", None), ("u64", 0, "N", None), ("opaque", 8, "T{<i:Open:<i:O:}", None), ("opaque", 8, "P", None),
                                       ("opaque", 8, None, "'<M8[s]'"), ("opaque", 8, None, "[('O', '<i4'), ('b', '<f4')]"), ("c64", 0, "Zf", None)]:  # fmt: skip
        made = rebuild(elements, dtype, item, (2,), format, descr)
        assert pickle.loads(pickle.dumps(made)).tobytes() == elements and made.dtype == dtype


def record(*names, kinds=(ctypes.c_int32, ctypes.py_object)):
    return type("Record", (ctypes.Structure,), {"_fields_": list(zip(names, kinds))})


@pytest.mark.parametrize("names", [("a", "b"), ("a:", "b"), ("a:", "b:"), ("a:<i", "b:"), ("::", ":"), (":a:b:c", "d"), ("a:(2)", "b")])
def test_names_of_fields_hide_no_objects(names):
    for kind in ctypes.py_object, ctypes.py_object * 3:
        records = (record(*names, kinds=(ctypes.c_int32, kind)) * 2)()
        for data in records, memoryview(records):
            with pytest.raises(garner.BadType, match="Python objects"):
                garner.gather(data, [0])


def test_names_of_fields_are_not_objects():
    records = (record("Open", "O", kinds=(ctypes.c_int32, ctypes.c_int32)) * 2)()
    records[1].O = 7
    picked = garner.gather(records, [1])
    assert ctypes.c_int32.from_buffer(picked, 4).value == 7 and memoryview(picked).format == memoryview(records).format


@pytest.mark.parametrize("call", [
    lambda e: garner.gather([1], [0], axis=e), lambda e: garner.gather([1], [0], oob=e), lambda e: garner.gather([1], [0], spec=e),
    lambda e: garner.gather([1], [0], threads=e), lambda e: garner.take([1], [0], mode=e), lambda e: garner.explain(e, [1], [0]),
    lambda e: garner.Plan(e, (1,), (1,)), lambda e: garner.Plan("gather", (1,), (1,), dtype=e), lambda e: garner.gather([1], [0])[e],
    lambda e: garner.Plan("gather", e, (1,)), lambda e: garner.gather([1], [0]) == e,
])  # fmt: skip
@pytest.mark.parametrize("what", [nested_lists([], 1000, 8), nested_lists(0, 1000, 8), "x" * 10**6, {0: nested_lists([], 1000, 8)}, 10**5000], ids=["empty", "full", "text", "dict", "int"])  # fmt: skip
def test_sentences_stay_short(call, what, patience):
    """They name what was given; they do not write all of it out, which may take for ever."""
    try:
        call(what)
    except (garner.Error, MemoryError, TypeError, IndexError) as error:
        assert len(str(error)) < 300


def test_no_foreign_code_for_a_sentence():
    class Shown(int):
        def __repr__(self):
            raise AssertionError("was written out")

    with pytest.raises(garner.BadShape, match="axis 1180591620717411303424 does not fit"):
        garner.gather([1], [0], axis=Shown(2**70))
