# SPDX-License-Identifier: MIT
"""garner run: names, outputs, shapes, any topology. Models are made by the onnx package."""

import json
import resource
import subprocess

import numpy
import pytest

from protobuf import TensorProto, helper, model, numpy_helper, save, value

X = "[[1,2,3],[4,5,6]]:f32"


def two_outputs(**declared):
    """rows = x[i], and its elements on axis 1 picked by a default that callers may replace."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["rows"], name="first"),
             helper.make_node("Identity", ["rows"], ["same"], name="copy"),
             helper.make_node("GatherElements", ["same", "e"], ["picked"], name="second", axis=1)]
    return model(nodes, [value("x", 1, declared.get("x")), value("i", 7), value("e", 7)],
                 [value("rows", 1, declared.get("rows")), value("picked", 1)],
                 [numpy_helper.from_array(numpy.array([[0], [2]]), "e")])


@pytest.fixture
def two(tmp_path):
    return save(two_outputs(), tmp_path / "m.onnx")


def test_printing(garner, two):
    answer = garner("run", "m.onnx", f"x={X}", "i=[1,0]")
    assert (answer.code, answer.err) == (0, "")
    assert answer.text == "rows=[[4.0,5.0,6.0],[1.0,2.0,3.0]]\npicked=[[4.0],[3.0]]\n"
    assert garner("run", "m.onnx", f"x={X}", "i=[1,0]", "-v").text == (
        "rows f32 [2,3]\n[[4.0,5.0,6.0],[1.0,2.0,3.0]]\npicked f32 [2,1]\n[[4.0],[3.0]]\n")
    whole = json.loads(garner("run", "m.onnx", f"x={X}", "i=[1,0]", "--format", "json").text)
    assert whole["picked"] == {"dtype": "f32", "shape": [2, 1], "data": [[4.0], [3.0]]}
    assert list(whole) == ["rows", "picked"]


def test_one_output_prints_as_gather_does(garner, tmp_path):
    save(model([helper.make_node("Gather", ["x", "i"], ["y"])], ["x", value("i", 7)]), tmp_path / "m.onnx")
    for options in ((), ("--format", "json"), ("--format", "raw"), ("-v",)):
        answer = garner("run", "m.onnx", f"x={X}", "i=[1]", *options)
        assert answer.code == 0 and answer.out == garner("gather", X, "[1]", *options).out


def test_defaults_may_be_replaced(garner, two):
    assert garner("run", "m.onnx", f"x={X}", "i=[1,0]", "e=[[2,1,0]]").text.endswith("picked=[[6.0,5.0,4.0]]\n")


def test_writing(garner, refuses, two, tmp_path):
    run = ("run", "m.onnx", f"x={X}", "i=[1]", "e=[[0]]")
    answer = garner(*run, "-o", "rows=a.npy", "-opicked=b.pb")
    assert (answer.code, answer.text, answer.err) == (0, "", "")
    assert numpy.load(tmp_path / "a.npy").tolist() == [[4, 5, 6]]
    assert numpy_helper.to_array(TensorProto.FromString((tmp_path / "b.pb").read_bytes())).tolist() == [[4]]
    assert garner(*run, "--out=rows=-").out == (tmp_path / "a.npy").read_bytes()
    assert garner(*run, "--output-dir", "d").code == 0
    assert sorted(p.name for p in (tmp_path / "d").iterdir()) == ["picked.npy", "rows.npy"]
    assert garner(*run, "--output-dir", "d").code == 0  # again
    refuses(5, "make the folder", *run, "--output-dir", "no/such")
    refuses(2, "not to both", *run, "--output-dir", "d", "-o", "rows=c.npy")
    save(model([helper.make_node("Identity", ["x"], [name]) for name in ("short", "é" * 90)], ["x"], ["short", "é" * 90]), tmp_path / "long.onnx")
    refuses(2, "would be a file whose name has 544 bytes; at most 255", "run", "long.onnx", "x=[1.5]", "--output-dir", "none")
    assert not (tmp_path / "none").exists()
    refuses(2, "one array", *run, "--format", "raw")
    refuses(2, "--format", *run, "--format", "json", "-o", "rows=c.npy")
    refuses(2, "c.npy", *run, "-o", "rows=c.npy", "-o", "picked=c.npy")
    refuses(2, "given twice", *run, "-o", "rows=c.npy", "-o", "rows=e.npy")
    refuses(2, "NAME=FILE", *run, "-o", "c.npy")
    refuses(2, "no known kind", *run, "-o", "rows=c.txt")
    assert not (tmp_path / "c.npy").exists()


def test_no_output_replaces_another(garner, refuses, two, tmp_path):
    """One file has many names."""
    run = ("run", "m.onnx", f"x={X}", "i=[1]", "e=[[0]]", "-o")
    (tmp_path / "d").mkdir()
    (tmp_path / "old.npy").touch()
    (tmp_path / "link.npy").symlink_to("old.npy")
    for first, second in (("a.npy", "a.npy"), ("a.npy", "./a.npy"), ("a.npy", "d/../a.npy"), ("a.npz:x", "a.npz:y"),
                          ("old.npy", "link.npy"), ("-", "-"), (tmp_path / "a.npy", "a.npy")):
        refuses(2, "two outputs cannot go to one file", *run, f"rows={first}", "-o", f"picked={second}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "link.npy", "m.onnx", "old.npy"]
    for first, second in (("a.npy", "d/a.npy"), ("/dev/null", "/dev/null"), ("b.npy", "-")):
        assert garner(*run, f"rows={first}", "-o", f"picked={second}").code == 0


def test_one_output_needs_no_name(garner, tmp_path):
    save(model([helper.make_node("Identity", ["x"], ["y"])], ["x"]), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", "x=[1.5]", "-o", "y.npy").code == 0
    assert numpy.load(tmp_path / "y.npy").tolist() == [1.5]


def test_output_folder_holds_any_name(garner, tmp_path):
    names = ["a/b", "../up", ".hidden", "100%", "é", "ok-1.x"]
    nodes = [helper.make_node("Identity", ["x"], [name]) for name in names]
    save(model(nodes, [value("x", 16)], [value(name, 16) for name in names]), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", "x=[1]:bf16", "--output-dir", "d").code == 0
    assert sorted(p.name for p in (tmp_path / "d").iterdir()) == sorted(
        ["a%2Fb.pb", "%2E.%2Fup.pb", "%2Ehidden.pb", "100%25.pb", "%C3%A9.pb", "ok-1.x.pb"])


def test_names_are_known_before_anything_runs(refuses, two, tmp_path):
    refuses(2, ["no input 'z'", "'x', 'i', 'e'"], "run", "m.onnx", "z=none.npy")
    refuses(2, ["no output 'z'", "'rows', 'picked'"], "run", "m.onnx", "x=none.npy", "-o", "z=a.npy")
    refuses(2, "NAME=TENSOR", "run", "m.onnx", "[1]")
    refuses(2, "given twice", "run", "m.onnx", "x=[1]", "x=[1]")
    refuses(2, "may stand once", "run", "m.onnx", "x=-", "i=-")
    refuses(2, "'i' is not given", "run", "m.onnx", f"x={X}")
    refuses(2, "those known are .onnx and .xml", "run", "m.txt")
    refuses(5, "none.onnx", "run", "none.onnx")
    refuses(5, "none.npy", "run", "m.onnx", "x=none.npy", "i=[0]")


def test_names_with_equal_signs(garner, tmp_path):
    save(model([helper.make_node("Gather", ["a=b", "i=[0]="], ["c=d"])], ["a=b", value("i=[0]=", 7)], ["c=d"]), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", "a=b=[1.5,2.5]", "i=[0]==[1]").text == "[2.5]\n"
    assert garner("run", "m.onnx", "a=b=[1.5,2.5]", "i=[0]==[1]", "-o", "c=d=x.npy").code == 0


def test_inputs_that_do_not_fit(refuses, tmp_path):
    save(two_outputs(x=["n", 3]), tmp_path / "m.onnx")
    refuses(3, ["'x'", "f32", "i64"], "run", "m.onnx", "x=[[1,2,3]]", "i=[0]")
    refuses(3, ["'x'", "[n,3]", "[1,2]"], "run", "m.onnx", "x=[[1.0,2.0]]", "i=[0]")
    refuses(3, ["'x'", "[n,3]", "[3]"], "run", "m.onnx", "x=[1.0,2.0,3.0]", "i=[0]")
    refuses(3, ["'first'", "indices[1] = 7", "[-2, 1]", "onnx-13"], "run", "m.onnx", f"x={X}", "i=[0,7]")
    save(two_outputs(x=["a_dimension_with_a_name"] * 64), tmp_path / "m.onnx")
    refuses(3, ["'x'", "[a_dimension_with_a_name,a_dim", "name,...], and [3] is given"], "run", "m.onnx", "x=[1.0,2.0,3.0]", "i=[0]")


def test_declared_shapes_are_computed_again(garner, tmp_path):
    save(two_outputs(rows=[2, "width"]), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", f"x={X}", "i=[1,0]").err == ""
    answer = garner("run", "m.onnx", f"x={X}", "i=[1]", "e=[[0]]")
    assert answer.code == 0 and answer.text == "rows=[[4.0,5.0,6.0]]\npicked=[[4.0]]\n"
    assert answer.err == "garner: m.onnx: 'rows' is declared [2,width], and its shape is [1,3]\n"


def test_declared_types_must_hold(refuses, tmp_path):
    save(model([helper.make_node("Gather", ["x", "i"], ["y"])], ["x", value("i", 7)], [value("y", 7)]), tmp_path / "m.onnx")
    refuses(4, ["'y'", "i64", "f32"], "run", "m.onnx", "x=[1.5]", "i=[0]")


def test_any_topology(garner, tmp_path):
    """Nodes out of order, one tensor used many times, outputs that are inputs, constants and each other."""
    nodes = [helper.make_node("Gather", ["b", "i"], ["d"]), helper.make_node("Identity", ["b"], ["c"]),
             helper.make_node("Gather", ["x", "x"], ["b"]), helper.make_node("GatherND", ["b", "nd"], ["e"])]
    constants = [numpy_helper.from_array(numpy.array([[1], [0]]), "nd"), numpy_helper.from_array(numpy.array([0]), "i")]
    names = ["e", "d", "c", "b", "x", "nd"]
    save(model(nodes, [value("x", 7)], [value(name, 7) for name in names], constants), tmp_path / "m.onnx")
    assert garner("run", "m.onnx", "x=[2,0,1]").text == (
        "e=[2,1]\nd=[1]\nc=[1,2,0]\nb=[1,2,0]\nx=[2,0,1]\nnd=[[1],[0]]\n")


def test_a_long_chain_reuses_its_buffers(program, surroundings, tmp_path):
    """64 gathers of 16 MiB each in a row take the memory of a few."""
    with open(program, "rb") as file:
        if b"__asan_init" in file.read():
            pytest.skip("SKIP: the address sanitizer takes more memory than the limit that is tested")
    rows, width, steps = 1024, 4096, 64
    nodes = [helper.make_node("Gather", [f"v{k}", "i"], [f"v{k + 1}"]) for k in range(steps)]
    nodes.append(helper.make_node("Gather", [f"v{steps}", "one"], ["y"]))
    save(model(nodes, ["v0", value("i", 7)], ["y"], [numpy_helper.from_array(numpy.array([5]), "one")]), tmp_path / "m.onnx")
    numpy.save(tmp_path / "x.npy", numpy.arange(rows * width, dtype="f4").reshape(rows, width))
    numpy.save(tmp_path / "i.npy", numpy.roll(numpy.arange(rows), 1))
    command = [program, "run", "m.onnx", "v0=x.npy", "i=i.npy", "-o", "y=y.npy", "--threads", "1"]

    def run(buffers):
        limit = buffers * rows * width * 4
        return subprocess.run(command, cwd=tmp_path, env=surroundings, check=False, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))).returncode

    assert run(1) == 5  # the limit is felt
    assert run(8) == 0
    assert numpy.load(tmp_path / "y.npy")[0, 0] == (5 - steps) % rows * width


def test_standard_input(garner, two, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.asfortranarray([[1, 2, 3], [4, 5, 6]]).astype("f4"))
    answer = garner("run", "m.onnx", "x=-", "i=[1]", "e=[[0]]", stdin=(tmp_path / "x.npy").read_bytes())
    assert answer.text == "rows=[[4.0,5.0,6.0]]\npicked=[[4.0]]\n"


def test_strided_inputs(garner, two, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.asfortranarray(numpy.array([[1, 2, 3], [4, 5, 6]], "f4")))
    assert garner("run", "m.onnx", "x=x.npy", "i=[1,0]").text == "rows=[[4.0,5.0,6.0],[1.0,2.0,3.0]]\npicked=[[4.0],[3.0]]\n"
    save(model([helper.make_node("Identity", ["x"], ["y"])], ["x"]), tmp_path / "id.onnx")
    assert garner("run", "id.onnx", "x=x.npy").text == "[[1.0,2.0,3.0],[4.0,5.0,6.0]]\n"


def test_models_of_nothing(refuses, tmp_path):
    save(model([], [], []), tmp_path / "m.onnx")
    for more in [[], ["--format", "json"]]:
        refuses(4, "m.onnx", "run", "m.onnx", *more)


@pytest.mark.parametrize("opset, dtype, code", [(18, 17, 3), (19, 17, 0), (20, 22, 3), (21, 22, 0), (22, 23, 3),
                                                (23, 23, 0), (23, 24, 3), (24, 24, 0), (24, 25, 3), (25, 26, 0)])
def test_types_of_identity(garner, tmp_path, opset, dtype, code):
    made = model([helper.make_node("Identity", ["w"], ["y"], name="n")], (), [value("y", dtype)],
                 [TensorProto(name="w", dims=(2,), data_type=dtype, int32_data=[0] if dtype in (22, 23, 25, 26) else [0, 0])], opset)
    save(made, tmp_path / "m.onnx")
    answer = garner("run", "m.onnx")
    assert answer.code == code, answer
    assert code == 0 or ("'n'" in answer.err and f"opset {opset}" in answer.err)


def test_gathers_hold_to_their_lists(refuses, tmp_path):
    """Index types and float8 data, which no version of Gather lists."""
    save(model([helper.make_node("Gather", ["x", "i"], ["y"], name="n")], [value("x", 17), value("i", 3)], [value("y", 17)]),
         tmp_path / "m.onnx")
    refuses(3, ["'n'", "f8e4m3fn"], "run", "m.onnx", "x=[1]:f8e4m3fn", "i=[0]:i8")
    save(model([helper.make_node("Gather", ["x", "i"], ["y"], name="n")], ["x", value("i", 3)]), tmp_path / "m.onnx")
    refuses(3, ["'n'", "i8"], "run", "m.onnx", "x=[1.5]", "i=[0]:i8")
    save(model([helper.make_node("GatherND", ["x", "i"], ["y"], name="n")], ["x", value("i", 6)]), tmp_path / "m.onnx")
    refuses(3, ["'n'", "i32"], "run", "m.onnx", "x=[1.5]", "i=[[0]]:i32")
    save(model([helper.make_node("GatherND", ["x", "i"], ["y"], name="n", batch_dims=1)], ["x", value("i", 7)], opset=11),
         tmp_path / "m.onnx")
    refuses(3, ["'n'", "batch_dims"], "run", "m.onnx", "x=[1.5]", "i=[[0]]")


def test_nodes_without_a_name_have_a_number(refuses, tmp_path):
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Gather", ["a", "i"], ["y"])]
    save(model(nodes, ["x", value("i", 7)]), tmp_path / "m.onnx")
    refuses(3, "node #2 (Gather, onnx-13): ", "run", "m.onnx", "x=[1.5]", "i=[1]")
    nodes[0].input[0] = "y"
    save(model(nodes, ["x", value("i", 7)]), tmp_path / "m.onnx")
    refuses(4, ["node #", "cycle"], "run", "m.onnx", "x=[1.5]", "i=[1]")


def test_threads(garner, two):
    for count in (0, 1, 3):
        assert garner("run", "m.onnx", f"x={X}", "i=[1]", "e=[[0]]", "--threads", count).code == 0


def test_plans_are_told(garner, two):
    answer = garner("run", "m.onnx", f"x={X}", "i=[1,0]", "-v")
    assert "plan of 'first': Gather:" in answer.err and "plan of 'second': GatherElements:" in answer.err
