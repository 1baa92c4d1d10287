# SPDX-License-Identifier: MIT
"""The example in C, compiled with the runtime's own header where there is one, linked with the runtime of the package."""

import pathlib
import subprocess
import sys

import onnxruntime

import garner.onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_example(tmp_path):
    library = next(pathlib.Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*"))
    runtime = tmp_path / "libonnxruntime.so.1"  # the name by which programs look for it
    runtime.symlink_to(library)
    header = pathlib.Path(__file__).with_name("header")
    run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", ROOT / "examples" / "onnxruntime.c", "-idirafter", header,
        "-o", tmp_path / "example", runtime, f"-Wl,-rpath,{runtime.parent}")  # fmt: skip
    run(sys.executable, ROOT / "examples" / "lookup.py", tmp_path / "lookup.onnx")
    text = run(tmp_path / "example", garner.onnxruntime.library(), tmp_path / "lookup.onnx")
    assert text == "cat bee\nant dog\ndog ant\n"
