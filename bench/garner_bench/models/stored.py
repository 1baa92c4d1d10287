# SPDX-License-Identifier: MIT
"""A model as `export` leaves it and as `measure` finds it, a folder of
    model.json        its name, its feeds, where it comes from, and for each file of weights its parts
    model.onnx        with its large weights in model.weights, as external data
    model.xml         with all its constants in model.bin
    model.kept        the parts of those that are no random numbers, one behind the other
model.weights and model.bin are not stored: they are written when they are needed, of what is kept and what is described."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import described

ABOUT, ONNX, IR, KEPT = "model.json", "model.onnx", "model.xml", "model.kept"
WEIGHTS, BIN = "model.weights", "model.bin"
ALIGNMENT = 4096  # of a part in a file, so that it can be mapped


class Parts:
    """The parts of one file of weights, as they are found while it is taken apart."""

    def __init__(self, kept):
        self.kept = kept  # a bytearray that all files of the model share
        self.listed = []
        self.size = 0

    def add(self, offset, array, words):
        """The array lies there; with no words to describe it, it is kept."""
        part = {"offset": offset, "bytes": array.nbytes}
        if words:
            part |= words
        else:
            part["kept"] = len(self.kept)
            self.kept += array.tobytes()
        self.listed.append(part)
        self.size = max(self.size, offset + array.nbytes)

    def append(self, array, words):
        """Behind the last; answers where that is."""
        offset = -(-self.size // ALIGNMENT) * ALIGNMENT
        self.add(offset, array, words)
        return offset

    def as_json(self):
        return {"size": self.size, "parts": self.listed}


class Stored(NamedTuple):
    folder: Path
    about: dict

    @property
    def name(self):
        return self.about["name"]


def read(folder):
    folder = Path(folder)
    return Stored(folder, json.loads((folder / ABOUT).read_text(encoding="utf-8")))


def found(folder):
    """All models of a folder, in the order in which they were exported."""
    stored = [read(path.parent) for path in Path(folder).glob(f"*/{ABOUT}")]
    return sorted(stored, key=lambda model: (model.about["order"], model.name))


def _write_weights(path, told, kept):
    """Part by part; between them the file has holes."""
    with open(path, "wb") as file:
        file.truncate(told["size"])
        for number, part in enumerate(told["parts"]):
            file.seek(part["offset"])
            if "kept" in part:
                file.write(kept[part["kept"] : part["kept"] + part["bytes"]])
            else:
                for block in described.blocks(part, number):
                    file.write(memoryview(block).cast("B"))


def fill(stored, target, graph):
    """Writes one of the model's graphs (ONNX or IR) with its weights into a folder; answers the graph's path."""
    target = Path(target)
    weights = {ONNX: WEIGHTS, IR: BIN}[graph]
    kept = (stored.folder / KEPT).read_bytes()
    _write_weights(target / weights, stored.about["weights"][weights], kept)
    path = target / graph
    path.write_bytes((stored.folder / graph).read_bytes())
    return path


def size(stored):
    """Bytes that the stored model takes."""
    return sum(os.path.getsize(path) for path in stored.folder.iterdir() if path.name not in (WEIGHTS, BIN))


def _drawn(feed, rng):
    shape, below = feed["shape"], feed["below"]
    if feed["draw"] == "tokens":  # few words are frequent, most are rare
        return np.minimum(rng.zipf(1.2, shape), below) - 1
    if feed["draw"] == "integers":
        return rng.integers(0, below, shape)
    if feed["draw"] == "boxes":  # left, top, right, bottom
        corners = rng.integers(0, below, shape)
        return np.concatenate([np.minimum(corners[..., :2], corners[..., 2:]), np.maximum(corners[..., :2], corners[..., 2:])], -1)
    if feed["draw"] == "ones":
        return np.ones(shape)
    return rng.standard_normal(shape) if feed["draw"] == "normal" else rng.random(shape)


def feeds(stored, sets):
    """For each feed's name so many arrays, to be taken in turn; what is not integer is drawn once."""
    rng = np.random.default_rng(7)
    made = {}
    for feed in stored.about["feeds"]:
        count = sets if feed["draw"] in ("tokens", "integers", "boxes") else 1
        made[feed["name"]] = [np.ascontiguousarray(_drawn(feed, rng).astype(feed["dtype"])) for _ in range(count)]
    return made
