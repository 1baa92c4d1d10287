# SPDX-License-Identifier: MIT
"""Runs a case in garner, in a runtime with garner inside, and in the runtime alone, and says where one of them departs from
what the specifications say (graph_case). What is known of a runtime is skipped by rule: `doubts` of the two styles."""

import pathlib
import re
import tempfile

import graph_ir
import numpy as np

import garner

KINDS = ((garner.OutOfRange, "range"), (garner.BadShape, "shape"), (garner.BadType, "type"), (garner.BadFile, "file"))
STAGES = ("made", "garner", "inside", "alone")  # a crash is the runtime's own in the last alone


class Refused(Exception):
    """An error of a runtime, in its words."""


def bits(array, dtype):
    """Shape and content, comparable."""
    array = np.asarray(array)
    if dtype == "str":
        return array.shape, [str(word) for word in array.reshape(-1)]
    return array.shape, array.dtype.itemsize, np.ascontiguousarray(array).tobytes()


def widened(value, array=None):
    """As the runtime's result comes: bf16 as f32. The array is the value's own, unless another one is given."""
    array = value.array if array is None else array
    if value.dtype != "bf16":
        return bits(array, value.dtype)
    return bits((array.astype("u4") << 16).view("f4"), "f32")


def difference(values, got, expected):
    """The first of results that is not what it should be; None: they are the same."""
    for value in values:
        have, want = got.get(value.name), expected(value)
        if have != want:
            return f"{value.name} is {str(have)[:300]} and should be {str(want)[:300]}"
    return None


# ---- garner itself ---------------------------------------------------------------------------------


def array_of(value):
    """As garner takes it: of what NumPy has no type for, an Array out of a file."""
    if value.dtype not in ("bf16", "str"):
        return value.array
    import graph_onnx

    with tempfile.NamedTemporaryFile(suffix=".pb") as file:
        file.write(graph_onnx.tensor_of(value).SerializeToString())
        file.flush()
        return garner.load(file.name)


def feeds_of(case):
    return {value.name: array_of(value) for value in case.of_source("input")}


def run_garner(case, paths):
    """What is wrong, or None; and garner's own sentence, if the case is an error."""
    try:
        got = garner.Model(paths[0]).run(feeds_of(case))
    except garner.Error as error:
        kind = next((name for known, name in KINDS if isinstance(error, known)), type(error).__name__)
        if kind != case.error:
            return f"garner: {kind} error, and should be {case.error}: {error}", None
        return None, str(error).split("): ", 1)[-1]
    if case.error:
        return f"garner: no error, and should be {case.error}", None
    results = {value.name: bits(got[value.name], value.dtype) for value in case.outputs() if value.name in got}
    wrong = difference(case.outputs(), results, lambda value: bits(value.array, value.dtype))
    return wrong and f"garner: {wrong}", None


# ---- A runtime ---------------------------------------------------------------------------------------


def in_32_bits(case, sentence):
    """garner's sentence, as it is where OpenVINO has made constant indices the nearest that fits 32 bits."""
    if case.format != "ir" or not case.nodes[-1].inputs[1].is_fixed:
        return sentence
    return re.sub(r"(?<=\] = )\d+", lambda index: str(min(int(index[0]), 2**31 - 1)), sentence)


def compare(case, stage, run, sentence):
    """Runs a case in a runtime, alone or with garner inside. run gives results by name, or raises Refused. What a model says all
    of, the runtime may compute itself."""
    try:
        got = run()
    except Refused as error:
        if case.error is None:  # something other than it should be may have been the indices of the next
            return None if any(stage in node.out.doubts for node in case.nodes) else f"{stage}: refused: {error}"
        if stage == "inside" and case.error == "range" and not case.nodes[-1].out.is_fixed and in_32_bits(case, sentence) not in str(error):
            return f"{stage}: the error is not garner's ({sentence}): {error}"
        return None
    if case.error:
        return None if stage in case.nodes[-1].out.doubts else f"{stage}: no error, and should be {case.error}"
    wrong = difference([value for value in case.outputs() if stage not in value.doubts], got, widened)
    return wrong and f"{stage}: {wrong}"


def is_dangerous(case, stage):
    """A runtime would crash, or read memory of others."""
    return any({"dangerous", stage} <= node.out.doubts for node in case.nodes)


class OnnxRuntime:
    """Sessions of one thread each."""

    LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")

    def __init__(self):
        import onnxruntime

        import garner.onnxruntime

        self.package, self.version, self.inside = onnxruntime, f"onnxruntime {onnxruntime.__version__}", True
        onnxruntime.set_default_logger_severity(4)
        garner.onnxruntime.register()

    def run(self, case, paths, stage):
        options = self.package.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(self.package.GraphOptimizationLevel, self.LEVELS[case.traits["level"]])
        if stage == "inside":
            options = garner.onnxruntime.session_options(options)
        try:
            session = self.package.InferenceSession(str(paths[-1]), options, providers=None if stage == "inside" else ["CPUExecutionProvider"], enable_fallback=0)
            got = session.run(None, feeds_of(case))
        except Exception as error:
            raise Refused(str(error)) from None
        return {value.name: bits(array, value.dtype) for value, array in zip(case.outputs(), got)}

    def asks(self, case, stage):
        """Old ones cannot compute with strings while they load a model."""
        is_new = tuple(map(int, self.package.__version__.split(".")[:2])) >= (1, 31)
        return not is_dangerous(case, stage) and (is_new or not any(node.out.is_fixed and node.out.dtype == "str" for node in case.nodes))


class OpenVino:
    """The CPU plugin, with the extension and without: half of the cases with one that takes every layer, half with one that
    leaves it the small ones, unless an index is outside: to that its own layers answer in their way. With one thread or one CPU
    infer() loses the errors of its layers, whoever's they are; start_async() and wait() do not."""

    CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY", "NUM_STREAMS": 1}

    def __init__(self):
        import openvino

        import garner.openvino

        self.package, self.version, self.inside = openvino, f"openvino {openvino.__version__}", True
        self.alone, self.taking_all, self.choosing = openvino.Core(), openvino.Core(), openvino.Core()
        try:
            self.taking_all.add_extension(garner.openvino.library(min_bytes=0))
            self.choosing.add_extension(garner.openvino.library())
        except (ImportError, OSError, RuntimeError) as error:
            self.inside, self.version = False, f"{self.version}, without the extension ({error})"

    def run(self, case, paths, stage):
        inside = self.choosing if case.traits["opsets"][-1] % 2 and case.error != "range" else self.taking_all
        core = inside if stage == "inside" else self.alone
        config = {**self.CONFIG, "INFERENCE_NUM_THREADS": 1 + case.traits["opsets"][0] % 2}
        try:
            compiled = core.compile_model(core.read_model(str(paths[0])), "CPU", config)
            request = compiled.create_infer_request()
            for value in case.of_source("input"):
                request.set_tensor(value.name, self.tensor_of(value))
            request.start_async()
            request.wait()
            return {value.name: self.bits_of(request.get_tensor(value.name), value) for value in case.outputs()}
        except RuntimeError as error:
            raise Refused(str(error)) from None

    def tensor_of(self, value):
        if value.dtype == "str":
            return self.package.Tensor(np.array(value.array.tolist(), str).reshape(value.array.shape))
        if value.dtype != "bf16":
            return self.package.Tensor(np.array(value.array, order="C"))
        made = self.package.Tensor(self.package.Type.bf16, self.package.Shape(value.array.shape))
        made.data.view("u2")[...] = value.array
        return made

    def bits_of(self, tensor, value):
        """A result, comparable: bf16 as f32."""
        if value.dtype == "str":
            return bits(tensor.str_data, "str")
        return widened(value, tensor.data.view("u2")) if value.dtype == "bf16" else bits(tensor.data, value.dtype)

    def asks(self, case, stage):
        """Its CPU plugin wants to know ranks and axes, and gives results of version 10 in other types; alone it checks next to
        nothing, so it is asked for results only."""
        if case.traits["version"] == 10 or any(value.shape is None for value in case.of_source("input")):
            return False
        if any(node.axis_value and node.axis_value.source == "input" for node in case.nodes):
            return False
        if any(node.operator == "GatherND" and not graph_ir.tells_width(node.inputs[1]) for node in case.nodes):
            return False
        if is_dangerous(case, stage):
            return False
        return self.inside if stage == "inside" else not case.error


RUNTIMES = {"onnx": OnnxRuntime, "ir": OpenVino}


def check(case, paths, runtime, note):
    """What is wrong with a case, or None. note is told each stage before it begins."""
    note("garner")
    wrong, sentence = run_garner(case, paths)
    for stage in ("inside", "alone"):
        if wrong or runtime is None or not runtime.asks(case, stage):
            continue
        note(stage)
        wrong = compare(case, stage, lambda: runtime.run(case, paths, stage), sentence)
    return wrong


def save(case, folder):
    """The inputs, beside the model."""
    np.savez(pathlib.Path(folder) / "inputs.npz", **{value.name: value.array for value in case.of_source("input")})
