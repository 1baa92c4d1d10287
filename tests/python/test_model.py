# SPDX-License-Identifier: MIT
"""Models and drawings from Python."""

import subprocess
import sys
import threading

import pytest
import small_ir

import garner


@pytest.fixture
def model(tmp_path):
    try:
        return garner.Model(small_ir.write(tmp_path))
    except garner.BadFile as error:
        if "expat" in str(error):
            pytest.skip("built without expat")
        raise


def f32(rows):
    import array

    flat = array.array("f", [v for row in rows for v in row])
    return memoryview(flat).cast("B").cast("f", [len(rows), len(rows[0])])


def test_model(model):
    (output,) = model.outputs
    assert model.inputs["i"] == ("i64", (2,), False) and model.inputs["x"].shape[1] == 3 and "x" in repr(model)
    results = model.run({"x": f32([[1, 2, 3], [4, 5, 6]]), "i": [2, -3]})
    assert results[output].tolist() == [[3, 1], [6, 4]] and type(results[output]) is garner.Array
    assert model.run({"x": f32([[1, 2, 3]]), "i": [9, 0]})[output].tolist() == [[0, 1]]  # Gather-8: zeros


def test_model_refuses(model):
    x = f32([[1, 2, 3]])
    for inputs, kind in [({"x": x}, garner.BadArgument), ({"x": x, "i": [0, 0], "z": x}, garner.BadArgument), ({"x": x, "i": [0]}, garner.BadShape),
                         ({"x": [[1, 2, 3]], "i": [0, 0]}, garner.BadType), ({"x": x, 7: x}, garner.BadArgument),
                         ({"x\0y": x, "i": [0, 0]}, garner.BadArgument)]:  # fmt: skip
        with pytest.raises(kind):
            model.run(inputs)
    (output,) = model.outputs
    assert model.run({"x": x, "i": [1, 1]})[output].tolist() == [[2, 2]]


def test_model_gives_the_inputs_kind(model):
    np = pytest.importorskip("numpy")
    (output,) = model.outputs
    for x in (np.arange(6, dtype=">f4").reshape(2, 3)[::-1], np.arange(6, dtype="f4").reshape(3, 2).T):
        picked = model.run({"x": x, "i": np.array([0, 1], ">i8")})[output]
        assert type(picked) is np.ndarray and picked.tolist() == x[:, :2].tolist()
    with pytest.raises(garner.BadShape):
        model.run({"x": x.T, "i": np.array([0, 1])})


def test_model_gives_pyarrow_pyarrow_s(model):
    pa = pytest.importorskip("pyarrow")
    x = pa.array([[1, 2, 3], [4, 5, 6]], pa.list_(pa.float32(), 3))
    (picked,) = model.run({"x": x, "i": pa.array([2, 0])}).values()
    assert picked.type == pa.list_(pa.float32(), 2) and picked.to_pylist() == [[3, 1], [6, 4]]
    (picked,) = model.run({"i": pa.array([2, 0]), "x": x}).values()  # the first input says the kind, not the type
    assert picked.type == pa.list_(pa.float32(), 2)


def test_model_in_threads(model):
    (output,) = model.outputs
    failures = []

    def work(n):
        for k in range(200):
            if model.run({"x": f32([[n, k, 0]]), "i": [0, 1]})[output].tolist() != [[n, k]]:
                failures.append((n, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_bad_models(tmp_path):
    with pytest.raises(FileNotFoundError):
        garner.Model(tmp_path / "none.onnx")
    for name, content in [("a.onnx", b"not a model"), ("a.xml", b"<a><b></a>"), ("a.txt", b"")]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(garner.Error):
            garner.Model(tmp_path / name)


def test_onnx_model_of_strings(tmp_path):
    np = pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    words = helper.make_tensor("words", TensorProto.STRING, [3], [b"ant", b"b\xc3\xbc", b""])
    node = helper.make_node("Gather", ["words", "i"], ["out"])
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])],
                              [helper.make_tensor_value_info("out", TensorProto.STRING, ["n"])], [words])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "s.onnx")
    model = garner.Model(tmp_path / "s.onnx")
    assert model.inputs["i"].shape == ("n",)
    out = model.run({"i": [1, -1, 0]})["out"]
    del model
    assert out.dtype == "str" and out.tolist() == ["bü", "", "ant"] and np.asarray(out).tolist() == out.tolist()
    with pytest.raises(garner.OutOfRange) as caught:
        garner.Model(tmp_path / "s.onnx").run({"i": [0, 3]})
    assert caught.value.value == 3 and caught.value.position == 1


# ---- explain --------------------------------------------------------------------------------------------------


def test_explain(capsys):
    drawing = garner.explain("gather", [[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    printed = capsys.readouterr().out
    assert printed == str(drawing) + "\n" == repr(drawing) + "\n"
    assert "Gather, axis 1" in printed and "out[0,0] = data[0,2] = 3" in printed
    picture = drawing._repr_svg_()
    assert picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    assert "GatherND" in str(garner.explain("gather-nd", [[1, 2]], [[0, 1]]))
    with pytest.raises(garner.OutOfRange):
        garner.explain("gather", [1, 2], [5])
    with pytest.raises(garner.BadArgument, match="op"):
        garner.explain("scatter", [1], [0])
    with pytest.raises(garner.BadSpec):
        garner.explain("gather", [1], [0], spec="onnx-0")


def test_explain_in_an_interactive_interpreter():
    """The interpreter shows what comes back, so nothing is printed twice."""
    code = "import garner\ngarner.explain('gather', [1, 2], [1])\n"
    said = subprocess.run([sys.executable, "-i", "-q"], input=code, capture_output=True, text=True)
    assert said.stdout.count("Gather, axis 0") == 1
