# SPDX-License-Identifier: MIT
"""Pieces of real models, built as an exporter would write them, and what they are fed with: the embeddings of a BERT, the
end of a detector, the reordering of a cache between the steps of a beam search, and gathers that are small."""

from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
SETS = 16  # so many different indices are drawn, and taken in turn


class Model(NamedTuple):
    name: str
    proto: onnx.ModelProto
    feeds: dict  # input name -> array
    outs: dict  # output name -> (type, shape)
    gathers: tuple  # the nodes that gather data
    shape_gathers: tuple = ()  # those that pick an extent out of a shape
    drawn: dict = {}  # input name -> arrays to take in turn
    dtype: str = "f32"  # of what is gathered

    @property
    def fresh(self):
        return bool(self.drawn)


def _value(name, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


def _proto(name, nodes, inputs, outputs, constants=()):
    weights = [numpy_helper.from_array(array, label) for label, array in constants]
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def _node(operator, inputs, out, **attributes):
    """Named after its output, which is what both runtimes call it in a profile."""
    return helper.make_node(operator, inputs.split(), out.split(), out.split()[0], **attributes)


def bert_embedding(small=False):
    """Words, positions and segments, added and normalised; positions are cut to the length of the sequence."""
    words, width, longest = (300, 32, 64) if small else (30522, 768, 512)
    batch, length = (2, 16) if small else (8, 128)
    rng = np.random.default_rng(11)
    table = lambda rows: rng.standard_normal((rows, width), np.float32)  # noqa: E731
    constants = [
        ("word_table", table(words)), ("position_table", table(longest)), ("segment_table", table(2)),
        ("positions", np.arange(longest, dtype=np.int64)[None]), ("scale", np.ones(width, np.float32)),
        ("bias", np.zeros(width, np.float32)), ("zero", np.array([0])), ("one", np.array([1])), ("second", np.array(1)),
    ]  # fmt: skip
    nodes = [
        _node("Shape", "words", "shape"),
        _node("Gather", "shape second", "length", axis=0),
        _node("Unsqueeze", "length zero", "end"),
        _node("Slice", "positions zero end one", "places"),
        _node("Gather", "word_table words", "word_rows", axis=0),
        _node("Gather", "position_table places", "position_rows", axis=0),
        _node("Gather", "segment_table segments", "segment_rows", axis=0),
        _node("Add", "word_rows segment_rows", "named"),
        _node("Add", "named position_rows", "placed"),
        _node("LayerNormalization", "placed scale bias", "embedded", axis=-1, epsilon=1e-12),
    ]
    inputs = [_value(name, np.int64, ["batch", "length_of_words"]) for name in ("words", "segments")]
    outputs = [_value("embedded", np.float32, ["batch", "length_of_words", width])]
    feeds = {name: np.zeros((batch, length), np.int64) for name in ("words", "segments")}
    drawn = {"words": [np.minimum(rng.zipf(1.2, (batch, length)), words) - 1 for _ in range(SETS)],
             "segments": [rng.integers(0, 2, (batch, length)) for _ in range(SETS)]}  # fmt: skip
    return Model("bert-embedding", _proto("embedding", nodes, inputs, outputs, constants), feeds,
                 {"embedded": (np.float32, (batch, length, width))},
                 ("word_rows", "position_rows", "segment_rows"), ("length",), drawn)  # fmt: skip


def detection_head(small=False):
    """The best anchors by their best class: their boxes and features by GatherElements, their scores by GatherND."""
    batch, anchors, classes, width, kept = (2, 60, 5, 8, 10) if small else (4, 8400, 80, 256, 300)
    rng = np.random.default_rng(12)
    extents = {"scores": classes, "boxes": 4, "features": width}
    feeds = {name: rng.standard_normal((batch, anchors, n), np.float32) for name, n in extents.items()}
    constants = [("kept", np.array([kept])), ("last", np.array([-1])),
                 ("box_wide", np.array([1, 1, 4])), ("feature_wide", np.array([1, 1, width]))]  # fmt: skip
    nodes = [
        _node("ReduceMax", "scores", "best", axes=[-1], keepdims=0),
        _node("TopK", "best kept", "best_scores order", axis=1),
        _node("Unsqueeze", "order last", "anchors"),
        _node("Expand", "anchors box_wide", "box_anchors"),
        _node("Expand", "anchors feature_wide", "feature_anchors"),
        _node("GatherElements", "boxes box_anchors", "kept_boxes", axis=1),
        _node("GatherElements", "features feature_anchors", "kept_features", axis=1),
        _node("GatherND", "scores anchors", "kept_scores", batch_dims=1),
        _node("Sigmoid", "kept_scores", "probabilities"),
    ]
    inputs = [_value(name, np.float32, ["batch", anchors, n]) for name, n in extents.items()]
    outs = {"kept_boxes": 4, "kept_features": width, "probabilities": classes}
    outputs = [_value(name, np.float32, ["batch", kept, n]) for name, n in outs.items()]
    return Model("detection-head", _proto("head", nodes, inputs, outputs, constants), feeds,
                 {name: (np.float32, (batch, kept, n)) for name, n in outs.items()},
                 ("kept_boxes", "kept_features", "kept_scores"))  # fmt: skip


def beam_reorder(small=False):
    """Keys and values of every layer, put in the order of the beams that go on."""
    layers, beams, heads, length, width = (2, 3, 2, 8, 4) if small else (6, 8, 12, 512, 64)
    rng = np.random.default_rng(13)
    names = [f"{kind}{layer}" for layer in range(layers) for kind in ("key", "value")]
    shape = (beams, heads, length, width)
    feeds = {f"past_{name}": rng.standard_normal(shape, np.float32).astype(np.float16) for name in names}
    feeds["beams"] = np.zeros(beams, np.int64)
    nodes = [_node("Gather", f"past_{name} beams", name, axis=0) for name in names]
    open_shape = ["beam_count", heads, "length", width]
    inputs = [_value(f"past_{name}", np.float16, open_shape) for name in names]
    inputs.append(_value("beams", np.int64, ["beam_count"]))
    outputs = [_value(name, np.float16, open_shape) for name in names]
    drawn = {"beams": [rng.integers(0, beams, beams) for _ in range(SETS)]}
    return Model("beam-reorder", _proto("reorder", nodes, inputs, outputs), feeds,
                 {name: (np.float16, shape) for name in names}, tuple(names), (), drawn, "f16")  # fmt: skip


def small_gathers(small=False):
    """Gathers of a few kilobytes between other layers, with open extents: a T5's relative bias, a short sentence's words, a
    column, nothing at all, and a chain of boxes as between the stages of a detector."""
    rounds, boxes, width = (2, 10, 8) if small else (12, 100, 128)
    rng = np.random.default_rng(14)
    table = lambda rows, columns: rng.standard_normal((rows, columns), np.float32)  # noqa: E731
    constants = [("bias_table", table(32, 4)), ("word_table", table(1000, width)), ("last_bucket", np.array(31)), ("second", np.array([1])),
                 ("bias_more", table(1, 4)), ("word_more", table(1, width)), ("column_more", table(64, 1))]
    nodes = [
        _node("Abs", "distances", "far"), _node("Min", "far last_bucket", "buckets"),
        _node("Gather", "bias_table buckets", "bias_rows", axis=0), _node("Add", "bias_rows bias_more", "bias"),
        _node("Gather", "word_table words", "word_rows", axis=0), _node("Add", "word_rows word_more", "embedded"),
        _node("Relu", "boxes", "stage0"),
        _node("ReduceSum", "stage0 second", "sums", keepdims=1),
        _node("Gather", "sums places", "column_rows", axis=0), _node("Add", "column_rows column_more", "column"),
    ]  # fmt: skip
    for number in range(rounds):
        constants.append((f"scale{number}", table(1, 4)))
        nodes += [_node("Gather", f"stage{number} order", f"chain{number}", axis=0),
                  _node("Mul", f"chain{number} scale{number}", f"scaled{number}"),
                  _node("Add", f"scaled{number} stage{number}", f"stage{number + 1}")]  # fmt: skip
    nodes += [_node("Gather", f"stage{rounds} dropped", "empty_rows", axis=0), _node("Concat", f"empty_rows stage{rounds}", "kept", axis=0)]
    feeds = {"distances": rng.integers(-40, 40, (48, 48)), "words": rng.integers(0, 1000, (1, 16)),
             "boxes": table(boxes, 4), "places": rng.integers(0, boxes, (2, 1, 1, 64)),
             "order": rng.permutation(boxes), "dropped": np.zeros(0, np.int64)}  # fmt: skip
    outs = {"bias": (48, 48, 4), "embedded": (1, 16, width), "column": (2, 1, 1, 64, 1), "kept": (boxes, 4)}
    free = lambda name, shape: [f"{name}{i}" for i in range(len(shape))]  # noqa: E731
    inputs = [_value(name, array.dtype, [*free(name, array.shape[:1]), 4] if name == "boxes" else free(name, array.shape))
              for name, array in feeds.items()]  # fmt: skip
    outputs = [_value(name, np.float32, free(name, shape)) for name, shape in outs.items()]
    return Model("small-gathers", _proto("small", nodes, inputs, outputs, constants), feeds,
                 {name: (np.float32, shape) for name, shape in outs.items()},
                 ("bias_rows", "word_rows", "column_rows", "empty_rows", *(f"chain{i}" for i in range(rounds))))  # fmt: skip


BUILDERS = {"bert-embedding": bert_embedding, "detection-head": detection_head, "beam-reorder": beam_reorder,
            "small-gathers": small_gathers}  # fmt: skip
