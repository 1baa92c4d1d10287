# SPDX-License-Identifier: MIT
"""Random bytes to begin with, which fuzz_operators.c turns into gathers: python fuzz/corpus_operators.py FOLDER"""

import pathlib
import random
import sys

chance = random.Random(5)
folder = pathlib.Path(sys.argv[1])
for number in range(200):
    (folder / str(number)).write_bytes(chance.randbytes(chance.randrange(16, 400)))
