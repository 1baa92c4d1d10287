# SPDX-License-Identifier: MIT
"""garner in sessions of ONNX Runtime: the onnx package's node tests, subgraphs, empty tensors, errors, many shapes, many
threads, and the case that the runtime gets wrong."""

import json
import re
import threading

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import garner.onnxruntime
from folders import node_tests
from sessions import OURS, THEIRS, model_of, one_node, options_of, providers, same_bits, with_garner, without

F32, I64, STRING, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
NODE_TESTS = node_tests()


def test_node_tests_exist():
    assert {case.model.graph.node[0].op_type for case in NODE_TESTS.values()} == {"Gather", "GatherElements", "GatherND"}


@pytest.mark.parametrize("name", NODE_TESTS)
def test_node(name):
    case = NODE_TESTS[name]
    session = with_garner(case.model.SerializeToString())
    assert providers(session) == [OURS]
    assert case.data_sets
    for inputs, (output,) in case.data_sets:
        feeds = {info.name: array for info, array in zip(session.get_inputs(), inputs, strict=True)}
        same_bits(session.run(None, feeds)[0], output)


# ---- Strings: what the runtime gets wrong ----------------------------------------------------------


WORDS = np.array([["a", "b" * 30], ["c\0d", ""], ["é" * 8, "f" * 15]], object)


def test_strings_in_blocks():
    """Rows of more than one string: the runtime's own Gather gives the first of each, and empty ones after it."""
    model, feeds = one_node("Gather", STRING), {"x": WORDS, "i": np.array([2, 0, 1, -1])}
    session = with_garner(model)
    assert providers(session) == [OURS]
    same_bits(session.run(None, feeds)[0], WORDS[[2, 0, 1, -1]])
    theirs = without(model).run(None, feeds)[0]
    assert theirs.tolist() != WORDS[[2, 0, 1, -1]].tolist(), "ONNX Runtime is right now: say so in docs/onnxruntime.md"


def test_many_strings():
    """Several tasks of them, short and long, on several threads; into strings that are there already, too."""
    words = np.array(["w" * (i % 40) + str(i) for i in range(1000)], object)
    indices = np.random.default_rng(1).integers(-1000, 1000, size=50000)
    session = with_garner(one_node("Gather", STRING), threads=4)
    for _ in range(3):
        same_bits(session.run(None, {"x": words, "i": indices})[0], words[indices])
        indices = indices[::-1].copy()


def test_strings_refused():
    session = with_garner(one_node("GatherElements", STRING))
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match=re.escape("indices[0,1] = 3")):
        session.run(None, {"x": WORDS, "i": np.array([[0, 3]])})


# ---- Shapes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data, indices", [((0, 3), (0,)), ((4, 0), (2,)), ((4, 3), (0, 5)), ((2,), ())])
@pytest.mark.parametrize("dtype", [F32, STRING])
def test_empty_and_scalar(data, indices, dtype):
    x = np.full(data, "s", object) if dtype == STRING else np.ones(data, "f4")
    i = np.zeros(indices, "i8")
    session = with_garner(one_node("Gather", dtype))
    got = session.run(None, {"x": x, "i": i})[0]
    assert got.shape == indices + data[1:]
    assert (got == ("s" if dtype == STRING else 1)).all()


def test_more_shapes_than_plans_are_kept():
    session = with_garner(one_node("Gather", F32, axis=1))
    for n in [*range(1, 50), *range(1, 50)]:
        x = np.arange(3 * n, dtype="f4").reshape(3, n)
        i = np.arange(n)[::-1].copy()
        same_bits(session.run(None, {"x": x, "i": i})[0], x[:, ::-1])


def test_shape_that_the_model_did_not_state():
    """Between two nodes the runtime only warns when a shape is not the one that was stated."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["rows"]), helper.make_node("Gather", ["rows", "j"], ["y"])]
    model = model_of(nodes, {"x": (F32, ["a", "b"]), "i": (I64, ["c"]), "j": (I64, ["d"])}, {"y": (F32, None)})
    session = with_garner(model)
    assert providers(session) == [OURS, OURS]
    x = np.arange(12, dtype="f4").reshape(4, 3)
    got = session.run(None, {"x": x, "i": np.array([1, 2, 3]), "j": np.array([-1, 0])})[0]
    same_bits(got, x[[1, 2, 3]][[-1, 0]])


def test_constant_indices():
    initializer = helper.make_tensor("i", I64, [2], [1, -1])
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    session = with_garner(model_of([node], {"x": (F32, [3, 2])}, {"y": (F32, None)}, initializers=[initializer]))
    assert providers(session) == [OURS]
    x = np.arange(6, dtype="f4").reshape(3, 2)
    same_bits(session.run(None, {"x": x})[0], x[[1, -1]])


def test_constant_folding():
    """Where all is constant the runtime computes the node itself, once, and nobody runs it."""
    constants = [helper.make_tensor("x", F32, [3], [5, 6, 7]), helper.make_tensor("i", I64, [2], [2, 0])]
    nodes = [helper.make_node("Gather", ["x", "i"], ["c"]), helper.make_node("Add", ["c", "z"], ["y"])]
    session = with_garner(model_of(nodes, {"z": (F32, [2])}, {"y": (F32, None)}, initializers=constants))
    assert providers(session) == []
    same_bits(session.run(None, {"z": np.ones(2, "f4")})[0], np.array([8, 6], "f4"))


# ---- Subgraphs ---------------------------------------------------------------------------------------


def branch(name, indices):
    constant = helper.make_node("Constant", [], [f"{name}_i"], value=helper.make_tensor("", I64, [len(indices)], indices))
    gather = helper.make_node("Gather", ["x", f"{name}_i"], [f"{name}_y"], name=name)
    out = helper.make_tensor_value_info(f"{name}_y", F32, None)
    return helper.make_graph([constant, gather], name, [], [out])


def test_if():
    node = helper.make_node("If", ["which"], ["y"], then_branch=branch("then", [0, 1]), else_branch=branch("else", [2]))
    session = with_garner(model_of([node], {"which": (BOOL, []), "x": (F32, [3, 2])}, {"y": (F32, None)}))
    assert providers(session) == [OURS, OURS]
    x = np.arange(6, dtype="f4").reshape(3, 2)
    same_bits(session.run(None, {"which": np.array(True), "x": x})[0], x[[0, 1]])
    same_bits(session.run(None, {"which": np.array(False), "x": x})[0], x[[2]])


def test_loop():
    """y[n] = x[n]: a gather in each turn, of the turn's number."""
    gather = helper.make_node("Gather", ["x", "turn"], ["row"], name="in a loop")
    keep = helper.make_node("Identity", ["going"], ["on"])
    inputs = [helper.make_tensor_value_info("turn", I64, []), helper.make_tensor_value_info("going", BOOL, [])]
    outputs = [helper.make_tensor_value_info("on", BOOL, []), helper.make_tensor_value_info("row", F32, None)]
    body = helper.make_graph([keep, gather], "body", inputs, outputs)
    node = helper.make_node("Loop", ["turns", "going_on"], ["y"], body=body)
    session = with_garner(model_of([node], {"turns": (I64, []), "going_on": (BOOL, []), "x": (F32, [5, 2])}, {"y": (F32, None)}))
    assert providers(session) == [OURS]
    x = np.arange(10, dtype="f4").reshape(5, 2)
    same_bits(session.run(None, {"turns": np.array(4), "going_on": np.array(True), "x": x})[0], x[:4])


# ---- Errors, options, threads, the profile ---------------------------------------------------------------


def test_error_then_continue():
    session = with_garner(one_node("Gather", F32))
    x = np.arange(6, dtype="f4").reshape(3, 2)
    for _ in range(3):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument) as refusal:
            session.run(None, {"x": x, "i": np.array([0, -4])})
        assert "Name:'n'" in str(refusal.value)
        assert str(refusal.value).endswith("Gather: indices[1] = -4 is outside [-3, 2] of data axis 0")
        same_bits(session.run(None, {"x": x, "i": np.array([0, -3])})[0], x[[0, 0]])


def test_shapes_that_do_not_fit():
    session = with_garner(one_node("GatherElements", F32, axis=1))
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="GatherElements: "):
        session.run(None, {"x": np.ones((2, 3), "f4"), "i": np.zeros((3, 3), "i8")})


@pytest.mark.parametrize("least, who", [(0, OURS), (24, OURS), (25, THEIRS)])
def test_min_bytes(least, who):
    assert providers(with_garner(one_node("Gather", F32, shapes=([4, 2], [3])), min_bytes=least)) == [who]
    assert providers(with_garner(one_node("Gather", F32, shapes=(["n", 2], ["m"])), min_bytes=least)) == [OURS]


LONG_ROWS = {
    "few": ([40000, 512], [63], THEIRS),
    "as many as earn it": ([40000, 512], [64], OURS),
    "few, but shorter": ([40000, 255], [63], OURS),
    "of a table in the caches": ([512, 1024], [512], THEIRS),
    "of a larger table": ([513, 1024], [512], OURS),
    "more than the caches hold": ([512, 1024], [513], OURS),
    "one of them": ([3, 4096], [1], THEIRS),
    "one of a larger table": ([40000, 65536], [], OURS),
    "of an open number": ([512, 1024], ["n"], THEIRS),
    "of an open number and a larger table": ([513, 1024], ["n"], OURS),
    "of an open number, from any table, but shorter": ([400000, 511], ["n"], THEIRS),
    "of an open table": (["n", 1024], ["m"], THEIRS),
    "of open extents, as beams are": (["n", 12, "m", 64], ["n"], THEIRS),
    "of open extents, which may be short": (["n", "m", 64], ["n"], OURS),
}


@pytest.mark.parametrize("name", LONG_ROWS)
def test_long_rows_that_are_merely_copied(name):
    """A Gather alone is left; strings and the other operators never are, and with 0 bytes none is."""
    data, indices, who = LONG_ROWS[name]
    model = one_node("Gather", F32, shapes=(data, indices))
    assert providers(with_garner(model)) == [who] and providers(with_garner(model, min_bytes=0)) == [OURS]
    assert providers(with_garner(model, min_bytes=1)) == [who]
    assert providers(with_garner(one_node("Gather", TensorProto.STRING, shapes=(data, indices)))) == [OURS]


def test_long_rows_along_another_axis():
    assert providers(with_garner(one_node("Gather", F32, shapes=([2, 512, 256], [31]), axis=-2))) == [THEIRS]
    assert providers(with_garner(one_node("Gather", F32, shapes=([2, 512, 128], [31]), axis=1))) == [OURS]
    assert providers(with_garner(one_node("GatherND", F32, shapes=([512, 1024], [31, 1])))) == [OURS]


def test_several_long_picks():
    """Of which the runtime would make a Split."""
    picks = [helper.make_node("Gather", ["x", f"i{k}"], [f"y{k}"]) for k in range(3)]
    numbers = [numpy_helper.from_array(np.array(k), f"i{k}") for k in range(3)]
    value = helper.make_tensor_value_info
    for count, who in ((3, OURS), (1, THEIRS)):
        outputs = [value(f"y{k}", F32, None) for k in range(count)]
        graph = helper.make_graph(picks[:count], "g", [value("x", F32, [3, 64, 128])], outputs, numbers[:count])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
        assert set(providers(with_garner(model))) == {who}


def test_bad_options():
    with pytest.raises(TypeError, match="there is no option min_byte; there is min_bytes"):
        garner.onnxruntime.session_options(min_byte=1)
    for value in (-1, "1k", 2**63, 1.5, True):
        with pytest.raises(ValueError, match="must be a whole number of bytes"):
            garner.onnxruntime.session_options(min_bytes=value)


@pytest.mark.filterwarnings("ignore:Specified 'providers'")  # the runtime, as it goes on
def test_bad_options_without_our_helper(capfd):
    """What the plug-in says itself. Python's runtime prints it, and goes on without the plug-in."""
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == OURS]
    for name, value, words in (("min_bytes", "1k", "min_bytes is 1k"), ("max", "1", "there is no option max")):
        options = options_of()
        options.add_provider_for_devices(devices, {name: value})
        assert providers(onnxruntime.InferenceSession(one_node("Gather", F32), options)) == [THEIRS]
        assert words in capfd.readouterr().out


def test_profile(tmp_path):
    options = options_of()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(one_node("Gather", F32), garner.onnxruntime.session_options(options))
    session.run(None, {"x": np.ones((3, 2), "f4"), "i": np.array([1])})
    with open(session.end_profiling(), encoding="utf-8") as file:
        events = [event for event in json.load(file) if event.get("args", {}).get("op_name") == "Gather"]
    assert {event["args"]["provider"] for event in events} == {OURS}


@pytest.mark.parametrize("threads", [1, 4])
def test_many_callers(threads):
    """Sessions and shapes at once, some of them wrong."""
    sessions = [with_garner(one_node("Gather", F32), threads), with_garner(one_node("Gather", F32, axis=1), threads)]
    x = np.arange(600 * 500, dtype="f4").reshape(600, 500)
    failures = []

    def call(seed):
        rng = np.random.default_rng(seed)
        try:
            for turn in range(30):
                axis = turn % 2
                indices = rng.integers(-500, 500, size=rng.integers(1, 400))
                same_bits(sessions[axis].run(None, {"x": x, "i": indices})[0], np.take(x, indices, axis))
                with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
                    sessions[axis].run(None, {"x": x, "i": np.array([1000])})
        except BaseException as failure:
            failures.append(failure)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures, failures


def test_options_that_are_given_again():
    options = garner.onnxruntime.session_options()
    for _ in range(2):
        session = onnxruntime.InferenceSession(one_node("Gather", F32), garner.onnxruntime.session_options(options))
        assert "GarnerExecutionProvider" in session.get_providers()
    with pytest.raises(ValueError, match="already"):
        garner.onnxruntime.session_options(options, min_bytes=5)
    with pytest.raises(TypeError, match="SessionOptions"):
        garner.onnxruntime.session_options("model.onnx")
