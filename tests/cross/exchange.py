# SPDX-License-Identifier: MIT
"""Two builds of the command read each other's files: exchange.py THERE HERE

Each writes tensors of every type in every format; the other reads them. What was read is written as .pb, whose bytes are
the same on every machine, and these are compared: bit by bit, with the other's and with what this machine makes of its own.
"""

import pathlib
import subprocess
import sys
import tempfile

FORMATS = ["npy", "npz", "safetensors", "pb"]
TYPES = "f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool c128 c64 f8e4m3fn f8e5m2 u4 i4".split()
SPECIAL = {
    "f64": "[[nan,-inf,-0.0],[5e-324,1.7e308,0.1]]:f64",
    "f32": "[[nan,-inf,-0.0],[1e-45,3.4e38,0.1]]:f32",
    "bool": "[[true,false,true],[false,true,true]]:bool",
    "i4": "[[-8,7,1,0],[0,3,-2,-1]]:i4",
}


def run(command, *words):
    return subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)


def write(command, dtype, path):
    """Whether the format takes the type; anything but a clean refusal is a failure."""
    answer = run(command, "gather", SPECIAL.get(dtype, f"iota(2,6):{dtype}"), "[1,0,1]", "-o", path)
    if answer.returncode not in (0, 4):
        sys.exit(f"exchange: {command} could not write {path.name}: exit {answer.returncode}, {answer.stderr}")
    return answer.returncode == 0


def read(command, path):
    """The tensor in a file as the bytes of a .pb."""
    back = path.with_suffix(".back.pb")
    answer = run(command, "convert", path, back)
    if answer.returncode:
        sys.exit(f"exchange: {command} could not read {path.name}: {answer.stderr}")
    content = back.read_bytes()
    back.unlink()
    return content


def main(there, here):
    exchanged = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMATS:
            for dtype in TYPES:
                ours, theirs = (pathlib.Path(folder, side, f"x.{form}") for side in ("here", "there"))
                ours.parent.mkdir(exist_ok=True)
                theirs.parent.mkdir(exist_ok=True)
                taken = write(here, dtype, ours)
                if write(there, dtype, theirs) != taken:
                    sys.exit(f"exchange: .{form} takes {dtype} on one machine alone")
                refused += not taken
                if not taken:
                    continue
                if len({read(here, ours), read(here, theirs), read(there, ours), read(there, theirs)}) != 1:
                    sys.exit(f"exchange: {dtype} in .{form} is not the same on both machines")
                exchanged += 1
    if exchanged < 50:
        sys.exit(f"exchange: only {exchanged} files were exchanged")
    print(f"exchange: {exchanged} tensors written there and read here, and the other way round, bit by bit; {refused} of no such format")


main(*sys.argv[1:])
