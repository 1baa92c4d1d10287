# SPDX-License-Identifier: MIT
"""NumPy's arrays: every type and layout, and the namesakes against NumPy itself."""

import array
import itertools

import pytest

np = pytest.importorskip("numpy")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

import garner  # noqa: E402

INDEX_TYPES = [np.dtype(c) for c in "bBhHiIlLqQ"]
TYPES = [np.dtype(t) for t in ("?", "i1", "u2", "<i4", ">i4", "i8", "f2", "f4", ">f8", "g", "c8", "c16", "G", "S5", "U3", ">U2", "M8[s]",
                               "m8[D]", "V7", [("a", "u1"), ("b", ">f4")], [("x", "i2", (2, 3)), ("y", "S1")])]  # fmt: skip


def bits(a):
    """Of a long double of x86 the 10 bytes that it has: NumPy's own scalars do not keep what fills them up."""
    if a.dtype not in (np.longdouble, np.clongdouble) or np.finfo(np.longdouble).nmant != 63:
        return a.tobytes()
    return np.frombuffer(a.tobytes(), np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize)[:, :10].tobytes()


def same(a, b):
    """Equal in type, shape and bits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bits(a) == bits(b)


def filled(dtype, shape):
    """An array whose bytes are all different from their neighbours'."""
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = (np.arange(count) * 37 % 251).astype(np.uint8)
    if dtype == bool:
        raw = raw % 2
    return np.frombuffer(raw.tobytes(), dtype=dtype).reshape(shape)


def layouts(a):
    """The same elements in several layouts of memory."""
    yield a
    yield np.asfortranarray(a)
    yield np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a
    yield a[::-1].copy()[::-1] if a.ndim else a
    unaligned = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape) if a.nbytes else a
    if a.nbytes:
        unaligned[...] = a
        yield unaligned
    holder = np.zeros(a.shape, dtype=[("pad", "u1"), ("field", a.dtype)])
    holder["field"] = a
    yield holder["field"]  # strides that are not whole elements


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_type_and_layout(dtype):
    data = filled(dtype, (4, 3, 5))
    indices = np.array([[3, -1], [0, 2]])
    for view, at in itertools.product(layouts(data), layouts(indices)):
        for axis in (0, 1, -1):
            picked = garner.gather(view, at % view.shape[axis], axis)
            assert type(picked) is np.ndarray and same(picked, np.take(data, indices % data.shape[axis], axis))
    picked = garner.gather_nd(data, indices)
    assert same(picked, data[indices[:, 0], indices[:, 1]])
    column = np.array([[[0, 4, 2]]] * 4)
    assert same(garner.gather_elements(data, column, 2), np.take_along_axis(data[:, :1], column, 2))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_out_in_every_layout(dtype):
    data = filled(dtype, (4, 3))
    indices = np.array([2, 0, 3])
    right = np.take(data, indices, 0)
    for out in layouts(np.zeros_like(right)):
        assert garner.gather(data, indices, out=out) is out and same(np.array(out), right)


@pytest.mark.parametrize("dtype", INDEX_TYPES + [d.newbyteorder() for d in INDEX_TYPES], ids=str)
def test_every_index_type(dtype):
    data = np.arange(200.0)
    indices = np.array([[0, 127], [5, 1]]).astype(dtype)
    for at in layouts(indices):
        assert same(garner.gather(data, at), data[indices.astype(int)])
    if dtype.kind == "i":
        assert garner.gather(data, np.array([-1]).astype(dtype)) == 199


def test_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu", "float8_e4m3", "int4", "uint4", "float4_e2m1fn"):
        dtype = np.dtype(getattr(ml_dtypes, name))
        data = np.array([1, 2, 4, 0.5 if "int" not in name else 3], dtype=dtype)
        picked = garner.gather(data, [3, 0])
        assert picked.dtype == dtype and same(picked, data[[3, 0]])
        out = np.zeros(2, dtype)
        assert same(garner.gather(data, [1, 2], out=out), data[[1, 2]])
    bf16 = np.array([1, 2], dtype=ml_dtypes.bfloat16)
    assert same(garner.gather(bf16, [1], spec="onnx-13"), bf16[[1]])
    with pytest.raises(garner.BadType, match="bf16"):
        garner.gather(bf16, [1], spec="onnx-11")
    with pytest.raises(garner.BadType):
        garner.gather(np.zeros(2, ml_dtypes.float8_e4m3fn), [1], out=np.zeros(1, ml_dtypes.float8_e5m2))


def test_types_of_out_must_agree():
    data = np.arange(3, dtype="<i4")
    for out in (np.zeros(1, ">i4"), np.zeros(1, "i8"), np.zeros(1, "f4"), np.zeros(1, "V4")):
        with pytest.raises(garner.BadType):
            garner.gather(data, [1], out=out)
    with pytest.raises(garner.BadType):
        garner.gather(np.zeros(2, "M8[s]"), [1], out=np.zeros(1, "m8[s]"))


@pytest.mark.parametrize("data, hint", [(np.array([1, None], object), "astype"), (np.zeros(2, [("a", "O")]), "astype"),
                                        (np.ma.array([1, 2], mask=[0, 1]), "mask")])  # fmt: skip
def test_refused_arrays(data, hint):
    with pytest.raises(garner.BadType, match=hint):
        garner.gather(data, [0])


def test_refused_strings():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("this NumPy has no StringDType")
    with pytest.raises(garner.BadType, match="astype"):
        garner.gather(np.array(["a", "b"], np.dtypes.StringDType()), [0])


def test_kinds():
    a = np.arange(6.0).reshape(2, 3)
    assert type(garner.gather(np.matrix(a), [0])) is np.ndarray
    scalar = garner.gather(a[0], 1)
    assert type(scalar) is np.ndarray and scalar.shape == ()
    assert type(garner.take(a, 1)) is type(np.take(a, 1))
    assert type(garner.take(np.float32(5), 0)) is np.float32
    assert type(garner.gather(array.array("d", [1]), np.array([0]))) is garner.Array
    assert np.asarray(garner.gather(a.tolist(), [1])).tolist() == [[3, 4, 5]]
    assert np.from_dlpack(garner.gather(array.array("d", [1, 2]), [1])).tolist() == [2]

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return a

    assert same(garner.gather(Wrapped(), [1]), a[[1]])


def test_read_only_out():
    frozen = np.zeros(1)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        garner.gather(np.ones(1), [0], out=frozen)
    with pytest.raises(garner.BadShape, match="overlap"):
        garner.gather(np.ones(3), [0, 1], out=np.lib.stride_tricks.as_strided(np.zeros(1), (2,), (0,)))


def test_sharing_is_found():
    a = np.arange(10.0)
    with pytest.raises(garner.BadShape, match="overlaps data"):
        garner.gather(a[:5], [0, 1], out=a[4:6])


# ---- The namesakes, against NumPy -------------------------------------------------------------------------


def outcome(call):
    """What a call gives: the result, or the kind of error that people would catch."""
    try:
        return call()
    except Exception as error:
        return next((kind for kind in (IndexError, ValueError, TypeError) if isinstance(error, kind)), type(error))


def agree(ours, theirs):
    if isinstance(theirs, type) or isinstance(ours, type):
        # NumPy's AxisError is a ValueError and an IndexError; a bad axis is a ValueError here.
        return isinstance(theirs, type) and isinstance(ours, type)
    return type(ours) is type(theirs) and same(ours, theirs)


shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@given(data=st.data(), shape=shapes, index_shape=shapes, mode=st.sampled_from(["raise", "wrap", "clip"]))
def test_take(data, shape, index_shape, mode):
    dtype = data.draw(st.sampled_from(TYPES))
    x = filled(dtype, shape)
    x = data.draw(st.sampled_from(list(layouts(x))))
    axis = data.draw(st.none() | st.integers(-len(shape) - 1, len(shape)))
    extent = x.size if axis is None else shape[axis] if -len(shape) <= axis < len(shape) else 1
    reach = 1 if mode == "raise" else 3
    low, high = -reach * max(extent, 1), reach * max(extent, 1)
    indices = data.draw(hnp.arrays(np.int64, index_shape, elements=st.integers(low, high - (mode == "raise"))))
    ours = outcome(lambda: garner.take(x, indices, axis, mode=mode))
    if mode == "wrap" and extent == 0 and indices.size:  # here NumPy may never end (2.4.6)
        assert ours is IndexError
        return
    theirs = outcome(lambda: np.take(x, indices, axis, mode=mode))
    if isinstance(ours, type) and not isinstance(theirs, type):
        assert theirs.size == 0  # every index is checked here, also where nothing is moved
        return
    assert agree(ours, theirs)
    if not isinstance(theirs, type):
        out = np.zeros(theirs.shape, dtype)
        assert garner.take(x, indices, axis, out, mode) is out and same(out, np.asarray(theirs, dtype))
        if indices.size:
            assert agree(garner.take(x, indices.tolist(), axis, mode=mode), theirs)


@given(data=st.data(), base=hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
def test_take_along_axis(data, base):
    axis = data.draw(st.integers(-len(base) - 1, len(base)) | st.none())
    at = axis % len(base) if axis is not None else None

    def partner(extents):
        return tuple(data.draw(st.sampled_from([n, 1, n, n, 2])) for n in extents)

    x = filled(data.draw(st.sampled_from(TYPES)), partner(base))
    index_shape = list(partner(base)) if axis is not None else [data.draw(st.integers(0, 5))]
    if axis is not None:
        index_shape[at] = data.draw(st.integers(0, 5))
    extent = max(x.size if axis is None else x.shape[at], 1)
    indices = data.draw(hnp.arrays(np.int64, tuple(index_shape), elements=st.integers(-extent, extent)))
    theirs = outcome(lambda: np.take_along_axis(x, indices, axis))
    ours = outcome(lambda: garner.take_along_axis(x, indices, axis))
    if isinstance(ours, type) and not isinstance(theirs, type):
        assert theirs.size == 0
        return
    assert agree(ours, theirs)


def test_take_along_axis_sorts():
    x = np.random.default_rng(1).random((3, 50, 4))
    for axis in (0, 1, 2, -1):
        assert same(garner.take_along_axis(x, np.argsort(x, axis), axis), np.sort(x, axis))
    assert same(garner.take_along_axis(x, np.argsort(x, None), None), np.sort(x, None))


@given(data=st.data(), shape=hnp.array_shapes(min_dims=1, max_dims=4, max_side=4))
def test_gather_against_indexing(data, shape):
    x = data.draw(st.sampled_from(list(layouts(filled(np.dtype("f4"), shape)))))
    batch = data.draw(st.integers(0, len(shape) - 1))
    axis = data.draw(st.integers(batch, len(shape) - 1))
    rest = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
    dtype = data.draw(st.sampled_from(INDEX_TYPES))
    low = -shape[axis] if dtype.kind == "i" else 0
    indices = data.draw(hnp.arrays(dtype, shape[:batch] + rest, elements=st.integers(low, shape[axis] - 1)))
    right = np.empty(shape[:axis] + rest + shape[axis + 1 :], "f4")
    for where in np.ndindex(*shape[:batch]):
        right[where] = np.take(x[where], indices[where].astype(np.int64), axis - batch)
    for threads in (None, 1):
        assert same(garner.gather(x, indices, axis, batch, threads=threads), right)
    assert same(garner.Plan("gather", shape, indices.shape, axis=axis, batch_dims=batch, index_dtype=dtype)(x, indices), right)


def test_large_work_on_threads():
    rng = np.random.default_rng(2)
    data = rng.random((5000, 64), np.float32)
    indices = rng.integers(-5000, 5000, 200_000)
    right = data[indices]
    for threads in (None, 1, 2, 7):
        assert np.array_equal(garner.gather(data, indices, threads=threads), right)
        out = np.empty_like(right)
        assert garner.gather(data, indices, out=out, threads=threads) is out and np.array_equal(out, right)
    indices[[150_000, 70_000]] = 5000, -5001
    for threads in (None, 1):
        with pytest.raises(garner.OutOfRange) as caught:
            garner.gather(data, indices, threads=threads)
        assert (caught.value.position, caught.value.value) == (70_000, -5001)


def test_where_we_differ_on_purpose():
    """What docs/numpy.md says under that title: NumPy's answer, and ours."""
    a = np.arange(12.0).reshape(3, 4)
    everything = np.zeros((0, 3))
    assert np.take(everything, [9], axis=1).shape == (0, 1)
    with pytest.raises(garner.OutOfRange):
        garner.take(everything, [9], axis=1)
    for indices in (np.array([True, False]), [1.5]):
        assert np.take(a, indices).size == len(indices)
        with pytest.raises(garner.BadType):
            garner.take(a, indices)
    assert np.take(a, [1], out=np.zeros(1, np.float32)) == 1
    with pytest.raises(garner.BadType):
        garner.take(a, [1], out=np.zeros(1, np.float32))
    flat = np.arange(4.0)
    with pytest.raises(garner.BadShape, match="overlaps"):
        garner.take(flat, [1, 0], out=flat[:2])
    assert np.take(flat, [1, 0], out=flat[:2]).tolist() == [1, 0]
    kept = a.view(np.recarray)
    assert type(np.take(kept, [0], axis=0)) is np.recarray and type(garner.take(kept, [0], axis=0)) is np.ndarray
    assert type(np.take([1, 2], [0])) is np.ndarray and type(garner.take([1, 2], [0])) is garner.Array
    assert np.ndim(a[0, 0]) == 0 and type(garner.gather(a[0], 0)) is np.ndarray
    for call, theirs, ours in [(lambda m: m.take(a, [99]), IndexError, IndexError), (lambda m: m.take(a, [0], axis=5), ValueError, ValueError),
                               (lambda m: m.take_along_axis(a, np.zeros((2, 4), int), 1), IndexError, ValueError),
                               (lambda m: m.take_along_axis(a, np.zeros((3, 4)), 1), IndexError, TypeError),
                               (lambda m: m.take(np.zeros(0), [0], mode="clip"), IndexError, IndexError)]:  # fmt: skip
        with pytest.raises(theirs):
            call(np)
        with pytest.raises(ours) as caught:
            call(garner)
        assert isinstance(caught.value, garner.Error) and not (ours is not IndexError and isinstance(caught.value, IndexError))
