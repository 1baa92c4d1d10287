# SPDX-License-Identifier: MIT
"""What callers seldom give, and what each check of the extension module is there for: a test for each way through it that the
tests of its functions do not take."""

import ctypes
import os
import pickle
import signal
import subprocess
import sys

import pytest

import garner
from capsule import Producer, capsule
from garner import _arrow, _garner
from test_cuda import STAND_IN, needs_stand_in
from test_model import model  # noqa: F401

np = pytest.importorskip("numpy")
NUMBERS = garner.gather(memoryview(np.arange(6, dtype="i4").reshape(3, 2)), [0, 1, 2])
PLAN = garner.Plan("gather", (4, 2), (2,), dtype="f32")
X = np.arange(8, dtype="f4").reshape(4, 2)
BYTES = (ctypes.c_ubyte * 64)(*range(64))


def array_of(kind, values):
    """An Array of a ctypes type, in that byte order."""
    return garner.gather((kind * len(values))(*values), range(len(values)))


def words(tmp_path):
    """An Array of strings, out of ONNX's TensorProto."""
    path = tmp_path / "words.pb"
    path.write_bytes(b"\x08\x03\x10\x08\x32\x02ab\x32\x01c\x32\x02ab")
    return garner.load(path)


def odd(count, kind):
    """An array whose strides are no whole elements."""
    return np.zeros(count, f"i1,{kind}")["f1"]


# ---- Arguments ---------------------------------------------------------------------------------------


def test_keywords_that_are_made_as_the_program_runs():
    assert garner.gather([[1, 2], [3, 4]], [1], **{"".join(["ax", "is"]): 1}).tolist() == [[2], [4]]


def test_an_argument_that_is_given_twice():
    with pytest.raises(TypeError, match=r"take\(\) got multiple values for argument 'axis'"):
        garner.take([1, 2], [0], 0, axis=0)


def test_none_is_no_out():
    assert garner.gather([1, 2], [1], out=None).tolist() == [2]
    assert garner.take_along_dim([1, 2], [1], dim=None).tolist() == [2]


def test_an_axis_of_another_byte_order():
    assert garner.gather([[1, 2]], [1], axis=np.array(1, ">i8")).tolist() == [[2]]


def test_options_of_explain():
    with pytest.raises(garner.BadType, match="batch_dims"):
        garner.explain("gather", [1], [0], batch_dims="x")


def test_indices_that_are_no_integers_after_all():
    class Text:
        def __index__(self):
            return "1"

    with pytest.raises(garner.BadType, match="is not an integer"):
        garner.gather([1, 2], [0, Text()])
    deep = [1, "x"]
    for _ in range(60):
        deep = [deep]
    with pytest.raises(garner.BadType, match=r"\[0,0,0"):
        garner.gather(deep, [0])
    with pytest.raises(garner.BadShape, match="64 lists"):
        garner.gather([[[[deep]]]], [0])
    assert garner.gather([1j, 2], [0]).tolist() == [1j]


def test_private_functions_check_what_they_are_given(tmp_path, model):  # noqa: F811
    with pytest.raises(garner.BadArgument, match="pickled"):
        _garner._array_of_bytes("x", "i32", 4, (1,), "i", None)
    with pytest.raises(TypeError):
        _garner._file_open_store("x", "flags")
    with pytest.raises(TypeError, match="dictionary"):
        _garner._model_run_file(model._handle, [])


@pytest.mark.parametrize(("content", "dtype", "item", "format", "fits"), [
    (b"1234", "i32", 4, "@i", True), (b"\1", "bool", 1, "?", True), (b"12", "bf16", 2, "H", False), (b"1234", "opaque", 4, "F", True),
    (b"1234", "opaque", 4, "Zg", True), (b"1" * 32, "opaque", 32, "Zg", True), (b"1234", "opaque", 4, "T{i:aO:}", True),
    (b"12345678", "i64", 8, "@h", False), (b"1234", "i32", 4, "!i", True), (b"1234", "f32", 4, "!f", True),
])  # fmt: skip
def test_pickles_of_formats(content, dtype, item, format, fits):
    try:
        made = _garner._array_of_bytes(content, dtype, item, (1,), format, None)
    except garner.BadType:
        assert not fits
    else:
        assert fits and made.dtype == dtype and pickle.loads(pickle.dumps(made)).tobytes() == content


# ---- Comparisons -------------------------------------------------------------------------------------


class Lent:
    """An object that NumPy can look at, with one attribute alone."""

    def __init__(self, array, name="__array__"):
        setattr(type(self), name, property(lambda self: (lambda *o, **n: array) if name == "__array__" else array.__array_interface__))


def test_comparisons_with_what_numpy_can_look_at(tmp_path):
    for name in "__array__", "__array_interface__":
        lent = type("Lent", (Lent,), {})(np.array([[0, 1], [2, 9], [4, 5]], "i4"), name)
        assert (NUMBERS == lent).tolist() == [[True, True], [True, False], [True, True]]
    lent = type("Lent", (Lent,), {})(np.array(["ab", "c", "x"]))
    try:
        assert (words(tmp_path) == lent).tolist() == [True, True, False]
    except garner.Error as error:
        assert "==" in str(error)


def test_comparisons_that_are_too_large():
    with pytest.raises(garner.Error, match="too many elements"):
        garner.gather([[1], [2], [3], [4]], [0, 1, 2, 3]) == np.broadcast_to(np.int8(1), (1, 2**62))  # noqa: B015


def test_comparisons_that_are_interrupted():
    class Stops:
        def __eq__(self, other):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NUMBERS == [[0, 1], [2, Stops()], [4, 5]]  # noqa: B015


@pytest.mark.parametrize("call", [lambda big: big == big, lambda big: big.all()])
def test_long_comparisons_hear_signals(call):
    """Python runs a handler once after a call, however many signals came; the third one is heard within the call alone."""
    big = garner.gather(memoryview(np.ones(1 << 22, ">i4")), np.zeros(1 << 22, "i4"))
    heard = []

    def stop(*unused):
        heard.append(1)
        if len(heard) > 2:
            signal.setitimer(signal.ITIMER_REAL, 0)  # another one would meet pytest on its way out
            raise InterruptedError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(InterruptedError):
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            for _ in range(1000):
                heard.clear()
                call(big)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["int32", "uint16", "uint64", "double"])
def test_truth_of_another_byte_order(kind):
    kind = getattr(ctypes, f"c_{kind}").__ctype_be__
    array = array_of(kind, [0, 1, 0])
    assert array.any() and not array.all() and not array_of(kind, [0, 0]).any() and array_of(kind, [5, 1]).all()
    assert (array == [0, 1, 0]).all() and (array == array).all()


def test_strings_of_one_length(tmp_path):
    assert (words(tmp_path) == ["ab", "d", "ba"]).tolist() == [True, False, False]


# ---- Shapes that hardly anybody has ------------------------------------------------------------------


def empty(*shape):
    """An Array without elements; NumPy refuses such shapes."""
    given = Producer(lambda: capsule(ctypes.addressof(BYTES), list(shape)))
    return garner.gather(given, [], axis=len(shape) - 1)


def test_lists_of_nothing_that_nobody_can_count():
    for shape in ((4, 2**62, 0), (2**40, 2**40, 0, 0)):
        array = empty(*shape)
        assert "2**" in repr(array) or str(shape[1]) in repr(array)
        with pytest.raises(garner.Error):
            array.tolist()


def test_copies_of_a_scalar_and_of_nothing():
    assert garner.gather([5, 6], 1).tobytes() == (6).to_bytes(8, sys.byteorder)
    assert garner.gather(odd(3, "i4"), np.zeros(0, "i8")).shape == (0,)


def refused(make, *kinds):
    for call in (lambda: garner.gather(make(), [0]), lambda: garner.gather([1, 2], make())):
        with pytest.raises(garner.Error) as caught:
            call()
        assert isinstance(caught.value, kinds or garner.Error), caught.value


@pytest.mark.parametrize("options", [
    {"shape": [2], "bits": 64, "strides": [2**61]}, {"shape": [2], "offset": 2**63}, {"shape": [2], "offset": 2**63 - 1},
    {"shape": [2], "strides": [-(2**60)]}, {"shape": [2**40, 2], "strides": [-1, 2**63 - 2]}, {"shape": [2**62, 2**62], "strides": [0, 0]},
    {"shape": [2, 2**62, 4], "strides": [2**60, 4, 1]},
])  # fmt: skip
def test_views_that_reach_too_far(options):
    refused(lambda: Producer(lambda: capsule(ctypes.addressof(BYTES), code=0, **{"bits": 8, **options})), garner.BadShape, garner.Error)


def test_strides_of_bytes_that_reach_too_far():
    far = np.lib.stride_tricks.as_strided(np.zeros(2, "i4"), (4,), (2**62 + 1,))
    with pytest.raises(garner.BadShape, match="bytes on axis 0 of extent 4"):
        garner.gather(far, [0])


def test_elements_of_no_bytes():
    for array in np.zeros(3, "V0"), np.zeros((3, 2), "V0")[:, ::2], (type("Nothing", (ctypes.Structure,), {"_fields_": []}) * 3)():
        with pytest.raises(garner.BadType, match="elements of 0 bytes"):
            garner.gather(array, [0])


def test_one_packed_element_has_no_use_for_strides():
    given = Producer(lambda: capsule(ctypes.addressof(BYTES), [1], code=0, bits=4, strides=[5]))
    assert garner.gather(given, [0]).dtype == "i4"


# ---- Strides that are no whole elements ---------------------------------------------------------------


def test_large_copies_of_odd_strides():
    data = odd(1 << 21, "i4")
    data[...] = np.arange(1 << 21)
    assert garner.gather(data, [7, -1]).tolist() == [7, (1 << 21) - 1]
    out = odd(1 << 21, "i4")
    garner.gather(np.arange(1 << 21, dtype="i4"), np.arange(1 << 21), out=out)
    assert (out == np.arange(1 << 21)).all()


def test_an_odd_out_of_no_use():
    data = np.arange(4, dtype="i8")
    memory = np.zeros(32, "u1")
    with pytest.raises(garner.BadShape, match="out shares memory with indices"):
        garner.gather(data, memory[:16].view("i8"), out=np.ndarray(2, "i8", memory, strides=(9,)))
    with pytest.raises(garner.BadShape):
        garner.gather(data, [0, 1], out=odd(3, "i8"))
    with pytest.raises(garner.OutOfRange):
        garner.gather(data, [0, 9], out=odd(2, "i8"))


def test_saving_what_is_swapped(tmp_path):
    for array in np.array([1 + 2j, 3], ">c16"), np.array([1 + 2j, 3], ">c8"), np.array(["ab", "c"], ">U2"), odd(3, ">i4"), np.array(7, ">i4"):
        garner.save(tmp_path / "x.npy", array)
        assert (np.load(tmp_path / "x.npy") == array).all()


def test_scalars_of_numpy_s_and_torch_s_functions():
    assert garner.take(np.array(5.0), [0, 0], axis=0).tolist() == [5.0, 5.0]
    with pytest.raises(garner.Error, match="dim"):
        garner.index_select(np.array(5.0), 1, [0])
    assert garner.take_along_axis(np.arange(6).reshape(2, 3)[:, ::2], np.array([3, 0]), None).tolist() == [5, 0]
    assert garner.take_along_dim(np.arange(6).reshape(2, 3)[:, ::2], np.array([[3, 0], [1, 2]])[:, ::-1]).tolist() == [0, 5, 3, 2]


# ---- Plans ------------------------------------------------------------------------------------------


def test_plans_for_other_than_dense_operands():
    view = np.zeros((4, 4), "f4")[:, ::2]
    view[...] = X
    floats = (ctypes.c_float * 9)(0, *X.ravel().tolist())
    moved = Producer(lambda: capsule(ctypes.addressof(floats), [4, 2], code=2, bits=32, offset=4))
    numbers = (ctypes.c_int64 * 3)(0, 3, 1)
    chosen = Producer(lambda: capsule(ctypes.addressof(numbers), [2], code=0, bits=64, offset=8))
    for data in X, view, moved:
        for indices in np.array([3, 1]), np.array([3, 0, 1])[::2], chosen:
            assert np.asarray(PLAN(data, indices)).tolist() == [[6, 7], [2, 3]]
    room = (ctypes.c_float * 5)()
    PLAN(X, [3, 1], out=Producer(lambda: capsule(ctypes.addressof(room), [2, 2], code=2, bits=32, offset=4)))
    assert list(room) == [0, 6, 7, 2, 3]


def test_plans_refuse():
    with pytest.raises(garner.Error, match="threads"):
        PLAN(X, [3, 1], threads=0)
    with pytest.raises(garner.Error):
        PLAN(X, [3, 1], out=np.zeros((2, 2), "f8"))
    with pytest.raises(garner.BadType, match="the plan is for"):
        PLAN(X.astype("f8"), [3, 1])
    with pytest.raises(garner.BadShape, match="extent 5"):
        PLAN(np.zeros((5, 2), "f4"), [3, 1])
    with pytest.raises(garner.BadShape, match="the plan is for rank 2"):
        PLAN(np.zeros(4, "f4"), [3, 1])
    with pytest.raises(TypeError):
        PLAN()
    plan, data = garner.Plan("gather", (3,), (2,), dtype=np.dtype("S4")), np.array([b"ab", b"c", b"abcd"])
    assert plan(data, [2, 0], out=np.zeros(2, "S4")).tolist() == [b"abcd", b"ab"]
    with pytest.raises(garner.BadType):
        plan(data.astype("S8"), [2, 0])
    with pytest.raises(garner.Error):
        plan(data, [2, 0], out=np.zeros(2, "S8"))


# ---- Tables, files and models -------------------------------------------------------------------------


def test_tables_take_indices_and_out_of_any_kind(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with garner.open(tmp_path / "x.npy") as table:
        at = odd(2, "i8")
        at[...] = [3, 1]
        for indices in at, np.array([3, 1], ">i8"):
            assert np.asarray(table.take(indices)).tolist() == [[6, 7], [2, 3]]
        assert np.asarray(table.gather([2**70 + 3, 1], oob="wrap")).tolist() == [[6, 7], [2, 3]]
        for out in np.zeros((2, 2), ">f4"), np.zeros((2, 2), "i1,f4")["f1"]:
            with pytest.raises(garner.Error, match="out has"):
                table.take([3, 1], out=out)
        for options in {"spec": "x"}, {"axis": "x"}, {"batch_dims": "x"}:
            with pytest.raises((garner.Error, TypeError)):
                table.gather([0], **options)


def test_inputs_of_a_model_that_are_one(model):  # noqa: F811
    class Name(str):
        __hash__ = object.__hash__

        def __eq__(self, other):
            return self is other

    x, i = np.zeros((2, 3), "f4"), [2, 0]
    with pytest.raises(garner.BadArgument, match="is given twice"):
        model.run({Name("x"): x, Name("x"): x, "i": i})
    for name in True, 1j, 1.5, None, "n" * 1000, 2**70, 10**5000, object():
        with pytest.raises(garner.BadArgument, match="is not the name of an input"):
            model.run({"x": x, "i": i, name: i})


# ---- Other processes ----------------------------------------------------------------------------------


def run(code, **environment):
    """What a process says that runs this."""
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)} | environment,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_library_for_gpus_is_looked_for(tmp_path):
    (tmp_path / "other.so").write_bytes(b"none")
    code = "import garner, garner.cuda\nprint(garner.cuda.available())"
    for named in str(tmp_path / "none.so"), str(tmp_path / "other.so"), "libm.so.6":
        assert run(code, GARNER_CUDA_LIBRARY=named) == "False"
    assert run(code, GARNER_CUDA_LIBRARY="") in ("True", "False")  # as the machine is


@needs_stand_in
@pytest.mark.parametrize("name", ["libgarner_cuda.so.0", "libgarner_cuda.so"])
def test_the_library_for_gpus_is_found_among_others(tmp_path, name):
    (tmp_path / name).symlink_to((STAND_IN / "libgarner_cuda.so").resolve())
    assert run("import garner, garner.cuda\nprint(garner.cuda.available())", GARNER_CUDA_LIBRARY="", LD_LIBRARY_PATH=str(tmp_path)) == "True"


def test_a_cpu_that_was_never_measured():
    assert run("import garner\nprint(garner.cpu_info()['measured'])", GARNER_CPU="generic") == "False"


def test_a_file_named_like_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        garner.load("-")


def test_pyarrow_s_parts_are_checked(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    given = pa.array([1.5, 2])
    buffer = given.buffers()[1]
    good = (buffer, 0, "f64", 8, "8s", (2,))
    for change in ((0, None), (1, -8), (1, 1 << 40), (5, (1 << 40,)), (5, (1 << 61, 8)), (5, (1,) * 70), (5, [2]), (3, "x")):
        parts = list(good)
        parts[change[0]] = change[1]
        monkeypatch.setattr(_arrow, "read", lambda *given, parts=tuple(parts): parts)
        with pytest.raises((garner.Error, TypeError)):
            garner.gather(given, [0])
