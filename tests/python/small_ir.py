# SPDX-License-Identifier: MIT
"""A model small enough to be read: picked = Gather-8 of x, f32 [?,3], by i, i64 [2], along axis 1."""

import os

IR = """<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/><output><port id="0" names="x">
<dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="i" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output><port id="0" names="i"><dim>2</dim></port></output></layer>
<layer id="2" name="a" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0"/></output></layer>
<layer id="3" name="g" type="Gather" version="opset8"><data batch_dims="0"/><input><port id="0"><dim>-1</dim><dim>3</dim></port>
<port id="1"><dim>2</dim></port><port id="2"/></input><output><port id="3" names="picked"><dim>-1</dim><dim>2</dim></port></output></layer>
<layer id="4" name="y" type="Result" version="opset1"><input><port id="0"><dim>-1</dim><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>"""


def write(folder):
    """Writes it, and its weights, which are the axis; the path of the .xml."""
    path = os.path.join(folder, "m.xml")
    with open(path, "w") as file:
        file.write(IR)
    with open(os.path.join(folder, "m.bin"), "wb") as file:
        file.write((1).to_bytes(8, "little"))
    return path
