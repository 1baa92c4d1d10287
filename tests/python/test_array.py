# SPDX-License-Identifier: MIT
"""garner.Array as an object of its own: parts of it, walks through it, copies and pickles. Needs no NumPy."""

import array
import copy
import ctypes
import itertools
import pickle

import pytest

import garner


def table():
    return garner.gather([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], [1, 0])


KEYS = [0, 1, -1, -2, slice(None), slice(1), slice(None, None, -1), slice(5, 9), slice(None, None, 7), slice(-1, None, -(1 << 62)), True]


def test_parts_are_those_of_memoryviews_and_lists():
    """One key after the other on nested lists, against all at once on the Array."""
    nested = table().tolist()

    def part(of, keys):
        if not keys:
            return of
        return [part(item, keys[1:]) for item in of[keys[0]]] if isinstance(keys[0], slice) else part(of[keys[0]], keys[1:])

    for rank in range(4):
        for keys in itertools.product(KEYS, repeat=rank):
            ours = table()[keys]
            assert (ours.tolist() if isinstance(ours, garner.Array) else ours) == part(nested, keys), keys
    assert table()[1].tolist() == nested[1] and list(table()[0, 0]) == nested[0][0]


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


def test_buffers_as_they_are_asked_for():
    """Whoever asks for an order gets it or is refused: what follows is read as if it were so."""
    simple, nd, strides, c, fortran, any_order = 0, 0x08, 0x18, 0x38, 0x58, 0x98
    grid = garner.gather([[1, 2, 3], [4, 5, 6]], [0, 1])
    for a, refused in [(grid, {fortran}), (grid[:, ::2], {simple, nd, c, fortran, any_order}), (grid[0], set()), (grid[:, :1], {simple, nd, c, fortran, any_order}),
                       (grid[:1], set()), (grid[:0, ::2], set()), (grid[1, 1:][:1], set()), (grid[::-1], {simple, nd, c, fortran, any_order})]:  # fmt: skip
        for flags in (simple, nd, strides, c, fortran, any_order):
            buffer = Buffer()
            if flags in refused:
                with pytest.raises(BufferError, match="order|contiguous"):
                    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(a), ctypes.byref(buffer), flags)
                continue
            ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(a), ctypes.byref(buffer), flags)
            assert (buffer.len, buffer.itemsize, bool(buffer.shape), bool(buffer.strides)) == (a.nbytes, 8, flags >= nd, flags >= strides)
            assert buffer.ndim == (a.ndim if flags else 1)
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def test_views_share_memory():
    a = table()
    view = a[:, ::-1, 1:]
    del a
    assert view.shape == (2, 2, 2) and view.tolist() == [[[11, 12], [8, 9]], [[5, 6], [2, 3]]]
    assert garner.gather(view, [1]).tolist() == [[[5, 6], [2, 3]]]  # taken as it lies
    assert bytes(view) == view.tobytes() == array.array("q", [11, 12, 8, 9, 5, 6, 2, 3]).tobytes()
    memoryview(view)[0, 0, 0] = 70
    assert view[0, 0, 0] == 70 and not view[:0].tolist()
    garner.gather([5], [0], out=view[1, 1, 1:])
    assert view.tolist() == [[[70, 12], [8, 9]], [[5, 6], [2, 5]]]


def test_walks_and_lengths():
    assert [row.tolist() for row in table()[0]] == table()[0].tolist() and 12 in table()[0, 1]
    assert len(table()) == 2 and len(table()[0, 0]) == 3
    single = garner.gather([1.5], 0)
    assert single.shape == () and single[()] == 1.5
    with pytest.raises(TypeError):
        iter(single)


@pytest.mark.parametrize("key", [2, -3, (0, 2), (0, 0, 0, 0), 1 << 70, (0, 0, -4)])
def test_indices_outside(key):
    with pytest.raises(IndexError):
        table()[key]


@pytest.mark.parametrize("key", ["a", 1.5, None, [0], ..., (0, None), slice("a")])
def test_other_keys(key):
    with pytest.raises(TypeError):
        table()[key]
    with pytest.raises(ValueError):
        table()[::0]


def packed():
    """An Array of a type without whole bytes, out of a file."""
    header = b'{"x":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]}}'
    return len(header).to_bytes(8, "little") + header + bytes([0x21, 0x43, 0x65, 0x07])


def test_packed_elements(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(packed())
    x = garner.load(tmp_path / "x.safetensors")["x"]
    assert [x[0, i] for i in range(4)] == x.tolist()[0]
    with pytest.raises(garner.BadType, match="share bytes"):
        x[0]
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.dtype == "f4e2m1" and again.tolist() == x.tolist()


@pytest.mark.parametrize("letter", "bBhHiIqQfd")
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(letter, protocol):
    a = garner.gather(array.array(letter, [1, 2, 3]), [[2, 0], [1, 1]])
    for part in (a, a[:, ::-1], a[1:1], garner.gather(a, 0)):
        again = pickle.loads(pickle.dumps(part, protocol))
        assert (again.shape, again.dtype, again.tolist()) == (part.shape, part.dtype, part.tolist())
        assert memoryview(again).format == memoryview(part).format
        assert not memoryview(again).readonly


def test_copies_are_of_their_own():
    a = garner.gather(b"spam", [3, 0])
    b = copy.copy(a)
    memoryview(b)[0] = 0
    assert a.tolist() == [109, 115] and b.tolist() == [0, 115]


def test_elements_of_numpy_s_own(tmp_path):
    np = pytest.importorskip("numpy")
    x = np.array([[(1, 2.5), (3, 4.5)]], "i2,>f8")
    for given in (x, x.view("V10"), np.array([["a", "bc"]], "S2"), np.array([["a", "bc"]]), np.array([[1, 2]], ">i4"), np.array([[1, 2]], "M8[s]")):
        np.save(tmp_path / "x.npy", given)
        loaded = garner.load(tmp_path / "x.npy")
        again = pickle.loads(pickle.dumps(loaded))
        whole = np.asarray(loaded)
        assert whole.tolist() == given.tolist()
        for ours in (again, loaded[:, :], copy.copy(loaded[:, 1:])):
            theirs = np.asarray(ours)
            assert theirs.dtype == whole.dtype and theirs.tobytes() == whole[:, -ours.shape[1] :].tobytes()
        assert np.asarray(loaded[0, 1], whole.dtype).tobytes() == whole[0, 1].tobytes()


def test_strings_are_not_pickled(tmp_path):
    pytest.importorskip("onnx")
    import onnx

    (tmp_path / "x.pb").write_bytes(onnx.helper.make_tensor("x", onnx.TensorProto.STRING, [2], [b"ab", b"c"]).SerializeToString())
    x = garner.load(tmp_path / "x.pb")
    assert x[0] == "ab" and x[::-1].tolist() == ["c", "ab"]
    with pytest.raises(TypeError, match="tolist"):
        pickle.dumps(x)


@pytest.mark.parametrize("parts", [
    (), (b"ab", "u8", 0, (3,), "B", None), (b"ab", "u8", 0, (-1,), "B", None), (b"", "u8", 0, (1 << 62, 1 << 62), "B", None),
    (b"ab", "no", 0, (2,), None, None), (b"ab", "str", 0, (2,), None, None), (b"ab", "opaque", -1, (2,), None, None),
    (b"ab", "u8", 0, [2], "B", None), (b"ab", "u8", 0, (1,) * 65, "B", None), ("ab", "u8", 0, (2,), "B", None), (b"ab", 7, 0, (2,), "B", None),
])  # fmt: skip
def test_damaged_pickles(parts):
    from garner import _pickles

    with pytest.raises((garner.Error, OverflowError)):
        _pickles._rebuild(*parts)
