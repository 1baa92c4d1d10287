# SPDX-License-Identifier: MIT
"""info of a file with a name that is as long as a file, and that many nodes read."""

import json

import pytest

from test_ir import expat, layer, net, parameter, port, result, write  # noqa: F401 (a fixture)

READERS = 300
LONG = "n" * 30000 + "é\n" * 2000 + "end"


@pytest.fixture
def path(tmp_path):
    """An IR says the name of a value once, where it is made."""
    readers = [layer(i + 1, "Convert", 'destination_type="i32"', port(0), port(1)) for i in range(READERS)]
    edges = [(0, 0, i + 1, 0) for i in range(READERS)] + [(1, 1, READERS + 1, 0)]
    xml = net([parameter(0, LONG.replace("\n", "&#10;"), "2", "i64"), *readers, result(READERS + 1)], edges)
    return tmp_path / write(tmp_path, xml)


def test_as_text(garner, path):
    answer = garner("info", path.name)
    assert answer.code == 0 and len(answer.out) < 3 * path.stat().st_size, len(answer.out)
    lines = [line for line in answer.text.splitlines() if "->" in line]
    assert len(lines) == READERS and len(set(line.split(" -> ")[0] for line in lines)) == 1
    assert lines[0].startswith("    ...") and "\\x0aend i64 [2] -> " in lines[0] and len(lines[0]) < 300


def test_as_json(garner, path):
    """Whole where it is said, and for each reader the number of the value."""
    answer = garner("info", path.name, "--json")
    assert answer.code == 0 and len(answer.out) < 3 * path.stat().st_size, len(answer.out)
    info = json.loads(answer.text)
    assert info["inputs"][0]["name"] == LONG
    assert [node["inputs"] for node in info["nodes"]] == [["%0"]] * READERS
    assert len({node["outputs"][0] for node in info["nodes"]}) == READERS
