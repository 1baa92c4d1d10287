# SPDX-License-Identifier: MIT
"""explain of data with an axis that is far longer than what is drawn of it."""

import itertools
import re

import numpy
import pytest

SHORT, LONG, HUGE = 1000, (1 << 20) + 1000, 3_000_000_000
POLICIES = ["error", "zero", "clamp", "wrap"]
LINE = re.compile(r"^out\[[0-9,]*\] = (?:data\[([0-9,]*)\]|zero) ?.*←.*$", re.MULTILINE)


def sparse(path, *shape):
    """A file of zeros that takes no room."""
    with open(path, "wb") as file:
        numpy.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
        file.truncate(file.tell() + int(numpy.prod(shape, dtype=numpy.int64)))


def indices(n, policy):
    """The same places for every n."""
    inside, far = [0, 5, n - 1, -1, -n, 6 - n], (1 << 63) - (1 << 63) % n
    return inside if policy == "error" else inside + [n, -n - 1, 7 * n + 3, -7 * n - 3, far - 1, 2 - far]


def choice(operator, n, policy):
    """Shape of data, indices, further arguments: n is the length of an axis that indices choose on, or that they share."""
    chosen = indices(n, policy)
    if operator == "gather":
        return (n,), numpy.array(chosen), []
    if operator == "gather in columns":
        return (3, n), numpy.array(chosen), ["--axis", "1"]
    if operator == "gather-elements":
        return (n, 2), numpy.array([chosen, chosen[::-1]]).T, []
    if operator == "gather-elements beside":
        return (2, n), numpy.array([[0, 1, -1, -2, 1, 0]]), []
    return (4, n), numpy.array([[k % 4, index] for k, index in enumerate(chosen)]), []


def sources(garner, tmp_path, operator, n, policy, *options):
    """What each element of out was drawn to come from, with places near the end counted from there, and the counts of indices."""
    shape, index, arguments = choice(operator, n, policy)
    sparse(tmp_path / "data.npy", *shape)
    numpy.save(tmp_path / "indices.npy", index)
    answer = garner("explain", operator.split()[0], "data.npy", "indices.npy", *arguments, "--oob", policy, *options)
    if answer.code:
        return answer.code, answer.err.split(" = ")[0]
    places = [[int(at) if int(at) < n // 2 else int(at) - n for at in found.split(",")] if found else None for found in LINE.findall(answer.text)]
    return places, re.findall(r"^[0-9]+ of [0-9]+ indices .*$", answer.text, re.MULTILINE)


OPERATORS = {
    "gather": ["openvino-7"],
    "gather in columns": ["openvino-1"],
    "gather-elements": ["openvino-6"],
    "gather-elements beside": ["openvino-6"],
    "gather-nd": ["openvino-8"],
}


@pytest.mark.parametrize(("operator", "policy"), list(itertools.product(OPERATORS, POLICIES)))
def test_long_axes_are_drawn_like_short_ones(garner, tmp_path, operator, policy):
    """On a short axis the library is asked for each place; on a long one places are counted."""
    for options in ([], *(["--spec", spec, "--strict"] for spec in OPERATORS[operator] if "beside" not in operator)):
        short = sources(garner, tmp_path, operator, SHORT, policy, *options)
        assert len(short[0]) > 5 if isinstance(short[0], list) else short[0] == 3 and policy == "error" and options, short
        for n in (LONG, HUGE):
            long = sources(garner, tmp_path, operator, n, policy, *options)
            assert long == short, (n, options)


def test_places(garner, tmp_path):
    n = HUGE
    assert sources(garner, tmp_path, "gather", n, "wrap")[0][:10] == [[0], [5], [-1], [-1], [0], [6], [0], [-1], [3], [-3]]
    assert sources(garner, tmp_path, "gather", n, "clamp")[0] == [[0], [5], [-1], [-1], [0], [6], [-1], [0], [-1], [0], [-1], [0]]
    strict = sources(garner, tmp_path, "gather", n, "clamp", "--spec", "openvino-7", "--strict")
    assert strict[0] == [[0], [5], [-1], [0], [0], [0], [-1], [0], [-1], [0], [-1], [0]]


def test_memory(peak, tmp_path):
    """As much as is drawn takes, not as much as the axis is long."""
    sparse(tmp_path / "long.npy", 100, HUGE)
    code, said, kilobytes = peak("explain", "gather", "long.npy", "[0,-5]", "--axis", "1", "--svg", "map.svg")
    assert code == 0 and said == b"" and kilobytes < 300_000, (said, kilobytes)
