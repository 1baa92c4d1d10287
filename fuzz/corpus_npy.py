# SPDX-License-Identifier: MIT
"""Small .npy files, whole and slightly broken: python fuzz/corpus_npy.py FOLDER"""

import pathlib
import struct
import sys

TYPES = """'<f4'|'>i8'|'|b1'|'<U3'|'|S5'|'<M8[ns]'|'<c16'|'|O'|'<f16'|'|V7'|[('a', '<f4'), ('b', '<i2', (2, 3))]
[('x', [('y', '<i8'), ('z', '|S3')], (2,)), ('w', '|b1')]|[(('title', 'name'), '<f4')]""".replace("\n", "|").split("|")
SHAPES = ["()", "(3,)", "(2, 2)", "(0, 4611686018427387904)", "(2L, 1L)", "(" + "1, " * 64 + ")", "(9223372036854775807, 2)"]


def npy(descr, shape, fortran="False", version=1, payload=256, ending="\n"):
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}{ending}".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + bytes(range(payload % 256)) * (payload // 256 + 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    files = [npy(descr, shape) for descr in TYPES for shape in SHAPES]
    files += [npy("'<f4'", "(2, 3)", "True", version, 24) for version in (1, 2, 3, 4)]
    files += [npy("'<f4'", "(2, 3)", payload=20), npy("'<f4'", "(2, 3)", ending=""), b"", b"\x93NUMPY\x01\x00"]
    for number, content in enumerate(files):
        (folder / str(number)).write_bytes(content)


if __name__ == "__main__":
    main()
