# SPDX-License-Identifier: MIT
"""The runner's own C: compiled when a benchmark begins, against the library that is to be measured."""

import ctypes
import os
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "native"
FLAGS = ["-std=c11", "-O3", "-fPIC", "-shared", "-pthread", "-Wall", "-Wextra"]

i32, i64, u64, pointer = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p

# One line per function: name, result, arguments.
FUNCTIONS = (
    ("bench_fill", None, (pointer, i64, u64, u64, u64)),
    ("bench_copy", i32, (pointer, pointer, i64, i64, i32, i32, pointer)),
    ("bench_lines", i32, (pointer, pointer, i64, i64, i32, i32, pointer)),
    ("bench_ceiling", i32, (pointer, i32, i32, pointer)),
    ("entry_open", pointer, (pointer,)),
    ("entry_close", None, (pointer,)),
    ("entry_message", ctypes.c_char_p, (pointer,)),
    ("entry_version", ctypes.c_char_p, ()),
    ("entry_dtype", i32, (ctypes.c_char_p,)),
    ("entry_describe", ctypes.c_size_t, (pointer, ctypes.c_char_p, ctypes.c_size_t)),
    ("entry_use", None, (pointer,)),
    ("entry_failures", i64, ()),
    ("entry_execute", None, ()),
    ("entry_empty", None, ()),
    ("entry_time_planned", ctypes.c_double, (pointer, i64)),
    ("entry_time_one_call", ctypes.c_double, (pointer, i64)),
)


def build(library, include, folder):
    """Compiles the helper beside the results and returns its path."""
    library = Path(library).resolve()
    made = Path(folder) / "libgarner_bench.so"
    compiler = os.environ.get("CC", "cc")
    sources = sorted(str(path) for path in SOURCES.glob("*.c"))
    links = [str(library), f"-Wl,-rpath,{library.parent}"]
    subprocess.run([compiler, *FLAGS, f"-I{include}", *sources, *links, "-o", str(made)], check=True)
    return made


def load(path):
    loaded = ctypes.PyDLL(str(path))  # keeps the interpreter's lock, as NumPy does: cheaper to enter
    for name, result, arguments in FUNCTIONS:
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def compiler_version():
    said = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[0]
