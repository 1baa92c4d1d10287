# SPDX-License-Identifier: MIT
"""What the runtime's optimizer makes of a model, with garner and without: the same operators, at every level. Level 1 runs
before garner takes its nodes; what comes after looks at whose a node is."""

import collections

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_node as node

import garner.onnxruntime
from sessions import OURS, THEIRS, model_of, options_of, providers, same_bits, with_garner, without

F32, F16, I64, U8, BOOL, STRING = (getattr(TensorProto, name) for name in ("FLOAT", "FLOAT16", "INT64", "UINT8", "BOOL", "STRING"))
LEVELS = ["ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL"]


def model(nodes, inputs, outputs, opset=13, **constants):
    """Outputs: name -> type."""
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    return model_of(nodes, inputs, {name: (kind, None) for name, kind in outputs.items()}, opset, initializers)


# ---- Models ------------------------------------------------------------------------------------------


def columns(indices, shape=("n", 4), axis=1, kind=F32, opset=13):
    """One Gather for each index, of the same data."""
    gathers = [node("Gather", ["x", f"i{n}"], [f"y{n}"], axis=axis, name=f"column {n}") for n in range(len(indices))]
    constants = {f"i{n}": np.array(index, "i8") for n, index in enumerate(indices)}
    return model(gathers, {"x": (kind, list(shape))}, {f"y{n}": kind for n in range(len(indices))}, opset, **constants)


def columns_and_slice():
    gathers = [node("Gather", ["x", "one"], ["a"], axis=1), node("Slice", ["x", "two", "end", "axis"], ["b"]),
               node("Gather", ["x", "zero"], ["c"], axis=-1)]  # fmt: skip
    return model(gathers, {"x": (F32, ["n", 5])}, {"a": F32, "b": F32, "c": F32}, one=1, zero=[0], two=[2], end=[2**31], axis=[-1])


def ranged():
    nodes = [node("Range", ["zero", "n", "one"], ["rows"]), node("Gather", ["x", "rows"], ["y"])]
    return model(nodes, {"x": (F32, [100, 8]), "n": (I64, [])}, {"y": F32}, zero=0, one=1)


def quantized(operator, indices):
    nodes = [node("DequantizeLinear", ["x", "scale", "zero"], ["wide"]), node(operator, ["wide", "i"], ["picked"], name="n"),
             node("QuantizeLinear", ["picked", "scale", "zero"], ["y"])]  # fmt: skip
    return model(nodes, {"x": (U8, [10, 4]), "i": (I64, indices)}, {"y": U8}, scale=np.float32(0.1), zero=np.uint8(3))


def quantized_table():
    nodes = [node("DequantizeLinear", ["x", "scale", "zero"], ["wide"]), node("Gather", ["wide", "i"], ["picked"]),
             node("Neg", ["picked"], ["y"])]  # fmt: skip
    return model(nodes, {"i": (I64, ["m"])}, {"y": F32}, x=np.zeros((100, 4), "u1"), scale=np.float32(0.1), zero=np.uint8(3))


def half(operator, indices, before=("Tanh",), behind=("Tanh",)):
    """Tanh has no kernel for f16."""
    chain = [*before, operator, *behind]
    nodes = [node(name, [f"t{n}", "i"] if name == operator else [f"t{n}"], [f"t{n + 1}"]) for n, name in enumerate(chain)]
    return model(nodes, {"t0": (F16, [10, 4]), "i": (I64, indices)}, {f"t{len(chain)}": F16})


def reshaped():
    """A shape that is computed from the input's."""
    nodes = []
    for n in "01":
        nodes += [node("Shape", ["x"], [f"shape{n}"]), node("Gather", [f"shape{n}", f"i{n}"], [f"extent{n}"]),
                  node("Unsqueeze", [f"extent{n}", "first"], [f"part{n}"])]  # fmt: skip
    nodes += [node("Concat", ["part0", "part1", "rest"], ["shape"], axis=0), node("Reshape", ["x", "shape"], ["y"])]
    return model(nodes, {"x": (F32, ["a", "b", 8])}, {"y": F32}, i0=0, i1=1, first=[0], rest=[4, 2])


def transposed():
    nodes = [node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Gather", ["t", "i"], ["g"], axis=1), node("Transpose", ["g"], ["y"], perm=[1, 0])]
    return model(nodes, {"x": (F32, [10, 4]), "i": (I64, [3])}, {"y": F32})


def identities():
    nodes = [node("Identity", ["x"], ["t"]), node("Gather", ["t", "i"], ["g"]), node("Identity", ["g"], ["y"])]
    return model(nodes, {"x": (F32, [10, 4]), "i": (I64, [3])}, {"y": F32})


def folded():
    nodes = [node("Gather", ["table", "i"], ["g"]), node("Add", ["g", "x"], ["y"])]
    return model(nodes, {"x": (F32, [2, 4])}, {"y": F32}, table=np.ones((3, 4), "f4"), i=[0, 2])


def repeated():
    """The same gather twice."""
    nodes = [node("Gather", ["x", "i"], ["a"]), node("Gather", ["x", "i"], ["b"]), node("Add", ["a", "b"], ["y"])]
    return model(nodes, {"x": (F32, [10, 4]), "i": (I64, ["m"])}, {"y": F32})


def bert():
    """Three embeddings with a layer normalization, and attention: the runtime has one operator for each of the two, and looks for
    them in opset 12, where it has a layer normalization of its own."""
    hidden, heads, length = 8, 2, 6
    nodes = [node("Gather", ["words", "ids"], ["word"]), node("Gather", ["places", "numbers"], ["place"]), node("Add", ["word", "place"], ["sum"]),
             node("Gather", ["kinds", "segments"], ["kind"]), node("Add", ["sum", "kind"], ["embedded"]),
             node("LayerNormalization", ["embedded", "gamma", "beta"], ["x"])]  # fmt: skip
    nodes += [node("Unsqueeze", ["mask"], ["mask1"], axes=[1]), node("Unsqueeze", ["mask1"], ["mask2"], axes=[2]), node("Cast", ["mask2"], ["mask3"], to=F32),
              node("Sub", ["1.0", "mask3"], ["mask4"]), node("Mul", ["mask4", "-10000.0"], ["mask5"])]  # fmt: skip
    for name in "qkv":
        nodes += [node("MatMul", ["x", f"{name}_w"], [f"{name}0"]), node("Add", [f"{name}0", f"{name}_b"], [f"{name}1"]), node("Reshape", [f"{name}1", "split"], [f"{name}2"]),
                  node("Transpose", [f"{name}2"], [name], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]  # fmt: skip
    nodes += [node("MatMul", ["q", "k"], ["qk"]), node("Div", ["qk", "root"], ["scores"]), node("Add", ["scores", "mask5"], ["masked"]),
              node("Softmax", ["masked"], ["weights"], axis=3), node("MatMul", ["weights", "v"], ["a0"]), node("Transpose", ["a0"], ["a1"], perm=[0, 2, 1, 3]),
              node("Reshape", ["a1", "join"], ["a2"]), node("MatMul", ["a2", "o_w"], ["a3"]), node("Add", ["a3", "o_b"], ["a4"]), node("Add", ["a4", "x"], ["a5"]),
              node("LayerNormalization", ["a5", "gamma", "beta"], ["y"])]  # fmt: skip
    rng = np.random.default_rng(1)
    constants = {name: rng.random((hidden, hidden), "f4") for name in ("q_w", "k_w", "v_w", "o_w")}
    constants |= {name: rng.random(hidden, "f4") for name in ("q_b", "k_b", "v_b", "o_b", "gamma", "beta")}
    constants |= {"words": rng.random((50, hidden), "f4"), "places": rng.random((length, hidden), "f4"), "kinds": rng.random((2, hidden), "f4")}
    constants |= {"numbers": np.arange(length)[None], "1.0": np.float32(1), "-10000.0": np.float32(-10000), "root": np.float32(2),
                  "split": [0, 0, heads, hidden // heads], "join": [0, 0, hidden]}  # fmt: skip
    return model(nodes, {name: (I64, [1, length]) for name in ("ids", "segments", "mask")}, {"y": F32}, 12, **constants)


def branches(data):
    """The columns of data in one branch of an If: the model's input, or what is made in the branch."""
    gathers = [node("Gather", [data, f"i{n}"], [f"y{n}"], axis=1) for n in range(2)]
    joined = [node("Neg", ["x"], ["inside"]), *gathers, node("Add", ["y0", "y1"], ["one"])]
    graphs = [helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info(name, F32, None)])
              for nodes, name in ((joined, "one"), ([node("ReduceSum", ["x", "i1"], ["other"], keepdims=0)], "other"))]  # fmt: skip
    choice = node("If", ["which"], ["y"], then_branch=graphs[0], else_branch=graphs[1])
    return model([choice], {"which": (BOOL, []), "x": (F32, ["n", 2])}, {"y": F32}, i0=0, i1=[1])


MODELS = {
    "columns": columns([0, 1, 2, 3]),
    "columns of one": columns([[0], [3], [-2], 1]),
    "columns of opset 11": columns([0, 1, 2, 3], opset=11),
    "columns, one missing": columns([0, 1, 3]),
    "columns, one twice": columns([0, 1, 2, 3, 3]),
    "columns and a slice": columns_and_slice(),
    "columns in a branch": branches("inside"),
    "columns of what is outside": branches("x"),
    "quantized Gather": quantized("Gather", ["m"]),
    "quantized GatherElements": quantized("GatherElements", ["m", 4]),
    "quantized GatherND": quantized("GatherND", ["m", 1]),
    "quantized table": quantized_table(),
    "half": half("Gather", ["m"]),
    "half elements": half("GatherElements", ["m", 4]),
    "half from a mover": half("Gather", ["m"], before=("Tanh", "Identity", "Transpose")),
    "half to an output": half("Gather", ["m"], behind=()),
    "half to a mover": half("Gather", ["m"], behind=("Transpose", "Tanh")),
    "reshaped": reshaped(),
    "transposed": transposed(),
    "identities": identities(),
    "folded": folded(),
    "repeated": repeated(),
    "bert": bert(),
}  # fmt: skip


# ---- The comparison ------------------------------------------------------------------------------------


def operators(model, level, tmp_path, ours):
    """How many of each operator are left, by what the runtime writes."""
    path = tmp_path / f"optimized-{ours}.onnx"
    options = options_of()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(path)
    if ours:
        onnxruntime.InferenceSession(model, garner.onnxruntime.session_options(options))
    else:
        onnxruntime.InferenceSession(model, options, providers=[THEIRS])
    return collections.Counter(operator_types(onnx.load(path).graph))


def operator_types(graph):
    for made in graph.node:
        yield made.op_type
        for attribute in made.attribute:
            yield from operator_types(attribute.g)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
def test_same_operators(name, level, tmp_path):
    assert operators(MODELS[name], level, tmp_path, True) == operators(MODELS[name], level, tmp_path, False)


@pytest.mark.parametrize(
    "name, operator",
    [("columns", "Split"), ("columns of one", "Split"), ("columns and a slice", "Split"), ("bert", "Attention"), ("bert", "EmbedLayerNormalization")],
)
def test_the_runtime_fuses(name, operator, tmp_path):
    """Else the comparison would show nothing."""
    assert operators(MODELS[name], "ORT_ENABLE_ALL", tmp_path, False)[operator] == 1


@pytest.mark.parametrize("name", ["quantized Gather", "quantized GatherElements"])
def test_the_runtime_drops_what_quantizes(name, tmp_path):
    assert sum(operators(MODELS[name], "ORT_ENABLE_ALL", tmp_path, False).values()) == 1


def test_the_runtime_computes_in_f32(tmp_path):
    """Two conversions, at the ends; with a gather of f16 between there would be four."""
    assert operators(MODELS["half"], "ORT_ENABLE_ALL", tmp_path, False)["Cast"] == 2


# ---- What is taken all the same ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["columns, one missing", "columns, one twice", "columns of opset 11", "quantized GatherND", "quantized table", "half to an output"]
)
def test_taken(name):
    """Nothing would be fused."""
    who = providers(with_garner(MODELS[name]))
    assert who and set(who) == {OURS}


@pytest.mark.parametrize("name", ["columns", "columns of one", "columns and a slice", "quantized Gather", "half"])
def test_left(name):
    assert set(providers(with_garner(MODELS[name]))) == {THEIRS}


def test_wide_columns_are_taken():
    """Of more than one element they are faster here than a Split."""
    session = with_garner(columns([0, 1, 2], shape=("n", 3, 8)))
    assert providers(session) == [OURS] * 3
    x = np.arange(4 * 3 * 8, dtype="f4").reshape(4, 3, 8)
    for n, got in enumerate(session.run(None, {"x": x})):
        same_bits(got, x[:, n])


def test_strings_are_taken():
    """The runtime's own gather of strings cannot be trusted, and whether it is fused depends on the level."""
    assert providers(with_garner(columns([0, 1, 2, 3], kind=STRING))) == [OURS] * 4


def test_range_is_taken():
    """The runtime makes a Slice of Range and Gather, whatever the numbers are; a Slice stops at the end of the data, where
    a Gather has an error, and takes a negative number for another one."""
    session, alone = with_garner(ranged()), without(ranged())
    assert providers(session) == [OURS]
    x = np.arange(800, dtype="f4").reshape(100, 8)
    same_bits(session.run(None, {"x": x, "n": np.array(100)})[0], x)
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="= 100 is outside"):
        session.run(None, {"x": x, "n": np.array(101)})
    assert alone.run(None, {"x": x, "n": np.array(101)})[0].shape == (100, 8), "ONNX Runtime is right now: leave it the node"


@pytest.mark.parametrize("name", ["columns", "columns of one", "columns, one missing", "columns and a slice"])
def test_same_results(name):
    x = np.arange(35, dtype="f4").reshape(7, 5)[:, : 5 if "slice" in name else 4].copy()
    for got, want in zip(with_garner(MODELS[name]).run(None, {"x": x}), without(MODELS[name]).run(None, {"x": x}), strict=True):
        same_bits(got, want)
