# SPDX-License-Identifier: MIT
"""Small ONNX models, whole and slightly broken: python fuzz/corpus_onnx.py FOLDER"""

import pathlib
import sys

import numpy
from onnx import helper, numpy_helper

FIXED, OPEN, UNKNOWN = [2, 3], ["n", 3], None


def model(nodes, shape=FIXED, opset=21, initializers=(), outputs=("y",), **more):
    infos = [helper.make_tensor_value_info("x", 1, shape), helper.make_tensor_value_info("i", 7, [2, 1])]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info(o, 0, None) for o in outputs],
                              initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def models():
    gathers = [helper.make_node("Gather", ["x", "i"], ["y"], name="g", axis=-1),
               helper.make_node("GatherElements", ["x", "i"], ["y"], axis=1),
               helper.make_node("GatherND", ["x", "i"], ["y"], batch_dims=1)]
    for node in gathers:
        for opset in (1, 11, 12, 13, 28, 29):
            yield model([node], opset=opset)
        for shape in (OPEN, UNKNOWN, [0, 3], [2**40, 2**40]):
            yield model([node], shape)
    default = numpy_helper.from_array(numpy.array([[1], [0]]), "i")
    yield model(gathers[:1], initializers=[default])
    chain = [helper.make_node("Gather", ["x", "i"], ["a"]), helper.make_node("Identity", ["a"], ["b"]),
             helper.make_node("GatherND", ["b", "i"], ["y"])]
    yield model(chain, outputs=("y", "a", "b", "x"))
    yield model(list(reversed(chain)))
    yield model([helper.make_node("Identity", ["y"], ["y"])])
    for value in ({"value_ints": [1, 2]}, {"value_float": 0.5}, {"value_strings": [b"a", b"b"]}, {"value": default}):
        yield model([helper.make_node("Constant", [], ["y"], **value)])
    yield model([helper.make_node("Relu", ["x"], ["y"], name="r"), helper.make_node("Foo", ["x"], ["z"], domain="d")])
    body = helper.make_function("d", "F", ["a"], ["b"], chain[1:2], [helper.make_opsetid("", 21)])
    yield model([helper.make_node("F", ["x"], ["y"], domain="d")], functions=[body])


def variants(content):
    yield content
    yield content[:-3]
    yield content[: len(content) // 2]
    yield content + b"\x3a\x02\x0a\x00"
    yield content.replace(b"x", b"i", 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    files = [variant for made in models() for variant in variants(made.SerializeToString())]
    for number, content in enumerate(files):
        (folder / str(number)).write_bytes(content)


if __name__ == "__main__":
    main()
