# SPDX-License-Identifier: MIT
"""A program may choose a locale that writes commas where garner writes points."""

import os
import shutil
import subprocess
import sys

import pytest

COMMA = """\
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep "<U002E>"
grouping 3;3
END LC_NUMERIC
"""

DRAW = """
import array, locale, sys, garner
if sys.argv[1]:
    locale.setlocale(locale.LC_NUMERIC, sys.argv[1])
    assert locale.localeconv()["decimal_point"] == ","
for code in "fd":
    data = array.array(code, [12345.678, 0.1, 1.5e-30, 2.0**80, 3.0, 7.0, 9.0])
    drawing = garner.explain("gather", data, array.array("q", [0, 1, 2, 3]))
    print(drawing)
    print(drawing._repr_svg_())
if sys.argv[1]:
    assert locale.str(1.5) == "1,5"
"""


def draw(folder, name):
    said = subprocess.run([sys.executable, "-c", DRAW, name], env={**os.environ, "LOCPATH": str(folder)}, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_drawings_have_points(tmp_path):
    """And the program has its locale afterwards."""
    localedef = shutil.which("localedef") or shutil.which("localedef", path="/usr/bin")
    if localedef is None:
        pytest.skip("localedef is not installed: drawings are not tested in a locale with commas")
    (tmp_path / "source").write_text(COMMA)
    subprocess.run([localedef, "-c", "--no-archive", "-i", tmp_path / "source", "-f", "ANSI_X3.4-1968", tmp_path / "comma"],
                   capture_output=True, check=False)  # fmt: skip
    if not (tmp_path / "comma" / "LC_NUMERIC").exists():
        pytest.skip("localedef made no locale: drawings are not tested in one with commas")
    plain = draw(tmp_path, "")
    assert "12345.678" in plain and "1.5e-30" in plain and "57.1 %" in plain
    assert draw(tmp_path, "comma") == plain
