# SPDX-License-Identifier: MIT
"""Small IR files, each with its .bin appended, whole and slightly broken: python fuzz/corpus_ir.py FOLDER"""

import pathlib
import struct
import sys


def port(number, precision="", dims=(), names=""):
    inner = "".join(f"<dim>{dim}</dim>" for dim in dims)
    names = f' names="{names}"' if names else ""
    return f'<port id="{number}" precision="{precision}"{names}>{inner}</port>'


def layer(number, kind, data="", inputs=(), outputs=(), version="opset8", more=""):
    parts = [f"<data {data}/>" if data else ""]
    parts += [f"<input>{''.join(inputs)}</input>" if inputs else "", f"<output>{''.join(outputs)}</output>" if outputs else ""]
    return f'<layer id="{number}" name="l{number}" type="{kind}" version="{version}" {more}>{"".join(parts)}</layer>'


def net(layers, edges, version=11):
    lines = "".join('<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>' % edge for edge in edges)
    return f'<?xml version="1.0"?><net name="n" version="{version}"><layers>{"".join(layers)}</layers><edges>{lines}</edges></net>'


def gather(kind, opset, data, indices, axis=True, attributes="", element="f32"):
    layers = [
        layer(0, "Parameter", f'shape="{data}" element_type="{element}"', outputs=[port(0, "FP32", names=r"a,b\,c")]),
        layer(1, "Const", f'element_type="i32" shape="{indices}" offset="1" size="8"', outputs=[port(0, "I32")]),
        layer(4, kind, attributes, [port(i) for i in range(3 if axis else 2)], [port(2, "FP32", [2, -1])], opset),
        layer(5, "Result", inputs=[port(0)], more='output_names="out"'),
    ]
    edges = [(0, 0, 4, 0), (1, 0, 4, 1), (4, 2, 5, 0)]
    if axis:
        layers.insert(2, layer(2, "Const", 'element_type="i64" shape="" offset="9" size="8"', outputs=[port(0, "I64")]))
        layers.insert(3, layer(3, "Convert", 'destination_type="i32"', [port(0)], [port(1, "I32")]))
        edges += [(2, 0, 3, 0), (3, 1, 4, 2)]
    return net(layers, edges)


BIN = b"\x07" + struct.pack("<2iq", 1, 0, 0)
STRINGS = struct.pack("<4i", 2, 0, 1, 3) + b"abc"
STRING_NET = net(
    [
        layer(0, "Const", 'element_type="string" shape="2" offset="0" size="19"', outputs=[port(0, "STRING", [2])]),
        layer(1, "Result", inputs=[port(0)]),
    ],
    [(0, 0, 1, 0)],
    10,
)
FILES = {
    "gather1": (gather("Gather", "opset1", "2,3", "2"), BIN),
    "gather7": (gather("Gather", "opset7", "?,2..4", "2", attributes='batch_dims="-1"'), BIN),
    "gather8": (gather("Gather", "opset16", "3", "1,2", attributes='batch_dims="0"'), BIN),
    "elements": (gather("GatherElements", "opset6", "2", "2", False, 'axis="-1"'), BIN),
    "nd5": (gather("GatherND", "opset5", "2,3", "1,2", False), BIN),
    "nd8": (gather("GatherND", "opset8", "2,2,3", "2,1", False, 'batch_dims="1"', "u4"), BIN),
    "strings": (STRING_NET, STRINGS),
    "unknown": (gather("Relu", "opset17", "...", "2"), BIN),
    "doctype": ('<!DOCTYPE net [<!ENTITY a "b">]>' + STRING_NET, STRINGS),
    "deep": ("<net version='11'>" + "<a>" * 70, b""),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (xml, content) in FILES.items():
        (folder / name).write_bytes(xml.encode() + content)
        (folder / (name + "-cut")).write_bytes(xml.encode()[: len(xml) * 2 // 3])
        (folder / (name + "-short")).write_bytes(xml.encode() + content[:-1])


if __name__ == "__main__":
    main()
