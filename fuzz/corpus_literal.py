# SPDX-License-Identifier: MIT
"""Literals of every kind: python fuzz/corpus_literal.py FOLDER"""

import pathlib
import sys

LITERALS = r"""
7|-1|1.5|nan|-inf|nan(0x7fc00001)|true|"text"|[]|[[],[]]:f32|[1,2]:u8|[[1,2],[3,4]]|[[1.0,2e-5],[-0.0,inf]]
[1.0+2.0j,-inf-nanj]|[1+2j]:c128|["a","b\n\"\\\u00e9\ud83d\ude00\xff\udcff"]|[true,false]|iota(2,3):f32|iota(0,4)
[0.1]:f16|[3.3895314e38]:bf16|[448.0,nan]:f8e4m3fn|[240.0]:f8e4m3fnuz|[57344.0]:f8e5m2|[1.0]:f8e5m2fnuz
[1.7014118e38]:f8e8m0|[-6.0,0.5]:f4e2m1|[-8,7]:i4|[1,0,1]:u1|[3]:u2|[7,1]:u3|[63]:u6|[15]:nf4|[-2,1]:i2
[9223372036854775807,-9223372036854775808]|[18446744073709551615]:u64|[1,2]:int64|[1.0]:float32|[1]:double
[1,[2]]|[1,]|[1 2]|[1]:float|[1]:nothing|[nan(0x1)]|"open|[[[[[[[[[[1]]]]]]]]]]|5e-324:f64|1.7976931348623157e308:f64
"""

folder = pathlib.Path(sys.argv[1])
for number, literal in enumerate(LITERALS.strip().replace("\n", "|").split("|")):
    (folder / str(number)).write_text(literal, encoding="utf-8")
