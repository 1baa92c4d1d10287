# SPDX-License-Identifier: MIT
"""A wheel at work, with nothing but the standard library: smoke.py SENTENCE.XML GARNER...

One thing of each part that a wheel carries: the module, zlib (a deflated .npz), expat (an OpenVINO IR), threads, the plug-in
for ONNX Runtime, the parts of OpenVINO's extension, and the command, which GARNER... runs (an emulator may stand before it).
"""

import array
import ctypes
import importlib.metadata
import platform
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import garner
import garner.onnxruntime

sentence, command = Path(sys.argv[1]), sys.argv[2:]
folder = Path(tempfile.mkdtemp())


def npy(numbers):
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array("q", numbers).tobytes()


# The module, and a sentence for what is wrong.
assert garner.gather([[1, 2], [3, 4], [5, 6]], [2, -3]).tolist() == [[5, 6], [1, 2]]
try:
    garner.gather([1, 2, 3], [3])
    sys.exit("an index outside was taken")
except IndexError as refusal:
    assert "indices[0] = 3" in str(refusal), refusal

# Enough for several threads.
table = array.array("f", range(1 << 20))
rows = array.array("q", reversed(range(1 << 20)))
assert memoryview(garner.gather(table, rows, threads=4)).tolist() == list(reversed(table))

# zlib.
with zipfile.ZipFile(folder / "numbers.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("numbers.npy", npy(list(range(1000))))
assert garner.load(folder / "numbers.npz")["numbers"].tolist() == list(range(1000))

# expat: the example's table has r.0 to r.3 in row r, and the axis after it.
(folder / "sentence.xml").write_bytes(sentence.read_bytes())
(folder / "sentence.bin").write_bytes(array.array("f", [r + c / 10 for r in range(8) for c in range(4)]).tobytes() + struct.pack("<q", 0))
answer = garner.Model(folder / "sentence.xml").run({"tokens": memoryview(bytes([1, 2, 3, 7, 5, 0])).cast("B", [2, 3]), "last": [[2], [1]], "wanted": [[0, 3], [1, 1]]})
assert [[round(number, 1) for number in row] for row in answer["features"].tolist()] == [[3.0, 3.3], [5.1, 5.1]], answer

# The plug-in can be loaded, and is what the runtime looks for.
assert ctypes.CDLL(garner.onnxruntime.library()).CreateEpFactories
parts = Path(garner.__file__).parent / "_openvino"
assert {"libgarner_layer.a", "extension.cpp", "operators.cpp", "garner.h"} <= {path.name for path in parts.iterdir()}

# The command.
said = subprocess.run([*command, "gather", str(folder / "numbers.npz"), "[999,-1]"], capture_output=True, text=True, check=True).stdout
assert said == "[999,999]\n", said

notices = {path.name for path in importlib.metadata.files("garner-ops") if path.parent.name == "licenses"}
print(f"smoke: garner {garner.__version__} on {platform.machine()}, Python {platform.python_version()}, {garner.cpu_info()['level']}; notices: {', '.join(sorted(notices))}")
