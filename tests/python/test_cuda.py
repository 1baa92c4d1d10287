# SPDX-License-Identifier: MIT
"""Arrays on GPUs, on a machine without one: in the stand-in for the driver (cuda_stand_in.py), and what is said where something is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SANITIZED

import garner

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILDS = [Path(os.environ.get("GARNER_BUILD", "build")), Path(garner.__file__).parents[1], Path("build/dev")]
STAND_IN = next((ROOT / build / "tests/cuda/stand_in" for build in BUILDS if (ROOT / build / "tests/cuda/stand_in/libgarner_cuda.so").exists()), None)
needs_stand_in = pytest.mark.skipif(STAND_IN is None, reason="SKIP the stand-in for the driver: no build with tests/cuda is here (GARNER_BUILD names one)")

ON_DEVICE = """
import garner
class Array:
    def __dlpack_device__(self): return 2, 1
    def __dlpack__(self, **options): raise AssertionError("asked for memory of a GPU")
"""


def run(code, **environment):
    """What a process says that runs this."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GARNER_CUDA")}
    path = os.pathsep.join([str(HERE), *(p for p in sys.path if p)])
    done = subprocess.run([sys.executable, "-c", ON_DEVICE + code], env=kept | {"PYTHONPATH": path} | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_stand_in
def test_in_the_stand_in():
    pytest.importorskip("numpy")
    path = os.pathsep.join([str(HERE), *(p for p in sys.path if p)])
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "cuda_stand_in.py"], capture_output=True, text=True,
                          env=os.environ | {"GARNER_CUDA_LIBRARY": str(STAND_IN / "libgarner_cuda.so"), "PYTHONPATH": path})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout.splitlines()[-1])


CALL = """
try:
    garner.take(Array(), [0])
except garner.BadType as error:
    print(error)
print(garner.cuda.available())
"""


def test_importing_loads_nothing():
    said = run("print(any('libgarner_cuda' in line or 'libcuda' in line for line in open('/proc/self/maps')), 'garner.cuda' in __import__('sys').modules)")
    assert said.split() == ["False", "False"]


def test_no_library(tmp_path):
    """The package without the library, as wheels from PyPI are."""
    package = shutil.copytree(Path(garner.__file__).parent, tmp_path / "garner", ignore=shutil.ignore_patterns("libgarner_cuda.so", "_openvino", "_bench"))
    if SANITIZED:
        pytest.skip("the sanitizer's loader")
    said = run(CALL, PYTHONPATH=str(package.parent)).splitlines()
    assert said[0].startswith("take: x is on cuda:1, where garner cannot gather: libgarner_cuda.so is not installed; `make cuda`")
    assert "GARNER_CUDA_LIBRARY" in said[0] and said[0].endswith("copy it to the CPU's memory") and said[1] == "False"


def test_library_of_the_environment(tmp_path):
    said = run(CALL, GARNER_CUDA_LIBRARY=str(tmp_path / "none.so")).splitlines()
    assert "GARNER_CUDA_LIBRARY does not load" in said[0] and "none.so" in said[0] and said[1] == "False"
    said = run(CALL, GARNER_CUDA_LIBRARY=sys.modules["garner._garner"].__file__).splitlines()
    assert "has no garner_cuda_devices" in said[0] and said[1] == "False"


@needs_stand_in
def test_no_driver(tmp_path):
    """A library that finds no libcuda.so.1 beside it."""
    if shutil.which("nvidia-smi"):
        pytest.skip("SKIP there is a driver here")
    bare, beside = tmp_path / "libgarner_cuda.so", str(STAND_IN.parent / "fake").encode()
    bare.write_bytes((STAND_IN / "libgarner_cuda.so").read_bytes().replace(beside, b"/nowhere".ljust(len(beside), b"/")))
    said = run(CALL, GARNER_CUDA_LIBRARY=str(bare)).splitlines()
    assert "there is no NVIDIA driver here" in said[0] and said[1] == "False"


@needs_stand_in
def test_tried_again():
    """Once it is there, the next call finds it."""
    said = run(f"""
import os
os.environ["GARNER_CUDA_LIBRARY"] = "/nowhere.so"
print(garner.cuda.available())
os.environ["GARNER_CUDA_LIBRARY"] = {str(STAND_IN / "libgarner_cuda.so")!r}
print(garner.cuda.available())
""", LD_LIBRARY_PATH=str(STAND_IN.parent / "fake"))
    assert said.split() == ["False", "True"]


def test_others_stay_on_the_host():
    """What has no business on a device says so."""
    said = run("""
for call in (lambda x: garner.save("/tmp/never.npy", x), lambda x: garner.explain("gather", x, [0]), lambda x: garner.take([1], [0], axis=x)):
    try:
        call(Array())
    except garner.BadType as error:
        print(error)
""").splitlines()
    assert len(said) == 3 and all("cuda:1" in line or "axis is" in line for line in said), said
