# SPDX-License-Identifier: MIT
"""The lists of differences that tests/peers holds NumPy's and torch's own tests against: that they are read, and matter."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
from differences import compare, listed  # noqa: E402


def test_the_documents_lists():
    numpy, torch = listed("numpy.md", "NumPy's test"), listed("torch.md", "torch's sample")
    assert "test_multiarray::TestTake::test_out_overlap" in numpy and len(numpy) == len(set(numpy)) and all("::" in name for name in numpy)
    assert "gather((), 0, ())" in torch and len(torch) == len(set(torch)) and all(name.endswith(")") or ":" in name for name in torch)
    with pytest.raises(SystemExit, match="no table"):
        listed("numpy.md", "something else")


@pytest.mark.parametrize(
    "failed, ran, expected, wrong",
    [
        ({"a": "why"}, {"a", "b"}, ["a"], 0),
        ({"a": "why"}, {"a", "b"}, [], 1),  # nobody expected it
        ({}, {"a", "b"}, ["a"], 1),  # it passes, and should not be listed any more
        ({"a": "why"}, {"a", "b"}, ["b"], 2),
        ({}, {"b"}, ["a"], 0),  # a test that this version does not have
    ],
)
def test_comparing(failed, ran, expected, wrong, capsys):
    assert compare(failed, ran, expected, "a list") == wrong
    said = capsys.readouterr().out
    assert ("unexpected: a: why" in said) == ("a" in failed and "a" not in expected)
