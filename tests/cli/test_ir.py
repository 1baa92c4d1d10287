# SPDX-License-Identifier: MIT
"""OpenVINO IR through the command: the layers that the specification texts show, completed to whole files, and
files that are malformed, hostile or contradict themselves. What OpenVINO writes is read in tests/oracle."""

import os
import struct
import time

import numpy
import pytest


@pytest.fixture(autouse=True)
def expat(garner, tmp_path):
    """A garner without expat says so for every .xml; then there is nothing to test here."""
    (tmp_path / "probe.xml").write_text("<net version='11'><layers/></net>")
    answer = garner("info", "probe.xml")
    (tmp_path / "probe.xml").unlink()
    if answer.code == 4 and "built without expat" in answer.err:
        pytest.skip("this garner was built without expat")


# ---- Writing IR ----


def port(number, dims=(), precision=None, names=None):
    attributes = f' precision="{precision}"' if precision else ""
    attributes += f' names="{names}"' if names else ""
    return f'<port id="{number}"{attributes}>' + "".join(f"<dim>{dim}</dim>" for dim in dims) + "</port>"


def layer(number, kind, data="", inputs="", outputs="", version="opset1", name=None):
    parts = (f"<data {data}/>" if data else "") + (f"<input>{inputs}</input>" if inputs else "")
    parts += f"<output>{outputs}</output>" if outputs else ""
    return f'<layer id="{number}" name="{name or f"layer{number}"}" type="{kind}" version="{version}">{parts}</layer>'


def parameter(number, name, shape, kind="u8"):
    return layer(number, "Parameter", f'shape="{shape}" element_type="{kind}"', outputs=port(0, [], names=name), name=name)


def constant(number, shape, kind, offset, size):
    data = f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"'
    return layer(number, "Const", data, outputs=port(0))


def result(number, name="out"):
    return layer(number, "Result", inputs=port(0), name=name)


def net(layers, edges, version=11):
    lines = "".join('<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>' % edge for edge in edges)
    return f'<?xml version="1.0"?>\n<net name="n" version="{version}">\n<layers>{"".join(layers)}</layers>\n<edges>{lines}</edges>\n</net>\n'


def gather(kind="Gather", version="opset8", data="", out=(), ids=(0, 1, 2, 3), axis="0", shape="?,?", index="?"):
    """data and indices as inputs, the axis in the .bin."""
    takes = 3 if kind == "Gather" else 2
    layers = [
        parameter(10, "data", shape),
        parameter(11, "indices", index, "i64"),
        layer(1, kind, data, "".join(port(i) for i in ids[:takes]), port(ids[3], out, names="out"), version, "gather"),
        result(13),
    ]
    edges = [(10, 0, 1, ids[0]), (11, 0, 1, ids[1]), (1, ids[3], 13, 0)]
    if takes == 3:
        layers.append(constant(12, "", "i64", 0, 8))
        edges.append((12, 0, 1, ids[2]))
    return net(layers, edges), struct.pack("<q", int(axis))


def write(folder, xml, content=b"", stem="m"):
    path = folder / f"{stem}.xml"
    path.write_bytes(xml if isinstance(xml, bytes) else xml.encode())
    (folder / f"{stem}.bin").write_bytes(content)
    return path.name


# ---- The layers of the specification texts ----


def spec_layer(kind, attributes, data, indices, out, out_port, version, axis=False):
    """A layer as the texts write it: the ports of the inputs with their extents, then that of the output."""
    ports = port(0, data) + port(1, indices) + ("<port id=\"2\"/>        <!--  axis = 1  -->" if axis else "")
    return layer(1, kind, attributes, ports, port(out_port, out), version, "text")


SPEC_LAYERS = {
    "GatherND-8, first": ("GatherND", 'batch_dims="0"', (1000, 256, 10, 15), (25, 125, 3), (25, 125, 15), 3, "opset8"),
    "GatherND-8, second": ("GatherND", 'batch_dims="2"', (30, 2, 100, 35), (30, 2, 3, 1), (30, 2, 3, 35), 3, "opset8"),
    "GatherND-8, third": ("GatherND", 'batch_dims="3"', (1, 64, 64, 320), (1, 64, 64, 1, 1), (1, 64, 64, 1), 3, "opset8"),
    "GatherND-5, second": ("GatherND", 'batch_dims="2"', (30, 2, 100, 35), (30, 2, 3, 1), (60, 3, 35), 3, "opset5"),
    "GatherElements-6": ("GatherElements", 'axis="1"', (3, 7, 5), (3, 10, 5), (3, 10, 5), 2, "opset6"),
    "Gather-1": ("Gather", "", (6, 12, 10, 24), (15, 4, 20, 28), (6, 15, 4, 20, 28, 10, 24), 2, "opset1"),
    "Gather-8": ("Gather", 'batch_dims="1"', (2, 64, 128), (2, 32, 21), (2, 32, 21, 128), 2, "opset8"),
}


def expected(name, data, index):
    if name.startswith("GatherElements"):
        return numpy.take_along_axis(data, index, 1)
    if name == "Gather-1":
        return numpy.take(data, index, 1)
    if name == "Gather-8":
        return numpy.stack([numpy.take(part, at, 0) for part, at in zip(data, index)])
    batch = {"first": 0, "second": 2, "third": 3}[name.split()[-1]]
    grids = numpy.indices(index.shape[:-1])[:batch]
    return data[tuple(grids) + tuple(numpy.moveaxis(index, -1, 0))]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("name", SPEC_LAYERS)
def test_layers_of_the_texts(garner, tmp_path, name, version):
    kind, attributes, shape, picked, out, out_port, opset = SPEC_LAYERS[name]
    rng = numpy.random.default_rng(len(name))
    data = rng.integers(0, 256, shape).astype(numpy.uint8)
    if kind == "GatherND":
        batch = int(attributes.split('"')[1])
        index = numpy.stack([rng.integers(0, n, picked[:-1]) for n in shape[batch : batch + picked[-1]]], -1)
    else:
        index = rng.integers(0, shape[1], picked)
    takes_axis = kind == "Gather"
    layers = [
        parameter(10, "data", ",".join(map(str, shape))),
        parameter(11, "indices", ",".join(map(str, picked)), "i64"),
        spec_layer(kind, attributes, shape, picked, out, out_port, opset, takes_axis),
        result(13),
    ]
    edges = [(10, 0, 1, 0), (11, 0, 1, 1), (1, out_port, 13, 0)]
    if takes_axis:
        layers.insert(2, constant(12, "", "i64", 0, 8))
        edges.append((12, 0, 1, 2))
    write(tmp_path, net(layers, edges, version), struct.pack("<q", 1))
    numpy.save(tmp_path / "d.npy", data)
    numpy.save(tmp_path / "i.npy", index)
    answer = garner("run", "m.xml", "data=d.npy", "indices=i.npy", "-o", "o.npy")
    assert answer.code == 0 and answer.err == "", answer
    got = numpy.load(tmp_path / "o.npy")
    assert got.shape == out
    assert got.tobytes() == expected(name, data, index).tobytes()


# ---- What the format leaves open ----


@pytest.mark.parametrize("opset, policy", [(1, "error"), (6, "error"), (7, "error"), (8, "zero"), (16, "zero")])
def test_the_opset_decides(garner, refuses, tmp_path, opset, policy):
    write(tmp_path, *gather(version=f"opset{opset}"))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[-1]").text == "[[3,4]]\n"
    if policy == "zero":
        assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1,7]").text == "[[3,4],[0,0]]\n"
    else:
        refuses(3, ["gather", "indices[1] = 7 is outside [-2, 1] of data axis 0"], "run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1,7]")


@pytest.mark.parametrize(
    "kind, opset",
    [("Gather", "opset17"), ("Gather", "opset0"), ("GatherND", "opset4"), ("GatherElements", "opset5"), ("GatherND", "opset17"), ("Gather", "extension"), ("Gather", "")],
)
def test_opsets_without_the_operator(refuses, tmp_path, kind, opset):
    write(tmp_path, *gather(kind, opset, 'axis="0"'))
    refuses(4, f"m.xml: 1 × {kind} of version '{opset}'", "run", "m.xml", "data=[[1]]:u8", "indices=[0]")


def test_attributes(garner, refuses, tmp_path):
    write(tmp_path, *gather("GatherElements", "opset6", ""))
    refuses(4, ["line 3, column ", 'layer "gather" (GatherElements): the attribute axis is missing'], "run", "m.xml", "data=[[1]]:u8", "indices=[[0]]")
    write(tmp_path, *gather("GatherElements", "opset6", 'axis="-1"', index="?,?"))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[[1],[0]]").text == "[[2],[3]]\n"
    write(tmp_path, *gather("GatherND", "opset8", "", index="?,?"))  # batch_dims is 0 where it is not written
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[[1,0]]").text == "[3]\n"
    write(tmp_path, *gather(data='batch_dims="1"', axis="1", index="?,?"))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[[1],[0]]").text == "[[2],[3]]\n"
    write(tmp_path, *gather(data='batch_dims="-1"', axis="1", index="?,?"))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[[1],[0]]").text == "[[2],[3]]\n"
    write(tmp_path, *gather(axis="2"))
    refuses(3, ["axis 2", "gather"], "run", "m.xml", "data=[[1]]:u8", "indices=[0]")


@pytest.mark.parametrize("kind, version, axis, index", [("Gather", "opset1", "", "[0]"), ("Gather", "opset6", "", "[0]"), ("GatherElements", "opset6", 'axis="0" ', "[[0]]")])
def test_batch_dims_where_the_version_has_none(garner, refuses, tmp_path, kind, version, axis, index):
    arguments = ["run", "m.xml", "data=[[7]]:u8", f"indices={index}"]
    for given in ("", 'batch_dims="0"'):
        write(tmp_path, *gather(kind, version, axis + given, index="..."))
        assert garner(*arguments).text == "[[7]]\n"
    for given in ("1", "-1"):
        write(tmp_path, *gather(kind, version, f'{axis}batch_dims="{given}"', index="..."))
        refuses(3, ["gather", f"batch_dims is {given}", "has none"], *arguments)
        assert "'gather': does not run here\n" in garner("info", "m.xml").text
    write(tmp_path, *gather(kind, version, f'{axis}batch_dims="one"', index="..."))
    refuses(4, 'batch_dims="one" is not a decimal number', *arguments)


def test_one_id_for_input_and_output(garner, tmp_path):
    write(tmp_path, *gather(ids=(0, 1, 2, 2)))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1]").text == "[[3,4]]\n"
    write(tmp_path, *gather(ids=(7, 3, 900, 7)))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1]").text == "[[3,4]]\n"


@pytest.mark.parametrize("shape", ["?,?", "-1,-1", "2,2", "1..3,2", "..5,2..", "[2,?]", " 2 , 2 ", "..."])
def test_extents(garner, refuses, tmp_path, shape):
    write(tmp_path, *gather(shape=shape))
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1]").text == "[[3,4]]\n"
    if shape == "1..3,2":
        refuses(3, ["data", "[1..3,2]", "[4,2]"], "run", "m.xml", "data=iota(4,2):u8", "indices=[1]")


def test_shapes_that_are_not_so(garner, tmp_path):
    """Shapes in ports are information: they are computed again, and a disagreement is told."""
    write(tmp_path, *gather(out=(1, 3)))
    answer = garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1]")
    assert answer.code == 0 and answer.text == "[[3,4]]\n", answer
    assert answer.err.startswith("garner: m.xml: 'out' is declared [1,3], and its shape is [1,2]"), answer
    xml, content = gather(shape="2,2")
    write(tmp_path, xml.replace('<port id="0"></port><port id="1">', '<port id="0"><dim>2</dim><dim>9</dim></port><port id="1">'), content)
    answer = garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[1]")
    assert answer.code == 0 and "a port says that 'data' is [2,9], and elsewhere it is [2,2]" in answer.err, answer
    assert "[2,9]" in garner("info", "m.xml").text
    assert "[2,9]" in garner("explain", "m.xml").text


def test_shared_and_unaligned_constants(garner, tmp_path):
    content = b"\xff" + struct.pack("<2i", 1, 0) + struct.pack("<q", 0)
    layers = [constant(0, "2", "i32", 1, 8), constant(1, "1,2", "i32", 1, 8), constant(2, "", "i64", 9, 8)]
    layers += [layer(3, "Gather", "", port(0) + port(1) + port(2), port(3), "opset8"), result(4)]
    write(tmp_path, net(layers, [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]), content)
    assert garner("run", "m.xml").text == "[[0,1]]\n"


def test_strings_that_lie_nowhere(refuses, tmp_path):
    layers = [constant(0, "0", "string", "18446744073709551615", 0), result(1)]
    write(tmp_path, net(layers, [(0, 0, 1, 0)]), b"")
    refuses(4, "do not hold 0 strings", "run", "m.xml")


def test_types_of_indices(refuses, tmp_path):
    """A file names versions, so their type lists count."""
    xml, content = gather("GatherElements", "opset6", 'axis="0"', index="?,?")
    write(tmp_path, xml.replace('element_type="i64"', 'element_type="u8"'), content)
    refuses(3, ["gather", "u8"], "run", "m.xml", "data=[[1]]:u8", "indices=[[0]]:u8")


# ---- Bad files ----


def test_doctype(refuses, tmp_path):
    xml, content = gather()
    bomb = '<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(20)
    )
    start = time.monotonic()
    for declaration in (bomb + "]>", '<!DOCTYPE net SYSTEM "file:///etc/passwd">', "<!DOCTYPE net>"):
        write(tmp_path, xml.replace("<net", declaration + "<net", 1), content)
        for command in ("run", "info", "explain"):
            refuses(4, ["line 2, column", "DOCTYPE"], command, "m.xml")
    assert time.monotonic() - start < 10


def test_limits(refuses, tmp_path):
    write(tmp_path, "<net version='11'>" + "<a>" * 100)
    refuses(4, "nested deeper than the limit of 64", "info", "m.xml")
    write(tmp_path, "<net version='11' " + " ".join(f"a{i}=''" for i in range(300)) + "/>")
    refuses(4, "301 attributes; the limit is 256", "info", "m.xml")
    write(tmp_path, "<net version='11' a='" + "x" * (1 << 21) + "'/>")
    refuses(4, "more than 1048576 bytes", "info", "m.xml")
    with open(tmp_path / "huge.xml", "wb") as file:
        file.write(b"<net version='11'>")
        file.truncate((1 << 30) + 1)
    refuses(4, ["1073741825 bytes", "the limit for an IR is 1073741824"], "info", "huge.xml")


def test_the_bin(garner, refuses, tmp_path):
    arguments = ["run", "m.xml", "data=[[1]]:u8", "indices=[0]"]
    xml, content = gather()
    write(tmp_path, xml, content[:-1])
    refuses(4, ['layer "layer12" (Const): its 8 bytes from byte 0 on do not lie in the .bin file, which has 7'], *arguments)
    (tmp_path / "m.bin").unlink()
    refuses(5, ["m.bin", "No such file"], *arguments)
    (tmp_path / "real.bin").write_bytes(content)
    (tmp_path / "m.bin").symlink_to("real.bin")
    refuses(4, "m.bin", *arguments)
    assert garner(*arguments, "--follow-links").text == "[[1]]\n"
    (tmp_path / "m.bin").unlink()
    os.link(tmp_path / "real.bin", tmp_path / "m.bin")
    refuses(4, "m.bin", *arguments)
    assert garner(*arguments, "--follow-links").text == "[[1]]\n"
    (tmp_path / "m.bin").unlink()
    os.mkfifo(tmp_path / "m.bin")
    refuses(4, "m.bin", *arguments)
    (tmp_path / "m.bin").unlink()
    (tmp_path / "m.bin").mkdir()
    refuses(4, "m.bin", *arguments)


def test_no_bin_is_needed_without_constants(garner, tmp_path):
    write(tmp_path, *gather("GatherND", "opset8", index="?,?"))
    (tmp_path / "m.bin").unlink()
    assert garner("run", "m.xml", "data=[[1,2],[3,4]]:u8", "indices=[[1]]").text == "[[3,4]]\n"


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('shape="?,?"', 'shape="1,,2"', 'shape="1,,2" is no list'),
        ('shape="?,?"', 'shape="-2,1"', 'shape="-2,1" is no list'),
        ('shape="?,?"', 'shape="1e9,1"', 'shape="1e9,1"'),
        ('shape="?,?"', 'shape="0x10,1"', 'shape="0x10,1"'),
        ('shape="?,?"', 'shape="' + ",".join("1" * 65) + '"', "at most 64"),
        ('offset="0"', 'offset="-1"', 'offset="-1"'),
        ('offset="0"', 'offset="0 junk"', 'offset="0 junk"'),
        ('offset="0"', 'offset="99999999999999999999"', "offset="),
        ('size="8"', 'size="7"', "take 8 bytes"),
        ('id="13"', 'id="1e1"', 'id="1e1"'),
        ('id="13"', 'id="1"', "two layers have the id 1"),
        ('to-layer="13"', 'to-layer="14"', "no such input port"),
        ('element_type="u8"', 'element_type="u7"', 'there is no element type "u7"'),
        ('element_type="u8"', 'element_type="complex64"', 'there is no element type "complex64"'),
        ('version="11"', 'version="9"', "version 9 of OpenVINO's IR; those read are 10 and 11"),
        ('version="11"', 'version="12"', "version 12 of OpenVINO's IR"),
        ("<net", "<model", "no OpenVINO IR"),
        ("</layers>", "</layer>", "line "),
        ('name="gather"', 'name="\x1b[31m"', "line "),
        ('name="gather" type="Gather"', 'name="&#x9b;31m" type="Gat&#x202e;her"', "Gat\\xe2\\x80\\xaeher"),
    ],
)
def test_malformed(refuses, tmp_path, old, new, words):
    xml, content = gather()
    assert old in xml
    write(tmp_path, xml.replace(old, new, 1), content)
    answer = refuses(4, words, "run", "m.xml", "data=[[1]]:u8", "indices=[0]")
    assert not set(answer.err) & set("\x1b\x9b\u202e")


@pytest.mark.parametrize("cut", range(0, 1000, 97))
def test_cut_short(garner, tmp_path, cut):
    xml, content = gather()
    write(tmp_path, xml[:cut], content)
    answer = garner("info", "m.xml")
    assert answer.code == 4 and "line " in answer.err and "column " in answer.err, answer


def test_encodings(garner, refuses, tmp_path):
    xml, content = gather()
    arguments = ["run", "m.xml", "data=[[1]]:u8", "indices=[0]"]
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        text = xml if not encoding.endswith("e") else "\ufeff" + xml
        write(tmp_path, text.encode(encoding), content)
        assert garner(*arguments).text == "[[1]]\n", encoding
    for broken in (b"\xff\xfe\xfd", xml.encode().replace(b"gather", b"\xc3\x28", 1), xml.encode().replace(b"gather", b"\0", 1)):
        write(tmp_path, broken, content)
        refuses(4, ["line ", "column "], *arguments)
    write(tmp_path, xml.replace('"1.0"', '"1.0" encoding="EBCDIC-CP-US"').encode(), content)
    refuses(4, ["line 1, column", "encoding"], *arguments)


def test_cycles_and_gaps(refuses, tmp_path):
    loop = [layer(i, "Gather", "", port(0) + port(1) + port(2), port(3), "opset8") for i in (1, 2)]
    edges = [(1, 3, 2, k) for k in range(3)] + [(2, 3, 1, k) for k in range(3)] + [(2, 3, 9, 0)]
    write(tmp_path, net([*loop, result(9)], edges))
    refuses(4, "m.xml", "run", "m.xml")
    xml, content = gather()
    write(tmp_path, xml.replace('<edge from-layer="10" from-port="0" to-layer="1" to-port="0"/>', ""), content)
    refuses(4, "nothing is connected to its input port 0", "run", "m.xml", "data=[[1]]:u8", "indices=[0]")


def test_other_operators(refuses, tmp_path):
    """One message counts them all; loops and their bodies are one operator each."""
    inside = net([parameter(0, "x", "1")], []).split("\n", 1)[1].replace("net", "body")
    layers = [
        parameter(0, "data", "1"),
        layer(1, "Relu", inputs=port(0), outputs=port(1), name="a"),
        layer(2, "Relu", inputs=port(0), outputs=port(1), name="b"),
        layer(3, "Loop", inputs=port(0), outputs=port(1), name="c").replace("</layer>", inside + "</layer>"),
        result(4),
    ]
    write(tmp_path, net(layers, [(0, 0, 1, 0), (1, 1, 2, 0), (2, 1, 3, 0), (3, 1, 4, 0)]))
    refuses(4, "m.xml: 2 × Relu, 1 × Loop: 2 operators that do not run here", "run", "m.xml", "data=[1]:u8")


def test_many_notes_about_a_long_name_take_little_time(garner, tmp_path):
    """Each of 500 layers says that the shape of one value is another."""
    name = "x" * 1_000_000
    layers, edges = [parameter(0, name, "4")], []
    for i in range(500):
        layers.append(layer(1 + i, "Relu", "", port(0, ["9"]), port(1)))
        edges.append((0, 0, 1 + i, 0))
    write(tmp_path, net(layers, edges))
    start = time.monotonic()
    answer = garner("info", "m.xml")
    assert answer.code == 0 and time.monotonic() - start < 20, answer.err[:200]


@pytest.mark.slow
def test_many_layers_take_little_time(garner, tmp_path):
    """A chain of 20,000 gathers, each of which takes what the one before made."""
    count = 20000
    layers = [parameter(0, "data", "4"), constant(1, "4", "i32", 0, 16), constant(2, "", "i64", 16, 8)]
    edges = []
    for i in range(count):
        layers.append(layer(3 + i, "Gather", "", port(0) + port(1) + port(2), port(3), "opset8"))
        edges += [(2 + i if i else 0, 3 if i else 0, 3 + i, 0), (1, 0, 3 + i, 1), (2, 0, 3 + i, 2)]
    layers.append(result(3 + count))
    edges.append((2 + count, 3, 3 + count, 0))
    write(tmp_path, net(layers, edges), struct.pack("<4iq", 1, 2, 3, 0, 0))
    start = time.monotonic()
    answer = garner("run", "m.xml", "data=[10,20,30,40]:u8")
    assert answer.text == "[10,20,30,40]\n", answer  # 20,000 turns of four
    assert time.monotonic() - start < 20
