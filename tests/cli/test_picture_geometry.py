# SPDX-License-Identifier: MIT
"""Pictures of models: no arrow runs through a box, no word lies on an arrow or on another word, and nothing is outside.

The pictures are of random graphs, and of models as real ones are; they are read back as coordinates."""

import os
import random
import re
import xml.etree.ElementTree as tree
from dataclasses import dataclass

import pytest
from models_like_real import bert, detector
from test_info_model import FLOAT, INT64, model
from onnx import helper

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = {"heading": 11, "role": 6.7, "more": 7.3}  # the width of one, by class; else 8
SIZE = {"heading": 18, "role": 11, "more": 12}
STEPS = 24  # that a curve is cut into


@dataclass
class Area:
    left: float
    top: float
    right: float
    bottom: float
    what: str

    def overlaps(self, other, slack=0.0):
        return (self.left + slack < other.right and other.left + slack < self.right
                and self.top + slack < other.bottom and other.top + slack < self.bottom)

    def is_crossed(self, start, end):
        """Whether a straight line runs through the inside (Liang and Barsky)."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        low, high = 0.0, 1.0
        for step, room in ((-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y)):
            if step == 0:
                if room <= 0:
                    return False
            elif step < 0:
                low = max(low, room / step)
            else:
                high = min(high, room / step)
        return low < high


def points_of(path):
    """The corners of a path of M, V and C, curves cut into straight pieces."""
    points = []
    for letter, numbers in re.findall(r"([A-Z])([^A-Z]*)", path):
        values = [float(n) for n in numbers.split()]
        if letter == "M":
            points.append(tuple(values))
        elif letter == "V":
            points.append((points[-1][0], values[0]))
        else:
            assert letter == "C" and len(values) == 6, path
            p0, (p1, p2, p3) = points[-1], (values[0:2], values[2:4], values[4:6])
            for k in range(1, STEPS + 1):
                t = k / STEPS
                weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
                points.append(tuple(sum(w * p[d] for w, p in zip(weights, (p0, p1, p2, p3))) for d in (0, 1)))
    return points


class Picture:
    def __init__(self, path):
        root = tree.parse(path).getroot()
        self.width, self.height = float(root.get("width")), float(root.get("height"))
        self.boxes, self.words = [], []
        for rect in root.iter(SVG + "rect"):
            if rect.get("x"):
                x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
                self.boxes.append(Area(x, y, x + width, y + height, "a box"))
        centred = {text for group in root.iter(SVG + "g") for text in group.iter(SVG + "text")}
        for text in root.iter(SVG + "text"):
            kind, (x, y) = text.get("class"), (float(text.get(name)) for name in ("x", "y"))
            width, size = len(text.text) * CHARACTER.get(kind, 8), SIZE.get(kind, 13)
            left = x - width / 2 if text in centred or kind == "role" else x
            self.words.append(Area(left, y - 0.75 * size, left + width, y + 0.2 * size, text.text))
        paths = [path for path in root.iter(SVG + "path") if path.get("class") in ("arrow", "line")]
        self.lines = [points_of(path.get("d")) for path in paths]
        self.arrows = sum(path.get("class") == "arrow" for path in paths)

    def check(self):
        segments = [piece for line in self.lines for piece in zip(line, line[1:])]
        for area in self.boxes + self.words:
            assert area.left >= 0 and area.top >= 0 and area.right <= self.width and area.bottom <= self.height, f"{area} is outside"
        for start, end in segments:
            assert all(0 <= x <= self.width and 0 <= y <= self.height for x, y in (start, end))
            for area in self.boxes + self.words:
                assert not area.is_crossed(start, end), f"an arrow from {start} to {end} runs through {area}"
        for kind in (self.boxes, self.words):
            for i, area in enumerate(kind):
                for other in kind[i + 1 :]:
                    assert not area.overlaps(other), f"{area} and {other} overlap"
        for word in self.words:  # those that are not in a box are beside it
            inside = [box for box in self.boxes if box.overlaps(word)]
            assert len(inside) <= 1 and all(box.left <= word.left and word.right <= box.right and box.top <= word.top and word.bottom <= box.bottom
                                            for box in inside), f"{word} is half in a box"


def random_graph(path, seed):
    """Nodes of up to five inputs from anywhere above, some of several outputs, some gathers; wide ones and long ones."""
    random.seed(seed)
    values, nodes = [f"in{k}" for k in range(random.randint(1, 4))], []
    inputs = [(name, FLOAT, ["batch", 3]) for name in values] + [("rows", INT64, [2])]
    near = random.choice([2, 5, 1000])
    for k in range(random.randint(1, 45)):
        names = [f"v{k}.{n}" for n in range(random.choice([1, 1, 1, 3]))]
        if random.random() < 0.3:
            nodes.append(helper.make_node("Gather", [random.choice(values[-near:]), "rows"], names[:1], f"g{k}"))
        else:
            kind = random.choice(["Add", "Concat", "Relu", "A" * random.randint(1, 40)])
            taken = [random.choice(values[-near:]) for _ in range(random.randint(1, 5))]
            nodes.append(helper.make_node(kind, taken, names, f"n{k}"))
        values += list(nodes[-1].output)
    made = values[len(inputs) - 1 :]
    model(path, nodes, inputs, [(name, FLOAT, None) for name in random.sample(made, min(len(made), 3))])
    return sum(len(node.input) for node in nodes) + min(len(made), 3)


@pytest.mark.parametrize("seed", range(round(4 * float(os.environ.get("GARNER_TEST_SCALE", "1")))))
@pytest.mark.slow
def test_random_graphs(garner, tmp_path, seed):
    arrows = random_graph(tmp_path / "m.onnx", seed)
    assert garner("explain", "m.onnx", "--svg", "m.svg").out == b""
    picture = Picture(tmp_path / "m.svg")
    assert picture.arrows == arrows
    picture.check()
    assert garner("explain", "m.onnx", "--gathers", "--svg", "g.svg").out == b""
    Picture(tmp_path / "g.svg").check()


@pytest.mark.parametrize("make", [bert, detector])
def test_models_like_real_ones(garner, tmp_path, make):
    make(tmp_path / "m.onnx")
    assert garner("explain", "m.onnx", "--gathers", "--svg", "g.svg").out == b""
    picture = Picture(tmp_path / "g.svg")
    picture.check()
    assert picture.boxes and picture.lines


def test_a_crossing_is_seen():
    """The test itself: lines that pass, touch and cross a box."""
    box = Area(10, 10, 20, 20, "")
    assert box.is_crossed((0, 15), (30, 15)) and box.is_crossed((12, 12), (13, 13)) and box.is_crossed((5, 5), (25, 25))
    assert not box.is_crossed((0, 10), (30, 10)) and not box.is_crossed((0, 25), (30, 25)) and not box.is_crossed((15, 20), (15, 30))
    assert points_of("M1 2V5C1 7 3 7 3 9")[-1] == (3.0, 9.0)
