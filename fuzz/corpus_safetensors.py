# SPDX-License-Identifier: MIT
"""Small .safetensors files, whole and slightly broken: python fuzz/corpus_safetensors.py FOLDER"""

import pathlib
import struct
import sys

TYPES = """F32 F16 BF16 F64 I64 I32 I16 I8 U64 U32 U16 U8 BOOL C64 F8_E4M3 F8_E5M2 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ F4
F6_E2M3 Q8""".split()
HEADERS = r"""
{}
{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}
{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[],"data_offsets":[8,9]}}
{"__metadata__":{"format":"pt","k":"\u00e9"},"\ud83d\ude00\n\"\\":{"data_offsets":[0,0],"shape":[0,3],"dtype":"I64"}}
 {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}
{ "a" : { "dtype" : "F32" , "shape" : [ 2 , 1 ] , "data_offsets" : [ 0 , 8 ] } }
{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}
{"a":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}
{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}
{"a":{"dtype":"F32","shape":[2]}}
{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}}
{"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8]}}
{"__metadata__":{"a":1}}
{"\ud800":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}
[[[[[[[[
""".strip("\n").split("\n")


def safetensors(header, data, length=None):
    header = header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def main():
    folder = pathlib.Path(sys.argv[1])
    files = [safetensors(header, bytes(size)) for header in HEADERS for size in (0, 8, 9)]
    one = '{"a":{"dtype":"%s","shape":[2],"data_offsets":[0,%d]}}   '
    files += [safetensors(one % (name, size), bytes(size)) for name in TYPES for size in (1, 2, 4, 8, 16)]
    files += [safetensors("{}", b"", length) for length in (0, 1, 3, 10**8 + 1, 2**64 - 1)] + [b"", b"\2\0\0\0"]
    for number, content in enumerate(files):
        (folder / str(number)).write_bytes(content)


if __name__ == "__main__":
    main()
