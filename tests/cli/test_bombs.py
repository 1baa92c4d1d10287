# SPDX-License-Identifier: MIT
"""Small files that would ask for much: memory stays in proportion to the file."""

import pytest

from protobuf import block, number

MOST = 400_000  # KiB, also with sanitizers; the files below once took gigabytes


def stays_small(peak, path):
    """Reads the model, and then finds that it has no such input."""
    code, message, memory = peak("run", path, "nothing=[1]")
    assert code == 2 and b"nothing" in message, (code, message)
    assert memory < MOST, memory


def test_repeated_producer(garner, peak, tmp_path):
    """Of fields that may stand once, the last one counts."""
    opset, graph = block(8, number(2, 13)), block(7, block(2, b"g") + block(11, block(1, b"x")) + block(12, block(1, b"x")))
    many = b"".join(block(3, b"%08d" % i) for i in range(20000))
    (tmp_path / "m.onnx").write_bytes(number(1, 8) + block(2, b"old") + many + block(2, b"new") + opset + graph)
    stays_small(peak, "m.onnx")
    answer = garner("info", "m.onnx")
    assert answer.code == 0 and "new 00019999" in answer.text and "old" not in answer.text, answer.text[:400]


def test_results_that_share_their_names(garner, peak, tmp_path):
    """Many Results of one tensor that has many names. Each has a name of its own; those of the tensor mean the first."""
    names = ",".join(["first", "p"] + [f"n{i}" for i in range(20000)])
    results = "".join(
        f'<layer id="{i}" name="r{i}" type="Result" version="opset1"{more}><input><port id="0"/></input></layer>'
        for i, more in [(1, ""), (2, ""), (3, ' output_names="own,p"'), (4, ' output_names="mine"')]
        + [(i, "") for i in range(5, 1000)]
    )
    edges = "".join(f'<edge from-layer="0" from-port="0" to-layer="{i}" to-port="0"/>' for i in range(1, 1000))
    for layer, shown in (("p", ["p", "r2", "r3", "r4"]), ("q", ["first", "r2", "own", "mine"])):
        (tmp_path / "m.xml").write_text(
            '<?xml version="1.0"?><net name="x" version="11"><layers>'
            f'<layer id="0" name="{layer}" type="Parameter" version="opset1"><data element_type="i32" shape="2"/><output>'
            f'<port id="0" precision="I32" names="{names}"><dim>2</dim></port></output></layer>'
            f"{results}</layers><edges>{edges}</edges></net>"
        )
        stays_small(peak, "m.xml")
        lines = garner("info", "m.xml").text.splitlines()
        assert [line.split()[0] for line in lines[lines.index("outputs") + 1 :]][:4] == shown
        for name in ("n7", "n19999", "first", "own", "mine", "r9", *shown):
            answer = garner("run", "m.xml", f"{layer}=[7,8]:i32", "-o", f"{name}=out.npy")
            assert answer.code == 0, (name, answer)


@pytest.mark.parametrize("axis", ["iota(400000000)", "iota(20000,20000):i8", "iota(400000000):str"])
def test_an_axis_of_many_numbers(peak, axis):
    """What must be one number is refused before anything is built."""
    code, message, memory = peak("gather", "[1,2]", "[0]", "--axis", axis)
    assert code == 2 and message == f"garner: --axis takes an integer, not '{axis}'\n".encode(), (code, message)
    assert memory < MOST, memory


@pytest.mark.parametrize("name", ["x.npz", "x.safetensors", "x.pb", "x.onnx", "x.xml"])
def test_devices_without_an_end(refuses, tmp_path, name):
    (tmp_path / name).symlink_to("/dev/zero")
    refuses(4, [name, "device"], "info", name)
