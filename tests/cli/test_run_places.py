# SPDX-License-Identifier: MIT
"""Where garner run writes outputs: where it was told to, and nowhere else."""

import numpy
import pytest

from protobuf import helper, model, save, value

OLD = b"what was there before\n"


@pytest.fixture
def two(tmp_path):
    """y = x[0], z = x[1]."""
    nodes = [helper.make_node("Gather", ["x", name], [name.upper()]) for name in "yz"]
    save(model(nodes, [value("x", 1), value("y", 7), value("z", 7)], [value("Y", 1), value("Z", 1)]), tmp_path / "m.onnx")
    return ("run", "m.onnx", "x=[1.5,2.5]", "y=[0]", "z=[1]")


@pytest.mark.parametrize("folder", ["out.npz:d", "out.pb:d", "out.safetensors:d", "out.npy:d", "-", "file:d"])
def test_a_folder_is_a_folder_by_any_name(garner, two, tmp_path, folder):
    """FILE:NAME is a form of arguments; a path that was made of a folder's name has none."""
    file = tmp_path / folder.split(":")[0]
    if "." in folder:
        file.write_bytes(OLD)
    answer = garner(*two, "--output-dir", folder)
    assert (answer.code, answer.err) == (0, ""), answer
    assert sorted(path.name for path in (tmp_path / folder).iterdir()) == ["Y.npy", "Z.npy"]
    assert numpy.load(tmp_path / folder / "Z.npy").tolist() == [2.5]
    assert "." not in folder or file.read_bytes() == OLD
