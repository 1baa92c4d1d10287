# SPDX-License-Identifier: MIT
"""Models to be described and drawn, each behind a byte that says how: python fuzz/corpus_model.py FOLDER"""

import pathlib
import sys

import corpus_ir
import corpus_onnx
from onnx import helper

WAYS = 8  # in words, as JSON, in the terminal, as a picture; each of the whole model and of its gathers


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, name=f"n.{outputs[0]}", **attributes)


def tangles():
    """What the models of the readers' own corpus lack: operators that are no gathers, branches, and long ways."""
    steps = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Cast", ["n"], ["c"], to=7)]
    steps += [node("Gather", ["x", "i"], ["a"]), node("Add", ["a", "a"], ["b"]), node("Relu", ["b"], ["r"])]
    steps += [node("Concat", ["r", "a", "x", "x", "", "c"], ["y"], axis=0)]
    yield corpus_onnx.model(steps, outputs=("y", "a"))
    yield corpus_onnx.model([node("Split", ["x"], ["y", "", "z"]), node("GatherND", ["z", "i"], ["w"]), node("Sum", ["y", "w"], ["v"])])
    twins = [node("GatherElements", ["x", "i"], [f"t{k}"]) for k in range(5)]
    yield corpus_onnx.model([*twins, node("Sum", [f"t{k}" for k in range(5)], ["y"])], corpus_onnx.OPEN)
    yield corpus_onnx.model([node("Relu", [f"v{k}" if k else "x"], [f"v{k + 1}"]) for k in range(20)], outputs=("v20",))


def models():
    for model in [*corpus_onnx.models(), *tangles()]:
        yield model.SerializeToString()
    for xml, content in corpus_ir.FILES.values():
        yield xml.encode() + content


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, content in enumerate(models()):
        for way in range(WAYS):
            (folder / f"{number}-{way}").write_bytes(bytes([way]) + content)


if __name__ == "__main__":
    main()
