# SPDX-License-Identifier: MIT
"""The plug-ins inside their runtimes while one call fails that they make: sessions and models are made and run, with the right
answer, or with an exception of the runtime's or of Python's; and the next one is right.

    python plugin_entries.py onnxruntime|openvino EVERY        with failing_call.c preloaded"""

import itertools
import pathlib
import sys
import tempfile

import garner
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / folder) for folder in ("onnxruntime", "python"))]
import injector  # noqa: E402

PACKAGE = str(pathlib.Path(garner.__file__).resolve().parent)
X, ROWS = np.arange(3 * 64, dtype="f4").reshape(3, 64), np.array([2, 0, 1] * 64)
MORE = itertools.count(1)
STRINGS = np.array(["a", "long enough to lie somewhere else"], dtype=object)  # one axis: of two, some runtimes lose strings


def longer(x):
    """With another number of rows each time, so that no plan is found; the new ones are never picked."""
    return np.concatenate([x] + [x[:1]] * next(MORE))


def onnxruntime_calls():
    """The plug-in's objects, what may come of a failure, and the calls."""
    import garner.onnxruntime
    import onnxruntime
    import sessions

    onnxruntime.set_default_logger_severity(4)
    garner.onnxruntime.register()
    kinds = {"gather": sessions.one_node("Gather", 1), "elements": sessions.one_node("GatherElements", 1, axis=0),
             "nd": sessions.one_node("GatherND", 1), "strings": sessions.one_node("Gather", 8)}  # fmt: skip
    feeds = {"gather": {"x": X, "i": ROWS}, "elements": {"x": X, "i": ROWS[:2, None] % 3}, "nd": {"x": X, "i": ROWS[:, None] % 3},
             "strings": {"x": STRINGS, "i": ROWS[:2] % 2}}  # fmt: skip
    failures = tuple(kind for kind in vars(onnxruntime.capi.onnxruntime_pybind11_state).values()
                     if isinstance(kind, type) and issubclass(kind, Exception)) + (RuntimeError,)  # fmt: skip

    def again():
        garner.onnxruntime.unregister()
        garner.onnxruntime.register()
        return True

    def make(kind):  # and never without us, as the package would have it
        options = garner.onnxruntime.session_options(sessions.options_of(), min_bytes=0)
        return onnxruntime.InferenceSession(kinds[kind], options, enable_fallback=0)

    calls = {"register": again}
    for kind in kinds:
        made = make(kind)
        calls[f"session, {kind}"] = lambda kind=kind: make(kind).run(None, feeds[kind])[0].tolist()
        calls[f"run, {kind}"] = lambda kind=kind, made=made: made.run(None, feeds[kind])[0].tolist()
        calls[f"run, {kind}, a new plan"] = lambda kind=kind, made=made: (
            made.run(None, {**feeds[kind], "x": longer(feeds[kind]["x"])})[0].tolist() == made.run(None, feeds[kind])[0].tolist())  # fmt: skip
    return "libgarner_onnxruntime", failures, calls


def openvino_calls():
    import garner.openvino
    import openvino
    import small_ir
    from openvino import opset8

    path = small_ir.write(tempfile.mkdtemp())
    xml = pathlib.Path(path).read_text()
    for port, precision in (('"0" names="x"', "FP32"), ('"0" names="i"', "I64"), ('"3" names="picked"', "FP32"), ('"0"/', "I64")):
        xml = xml.replace(f"<output><port id={port}", f'<output><port precision="{precision}" id={port}')
    pathlib.Path(path).write_text(xml)
    core = openvino.Core()
    core.add_extension(garner.openvino.library(min_bytes=0))
    x, i = np.arange(6, dtype="f4").reshape(2, 3), np.array([2, 0])
    exact = {"INFERENCE_PRECISION_HINT": "f32"}

    def built():
        table, rows = opset8.parameter([3, 64], np.float32), opset8.parameter([len(ROWS)], np.int64)
        return garner.openvino.replace(openvino.Model([opset8.gather(table, rows, 0)], [table, rows]), min_bytes=0)

    def infer(compiled, *inputs):
        return compiled(list(inputs))[0].tolist()

    compiled, replaced = core.compile_model(core.read_model(path), "CPU", exact), core.compile_model(built(), "CPU", exact)
    calls = {
        "read": lambda: [node.get_type_name() for node in core.read_model(path).get_ordered_ops()],
        "compile": lambda: infer(core.compile_model(core.read_model(path), "CPU", exact), x, i),
        "infer": lambda: infer(compiled, x, i),
        "infer, a new plan": lambda: infer(compiled, longer(x), i)[:2],
        "replace": lambda: [node.get_type_name() for node in built().get_ordered_ops()],
        "infer, replaced": lambda: infer(replaced, X, ROWS),
    }
    return "-garner-", (RuntimeError,), calls


def main():
    objects, failures, calls = {"onnxruntime": onnxruntime_calls, "openvino": openvino_calls}[sys.argv[1]]()
    every = int(sys.argv[2])
    for name, call in calls.items():
        want, failed = call(), 0
        for inject in (injector.Inside(objects), *injector.of_python(PACKAGE)):
            for what, answer in inject.each(call, every):
                failed += 1
                if isinstance(answer, BaseException):
                    if not isinstance(answer, (MemoryError, OSError, *failures)) or not str(answer) and not isinstance(answer, MemoryError):
                        raise AssertionError(f"{name}: {what} failed") from answer
                elif answer != want:
                    raise AssertionError(f"{name}: {what} failed: {answer!r}, not {want!r}")
                del answer
                if call() != want:
                    raise AssertionError(f"{name}: after {what} had failed the next call is wrong")
        print(f"{failed:6} {name}", flush=True)
    injector.look_for_leaks()


if __name__ == "__main__":
    main()
