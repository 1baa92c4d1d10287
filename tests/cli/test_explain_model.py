# SPDX-License-Identifier: MIT
"""Drawings of models: everything that is in the file is in the drawing, at every width, and lanes connect what
belongs together. The examples of the tree are drawn, and models made here."""

import pathlib
import re
import shutil
import subprocess
import unicodedata
import xml.etree.ElementTree as tree

import pytest
from protobuf import helper, model, save, value
from test_ir import constant, expat, gather, layer, net, parameter, port, result, write  # noqa: F401
from terminal import read_terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


@pytest.fixture(scope="session")
def examples(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run([ROOT / "examples/prepare", folder, program], check=True, stderr=subprocess.DEVNULL)
    return folder


@pytest.fixture
def sentence(examples, tmp_path):
    shutil.copytree(examples, tmp_path, dirs_exist_ok=True)
    return "sentence.xml"


def test_example(garner, sentence):
    answer = garner("explain", sentence)
    assert answer.code == 0 and answer.text == (
        "sentence: OpenVINO IR, version 11\n"
        "\n"
        " ○    tokens    u8[?,3]     input\n"
        " ◇    ids       i32[?,3]    Convert to i32\n"
        " │ □  table     f32[8,4]    constant\n"
        " ├─┘\n"
        " ◆    embedded  f32[?,3,4]  Gather, axis 0 (openvino-8)\n"
        " │      embedded[i,j,k] = table[ids[i,j], k]\n"
        " │ ○  last      i64[?,1]    input\n"
        " ├─┘\n"
        " ◆    pooled    f32[?,4]    GatherND, batch_dims 1 (openvino-8) → output\n"
        " │      pooled[i,j] = embedded[i, last[i,0], j]\n"
        " │ ○  wanted    i64[?,2]    input\n"
        " ├─┘\n"
        " ◆    features  f32[?,2]    GatherElements, axis 1 (openvino-6) → output\n"
        "        features[i,j] = pooled[i, wanted[i,j]]\n"
        "\n"
        "3 inputs, 2 outputs, 3 gathers\n"
    )


def test_the_example_runs(garner, sentence):
    answer = garner("run", sentence, "tokens=[[1,2,3],[7,5,0]]:u8", "last=[[2],[1]]", "wanted=[[0,3],[1,1]]")
    assert answer.text == "pooled=[[3.0,3.1,3.2,3.3],[5.0,5.1,5.2,5.3]]\nfeatures=[[3.0,3.3],[5.1,5.1]]\n", answer


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120, 200])
def test_widths(garner, sentence, width):
    answer = garner("explain", sentence, env={"COLUMNS": str(width)})
    lines = answer.text.splitlines()
    assert answer.code == 0 and max(map(columns, lines)) <= width, answer
    for name in ("tokens", "ids", "table", "embedded", "last", "pooled", "wanted", "features"):
        assert name in answer.text
    flat = re.sub(r"[\s│├─┘]+", " ", answer.text)
    assert "embedded[i,j,k] = table[ids[i,j], k]" in flat and "GatherElements, axis 1 (openvino-6) → output" in flat


def test_any_file_name(garner, sentence):
    assert garner("explain", f"file:{sentence}").text == garner("explain", sentence).text


def test_axes_are_not_called_as_tensors_are(garner, tmp_path):
    xml, axis = gather()
    write(tmp_path, xml.replace('"indices"', '"i"').replace('names="out"', 'names="k"'), axis)
    assert "k[j,l] = data[i[j], l]" in garner("explain", "m.xml").text


def test_outputs_that_are_left_out(garner, tmp_path):
    """ONNX writes them as empty names, between others too; what takes the rest is connected."""
    onnx = pytest.importorskip("onnx", reason="SKIP: onnx is not installed")
    make = onnx.helper
    port = lambda name: make.make_tensor_value_info(name, onnx.TensorProto.INT64, None)  # noqa: E731
    for outputs in (["", "y"], ["y", "", ""], ["", "", "y", "z"], ["y", "", "z"], [""]):
        nodes = [make.make_node("Other", ["", "x", ""], outputs, name="odd"), make.make_node("Other", [], ["", ""])]
        made = [name for name in outputs if name]
        nodes += [make.make_node("Gather", [name, "x"], [f"of {name}"]) for name in made]
        graph = make.make_graph(nodes, "g", [port("x")], [port(f"of {name}") for name in made] or [port("x")])
        onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 13)]), tmp_path / "m.onnx")
        answer = garner("explain", "m.onnx")
        assert answer.code == 0 and all(f"of {name} " in answer.text for name in made), answer
        assert answer.text.count(" Other\n") + answer.text.count(" Other → ") == 2 and "✗" not in answer.text, answer
        answer = garner("explain", "m.onnx", "--svg", "m.svg")
        assert answer.code == 0, answer
        texts = [text.text for text in tree.parse(tmp_path / "m.svg").iter(f"{SVG}text")]
        assert all(f"of {name}" in texts for name in made), texts


def test_no_colour_off_a_terminal(garner, sentence):
    assert "\x1b" not in garner("explain", sentence).text


def test_colour_on_a_terminal_alone(program, surroundings, sentence, tmp_path):
    """On a pseudo terminal there is colour, and with NO_COLOR there is none."""
    import os
    import pty

    texts = []
    for extra in ({}, {"NO_COLOR": "1"}):
        lead, follow = pty.openpty()
        process = subprocess.Popen(
            [program, "explain", sentence], stdout=follow, cwd=tmp_path, env={**surroundings, "TERM": "xterm", **extra}
        )
        os.close(follow)
        texts.append(read_terminal(lead))
        assert process.wait() == 0
    assert b"\x1b[" in texts[0] and b"\x1b" not in texts[1]
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", texts[0]) == texts[1]


def chain_of(count, shared=False):
    """Gathers one after the other; `shared`: each takes the first input too."""
    layers = [parameter(0, "data", "4", "i64"), constant(1, "", "i64", 0, 8)]
    edges = []
    for i in range(count):
        layers.append(layer(2 + i, "Gather", "", port(0) + port(1) + port(2), port(3), "opset8", f"g{i}"))
        before = (1 + i, 3) if i else (0, 0)
        edges += [(*before, 2 + i, 0), ((0, 0) if shared else before) + (2 + i, 1), (1, 0, 2 + i, 2)]
    layers.append(result(2 + count))
    edges.append((1 + count, 3, 2 + count, 0))
    return net(layers, edges), b"\0" * 8


def test_lanes_of_a_shared_input(garner, tmp_path):
    write(tmp_path, *chain_of(3, shared=True))
    lines = garner("explain", "m.xml").text.splitlines()
    drawn = [line[:6].rstrip() for line in lines[2:-2]]
    assert drawn == [" ○", " ├─┐", " │ ◆", " │ │", " ├─┤", " │ ◆", " │ │", " ├─┘", " ◆", ""], drawn


def test_long_chains_are_cut(garner, tmp_path):
    write(tmp_path, *chain_of(1000))
    text = garner("explain", "m.xml").text
    assert "g0" in text and "g999" in text and "g500" not in text and "⋮ 861 more" in text
    assert "1 input, 1 output, 1,000 gathers" in text
    answer = garner("explain", "m.xml", "--svg", "x.svg")
    assert answer.code == 4 and "too many for a picture" in answer.err and not (tmp_path / "x.svg").exists()


def test_wide_graphs_have_few_lanes(garner, tmp_path):
    """50 inputs into one operator that does not run here: names stay, lanes end somewhere."""
    layers = [parameter(i, f"in{i}", "1") for i in range(50)]
    layers += [layer(50, "Concat", "", "".join(port(i) for i in range(50)), port(50)), result(51)]
    write(tmp_path, net(layers, [*((i, 0, 50, i) for i in range(50)), (50, 50, 51, 0)]))
    answer = garner("explain", "m.xml", env={"COLUMNS": "80"})
    assert answer.code == 0 and max(map(columns, answer.text.splitlines())) <= 80, answer
    assert all(f"in{i} " in answer.text for i in range(50)) and " Concat → output\n" in answer.text
    assert "0 gathers, 1 node for a runtime\n" in answer.text
    assert garner("explain", "m.xml", "--svg", "x.svg").code == 0


def test_several_outputs_of_one_node(garner, tmp_path):
    layers = [parameter(0, "data", "4"), layer(1, "Split", "", port(0), port(1) + port(2) + port(3))]
    layers += [layer(i, "Relu", "", port(0), port(1), name=f"relu{i}") for i in (2, 3, 4)]
    layers += [result(i, f"out{i}") for i in (5, 6, 7)]
    edges = [(0, 0, 1, 0), *((1, i - 1, i, 0) for i in (2, 3, 4)), *((i, 1, i + 3, 0) for i in (2, 3, 4))]
    write(tmp_path, net(layers, edges))
    answer = garner("explain", "m.xml")
    assert answer.code == 0 and answer.text.count("•") == 4 and "✗" not in answer.text, answer
    lines = answer.text.splitlines()
    split = next(i for i, line in enumerate(lines) if line.endswith("Split"))
    assert lines[split - 1].startswith(" ○") and lines[split + 1] == " ├─┬─┐", "outputs part below what makes them"
    assert garner("explain", "m.xml", "--svg", "x.svg").code == 0
    _, found = boxes(tmp_path / "x.svg")
    assert [kind for kind, *_ in found].count("foreign") == 4 and "refused" not in {kind for kind, *_ in found}


def test_shapes_that_do_not_go_together(garner, tmp_path):
    write(tmp_path, *gather(shape="2,2", index="1", axis="5"))
    answer = garner("explain", "m.xml", env={"COLUMNS": "60"})
    assert answer.code == 0 and "axis 5" in answer.text.split("not run here")[-1], answer
    assert max(map(columns, answer.text.splitlines())) <= 60, answer
    assert " ✗  " in answer.text and "◆" not in answer.text and "1 gather; 1 node does not run here\n" in answer.text


def test_a_gather_that_its_version_does_not_have(garner, tmp_path):
    """Marked as what does not run, in the terminal and in the picture, whatever is known of shapes."""
    for given, sign, count in (("0", "◆", 0), ("1", "✗", 1)):
        for shape in ("2,2", "?,?", "..."):
            write(tmp_path, *gather("Gather", "opset1", f'batch_dims="{given}"', shape=shape, index="1"))
            assert f" {sign}" in garner("explain", "m.xml").text
            assert garner("explain", "m.xml", "--svg", "x.svg").code == 0
            boxes = [box.get("class", "") for box in tree.parse(tmp_path / "x.svg").iter()]
            assert sum("refused" in box for box in boxes) == count, boxes


def test_names_steer_no_terminal(garner, tmp_path):
    evil = "&#x9b;31m&#x202e;&lt;b&gt;" + "x" * 300
    xml, content = gather()
    xml = xml.replace('name="data"', f'name="{evil}"').replace('names="data"', f'names="{evil}"')
    write(tmp_path, xml, content)
    answer = garner("explain", "m.xml", env={"COLUMNS": "80"})
    assert answer.code == 0 and max(map(columns, answer.text.splitlines())) <= 80, answer
    assert not set(answer.text) & set("\x1b\x9b\u202e")
    assert garner("explain", "m.xml", "--svg", "x.svg").code == 0
    assert not set((tmp_path / "x.svg").read_text()) & set("\x1b\x9b\u202e")
    tree.parse(tmp_path / "x.svg")
    name = "no \uffff, \ufffe or \x01 is a character of XML"
    node = helper.make_node("Gather", ["data", "rows"], ["out"], name=name)
    save(model([node], ["data", value("rows", 7)], ["out"]), tmp_path / "m.onnx")
    for more in ([], ["--gathers"]):
        assert garner("explain", "m.onnx", *more, "--svg", "x.svg").code == 0
        tree.parse(tmp_path / "x.svg")


def test_arguments(refuses, sentence):
    refuses(2, ["explain", "--axis"], "explain", sentence, "--axis", "1")
    refuses(2, ["--spec"], "explain", sentence, "--spec", "onnx-13")
    refuses(2, ["explain gather takes DATA INDICES, and 0 are given"], "explain", "gather")
    refuses(2, ["explain gather takes DATA INDICES, and 1 is given"], "explain", "gather", "[1]")
    refuses(2, ["'model.pt'"], "explain", "model.pt")
    refuses(5, ["nothing.onnx", "No such file"], "explain", "nothing.onnx")


# ---- Pictures ----


def boxes(path):
    root = tree.parse(path).getroot()
    found = []
    for group in root.iter(SVG + "g"):
        rect = group.find(SVG + "rect")
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        found.append((group.get("class").split()[1], [text.text for text in group.iter(SVG + "text")], x, y, width, height))
    return root, found


def test_picture(garner, sentence, tmp_path):
    assert garner("explain", sentence, "--svg", "x.svg").out == b""
    root, found = boxes(tmp_path / "x.svg")
    kinds = [kind for kind, *_ in found]
    assert sorted(kinds) == sorted(["input"] * 3 + ["constant", "other"] + ["gather"] * 3 + ["output"] * 2)
    texts = {text for _, lines, *_ in found for text in lines}
    assert {"tokens", "table", "Convert to i32", "pooled[i,j] = embedded[i, last[i,0], j]", "features"} <= texts
    arrows = [path for path in root.iter(SVG + "path") if path.get("class") == "arrow"]
    assert len(arrows) == 1 + 2 + 2 + 2 + 2  # into the conversion, three gathers, two outputs
    width, height = float(root.get("width")), float(root.get("height"))
    for _, lines, x, y, w, h in found:
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height
        assert max(len(line) for line in lines) * 8 <= w
    for i, (_, _, x, y, w, h) in enumerate(found):
        for _, _, x2, y2, w2, h2 in found[i + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "boxes overlap"
    assert "http" not in (tmp_path / "x.svg").read_text().replace("http://www.w3.org/2000/svg", "")
