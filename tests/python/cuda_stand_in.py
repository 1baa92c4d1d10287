# SPDX-License-Identifier: MIT
"""Arrays on GPUs, in the stand-in for the driver. test_cuda.py runs this file in a process of its own."""

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest
import stand_in
from stand_in import Current, Exporter, Interface, Managed, Namespaced, driver, last_stream, ndarray, waits

import garner

stand_in.install_cupy()
X = np.arange(24, dtype=np.float32).reshape(4, 6)
LIBRARIES = {"cupy": ndarray, "array api": Namespaced}


@pytest.fixture(autouse=True)
def as_new():
    Current.stream, Current.device[:] = 0, [0]
    driver.fake_set_capture(0)
    yield
    driver.fake_set_capture(0)
    gc.collect()


CALLS = {
    "take": (lambda x, i: garner.take(x, i, axis=1), X, np.array([[5, 0], [-1, 2]])),
    "take, flat": (garner.take, X, np.array([23, 0, -2], np.int32)),
    "take, wrap": (lambda x, i: garner.take(x, i, axis=0, mode="wrap"), X, np.array([9, -9])),
    "take, clip": (lambda x, i: garner.take(x, i, axis=0, mode="clip"), X, np.array([9, -9])),
    "gather": (lambda x, i: garner.gather(x, i, axis=1, batch_dims=1), X, np.array([[0], [1], [2], [3]], np.uint8)),
    "gather, zero": (lambda x, i: garner.gather(x, i, oob="zero"), X, np.array([1, 7])),
    "gather_elements": (lambda x, i: garner.gather_elements(x, i, axis=1), X, np.array([[5, 4], [3, 2], [1, 0], [0, -6]])),
    "gather_nd": (garner.gather_nd, X, np.array([[3, 5], [0, -1]], np.int16)),
    "take_along_axis": (lambda x, i: garner.take_along_axis(x, i, axis=0), X, np.array([[3, 2, 1, 0, 1, 2]])),
    "take_along_axis, repeated": (lambda x, i: garner.take_along_axis(x, i, axis=1), X, np.array([[5]])),
    "take_along_axis, flat": (lambda x, i: garner.take_along_axis(x, i, axis=None), X, np.array([7, 8])),
    "index_select": (lambda x, i: garner.index_select(x, 0, i), X, np.array([2, 2, 0])),
    "index_select, scalar": (lambda x, i: garner.index_select(x, 1, i), X, np.array(4)),
    "take_along_dim": (lambda x, i: garner.take_along_dim(x, i, 1), X, np.array([[1], [2], [3], [4]])),
    "take_along_dim, flat": (garner.take_along_dim, X, np.array([[1], [23]])),
    "plan": (lambda x, i: garner.Plan("gather", (4, 6), (2,), axis=0)(x, i), X, np.array([3, 1])),
    "complex": (lambda x, i: garner.take(x, i, axis=0), X.astype(np.complex128), np.array([3, 1])),
    "bool": (lambda x, i: garner.take(x, i, axis=0), X > 7, np.array([3, 1])),
    "empty": (lambda x, i: garner.take(x, i, axis=0), X, np.zeros((0, 3), np.int64)),
    "nothing": (lambda x, i: garner.take(x, i, axis=1), X[:0], np.array([5, 0])),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CALLS)
def test_result(name, library):
    """The host's, as an array of the data's library, wherever indices lie."""
    call, x, indices = CALLS[name]
    kind = LIBRARIES[library]
    expected = call(x, indices)
    for given in kind(indices, 1), indices, indices.tolist() if indices.size else indices:
        made = call(kind(x, 1), given)
        assert type(made) is kind and made.number == 1
        assert made.dtype == expected.dtype and made.shape == expected.shape and made.tolist() == expected.tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_views(library):
    kind = LIBRARIES[library]
    x, i = kind(X), kind(np.array([[0, 9, 1, 9, 2, 9]]))
    assert garner.take(x[:, ::-1], i[0, ::2], axis=1).tolist() == X[:, ::-1][:, [0, 1, 2]].tolist()
    assert garner.take(x[::-1], i[0, ::2]).tolist() == X[::-1].ravel()[[0, 1, 2]].tolist()
    assert garner.take(x, np.array([[1, 9], [0, 9]])[:, 0], axis=0).tolist() == X[[1, 0]].tolist()
    wide = garner.take_along_axis(x[:, :1], np.array([[3, 2, 1]]), axis=0)
    assert wide.tolist() == np.take_along_axis(np.repeat(X[:, :1], 3, 1), np.array([[3, 2, 1]]), 0).tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_out(library):
    kind = LIBRARIES[library]
    x, out = kind(X), kind(shape=(2, 6), dtype=np.float32)
    assert garner.take(x, [3, 0], axis=0, out=out) is out and out.tolist() == X[[3, 0]].tolist()
    spread = kind(shape=(2, 12), dtype=np.float32)
    garner.gather(x, kind([1, 2]), out=spread[:, ::2])
    assert spread.host[:, ::2].tolist() == X[[1, 2]].tolist() and (spread.host[:, 1::2] == 77).all()
    with pytest.raises(garner.BadArgument, match="out is on the host and data on cuda:0"):
        garner.take(x, [0, 1], axis=0, out=np.empty((2, 6), np.float32))
    with pytest.raises(garner.BadArgument, match="out is on another device"):
        garner.take(x, [0, 1], axis=0, out=kind(shape=(2, 6), dtype=np.float32, device=1))
    with pytest.raises(garner.BadType):
        garner.take(x, [0, 1], axis=0, out=kind(shape=(2, 6), dtype=np.int32))
    with pytest.raises(garner.BadShape):
        garner.take(x, [0, 1], axis=0, out=kind(shape=(3, 6), dtype=np.float32))
    with pytest.raises(garner.BadType, match="out is on the device cuda:0.*CPU"):
        garner.take(X, [0, 1], axis=0, out=out)
    with pytest.raises(garner.Error, match="out shares memory with data|overlap"):
        garner.take(x, [0, 1], axis=0, out=x[:2])


def test_out_of_jax():
    class Jaxed(Namespaced):
        __module__ = "jaxlib.something"

    with pytest.raises(garner.BadArgument, match="JAX"):
        garner.take(Namespaced(X), [0, 1], axis=0, out=Jaxed(shape=(2, 6), dtype=np.float32))


def fields(error):
    return (type(error), str(error), error.status, error.axis, error.position, error.coordinates, error.value, error.bound)


BAD = {
    "gather": (lambda x, i: garner.gather(x, i, axis=1), np.array([[0, 1], [6, -7]])),
    "take": (garner.take, np.array([0, 24, 25])),
    "gather_elements": (lambda x, i: garner.gather_elements(x, i, axis=1), np.array([[0, 1], [1, -9], [8, 8], [0, 0]])),
    "gather_nd": (garner.gather_nd, np.array([[0, 0], [3, 6]])),
    "take_along_axis": (lambda x, i: garner.take_along_axis(x, i, axis=1), np.array([[0, 1, 66]])),
    "take_along_dim": (garner.take_along_dim, np.array([[0], [24]])),
    "index_select": (lambda x, i: garner.index_select(x, 0, i), np.array(4)),
    "unsigned": (lambda x, i: garner.take(x, i, axis=0), np.array([2**64 - 1], np.uint64)),
    "out shape": (lambda x, i: garner.gather_elements(x, i), np.zeros((5, 7, 1), np.int64)),
    "axis": (lambda x, i: garner.gather(x, i, axis=2), np.array([0])),
    "index type": (lambda x, i: garner.gather(x, i), np.array([0.5])),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", BAD)
def test_error(name, library):
    """All that the host's says, and the next call is right."""
    call, indices = BAD[name]
    kind = LIBRARIES[library]
    with pytest.raises(garner.Error) as expected:
        call(X, indices)
    for given in kind(indices), indices:
        with pytest.raises(garner.Error) as caught:
            call(kind(X), given)
        assert fields(caught.value) == fields(expected.value)
    assert garner.take(kind(X), [5]).tolist() == [5]


def test_error_of_a_number_that_no_64_bits_hold():
    for x in X, ndarray(X):
        with pytest.raises(garner.OutOfRange, match=str(2**70)):
            garner.take(x, [0, 2**70], axis=0)
    assert garner.take(ndarray(X), [0, 2**70 + 1], axis=0, mode="wrap").tolist() == X[[0, (2**70 + 1) % 4]].tolist()


def test_every_index_is_looked_at():
    x = ndarray(np.empty((3, 0), np.float32))
    assert garner.take_along_axis(x, ndarray([[2]]), axis=0).shape == (1, 0)
    for i in [[3]], ndarray([[3]]):
        with pytest.raises(garner.OutOfRange, match="= 3 is outside"):
            garner.take_along_axis(x, i, axis=0)


def test_places():
    with pytest.raises(garner.BadArgument, match="indices is on cuda:1 and x on the host; copy x to the device, or indices to the host"):
        garner.take(X, ndarray([0], 1))
    with pytest.raises(garner.BadArgument, match="x is on cuda:0 and indices on cuda:1"):
        garner.take(ndarray(X), ndarray([0], 1))
    pinned = Exporter([3.0, 4.0])
    pinned.kind = 3
    assert garner.take(pinned, [1]).tolist() == [4.0]
    assert garner.take(ndarray(X), pinned_indices(), axis=0).tolist() == X[[1]].tolist()
    assert garner.gather(ndarray(X), 2).tolist() == X[2].tolist()
    with pytest.raises(garner.BadType, match="rocm"):
        rocm = Exporter(X)
        rocm.kind = 10
        garner.take(rocm, [0])


def pinned_indices():
    made = Exporter([1])
    made.kind = 3
    return made


def test_unknown_library():
    """What comes as a bare export has no kind: where results go, and indices come from, has to be said."""
    for kind in Exporter, Managed, Interface:
        out, i = kind(shape=(2, 6), dtype=np.float32), kind([3, 0])
        assert garner.take(kind(X), i, axis=0, out=out) is out and out.tolist() == X[[3, 0]].tolist()
        with pytest.raises(garner.BadArgument, match="give out"):
            garner.take(kind(X), i, axis=0)
        with pytest.raises(garner.BadArgument, match="give indices on the device"):
            garner.take(kind(X), [3, 0], axis=0, out=out)
    x, out = Exporter(X), ndarray(shape=(2, 6), dtype=np.float32)
    assert garner.take(x.__dlpack__(), Exporter([1, 2]), axis=0, out=out) is out and out.tolist() == X[[1, 2]].tolist()


def test_what_would_be_wrong_from_a_library():
    """A result of another shape or type than was asked for is not written to."""

    class Careless(Namespaced):
        made = dict(shape=(1,), dtype=np.float32)

        def __array_namespace__(self):
            return type("namespace", (), {"empty": staticmethod(lambda shape, dtype, device: Namespaced(**self.made))})

    for made in dict(shape=(1,), dtype=np.float32), dict(shape=(2, 6), dtype=np.int8), dict(shape=(2, 6), dtype=np.float32, device=1):
        Careless.made = made
        with pytest.raises(garner.Error):
            garner.take(Careless(X), Namespaced([0, 1]), axis=0)


def test_what_new_empty_makes():
    """torch's tensors make their own results. One that lies otherwise than asked for is written to as it lies."""

    class Own(ndarray):
        makes = staticmethod(lambda shape: Own(shape=shape, dtype=np.float32))

        def new_empty(self, shape):
            return self.makes(shape)

    expected = X[[3, 0]].tolist()
    assert garner.take(Own(X), ndarray([3, 0]), axis=0).tolist() == expected
    wide = Own(shape=(2, 12), dtype=np.float32)
    for makes in lambda shape: wide[:, ::2], lambda shape: wide[:, 6:]:
        Own.makes = staticmethod(makes)
        assert garner.take(Own(X), ndarray([3, 0]), axis=0).tolist() == expected
    for makes in lambda shape: Own(shape=shape, dtype=np.int8), lambda shape: Own(shape=shape[:1], dtype=np.float32), lambda shape: 1 / 0:
        Own.makes = staticmethod(makes)
        with pytest.raises((garner.Error, ZeroDivisionError)):
            garner.take(Own(X), ndarray([3, 0]), axis=0)


def test_an_old_producer_is_asked_for_its_stream_alone():
    class Old(ndarray):
        def __dlpack__(self, *, stream=None):
            return super().__dlpack__(stream=stream)

    assert garner.take(Old(X), Old([3, 0]), axis=0).tolist() == X[[3, 0]].tolist()


def test_numbers_of_streams():
    for stream, fine in (1, True), (2**70, False), (-1, False):
        Current.stream = stream
        if fine:
            assert garner.take(ndarray(X), ndarray([3]), axis=0).tolist() == X[[3]].tolist() and last_stream() == 0
        else:
            with pytest.raises((garner.Error, OverflowError)):
                garner.take(ndarray(X), ndarray([3]), axis=0)


def test_deferred_on_two_devices():
    with garner.cuda.deferred():
        made = [garner.take(ndarray(X, number), ndarray([3, number], number), axis=0) for number in (0, 1, 1, 0)]
    assert [array.tolist() for array in made] == [X[[3, number]].tolist() for number in (0, 1, 1, 0)]


# ---- The interface ----


def test_interface_types():
    for dtype in "?", "i1", "u8", "f2", "f8", "c8", "c16", "S3", "M8[s]", "U2":
        x = np.array([0, 1, 2]).astype(dtype)
        out = Interface(shape=(2,), dtype=dtype)
        assert garner.take(Interface(x), Interface([2, 0]), out=out).host.tobytes() == x[[2, 0]].tobytes()
    out = Interface(shape=(2, 2), dtype=np.float32)
    garner.take(Interface(X)[::2, 1::2], Interface([2, 0]), axis=1, out=out)
    assert out.tolist() == X[::2, 1::2][:, [2, 0]].tolist()


@pytest.mark.parametrize("more", [dict(mask=1), dict(typestr=">f4"), dict(typestr="|O8"), dict(typestr=7), dict(shape=3), dict(strides=(1,)),
                                  dict(strides=(24, 3)), dict(data=5), dict(data=("x", 1)), dict(stream=0), dict(shape=(-1, 2)),
                                  dict(typestr=""), dict(typestr="<"), dict(typestr="<f"), dict(typestr="<i0"), dict(typestr="<V99999999999"),
                                  dict(typestr="<f3"), dict(typestr="<q4"), dict(typestr="\udcff"), dict(typestr=None), dict(shape=(1,) * 65),
                                  dict(shape=("x",)), dict(strides=7), dict(strides=("x", 4)), dict(data=None), dict(data=(1, 2, 3)), dict(data=(-1, False)),
                                  dict(stream="x"), dict(stream=-1)])  # fmt: skip
def test_interface_refused(more):
    x = Interface(X)
    x.more = more
    with pytest.raises(garner.Error, match="take: x"):
        garner.take(x, [0])


class Given:
    """What __cuda_array_interface__ gives is given."""

    def __init__(self, dictionary):
        self.dictionary = dictionary

    @property
    def __cuda_array_interface__(self):
        if isinstance(self.dictionary, BaseException):
            raise self.dictionary
        return self.dictionary


def test_interface_that_is_none():
    for wrong in [], None, "x":
        with pytest.raises(garner.BadType, match="is no dictionary"):
            garner.take(Given(wrong), [0])
    with pytest.raises(ZeroDivisionError):
        garner.take(Given(ZeroDivisionError()), [0])
    with pytest.raises(garner.BadType, match="must be an array"):
        garner.take(Given(AttributeError()), [0])
    for kind in Interface, Given, type(Interface(X)):
        with pytest.raises(garner.Error):
            garner.take(kind, [0])
    with pytest.raises(garner.BadType, match="has no data"):
        garner.take(Given({"typestr": "<f4", "shape": (2,)}), [0])
    with pytest.raises(garner.BadType, match="shape and strides"):
        garner.take(Given({"typestr": "<f4"}), [0])


def test_interface_with_less():
    """Versions before 3 have no stream, and dense arrays no strides; a mask may be said to be none."""
    out = Interface(shape=(2,), dtype=np.float32)
    for more in dict(strides=None), dict(stream=None, mask=None):
        x = Interface(X)
        x.more = more
        assert garner.take(x, Interface([3, 1]), out=out).tolist() == [3, 1]
    x = Interface(X[:0])
    x.more = {"data": (0, False)}
    with pytest.raises(garner.OutOfRange):
        garner.take(x, Interface([3, 1]), out=out)
    host = np.arange(3, dtype=np.float32)
    x = Given({"typestr": "<f4", "shape": (3,), "data": (host.ctypes.data, False), "version": 3})
    assert garner.take(x, [2]).tolist() == [2]  # memory of the host it is


def test_the_driver_does_not_say():
    x, out = Interface(X), Interface(shape=(1,), dtype=np.float32)
    driver.fake_fail_next(b"cuPointerGetAttributes", 1)
    with pytest.raises(OSError, match="take: the driver does not say where x lies"):
        garner.take(x, Interface([1]), out=out)


def test_interface_read_only():
    out = Interface(shape=(1,), dtype=np.float32)
    out.more = {"data": (out.address(), True)}
    with pytest.raises(garner.BadArgument, match="read-only"):
        garner.take(Interface(X), Interface([1]), out=out)


def test_interface_streams():
    x, i, out = Interface(X), Interface([1]), Interface(shape=(1,), dtype=np.float32)
    for streams, last, synchronized in [((None, None, None), 0, 0), ((32, None, None), 32, 0), ((32, 32, 32), 32, 0), ((32, 64, None), 32, 1),
                                        ((1, None, 64), 0, 1), ((1, 1, 1), 0, 0)]:  # fmt: skip
        x.stream, i.stream, out.stream = streams
        before = waits()
        garner.take(x, i, out=out)
        assert last_stream() == last and waits() - before - 1 == synchronized, streams


# ---- Streams ----


def test_current_stream():
    x, i = ndarray(X), ndarray([1])
    for stream in 0, 48, 2:
        Current.stream = stream
        garner.take(x, i)
        assert last_stream() == stream and x.streams.pop() == i.streams.pop() == -1
    other = Exporter([1])
    Current.stream = 48
    garner.take(x, other)
    assert other.streams.pop() == 48
    Current.stream = 0
    garner.take(x, other)
    assert other.streams.pop() == 1


def test_libraries_without_a_stream():
    x, i = Namespaced(X), Namespaced([1])
    Namespaced.blocked = 0
    garner.take(x, i)
    assert last_stream() == 0 and x.streams.pop() == i.streams.pop() == 1 and Namespaced.blocked == 3


# ---- Later ----


def test_checked_by_default():
    before = waits()
    garner.take(ndarray(X), ndarray([1]))
    assert waits() == before + 1


def test_deferred_waits_once():
    x, i = ndarray(X), ndarray([1, 2])
    before = waits()
    with garner.cuda.deferred():
        made = [garner.take(x, i, axis=0) for _ in range(100)]
        assert waits() == before
    assert waits() == before + 1
    assert all(m.tolist() == X[[1, 2]].tolist() for m in made)
    garner.take(x, i)
    assert waits() == before + 2


@pytest.mark.parametrize("name", ["gather", "take", "gather_nd", "take_along_axis", "take_along_dim", "index_select", "unsigned"])
def test_deferred_error(name):
    call, indices = BAD[name]
    x, i, good = ndarray(X), ndarray(indices), ndarray([1])
    with pytest.raises(garner.Error) as expected:
        call(X, indices)
    with pytest.raises(garner.Error) as caught:
        with garner.cuda.deferred():
            garner.take(x, good)
            call(x, i)
            garner.take(x, ndarray([99]))
    assert fields(caught.value) == fields(expected.value)
    with garner.cuda.deferred():
        assert garner.take(x, good).tolist() == [1]


def test_deferred_zero():
    with pytest.raises(garner.OutOfRange):
        with garner.cuda.deferred():
            made = garner.take(ndarray(X), ndarray([1, 24, 2]))
    assert made.tolist() == [1, 0, 2]


def test_deferred_first_of_several_kinds():
    """In the order of the calls, whether they wait or not, on whatever stream."""
    calls = [lambda n: garner.take(ndarray(X), ndarray([n])), lambda n: garner.take(Namespaced(X), Namespaced([n])),
             lambda n: garner.take_along_axis(ndarray(X), ndarray([[n]]), 1), lambda n: garner.take(ndarray(X), [n])]  # fmt: skip
    for order in itertools.permutations(range(len(calls))):
        with pytest.raises(garner.OutOfRange, match="= 100 is outside"):
            with garner.cuda.deferred():
                for number, which in enumerate(order):
                    Current.stream = 16 * (number % 2)
                    calls[which](100 + number)


def test_deferred_many():
    """More plans, and more streams, than are held."""
    with pytest.raises(garner.OutOfRange, match="= 150 is outside"):
        with garner.cuda.deferred():
            made = [garner.take(ndarray(np.arange(n + 1)), ndarray([n])) for n in range(150)]
            for n in range(150, 300):
                Current.stream = 16 * (n % 7)
                garner.take(ndarray(np.arange(n)), ndarray([n]))
    assert [m.tolist() for m in made] == [[n] for n in range(150)]


def test_deferred_check_and_nesting():
    x, outer = ndarray(X), garner.cuda.deferred()
    with outer:
        garner.take(x, ndarray([55]))
        with garner.cuda.deferred():
            garner.take(x, ndarray([1]))
        with outer:
            garner.take(x, ndarray([56]))
            with pytest.raises(garner.OutOfRange, match="= 55"):
                outer.check()
        garner.take(x, ndarray([1]))
    outer.check()


def test_deferred_with_another_exception():
    with pytest.raises(KeyError) as caught:
        with garner.cuda.deferred():
            garner.take(ndarray(X), ndarray([55]))
            raise KeyError("mine")
    assert any("= 55 is outside" in note for note in caught.value.__notes__)
    garner.take(ndarray(X), ndarray([1]))


def test_deferred_misused():
    a, b = garner.cuda.deferred(), garner.cuda.deferred()
    a.__enter__()
    b.__enter__()
    with pytest.raises(RuntimeError, match="order"):
        a.__exit__(None, None, None)
    a._outer.append(None)
    b.__exit__(None, None, None)
    a._outer.pop()
    a._outer.append(None)
    a.__exit__(None, None, None)
    with pytest.raises(garner.BadArgument):  # wrong in itself, and not later
        with garner.cuda.deferred():
            garner.take(ndarray(X), ndarray([1]), mode="nonsense")
    with pytest.raises(garner.Error, match="overlap|shares"):
        with garner.cuda.deferred():
            x = ndarray(X)
            garner.take(x, ndarray([1, 2]), axis=0, out=x[:2])


def test_deferred_is_of_one_thread():
    seen = []

    def other():
        before = waits()
        try:
            garner.take(ndarray(X), ndarray([77]))
        except garner.OutOfRange as error:
            seen.append((waits() - before, error.value))

    with garner.cuda.deferred():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [(1, 77)]


def test_nothing_is_kept():
    x = ndarray(X)
    gone = weakref.ref(x.memory)
    with garner.cuda.deferred():
        garner.take(x, ndarray([1]))
    scope = garner.cuda.deferred()
    with scope:
        garner.take(x, [1])
    stand_in.capsule.__globals__["_kept"].clear()
    del x
    gc.collect()
    assert gone() is None


# ---- Graphs ----


def test_capture():
    x, i, scope = ndarray(X), ndarray([1, 77]), garner.cuda.deferred()
    with pytest.raises(garner.OutOfRange), scope:
        garner.take(x, i)  # the warm-up
    before = waits()
    driver.fake_set_capture(1)
    with pytest.raises(garner.BadArgument, match="captured into a CUDA graph.*deferred"):
        garner.take(x, i)
    with pytest.raises(garner.BadArgument, match="captured into a CUDA graph.*waited for"), scope:
        garner.take(Namespaced(X), Namespaced([1]))
    with pytest.raises(garner.OutOfRange), scope:  # the stand-in launches at once
        garner.take(x, i)
    driver.fake_set_capture(0)
    assert waits() == before
    scope.check()


# ---- The driver ----


def test_driver_fails():
    x, i = ndarray(X), ndarray([1])
    garner.take(x, i)
    driver.fake_fail_next(b"cuLaunchKernel", 2)
    with pytest.raises(OSError, match="out of memory"):
        garner.take(x, i)
    driver.fake_fail_next(b"cuLaunchKernel", 2)
    with pytest.raises(OSError, match="out of memory"), garner.cuda.deferred():
        garner.take(x, i)
    Current.stream = 4
    with pytest.raises(OSError, match="invalid resource handle"):
        garner.take(x, i)
    Current.stream = 0
    assert garner.take(x, i).tolist() == [1]


def test_available():
    assert garner.cuda.available() is True


def test_from_threads():
    """Calls, scopes and errors of eight threads."""
    wrong = []

    def work(number):
        x, bad = ndarray(X), ndarray([number + 100])
        for _ in range(50):
            try:
                with garner.cuda.deferred():
                    good = garner.take(x, ndarray([number]), axis=1)
                    garner.take(x, bad)
                wrong.append("no error")
            except garner.OutOfRange as error:
                if error.value != number + 100 or good.tolist() != X[:, [number]].tolist():
                    wrong.append(str(error))

    threads = [threading.Thread(target=work, args=(n % 6,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
