# SPDX-License-Identifier: MIT
"""Drawings: every source that a line claims is held against NumPy, and pictures are well-formed XML."""

import random
import re
import unicodedata
import xml.etree.ElementTree as tree

import numpy
import pytest

LINE = re.compile(
    r"^out(?:\[(?P<out>[\d,]*)\])? = (?:data\[(?P<data>[\d,]*)\] = (?P<value>\S+)|(?P<zero>zero))"
    r"   ← indices(?:\[(?P<place>[\d,:]*)\])? = (?P<index>\(?[-\d,]+\)?)(?: \((?P<note>[^()]*)\))?$"
)
SVG = "{http://www.w3.org/2000/svg}"


def numbers(text):
    return tuple(int(part) for part in text.split(",")) if text else ()


def literal(array):
    return str(array.tolist()).replace(" ", "") + ":i64"


# ---- What NumPy says: for each element of out the coordinates in data, or None ----


def expected_gather(data, indices, axis, batch):
    for at in numpy.ndindex(*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]):
        before, after = at[:axis], at[axis + indices.ndim - batch :]
        place = at[:batch] + at[axis : axis + indices.ndim - batch]
        yield at, place, before, (indices[place],), after


def expected_elements(data, indices, axis):
    for at in numpy.ndindex(*indices.shape):
        yield at, at, at[:axis], (indices[at],), at[axis + 1 :]


def expected_nd(data, indices, batch):
    width = indices.shape[-1]
    for at in numpy.ndindex(*indices.shape[:-1], *data.shape[batch + width :]):
        place = at[: indices.ndim - 1]
        yield at, place, at[:batch], tuple(indices[place]), at[indices.ndim - 1 :]


def resolve(index, extent, oob):
    if -extent <= index < extent:
        return index % extent
    return {"zero": None, "clamp": min(max(index, 0), extent - 1), "wrap": index % extent}[oob]


# ---- Random small cases: every element has its line ----


def random_case(chance):
    kind = chance.choice(["gather", "gather-elements", "gather-nd"])
    shape = [chance.randint(1, 3) for _ in range(chance.randint(1, 4))]
    axis = chance.randrange(len(shape))
    batch = 0
    if kind == "gather":
        batch = chance.randint(0, axis)
        index_shape = shape[:batch] + [chance.randint(1, 3) for _ in range(chance.randint(0, 2))]
        bounds = shape[axis]
    elif kind == "gather-elements":
        index_shape = [chance.randint(1, extent) for extent in shape]
        index_shape[axis] = chance.randint(1, 3)
        bounds = shape[axis]
    else:
        batch = chance.randint(0, len(shape) - 1)
        width = chance.randint(1, len(shape) - batch)
        index_shape = shape[:batch] + [chance.randint(1, 3) for _ in range(chance.randint(0, 1))] + [width]
        bounds = numpy.array(shape[batch : batch + width])
    oob = chance.choice(["error", "zero", "clamp", "wrap"])
    reach = 1 if oob == "error" else 3
    rng = numpy.random.default_rng(chance.getrandbits(32))
    indices = rng.integers(-bounds * reach, numpy.maximum(bounds * reach, 1), index_shape)
    data = rng.permutation(int(numpy.prod(shape))).reshape(shape)
    return kind, data, indices, axis, batch, oob


def check_line(line, data, want, oob):
    at, place, before, index, after = want
    match = LINE.match(line)
    assert match, line
    gathered = range(len(before), len(before) + len(index))
    resolved = [resolve(i, data.shape[d], oob) for i, d in zip(index, gathered)]
    assert numbers(match["out"]) == at
    assert numbers((match["place"] or "").removesuffix(":").removesuffix(",")) == place
    assert numbers(match["index"].strip("()")) == index
    if None in resolved:
        assert match["zero"] and match["note"] == "outside"
        return
    source = before + tuple(resolved) + after
    assert numbers(match["data"]) == source
    assert int(match["value"]) == data[source]
    if tuple(resolved) == index:
        assert match["note"] is None
    else:
        assert re.fullmatch("(wraps|clamped) to " + ",".join(map(str, resolved)), match["note"])


@pytest.mark.parametrize("seed", range(80))
def test_lines_against_numpy(garner, seed):
    chance = random.Random(seed)
    kind, data, indices, axis, batch, oob = random_case(chance)
    options = ["--oob", oob]
    if kind != "gather-nd":
        options += ["--axis", chance.choice([axis, axis - data.ndim])]
    if kind != "gather-elements":
        options += ["--batch-dims", batch]
    answer = garner("explain", kind, literal(data), literal(indices), *options)
    assert answer.code == 0 and answer.err == "", answer
    wants = {
        "gather": lambda: expected_gather(data, indices, axis, batch),
        "gather-elements": lambda: expected_elements(data, indices, axis),
        "gather-nd": lambda: expected_nd(data, indices, batch),
    }[kind]()
    wants = list(wants)
    lines = [line for line in answer.text.splitlines() if "←" in line]
    if len(wants) <= 40:
        assert len(lines) == len(wants)
    else:  # the first ones and the last ones
        assert 0 < len(lines) < 40
        gap = answer.text.splitlines().index(lines[-1]) - answer.text.splitlines().index(lines[0]) + 1
        assert gap == len(lines) + 1 and f"⋮ {len(wants) - len(lines)} more" in answer.text
        head = next(i for i, line in enumerate(answer.text.splitlines()) if line.endswith(" more"))
        head -= answer.text.splitlines().index(lines[0])
        wants = wants[:head] + wants[len(wants) - (len(lines) - head) :]
    for line, want in zip(lines, wants):
        check_line(line, data, want, oob)
    check_summary(answer.text, kind, data, indices, axis, batch, oob)


def check_summary(text, kind, data, indices, axis, batch, oob):
    wants = {
        "gather": lambda: expected_gather(data, indices, axis, batch),
        "gather-elements": lambda: expected_elements(data, indices, axis),
        "gather-nd": lambda: expected_nd(data, indices, batch),
    }[kind]()
    used, zeros, count = set(), 0, 0
    for _, _, before, index, after in wants:
        resolved = [resolve(i, data.shape[len(before) + k], oob) for k, i in enumerate(index)]
        count += 1
        zeros += None in resolved
        if None not in resolved:
            used.add(before + tuple(resolved) + after)
    assert re.search(rf"^{len(used)} of {data.size} elements of data (is|are) used", text, re.M)
    assert bool(zeros) == bool(re.search(rf"^{zeros} of {count} elements of out (is|are) zero", text, re.M))


# ---- Drawings as a whole ----


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def test_small_drawing(garner):
    answer = garner("explain", "gather", "[[1,2,3],[4,5,6]]", "[1,-2]", "--axis", "1")
    assert answer.text == (
        "Gather, axis 1\n"
        "out[i,j] = data[i, indices[j]]\n"
        "\n"
        "data i64[2,3]     indices i64[2]   out i64[2,2]\n"
        "    0   1   2       0    1             0   1\n"
        "  ┌───────────┐   ┌────────┐         ┌───────┐\n"
        "0 │ 1  [2]  3 │   │ 1   -2 │       0 │ 2   2 │\n"
        "1 │ 4  [5]  6 │   └────────┘       1 │ 5   5 │\n"
        "  └───────────┘                      └───────┘\n"
        "\n"
        "out[0,0] = data[0,1] = 2   ← indices[0] = 1\n"
        "out[0,1] = data[0,1] = 2   ← indices[1] = -2 (wraps to 1)\n"
        "out[1,0] = data[1,1] = 5   ← indices[0] = 1\n"
        "out[1,1] = data[1,1] = 5   ← indices[1] = -2 (wraps to 1)\n"
        "\n"
        "2 of 6 elements of data are used (33.3 %); out has 4\n"
        "1 of 2 indices is negative and counts from the end\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_large_drawing_fits(garner, width):
    answer = garner(
        *["explain", "gather-elements", "iota(1000,1000):f32", "iota(1000,1000)", "--axis", "0", "--oob", "wrap"],
        env={"COLUMNS": str(width)},
    )
    assert answer.code == 0, answer
    assert max(map(columns, answer.text.splitlines())) <= max(width, 86)  # a line of text may be wider
    drawn = [line for line in answer.text.splitlines() if "│" in line]
    assert drawn and max(map(columns, drawn)) <= width
    assert "out[i,j] = data[indices[i,j], j]" in answer.text
    assert "1,000 of 1,000,000 elements of data are used (0.1 %); out has 1,000,000" in answer.text
    assert "999,000 of 1,000,000 indices lie outside and wrap" in answer.text
    assert "out[999,999] = data[999,999] = 999999.0   ← indices[999,999] = 999999 (wraps to 999)" in answer.text
    assert "⋮" in answer.text and "⋯" in answer.text
    assert len(answer.text.splitlines()) < 70


@pytest.mark.parametrize(
    "operator, data, indices, options, formula",
    [
        ("gather", "[1,2]", "0", [], "out = data[indices]"),
        ("gather", "iota(2,2,2)", "[0]", ["--axis", "1"], "out[i,j,k] = data[i, indices[j], k]"),
        ("gather", "iota(2,3,2)", "[[0],[1]]", ["--axis", "1", "--batch-dims", "1"], "out[i,j,k] = data[i, indices[i,j], k]"),
        ("gather-elements", "iota(2,2)", "[[0,1]]", ["--axis", "1"], "out[i,j] = data[i, indices[i,j]]"),
        ("gather-nd", "iota(2,2)", "[[0,1]]", [], "out[i] = data[indices[i,0], indices[i,1]]"),
        ("gather-nd", "iota(2,2)", "[0,1]", [], "out = data[indices[0], indices[1]]"),
        (
            "gather-nd",
            "iota(2,2,3)",
            "[[[1],[2]],[[0],[0]]]",
            ["--batch-dims", "2", "--spec", "openvino-5"],
            "out[(i,j)] = data[i, j, indices[i,j,0]]",
        ),
    ],
)
def test_formulas(garner, operator, data, indices, options, formula):
    answer = garner("explain", operator, data, indices, *options)
    assert answer.code == 0 and answer.text.splitlines()[1] == formula, answer


def test_merged_batches(garner):
    """GatherND-5 multiplies its batch axes into one: lines count in the shape that out really has."""
    answer = garner("explain", "gather-nd", "iota(2,2,3)", "[[[1],[2]],[[0],[-1]]]", "--batch-dims", "2", "--spec", "openvino-5")
    assert "out[3] = data[1,1,2] = 11   ← indices[1,1,:] = (-1) (wraps to 2)" in answer.text, answer


def test_ranks_and_empty_results(garner):
    for data, indices in [
        ("[1,2]", "[]"),
        ("[[],[]]:f32", "[0,1]"),
        ("iota(" + ",".join("1" * 64) + ")", "0"),
        ("iota(" + ",".join("1" * 20) + ")", "[0]"),
        ("iota(3,2,2,2,2)", "[[0,2],[1,-1]]"),
    ]:
        answer = garner("explain", "gather", data, indices)
        assert answer.code == 0 and " of data " in answer.text, answer
        assert garner("explain", "gather", data, indices, "--svg", "x.svg").code == 0
    answer = garner("explain", "gather", "iota(3,2,2)", "[1]")
    assert "[2,:,:]" in answer.text
    assert "out is empty" in garner("explain", "gather", "[1,2]", "[]").text


@pytest.mark.parametrize("dtype", ["f16", "bf16", "u1", "i4", "nf4", "f8e5m2", "c64", "bool", "u64"])
def test_types(garner, dtype):
    answer = garner("explain", "gather", f"[1,0,1]:{dtype}", "[2]:u8")
    assert answer.code == 0 and f"data {dtype}[3]" in answer.text, answer
    assert re.search(r"^out\[0\] = data\[2\] = \S+   ← indices\[0\] = 2$", answer.text, re.M), answer


def test_errors_are_the_librarys(refuses, tmp_path):
    for more in [[], ["--svg", "x.svg"]]:
        refuses(3, "indices[1] = 7 is outside [-2, 1] of data axis 0", "explain", "gather", "[1,2]", "[0,7]", *more)
        refuses(3, [], "explain", "gather", "[1,2]", "[0]", "--axis", "4", *more)
        refuses(3, [], "explain", "gather", "iota(0,3)", "[0]", *more)
    assert list(tmp_path.iterdir()) == []


def test_nothing_steers_a_terminal(garner, tmp_path):
    strings = r'["\u001b[31mred\u001b[0m","<&\">","\u0007\u009b2J\u202e","日本語日本語日本語日本語"]'
    answer = garner("explain", "gather", strings, "[0,1,2,3]")
    assert answer.code == 0, answer
    assert not set(answer.text) & set("\x1b\x07\x9b\u202e")
    assert garner("explain", "gather", strings, "[0,1,2,3]", "--svg", "x.svg").code == 0
    content = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert not set(content) & set("\x1b\x07\x9b\u202e")
    texts = [element.text for element in tree.fromstring(content).iter(SVG + "text")]
    assert any("<&" in (text or "") for text in texts)


def test_large_data_shows_what_is_used(garner, tmp_path):
    """The rows that indices name are drawn, wherever they are, and with few enough elements their arrows too."""
    arguments = ["explain", "gather", "iota(1000,3)", "[500,123,-1]"]
    text = garner(*arguments).text
    for row in (123, 500, 999):
        assert re.search(rf"^ *{row} │ *\[{3 * row}\] *\[{3 * row + 1}\]", text, re.M), text
    assert garner(*arguments, "--svg", "x.svg").code == 0
    used = [cell_text(cell) for cell in cells(tmp_path / "x.svg", "data") if "used" in cell.get("class")]
    assert used == [str(3 * row + column) for row in (123, 500, 999) for column in range(3)]
    assert len([p for p in tree.parse(tmp_path / "x.svg").getroot().iter(SVG + "path") if p.get("class") == "arrow"]) == 9
    many = garner("explain", "gather", "iota(100000)", "[" + ",".join(str(7 * i) for i in range(1000)) + "]").text
    assert "[0]" in many and "[6993]" in many


# ---- Pictures ----


def cells(path, panel):
    root = tree.parse(path).getroot()
    assert root.tag == SVG + "svg"
    return [g for g in root.iter(SVG + "g") if g.get("class").split()[:2] == ["cell", panel]]


def cell_text(cell):
    return cell.find(SVG + "text").text


def test_picture_has_every_cell(garner, tmp_path):
    assert garner("explain", "gather", "[[1,2,3],[4,5,6]]", "[1,-2]", "--axis", "1", "--svg", "x.svg").out == b""
    path = tmp_path / "x.svg"
    assert [cell_text(cell) for cell in cells(path, "data")] == ["1", "2", "3", "4", "5", "6"]
    assert [cell_text(cell) for cell in cells(path, "indices")] == ["1", "-2"]
    assert [cell_text(cell) for cell in cells(path, "out")] == ["2", "2", "5", "5"]
    assert ["used" in cell.get("class") for cell in cells(path, "data")] == [False, True, False] * 2
    titles = [cell.find(SVG + "title").text for cell in cells(path, "out")]
    assert titles[1] == "out[0,1] = data[0,1] = 2   ← indices[1] = -2 (wraps to 1)"
    arrows = [p for p in tree.parse(path).getroot().iter(SVG + "path") if p.get("class") == "arrow"]
    assert len(arrows) == 4
    assert "http" not in path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("seed", range(10))
def test_pictures_against_numpy(garner, tmp_path, seed):
    rng = numpy.random.default_rng(seed)
    data = rng.permutation(24).reshape(4, 3, 2)
    indices = rng.integers(-4, 4, (2, 2))
    assert garner("explain", "gather", literal(data), literal(indices), "--svg", "x.svg").code == 0
    out = [int(cell_text(cell)) for cell in cells(tmp_path / "x.svg", "out")]
    assert out == numpy.take(data, indices, axis=0).ravel().tolist()
    used = [int(cell_text(c)) for c in cells(tmp_path / "x.svg", "data") if "used" in c.get("class").split()]
    assert sorted(used) == sorted(set(numpy.take(data, indices, axis=0).ravel().tolist()))


def test_large_picture_stays_small(garner, tmp_path):
    answer = garner("explain", "gather", "iota(1000,1000)", "iota(1000)", "--svg", "x.svg")
    assert answer.code == 0, answer
    for panel in ["data", "out"]:
        shown = cells(tmp_path / "x.svg", panel)
        assert len(shown) == 48 and cell_text(shown[0]) == "0" and cell_text(shown[-1]) == "999999"
    assert (tmp_path / "x.svg").stat().st_size < 100_000
    width = int(tree.parse(tmp_path / "x.svg").getroot().get("width"))
    assert width < 2000


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_text_is_legible_on_light_and_dark_screens(garner, tmp_path):
    assert garner("explain", "gather", "iota(8)", "iota(8)", "--svg", "x.svg").code == 0
    style = tree.parse(tmp_path / "x.svg").getroot().find(SVG + "style").text
    light, dark = style.rstrip("}").split("@media (prefers-color-scheme:dark){")
    for scheme in (light, dark):
        text = re.search(r"text\{[^}]*fill:(#\w{6})", scheme).group(1)
        fills = re.findall(r"\.t\d rect\{fill:(#\w{6})", scheme) + [re.search(r"\.paper\{fill:(#\w{6})", scheme).group(1)]
        assert len(fills) == 9 and min(contrast(text, fill) for fill in fills) > 7, scheme
    tones = {word for cell in cells(tmp_path / "x.svg", "data") for word in cell.get("class").split() if re.fullmatch(r"t\d", word)}
    assert tones == {f"t{number}" for number in range(8)}
