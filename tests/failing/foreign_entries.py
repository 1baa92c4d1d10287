# SPDX-License-Identifier: MIT
"""What python_entries.py calls with arrays of other libraries, and with values that are compared: the ways in and out of the
module that go through somebody else's code."""

import array
import ctypes
import pathlib
import pickle
import sys
import tempfile
import types

import garner

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from capsule import Producer, capsule  # noqa: E402

FLOATS = (ctypes.c_float * 6)(*range(6))
NUMBERS = garner.gather(memoryview(array.array("i", range(6))).cast("B").cast("i", [3, 2]), [0, 1, 2])


def load_words():
    """ONNX's TensorProto: one dim, the type of strings, and those."""
    words = [b"ab", b"a string that is long", b"ab"]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/words.pb"
        pathlib.Path(path).write_bytes(b"\x08\x03\x10\x08" + b"".join(b"\x32" + bytes([len(word)]) + word for word in words))
        return garner.load(path, copy=True)


WORDS = load_words()
TYPES = [garner.gather(array.array(code, [0, 1, 2]), [2, 1]) for code in "bBhHlLfd"]


class Old:
    """From before DLPack had versions."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self):
        del capsule.__globals__["_kept"][:-4]
        return capsule(ctypes.addressof(FLOATS), [3, 2], code=2, bits=32)


class Own(Producer):
    """Of a package that makes its own arrays of results."""

    __module__ = "foreign.arrays"


class Namespaced(Producer):
    """The same, by the Array API."""

    def __array_namespace__(self):
        return types.SimpleNamespace(from_dlpack=lambda made: ("imported", made.tolist()))


class Lent:
    """An object that NumPy can look at."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *options, **named):
        return self.array


class Index:
    def __index__(self):
        return 1


def made():
    del capsule.__globals__["_kept"][:-4]  # of earlier calls
    return capsule(ctypes.addressof(FLOATS), [3, 2], code=2, bits=32, version=(1, 0))


def chosen():
    del capsule.__globals__["_kept"][:-4]
    return capsule(ctypes.addressof(INDICES), [2], code=0, bits=64)


sys.modules["foreign"] = types.SimpleNamespace(from_dlpack=lambda made: ("imported", made.tolist()))


def as_said(made):
    """Plain values: garner's own Array where the other library's was to be."""
    return made if isinstance(made, tuple) else repr(made)


def answer(call):
    """What it gives, or the kind of its error, whose words may be fewer without memory; a failure that was injected goes on."""
    try:
        made = call()
        return made.tolist() if isinstance(made, garner.Array) else made
    except (garner.Error, TypeError) as error:
        return type(error).__name__


CALLS = {
    "dlpack": lambda: garner.gather(Producer(made), [2, 0]).tolist(),
    "dlpack, old": lambda: garner.gather(Old(), [2, 0]).tolist(),
    "dlpack, imported": lambda: as_said(garner.gather(Own(made), [2, 0])),
    "dlpack, namespace": lambda: as_said(garner.gather(Namespaced(made), [2, 0])),
    "dlpack, indices": lambda: garner.gather([1, 2, 3], Producer(chosen)).tolist(),
    "dlpack, elsewhere": lambda: answer(lambda: garner.gather(Producer(made, device=(10, 0)), [0])),
    "an index": lambda: garner.gather([[1, 2], [3, 4]], [Index(), 0], axis=Index()).tolist(),
    "an axis in an array": lambda: garner.gather([[1, 2], [3, 4]], [1], axis=array.array("q", [1])).tolist(),
    "an axis that is none": lambda: answer(lambda: garner.gather([[1]], [0], axis="0")),
    "indices beyond": lambda: garner.gather([1, 2, 3], [2**70, -(2**70)], oob="wrap").tolist(),
    "indices beyond, refused": lambda: answer(lambda: garner.gather([1, 2, 3], [0, 2**70])),
    "views": lambda: garner.gather(NUMBERS[::-1, 1], [0, -1]).tolist(),
    "a view as out": lambda: answer(lambda: garner.gather([1, 2], [0], out=memoryview(bytearray(8))[::2])),
    "words": lambda: (WORDS[0], WORDS.tolist(), garner.gather(WORDS, [1]).tolist(), bool((WORDS == WORDS).all())),
    "words, compared": lambda: [(WORDS == other).tolist() for other in (["ab", "ab", "x"], "ab")],
    "words, held": lambda: ("ab" in WORDS, "x" in WORDS, 3 in WORDS),
    "lists": lambda: garner.gather([[1.5, 2], [3, 1j]], [1]).tolist(),
    "lists, uneven": lambda: answer(lambda: garner.gather([[1, 2], [3]], [1])),
    "lists, of objects": lambda: answer(lambda: garner.gather([object(), 2], [1])),
    "compared with a list": lambda: (NUMBERS == [[0, 1], [2, 9], [4, 5]]).tolist(),
    "compared with numbers": lambda: [(NUMBERS == other).tolist() for other in (3, 3.0, 2**80, 3 + 0j, True)],
    "compared with others": lambda: [NUMBERS == None, NUMBERS == int, (NUMBERS == "x").tolist()],  # noqa: E711
    "compared, types": lambda: [(one == [2, 1]).all() and (one != TYPES[0]).any() for one in TYPES],
    "compared, shapes": lambda: answer(lambda: NUMBERS == [1, 2, 3]),
    "held": lambda: (4 in NUMBERS, 7.5 in NUMBERS, 2**90 in NUMBERS, None in NUMBERS),
    "iterated": lambda: [row.tolist() for row in NUMBERS],
    "shown": lambda: [repr(one) for one in (NUMBERS, WORDS, *TYPES)],
    "buffers": lambda: [bytes(memoryview(one)) for one in TYPES] + [NUMBERS[:, 1].tobytes()],
    "plan of types": lambda: [str(garner.Plan("gather", (2,), (1,), dtype=kind)) for kind in ("f32", "float64", "torch.int16")],
    "plan, another shape": lambda: answer(lambda: garner.Plan("gather", (3, 2), (2,))(NUMBERS[:2], [0, 1])),
    "plan of no type": lambda: answer(lambda: garner.Plan("gather", (2,), (1,), dtype=[])),
    "plan, refused options": lambda: [answer(lambda options=options: garner.Plan("gather", (2, 2), (1,), **options))
                                      for options in ({"spec": "x"}, {"batch_dims": "x"}, {"axis": "x"}, {"index_dtype": []}, {"nothing": 1})],
    "copied": lambda: (NUMBERS[::2].tobytes(), WORDS[::-1].tolist(), pickle.loads(pickle.dumps(NUMBERS[::2])).tolist()),
    "options": lambda: [answer(lambda options=options: garner.gather([1, 2], [0], **options).tolist())
                        for options in ({"spec": "x"}, {"oob": "x"}, {"spec": "onnx-13", "strict": True}, {"threads": 0}, {"nothing": 1})],
}  # fmt: skip
INDICES = (ctypes.c_int64 * 2)(2, 0)


def numpy_calls(np):
    x, big = np.arange(12, dtype="i4").reshape(3, 4), np.arange(6, dtype=">f8")
    masked = np.ma.masked_array([1, 2], [True, False])
    odd = np.array([(0, 1), (0, 2), (0, 0)], "i1,i8")["f1"]
    return {
        "numpy, of every type": lambda: [garner.gather(np.zeros(2, code), [1]).dtype.str for code in "?bhilqBHILQefdFDgSU"],
        "numpy, refused types": lambda: [answer(lambda code=code: garner.gather(np.zeros(2, code), [1])) for code in ("O", "T" if np.__version__ > "2" else "O")],
        "numpy, masked": lambda: answer(lambda: garner.gather(masked, [1]).tolist()),
        "numpy, scalars": lambda: (garner.gather(x, np.int64(1)).tolist(), float(garner.gather(big, 2)), type(garner.take(x, 3)).__name__),
        "numpy, structs": lambda: garner.gather(np.zeros(3, "i4,f8"), [1]).dtype.names,
        "numpy, from an Array": lambda: np.asarray(NUMBERS).tolist() + NUMBERS.__array__(np.float64).tolist() + np.asarray(WORDS).tolist(),
        "numpy, compared": lambda: ((NUMBERS == np.arange(6).reshape(3, 2)).tolist(), (WORDS == np.array(["ab", "", "ab"])).tolist()),
        "numpy, an object of it": lambda: garner.gather(Lent(x), [1]).tolist(),
        "numpy, compared with swapped": lambda: (NUMBERS == np.arange(6).reshape(3, 2).astype(">i4")).tolist(),
        "numpy, complex": lambda: garner.gather(np.arange(4).astype(">c16"), [1], axis=0, out=np.zeros(1, ">c16")).tolist(),
        "numpy, records": lambda: garner.gather(np.zeros((2, 3), "i2,i8")[:, ::2], [1]).shape,
        "numpy, swapped out": lambda: answer(lambda: garner.gather(x, [1], out=np.zeros((1, 4), ">i4")).tolist()),
        "numpy, swapped": lambda: garner.gather(big, [1], out=np.zeros(1, ">f8")).tolist(),
        "numpy, a view as out": lambda: garner.gather(x, [1], out=np.zeros((1, 8), "i4")[:, ::2]).tolist(),
        "numpy, swapped indices": lambda: garner.gather(x, np.array([1, 0], ">i8")).tolist(),
        "numpy, take": lambda: (garner.take(x, [1], axis=1).tolist(), garner.take_along_axis(x, np.array([[0]]), axis=1).tolist()),
        "numpy, Plan of a dtype": lambda: garner.Plan("gather", (2,), (1,), dtype=np.dtype("f8"), index_dtype=np.int32).shape,
        "numpy, a plan": lambda: garner.Plan("gather", (3, 4), (2,), dtype="i32")(x, np.array([1, 0]), out=np.zeros((2, 4), "i4")).tolist(),
        "numpy, an Array of its types": lambda: garner.gather(garner.gather(np.array(["2020"], "M8[D]"), [0]), [0]).tolist(),
        "numpy, no elements": lambda: garner.gather(np.zeros((2, 0)), [1]).shape,
        "numpy, odd strides": lambda: garner.gather(odd, odd[:2], out=np.zeros(2, "i1,i8")["f1"]).tolist(),
        "numpy, odd strides, compared": lambda: (NUMBERS == np.zeros((3, 2), "i1,i8")["f1"]).tolist(),
        "numpy, flat views": lambda: (garner.take_along_dim(x[:, ::2], x[:2, ::2] % 6).tolist(), garner.take_along_axis(x[:, ::2], np.array([1]), None).tolist()),
    }  # fmt: skip


def arrow_calls(pa):
    x, i = pa.array([1.5, 2, 3]), pa.array([2, 0])
    lists = pa.FixedSizeListArray.from_arrays(pa.array(range(6)), 2)
    return {
        "arrow": lambda: garner.gather(x, i).to_pylist(),
        "arrow, a part": lambda: garner.gather(x[1:], i[1:]).to_pylist(),
        "arrow, lists": lambda: garner.gather(lists, i).to_pylist(),
        "arrow, indices": lambda: garner.gather([1, 2, 3], i).tolist(),
        "arrow, a number": lambda: garner.gather(x, 1).as_py(),
        "arrow, refused": lambda: answer(lambda: garner.gather(pa.array(["a"]), i)),
    }


def every():
    calls = dict(CALLS)
    try:
        import numpy

        calls.update(numpy_calls(numpy))
    except ImportError:
        print("SKIP numpy: its arrays are left out")
    try:
        import pyarrow

        calls.update(arrow_calls(pyarrow))
    except ImportError:
        print("SKIP pyarrow: its arrays are left out")
    return calls
