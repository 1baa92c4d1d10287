# SPDX-License-Identifier: MIT
"""Every entry of the Python package while one call fails: each that the extension module makes, of the system and of the
interpreter's memory, and each that the package's own Python makes. What comes of it is the right answer, MemoryError or
OSError; files stay as they were or are whole; and the next call is right.

    python python_entries.py EVERY [NAME...]        with failing_call.c preloaded; EVERY 1 is all, 7 each seventh"""

import array
import contextlib
import gc
import importlib
import io
import itertools
import operator
import os
import pathlib
import pickle
import shutil
import sys
import tempfile

import garner

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
import foreign_entries  # noqa: E402
import injector  # noqa: E402
import small_ir  # noqa: E402

PACKAGE = str(pathlib.Path(garner.__file__).resolve().parent)
FAILURES = (MemoryError, OSError)


# ---- Entries -------------------------------------------------------------------------------------


def rows(n=6):
    return memoryview(array.array("f", range(n * 2))).cast("B").cast("f", [n, 2])


def refused(call, *kept):
    """What an error says, which is an answer too."""
    try:
        call()
    except garner.Error as error:
        return (type(error).__name__, str(error), error.status, error.axis, error.position, error.value, *kept)
    return "not refused"


def missing(path):
    try:
        return garner.load(path)
    except FileNotFoundError:
        return "there is none"


def in_place(call, out):
    call(out)
    return out.tolist()


def drawn(data):
    """It prints, too."""
    with contextlib.redirect_stdout(io.StringIO()):
        return garner.explain("gather", data, [1])


SIZES = itertools.count(100)  # none twice, so that no plan is found
LARGE = array.array("i", range(1 << 18))
PLAN = garner.Plan("gather", (6, 2), (2,), dtype="f32")
ARRAY = garner.gather([[1, 2], [3, 4], [5, 6]], [2, 0])

CALLS = {
    "gather, lists": lambda: garner.gather([[1, 2], [3, 4]], [1, -1]).tolist(),
    "gather, buffers": lambda: garner.gather(rows(), array.array("q", [5, 0]), batch_dims=0).tolist(),
    "gather, spec": lambda: garner.gather(rows(), [1], axis=1, spec="openvino-8", oob="clamp").tolist(),
    "gather, out": lambda: in_place(lambda out: garner.gather(array.array("f", [1, 2]), [1, 0], out=out), array.array("f", [0, 0])),
    "gather, threads": lambda: garner.gather(LARGE, LARGE, threads=3)[-1],
    "gather, a new plan": lambda: garner.gather(bytes(next(SIZES)), array.array("q", [0, 1]), oob="wrap").tolist(),
    "gather, refused": lambda: refused(lambda: garner.gather([1, 2], [0, 7])),
    "gather, bad axis": lambda: refused(lambda: garner.gather([1, 2], [0], axis=3)),
    "gather_elements": lambda: garner.gather_elements([[1, 2], [3, 4]], [[1, 0]], axis=0).tolist(),
    "gather_nd": lambda: garner.gather_nd([[1, 2], [3, 4]], [[1, 0]]).tolist(),
    "take": lambda: garner.take([[1, 2], [3, 4]], [3, 0], mode="wrap").tolist(),
    "take_along_axis": lambda: garner.take_along_axis([[1, 2], [3, 4]], [[0], [1]], axis=1).tolist(),
    "index_select": lambda: garner.index_select(rows(), 0, [1]).tolist(),
    "take_along_dim": lambda: garner.take_along_dim([[1, 2], [3, 4]], [[0], [1]], 1).tolist(),
    "Plan": lambda: garner.Plan("gather_nd", (6, 2), (2, 1), dtype="f64").shape,
    "Plan, refused": lambda: refused(lambda: garner.Plan("gather", (6, 2), (2,), axis=4)),
    "plan": lambda: PLAN(rows(), [5, 1]).tolist(),
    "plan, described": lambda: repr(PLAN),
    "Array": lambda: (repr(ARRAY), str(ARRAY.dtype), ARRAY.shape, ARRAY[0].tolist(), ARRAY[:, 1].tolist(), len(ARRAY)),
    "Array, compared": lambda: ((ARRAY == ARRAY).tolist(), (ARRAY != ARRAY).tolist()),
    "Array, exported": lambda: (memoryview(ARRAY).tolist(), garner.gather(ARRAY.__dlpack__(), [0]).tolist()),
    "Array, pickled": lambda: pickle.loads(pickle.dumps(ARRAY)).tolist(),
    "Array, lent": lambda: [str(ARRAY.__dlpack__(max_version=version, copy=copy)).split('"')[1] for version in (None, (1, 0)) for copy in (None, True)],
    "Array, true": lambda: (bool((ARRAY == ARRAY).all()), ARRAY.any(), ARRAY.tobytes(), bool(ARRAY[0, 0] == 5)),
    "explain": lambda: str(drawn([[1, 2], [3, 4]])),
    "explain, picture": lambda: drawn([1, 2])._repr_svg_(),
    "cpu_info": lambda: garner.cpu_info()["threads"] if "threads" in garner.cpu_info() else len(garner.cpu_info()),
    "threads": lambda: (garner.set_num_threads(2), garner.get_num_threads()),
}  # fmt: skip


def file_calls(folder):
    """Those that read and write files; the writing ones replace a file that is there. Paths are strings: CPython calls an
    object with __fspath__ no path when it finds no memory to call that."""
    made = {"a": ARRAY, "b": garner.gather(rows(), [1])}
    os.mkdir(f"{folder}/in")
    for name, content in (("x.npy", ARRAY), ("x.npz", made), ("x.safetensors", made), ("x.pb", ARRAY)):
        garner.save(f"{folder}/in/{name}", content)
        garner.save(f"{folder}/{name}", garner.gather([9], [0]))

    def read(name, **options):
        loaded = garner.load(f"{folder}/in/{name}", **options)
        return loaded.tolist() if isinstance(loaded, garner.Array) else {key: value.tolist() for key, value in loaded.items()}

    calls = {}
    for name in ("x.npy", "x.npz", "x.safetensors", "x.pb"):
        content = made if name in ("x.npz", "x.safetensors") else ARRAY
        calls[f"load, {name}"] = lambda name=name: read(name)
        calls[f"load, {name}, copy"] = lambda name=name: read(name, copy=True)
        calls[f"save, {name}"] = lambda name=name, content=content: garner.save(f"{folder}/{name}", content)
    calls["load, missing"] = lambda: missing(f"{folder}/no.npy")
    table = garner.Table(f"{folder}/in/x.npy", how="pread")
    calls["open"] = lambda: (garner.open(f"{folder}/in/x.npz", "b").shape, repr(garner.open(f"{folder}/in/x.safetensors", "a")) != "")
    calls["Table, take"] = lambda: table.take([1, 0, 1]).tolist()
    calls["Table, out"] = lambda: refused(lambda: table.take([0], out=bytearray(3)))
    path = small_ir.write(f"{folder}/in")
    model = garner.Model(path)
    x = memoryview(array.array("f", range(6))).cast("B").cast("f", [2, 3])
    calls["Model"] = lambda: {name: (port.dtype, len(port.shape)) for name, port in garner.Model(path).inputs.items()}
    calls["Model, run"] = lambda: [value.tolist() for value in model.run({"x": x, "i": [2, 0]}).values()]
    calls["Model, refused"] = lambda: refused(lambda: model.run({"x": x, "i": [0]}))
    return calls


def numpy_calls():
    try:
        import numpy as np
    except ImportError:
        print("SKIP numpy: its arrays are left out")
        return {}
    x, i = np.arange(12, dtype=">i4").reshape(3, 4), np.array([[2], [0]])
    names, when = np.array(["ab", "c"]), np.array([1, 2], "M8[s]")
    return {
        "numpy, gather": lambda: garner.gather(x, i, axis=0).tolist(),
        "numpy, strided": lambda: garner.take(x[::-1, ::2], i // 2, axis=1).tolist(),
        "numpy, strings and times": lambda: (garner.gather(names, [1]).tolist(), garner.gather(when, [1]).tolist()),
        "numpy, out": lambda: in_place(lambda out: garner.gather(x, [1], out=out), np.zeros((1, 4), ">i4")),
        "numpy, refused": lambda: refused(lambda: garner.gather(x, np.array([9]))),
    }  # fmt: skip


def imported():
    """The module made anew."""
    there = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "garner"}
    try:
        made = importlib.import_module("garner")
        return made.gather([1, 2], [1]).tolist(), "numpy" in sys.modules and made.gather(sys.modules["numpy"].arange(3), [2]).tolist()
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "garner"]:
            del sys.modules[name]
        sys.modules.update(there)


# ---- Judging -------------------------------------------------------------------------------------


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def judge(name, what, answer, want, old, new, folder):
    right = operator.eq(answer, want) if not isinstance(answer, BaseException) else False
    if not right and not isinstance(answer, FAILURES):
        raise AssertionError(f"{name}: {what} failed: {answer!r}, not {want!r}") from (answer if isinstance(answer, BaseException) else None)
    for path, content in contents(folder).items():
        if content not in (old.get(path), new.get(path)):
            raise AssertionError(f"{name}: {what} failed: {path} is neither as it was nor as it should be")
    if missing := old.keys() - contents(folder).keys():
        raise AssertionError(f"{name}: {what} failed: gone: {missing}")


def fail_each(name, call, injectors, every, folder):
    """How many calls failed, each in turn."""
    old = contents(folder)
    want, failed = call(), 0
    new = contents(folder)
    for inject in injectors:
        for what, answer in inject.each(call, every):
            failed += 1
            judge(name, what, answer, want, old, new, folder)
            del answer
            if call() != want:
                raise AssertionError(f"{name}: after {what} had failed the next call is wrong")
    return failed


def objects_stay(name, call, inject, every, folder):
    """The same once more leaves no objects behind; the first round fills caches."""
    fail_each(name, call, [inject], every, folder)
    gc.collect()
    before = len(gc.get_objects())
    failed = fail_each(name, call, [inject], every, folder)
    gc.collect()
    more = len(gc.get_objects()) - before
    if failed > 10 and more > failed / 4:
        raise AssertionError(f"{name}: {more} objects are left after {failed} failures")


def main():
    every, chosen = int(sys.argv[1]), sys.argv[2:]
    module, interpreter = injector.Inside("_garner."), injector.Interpreter(garner._garner.__file__)
    python = injector.of_python(PACKAGE)
    folder = tempfile.mkdtemp()
    foreign = foreign_entries.every() if every == 1 else {}  # which take their time
    calls = {**CALLS, **foreign, **file_calls(folder), **numpy_calls(), "import": imported}
    for name, call in calls.items():
        if chosen and not any(part in name for part in chosen):
            continue
        failed = fail_each(name, call, [module, interpreter] if call is imported else [module, interpreter, *python], every, folder)
        if call is not imported:  # of which more stays than a module, whether it fails or not
            objects_stay(name, call, module, every, folder)
            if every == 1:
                objects_stay(name, call, interpreter, every, folder)
        print(f"{failed:6} {name}", flush=True)
    shutil.rmtree(folder)
    injector.look_for_leaks()


if __name__ == "__main__":
    main()
