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


def link(path, to):
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(to)


@pytest.mark.parametrize("there", [False, True])
def test_links_to_one_file(garner, refuses, two, tmp_path, there):
    """Of a file that is not there yet as well: the first link would make it, and the second replace it."""
    if there:
        (tmp_path / "new.npy").write_bytes(OLD)
    link(tmp_path / "link.npy", "new.npy")
    link(tmp_path / "d" / "far.npy", "../link.npy")
    link(tmp_path / "whole.npy", tmp_path / "new.npy")
    for first, second in (("new.npy", "link.npy"), ("link.npy", "new.npy"), ("d/far.npy", "new.npy"), ("link.npy", "whole.npy")):
        refuses(2, ["two outputs cannot go to one file", "new.npy"], *two, "-o", f"Y={first}", "-o", f"Z={second}")
    assert (tmp_path / "new.npy").exists() == there and (not there or (tmp_path / "new.npy").read_bytes() == OLD)
    link(tmp_path / "other.npy", "d/other.npy")
    assert garner(*two, "-o", "Y=link.npy", "-o", "Z=other.npy").code == 0
    assert numpy.load(tmp_path / "new.npy").tolist() == [1.5] and numpy.load(tmp_path / "d" / "other.npy").tolist() == [2.5]


def test_links_in_a_folder(refuses, two, tmp_path):
    link(tmp_path / "d" / "Y.npy", "Z.npy")
    refuses(2, ["two outputs cannot go to one file", "Z.npy"], *two, "--output-dir", "d")
    assert not (tmp_path / "d" / "Z.npy").exists()


def test_links_in_a_circle(refuses, two, tmp_path):
    link(tmp_path / "a.npy", "b.npy")
    link(tmp_path / "b.npy", "a.npy")
    refuses(5, "a.npy", *two, "-o", "Y=a.npy")
