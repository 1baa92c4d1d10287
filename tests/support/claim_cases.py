# SPDX-License-Identifier: MIT
"""Models in which garner takes some gathers inside a runtime and leaves others, and what `garner info --gathers` says of
them; tests hold that against what the runtimes did."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
from models_like_real import FLOAT, INT64, Maker, bert, detector
from onnx import TensorProto

TABLE = np.zeros((64, 8), "f4")


def embeddings(path):
    """By an input, a constant, another gather; large, small, open; from a table and from an input."""
    m = Maker()
    table, large = m.constant("table", TABLE), m.constant("large", np.zeros((64, 4096), "f4"))
    outputs = [m("Gather", table, "rows"), m("Gather", large, "rows"), m("Gather", "data", "rows"), m("Gather", table, "open")]
    outputs += [m("Gather", large, "open"), m("GatherElements", "data", m.constant("each", np.zeros((2, 8), "i4")))]
    outputs += [m("GatherND", table, m.constant("tuples", [[1], [2]])), m("GatherND", "data", "tuples")]
    first = m("Gather", "data", m("Add", "rows", m.constant("one", [1, 0])))
    outputs += [m("Gather", first, "rows"), m("Gather", m("Relu", "data"), "rows"), m("Gather", m("Erf", "data"), m.constant("late", [63, -1]))]
    longs = m("Gather", m.constant("longs", np.zeros((64, 8), "i8")), "rows")
    m.save(path, "embeddings", [("rows", INT64, [2]), ("open", INT64, ["n"]), ("data", FLOAT, [64, 8])],
           [*((name, FLOAT, None) for name in outputs), (longs, INT64, None)])


def folded(path):
    """What is constant, directly and through others, and what is only computed from the shape of something."""
    m = Maker()
    table, at, zero = m.constant("table", TABLE), m.constant("at", [3, 1]), m.constant("zero", 0)
    outputs = [m("Gather", table, at), m("Gather", m("Relu", table), at), m("Gather", table, "rows")]
    sizes = [m("Add", m("Gather", m("Shape", value), zero), "one") for value in ("open", "rows")]
    m("Gather", table, m("Abs", "rows"))
    m.save(path, "folded", [("rows", INT64, [2]), ("open", FLOAT, ["n", 3]), ("one", INT64, [])],
           [*((name, FLOAT, None) for name in outputs), *((name, INT64, None) for name in sizes)])


def columns(path):
    """Single columns that cover an axis, some that do not, longer ones, and those that two axes pick."""
    m = Maker()
    at = [m.constant(f"at{k}", k) for k in range(4)]
    data, half = m("Relu", "data"), m("Relu", "half")
    outputs = [m("Gather", data, k, axis=1) for k in at] + [m("Gather", half, k, axis=1) for k in at[:2]]
    pairs = m("Relu", "pairs")
    outputs += [m("Gather", pairs, k, axis=1) for k in at[:2]]
    ends = [m.constant("start", [2]), m.constant("end", [4]), m.constant("axis", [1])]
    mixed = m("Sigmoid", "data")
    outputs += [m("Gather", mixed, at[0], axis=-1), m("Gather", mixed, at[1], axis=1), m("Slice", mixed, *ends)]
    m.save(path, "columns", [("data", FLOAT, ["n", 4]), ("half", FLOAT, ["n", 4]), ("pairs", FLOAT, ["n", 2, 2])],
           [(name, FLOAT, None) for name in outputs])


def slices(path):
    """One row behind extents of 1, behind others, behind open ones; of what is computed, and of an input."""
    m = Maker()
    at, rows = m.constant("at", 1), m.constant("rows", [1, 2])
    data, single, open_ = m("Relu", "data"), m("Relu", "single"), m("Relu", "open")
    outputs = [m("Gather", data, at), m("Gather", data, at, axis=1), m("Gather", data, rows), m("Gather", single, at, axis=1), m("Gather", "data", at)]
    outputs += [m("Gather", open_, at), m("Gather", open_, at, axis=1), m("Gather", m("Transpose", "single", perm=[1, 0, 2]), at)]
    m.save(path, "slices", [("data", FLOAT, [3, 64, 512]), ("single", FLOAT, [1, 3, 9000]), ("open", FLOAT, ["n", 3, 9000])],
           [(name, FLOAT, None) for name in outputs])


def thresholds(path):
    """On both sides of what is too little: rows of several lengths, elements, tuples, nothing at all."""
    m = Maker()
    outputs, inputs = [], [("data", FLOAT, [64, 8]), ("open", FLOAT, ["n", 8])]

    def by(operator, data, *shape, **attributes):
        inputs.append((f"at{len(inputs)}", INT64, list(shape)))
        outputs.append(m(operator, data, inputs[-1][0], **attributes))

    computed, open_ = m("Relu", "data"), m("Relu", "open")
    for width in (1, 4, 16, 64, 127, 128):
        table = m.constant(f"of{width}", np.zeros((8, width), "f4"))
        for count in (511, 512, 2047, 2048, 4095, 4096, 8191, 8192, 32767, 32768):
            by("Gather", table, count)
        by("Gather", table, "k", 31)
        by("Gather", table, "k", 50)
    for count in (0, 1, 8191, 8192, 16383, 16384, 32767, 32768, 65535, 65536, 131071, 131072):
        for data in (computed, open_):
            by("Gather", data, count)
            by("GatherND", data, count, 1)
            by("GatherND", data, count, 2)
    for count in (0, 1, 4095, 4096):
        by("GatherElements", computed, count, 8)
        by("GatherElements", open_, count, 8)
    by("GatherElements", computed, 64, "k", axis=1)
    by("GatherND", computed, 64, 1, batch_dims=1)
    by("Gather", computed, 1)
    by("Gather", open_, 1, axis=1)
    by("Gather", "data", 4)
    m.save(path, "thresholds", inputs, [(name, FLOAT, None) for name in outputs])


def quantized(path):
    m = Maker()
    scale, zero = m.constant("scale", np.float32(0.5)), m.constant("zero", np.uint8(0))
    unpacked = m("DequantizeLinear", "bytes", scale, zero)
    outputs = [m("QuantizeLinear", m("Gather", unpacked, "rows"), scale, zero), m("Gather", m("DequantizeLinear", "more", scale, zero), "rows")]
    m.save(path, "quantized", [("bytes", TensorProto.UINT8, [64, 8]), ("more", TensorProto.UINT8, [64, 8]), ("rows", INT64, [2])],
           [(outputs[0], TensorProto.UINT8, None), (outputs[1], FLOAT, None)])


def half(path):
    m = Maker()
    f16 = (TensorProto.FLOAT16, [64, 8])
    one, other, third = (m("Cast", name, to=TensorProto.FLOAT16, info=f16) for name in ("one", "other", "third"))
    outputs = [m("Erf", m("Gather", m("Erf", one), "rows")), m("Gather", m("Erf", other), "rows"), m("Erf", m("Gather", third, "rows"))]
    m.save(path, "half", [*((name, FLOAT, [64, 8]) for name in ("one", "other", "third")), ("rows", INT64, [2])],
           [(name, TensorProto.FLOAT16, None) for name in outputs])


def unsafe(path):
    """What a runtime's own kernel would go wrong with: nothing to gather from or by, and short vectors of integers, which
    OpenVINO gathers as matrices."""
    m = Maker()
    longs = m("Cast", m("Gather", m("Abs", "longs"), "rows"), to=FLOAT)
    longs = m("Add", longs, m("Cast", m("Gather", m("Abs", "open"), m("Abs", "rows")), to=FLOAT))
    longs = m("Add", longs, m("Cast", m("Gather", m("Abs", "longs"), m("Squeeze", m("Gather", "rows", m.constant("first", [0])))), to=FLOAT))
    longs = m("Add", longs, m("Cast", m("Gather", "open", m("Neg", "rows")), to=FLOAT))
    outputs = [m("Gather", m("Relu", "data"), "none"), m("Gather", m("Relu", "empty"), "rows", axis=1), m("Gather", m("Erf", "data"), "rows")]
    m.save(path, "unsafe", [("rows", INT64, [2]), ("none", INT64, [0]), ("data", FLOAT, [64, 8]), ("empty", FLOAT, [0, 8]), ("longs", INT64, [8]), ("open", INT64, ["n"])],
           [(name, FLOAT, None) for name in [*outputs, longs]])


def ones(path):
    """Extents of 1, and indices that count up: where the runtime would take data for the result."""
    m = Maker()
    data, row, many = m("Relu", "data"), m("Relu", "row"), m("Relu", "many")
    outputs = [m("Gather", data, "at"), m("Gather", data, "rows"), m("Gather", row, "at", axis=1), m("Gather", many, "at"), m("Gather", "data", "at")]
    narrow = m("ReduceMax", "many", axes=[0], info=(FLOAT, [None, 8]))
    outputs += [m("Gather", narrow, "at"), m("Gather", narrow, "rows"), m("Gather", m("Erf", "open"), "at")]
    outputs += [m("Gather", many, m.constant("all", [[0, 1, 2]])), m("Gather", many, m.constant("each", [0, 1, 2])), m("Gather", data, m.constant("beyond", [1]))]
    outputs += [m("Gather", m("Erf", "data"), m.constant("last", [[-1]]))]
    outputs += [m("Cast", m("Gather", m("Abs", "longs"), m.constant(name, at)), to=FLOAT) for name, at in (("outside", [5]), ("inside", [2, 1]))]
    m.save(path, "ones", [("at", INT64, [1]), ("rows", INT64, [2]), ("data", FLOAT, [1, 8]), ("row", FLOAT, [8, 1]), ("many", FLOAT, [3, 8]),
                          ("open", FLOAT, ["n", 8]), ("longs", INT64, [3])],
           [(name, FLOAT, None) for name in outputs])  # fmt: skip


def readers(path):
    """Columns of inputs that the plug-in converts, by who reads them: what is computed with is converted anyway."""
    m = Maker()
    large, columns = m.constant("large", np.zeros((64, 4096), "f4")), iter(range(8))

    def column(boxes="boxes"):
        """Another one each time, or runtimes make one of them."""
        number = next(columns)
        return m("Gather", boxes, m.constant(f"at{number}", number), axis=1)

    both = column()
    outputs = [(m("Sub", column(), "one"), INT64), (m("Gather", large, column()), FLOAT), (column(), INT64), (m("Cast", column(), to=FLOAT), FLOAT)]
    outputs += [(m("Gather", large, both), FLOAT), (m("Sub", both, "one"), INT64), (m("Sub", m("Gather", m("Identity", column()), "rows"), "one"), INT64)]
    outputs += [(column(m("Gather", "boxes", "rows")), INT64), (m("Gather", "ints", "many"), TensorProto.INT32), (m("Gather", "ints", "rows"), TensorProto.INT32)]
    m.save(path, "readers", [("boxes", INT64, [64, 8]), ("one", INT64, []), ("rows", INT64, [2]), ("ints", TensorProto.INT32, [8]), ("many", INT64, [65])],
           [(name, kind, None) for name, kind in outputs])


def spans(path, opset=17):
    """Columns that become no Split: each group of four has one that is picked in another way."""
    m = Maker()
    at = [m.constant(f"at{k}", k) for k in range(4)]
    step, axis = m.constant("step", [1]), m.constant("axis", [1])
    ends = [m.constant(f"end{k}", [k]) for k in range(5)]
    inputs = {"i64": (INT64, []), "one": (INT64, [1]), "rows": (INT64, [2])}
    odd = [("Gather", m.constant("narrow", np.int32(3))), ("Gather", m.constant("pair", [3, 2])), ("Gather", m.constant("square", [[3]])),
           ("Gather", m.constant("single", [3])), ("Gather", "i64"), ("Gather", "given"), ("Gather", m.constant("below", -1)),
           ("Slice", ends[3], ends[4], axis), ("Slice", ends[3], ends[4], axis, step), ("Slice", ends[3], ends[4], axis, m.constant("two", [2])),
           ("Slice", ends[3], ends[4]), ("Slice", "one", ends[4], axis), ("Slice", ends[3], "one", axis), ("Slice", ends[3], ends[4], "one"),
           ("Slice", ends[3], ends[4], axis, "one")]
    m.constant("given", 3)  # which is an input, too
    inputs["given"] = (INT64, [])
    outputs = []
    for k, (operator, *more) in enumerate(odd):
        inputs[f"data{k}"] = (FLOAT, [6, 4])
        data = m("Relu", f"data{k}")
        outputs += [(m("Gather", data, at[i], axis=1), FLOAT) for i in range(3)]
        outputs.append((m(operator, data, *more, **({"axis": 1} if operator == "Gather" else {})), FLOAT))
    ids = m("Abs", "ids")
    outputs += [(m("Gather", ids, at[i], axis=1), INT64) for i in range(4)] + [(m("Gather", data, ids), FLOAT)]
    inputs["ids"] = (INT64, ["n", 4])
    m.save(path, "spans", [(name, *port) for name, port in inputs.items()], [(name, kind, None) for name, kind in outputs], opset)


def old_spans(path):
    """Of an opset whose Gather the runtime's optimizer leaves."""
    spans(path, 12)


def rows(path):
    """Long rows behind indices of which there may be one or more, and that other nodes take, too."""
    m = Maker()
    wide = m.constant("wide", np.zeros((64, 4096), "f4"))
    computed = m("Relu", "data")
    late = m("ReduceMax", "near", axes=[0], keepdims=0, info=(INT64, [None]))
    outputs = [m("Gather", wide, name) for name in ("single", "named", "square", "near")] + [m("Gather", wide, late)]
    outputs += [m("Gather", computed, "single"), m("Gather", m("Abs", "data"), "single"), m("Gather", m("Neg", "open"), "single", axis=1)]
    outputs += [m("Slice", computed, m.constant("start", [0]), m.constant("end", [2]))]
    outputs += [m("Gather", m("Sqrt", m.constant("huge", np.zeros((2, 3, 4), "f4"))), "many", axis=1)]
    ids = m("Abs", "near")
    outputs += [m("Gather", wide, ids), m("Cast", m("Gather", ids, "single"), to=FLOAT), m("Cast", m("Gather", "near", "single"), to=FLOAT)]
    m.save(path, "rows", [("single", INT64, [1]), ("named", INT64, ["n"]), ("square", INT64, [1, 1]), ("near", INT64, [3, 1]),
                          ("data", FLOAT, [64, 4096]), ("open", FLOAT, ["n", 3, 4096]), ("many", INT64, [1 << 20, 2])],
           [(name, FLOAT, None) for name in outputs])  # fmt: skip


def types(path):
    """Of each type; strings and complex numbers are nobody's business but ours, or not even that."""
    m = Maker()
    kinds = [TensorProto.STRING, TensorProto.DOUBLE, TensorProto.INT16, TensorProto.UINT32, TensorProto.BOOL, TensorProto.INT8, TensorProto.FLOAT16,
             TensorProto.BFLOAT16, TensorProto.UINT64]  # fmt: skip
    outputs = [(m("Gather", f"data{kind}", "rows"), kind) for kind in kinds]
    outputs += [(m("Gather", m("Reshape", f"data{kind}", m.constant("flat", [6])), "square"), kind) for kind in kinds]
    outputs.append((m("Gather", m.constant("words", np.array(["a", "b"], object)), "rows"), TensorProto.STRING))
    m.save(path, "types", [("rows", INT64, [2]), ("square", INT64, [2, 2]), *((f"data{kind}", kind, [3, 2]) for kind in kinds)],
           [(name, kind, None) for name, kind in outputs])


def chains(path):
    """Identities in a row and gathers in a row, more than anyone follows."""
    m = Maker()
    same, picked = "ids", m("Abs", "wide")
    for _ in range(70):
        same = m("Identity", same)
        picked = m("Gather", picked, "many")
    outputs = [(m("Gather", same, "rows", axis=1), INT64), (m("Gather", m("Identity", m.constant("table", TABLE)), "rows"), FLOAT)]
    outputs += [(picked, FLOAT), (m("Gather", picked, "rows"), FLOAT)]
    vector, shorter = m("Abs", "vector"), m("Abs", "shorter")
    outputs += [(m("Gather", vector, "rows"), INT64), (m("Gather", vector, "square"), INT64), (m("Gather", vector, m.constant("at", [3, 1])), INT64)]
    outputs += [(m("Cast", m("Gather", shorter, name), to=FLOAT), FLOAT) for name in ("rows", "square", "many")]
    m.save(path, "chains", [("ids", INT64, [64, 8]), ("wide", FLOAT, [2048, 4096]), ("many", INT64, [2048]), ("rows", INT64, [2]), ("square", INT64, [2, 2]),
                            ("vector", INT64, [65]), ("shorter", INT64, [64])],
           [(name, kind, None) for name, kind in outputs])  # fmt: skip


def compressed(path):
    """Tables that are unpacked before they are gathered from, in one step, several, and too many."""
    m, shaped = Maker(), (FLOAT, [64, 128])
    half, zero = m.constant("half", np.float32(0.5)), m.constant("zero", np.float32(7))
    packed, words = m.constant("packed", np.zeros((64, 128), "u1")), m.constant("words", np.zeros((64, 128), "u4"))
    outputs = [m("Gather", m("Mul", m("Sub", m("Cast", table, to=FLOAT, info=shaped), zero), half), "rows") for table in (packed, words, "bytes")]
    outputs.append(m("Gather", m("DequantizeLinear", packed, half, m.constant("none", np.uint8(0))), "rows"))
    deep = m("Cast", packed, to=FLOAT, info=shaped)
    for _ in range(7):
        deep = m("Mul", deep, half)
    outputs += [m("Gather", deep, "rows"), m("Gather", m("Add", m("Cast", packed, to=FLOAT), zero), "rows")]
    m.save(path, "compressed", [("rows", INT64, [2]), ("bytes", TensorProto.UINT8, [64, 128])], [(name, FLOAT, None) for name in outputs])


CASES = {case.__name__: case for case in (embeddings, folded, columns, slices, thresholds, quantized, half, unsafe, ones, readers, spans, old_spans, rows, types,
                                          chains, compressed, bert, detector)}  # fmt: skip


def said_of(path, runtime):
    """For each gather by its name whether garner is said to take it (None: that is not known), and the reason if not. By the
    command of the build that GARNER_BUILD names, or the one that is installed beside the interpreter."""
    command = pathlib.Path(os.environ["GARNER_BUILD"]).resolve() / "garner" if "GARNER_BUILD" in os.environ else pathlib.Path(sys.executable).with_name("garner")
    told = subprocess.run([command, "info", path, "--gathers", "--json"], capture_output=True, check=True)
    gathers = [gather for group in json.loads(told.stdout)["groups"] for gather in group["gathers"]]
    return {gather["name"]: (gather[runtime]["taken"], gather[runtime]["reason"]) for gather in gathers}
