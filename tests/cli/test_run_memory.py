# SPDX-License-Identifier: MIT
"""Models when memory runs out: whichever allocation fails, a sentence and exit code 5, or the right answer."""

import numpy
import pytest

from protobuf import helper, model, numpy_helper, save, value
from test_exit_codes import failing  # noqa: F401  (a fixture)


def make(folder):
    nodes = [helper.make_node("Constant", [], ["i"], value_ints=[1, 0]), helper.make_node("Gather", ["x", "i"], ["a"]),
             helper.make_node("Identity", ["a"], ["b"]), helper.make_node("GatherElements", ["b", "e"], ["y"])]
    save(model(nodes, ["x"], ["y", "b"], [numpy_helper.from_array(numpy.array([[0, 1]]), "e")]), folder / "model.onnx")
    save(model([helper.make_node("Relu", ["x"], ["y"], name="r")], ["x"]), folder / "other.onnx")
    data = folder / "test_data_set_0"
    data.mkdir()
    x = numpy.arange(4, dtype="f4").reshape(2, 2)
    for name, array in (("input_0", x), ("output_0", numpy.array([[2, 1]], "f4")), ("output_1", x[[1, 0]])):
        save(numpy_helper.from_array(array), data / f"{name}.pb")


@pytest.mark.parametrize("code, arguments", [
    (0, ["run", "model.onnx", "x=[[0,1],[2,3]]:f32", "--threads", "1"]),
    (0, ["run", "model.onnx", "x=test_data_set_0/input_0.pb", "-o", "y=y.pb", "--threads", "1"]),
    (4, ["run", "other.onnx", "x=[1.0]"]),
    (0, ["check", ".", "--threads", "1"]),
], ids=lambda a: " ".join(a)[:40] if isinstance(a, list) else None)
def test_every_allocation_may_fail(garner, failing, tmp_path, code, arguments):  # noqa: F811
    make(tmp_path)
    want = garner(*arguments)
    assert want.code == code, want
    survived, most = 0, 400
    for n in range(most):
        answer = garner(*arguments, env={"LD_PRELOAD": failing, "FAIL_AT": str(n)})
        if answer.code == code:
            assert answer.out == want.out
            survived += 1
        else:
            assert answer.code == 5 and "memory" in answer.err, (n, answer)
            survived = 0
        if survived == 3:
            break
    assert survived == 3 and n > 20, n
