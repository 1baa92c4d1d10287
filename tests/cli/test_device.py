# SPDX-License-Identifier: MIT
"""garner device, and --device cuda: with the library's stand-in for NVIDIA's driver (tests/cuda), in which its kernels run on
the host, everything is as on the CPU; without library or driver there is a sentence."""

import json
import pathlib

import numpy
import pytest
from conftest import binary
from test_operators import REFUSALS, RESULTS

CUDA = ["--device", "cuda"]
TYPES = ("f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c64 c128 i2 i4 u1 u2 u3 u4 u6 nf4 f8e4m3fn f8e4m3fnuz f8e5m2 "
         "f8e5m2fnuz f8e8m0 f4e2m1").split()  # fmt: skip
VERSIONS = [("gather", f"onnx-{n}") for n in (1, 11, 13)] + [("gather", f"openvino-{n}") for n in (1, 7, 8)]
VERSIONS += [("gather-elements", name) for name in ("onnx-11", "onnx-13", "openvino-6")]
VERSIONS += [("gather-nd", name) for name in ("onnx-11", "onnx-12", "onnx-13", "openvino-5", "openvino-8")]


@pytest.fixture(scope="session")
def stand_in():
    """The environment in which there are two devices."""
    folder = binary().parent / "tests" / "cuda"
    library = folder / "stand_in" / "libgarner_cuda.so"
    if not library.is_file():
        pytest.skip(f"SKIP: {library} was not built: no C++ compiler, or another system than Linux on 64 bits")
    return {"GARNER_CUDA_LIBRARY": str(library), "LD_LIBRARY_PATH": str(folder / "fake")}


@pytest.fixture
def both(garner, stand_in):
    """Runs a command on the CPU and on the device, which must answer the same; that answer."""

    def run(*arguments):
        cpu, gpu = garner(*arguments), garner(*arguments, *CUDA, env=stand_in)
        assert (gpu.code, gpu.out, gpu.err) == (cpu.code, cpu.out, cpu.err), (arguments, cpu, gpu)
        return cpu

    return run


# ---- Without a device ----


@pytest.fixture
def nothing(tmp_path):
    """The environment without a library."""
    return {"GARNER_CUDA_LIBRARY": str(tmp_path / "none.so")}


def test_no_library(garner, refuses, nothing):
    answer = garner("device", env=nothing)
    assert answer.code == 0 and answer.err == "", answer
    assert answer.text.startswith("library       none\ndevices       none: cuda: GARNER_CUDA_LIBRARY is '"), answer
    told = json.loads(garner("device", "--json", env=nothing).text)
    assert told["devices"] == [] and told["library"] is None and told["driver"] is None and "none.so" in told["reason"]
    for line in (["gather", "[1]", "[0]"], ["gather-elements", "[1]", "[0]"], ["gather-nd", "[1]", "[[0]]"],
                 ["bench", "gather", "--seconds", "0"]):  # fmt: skip
        refuses(5, ["GARNER_CUDA_LIBRARY is '", "there is no such file"], *line, *CUDA, env=nothing)
    assert garner("gather", "[1]", "[0]", "--device", "cpu", env=nothing).text == "[1]\n"


def test_no_library_where_it_is_looked_for(program, surroundings, tmp_path):
    """A command that was copied somewhere finds none beside it."""
    import shutil
    import subprocess

    copy = shutil.copy(program, tmp_path / "garner")
    said = subprocess.run([copy, "device", "--json"], env=surroundings, capture_output=True, text=True, check=True)
    told = json.loads(said.stdout)
    if told["library"] == "libgarner_cuda.so":
        pytest.skip("SKIP: libgarner_cuda.so is installed on this machine")
    assert told["reason"].startswith("cuda: libgarner_cuda.so is neither beside the command nor ")


def test_no_driver(garner, refuses, stand_in, tmp_path):
    """The library is there, and a driver without devices, or one that is no library."""
    empty = {**stand_in, "FAKE_DEVICES": "0"}
    told = json.loads(garner("device", "--json", env=empty).text)
    assert told["library"] == stand_in["GARNER_CUDA_LIBRARY"] and told["devices"] == []
    assert told["reason"] == "cuda: the driver knows of no device"
    refuses(5, "cuda: the driver knows of no device", "gather", "[1]", "[0]", *CUDA, env=empty)
    (tmp_path / "libcuda.so.1").write_text("no library")
    broken = {**stand_in, "LD_LIBRARY_PATH": str(tmp_path)}
    told = json.loads(garner("device", "--json", env=broken).text)
    if told["devices"]:
        pytest.skip("SKIP: the build's own path is searched after a file that is no library")
    assert told["reason"].startswith("cuda: there is no NVIDIA driver here: "), told
    refuses(5, "cuda: there is no NVIDIA driver here: ", "gather", "[1]", "[0]", *CUDA, env=broken)


def test_a_library_that_is_none(refuses, tmp_path):
    """It is there and cannot be loaded: a failure, for garner device, too."""
    (tmp_path / "text.so").write_text("no library")
    for line in (["device"], ["gather", "[1]", "[0]", *CUDA]):
        refuses(5, "cuda: the library cannot be loaded: ", *line, env={"GARNER_CUDA_LIBRARY": str(tmp_path / "text.so")})


def test_a_library_of_another_version(garner, refuses):
    """Any other library lacks the functions."""
    other = next(iter(sorted(pathlib.Path("/").glob("lib/*/libm.so.6")) or sorted(pathlib.Path("/").glob("lib*/libm.so.6"))), None)
    if other is None:
        pytest.skip("SKIP: no libm.so.6 to take for another version")
    refuses(5, "is of another version than this command: it has no garner_cuda_", "gather", "[1]", "[0]", *CUDA,
            env={"GARNER_CUDA_LIBRARY": str(other)})  # fmt: skip


# ---- With two ----


def test_device(garner, stand_in):
    told = json.loads(garner("device", "--json", env=stand_in).text)
    assert told["version"] in garner("--version").text and told["library"] == stand_in["GARNER_CUDA_LIBRARY"]
    assert told["driver"] == "13.0" and told["reason"] is None
    assert [device["device"] for device in told["devices"]] == ["cuda:0", "cuda:1"]
    assert told["devices"][1] == {"device": "cuda:1", "name": "Fake 1", "capability": "9.0", "multiprocessors": 4, "memory": 1 << 30,
                                  "l2": 1024, "shared": 227 << 10, "profile": "hopper", "measured": True}  # fmt: skip
    text = garner("device", env=stand_in).text
    assert "\ncuda:1        Fake 1, compute capability 9.0, 4 multiprocessors\n" in text
    assert "\nprofile       hopper (H100, H200, GH200)\n" in text and "\ndriver        for CUDA 13.0\n" in text


@pytest.mark.parametrize("arguments,text", RESULTS, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else "")
def test_results(garner, stand_in, both, arguments, text):
    if '"' in arguments[1]:
        answer = garner(*arguments, *CUDA, env=stand_in)
        assert answer.code == 3 and "of type str cannot be gathered on a GPU" in answer.err, answer
    else:
        assert both(*arguments).text == text + "\n"


@pytest.mark.parametrize("code,words,arguments", REFUSALS, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else "")
def test_refusals_are_the_cpus(both, code, words, arguments):
    """Same exit code, same sentence, nothing printed."""
    assert both(*arguments).code == code


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_types(garner, stand_in, both, tmp_path, dtype):
    """Each type, into text and into bytes, by each operator."""
    data = "[[true,false],[false,true]]" if dtype == "bool" else f"[[0,1],[1,0]]:{dtype}"
    if garner("gather", data, "[0]").code != 0:
        data = f"[[1,1],[1,1]]:{dtype}"  # one that has no zero
    for line in (["gather", data, "[1,0,-1]"], ["gather", data, "[1,0]", "--axis", "1"],
                 ["gather-elements", data, "[[1,0],[-1,1]]", "--axis", "1"], ["gather-nd", data, "[[1,0],[0,1],[1,-1]]"]):  # fmt: skip
        assert both(*line).code == both(*line, "--format", "raw").code == 0


@pytest.mark.parametrize("operator,spec", VERSIONS)
def test_versions(both, operator, spec):
    """Each version, to the letter and not, by an index that is right, one from the end, one too large."""
    for index in (1, -1, 9):
        for strict in ([], ["--strict"]):
            indices = f"[[{index}]]" if operator != "gather" else f"[{index}]"
            both(operator, "[[1.0,2.0],[3.0,4.0]]", indices, "--spec", spec, *strict)


@pytest.mark.slow
@pytest.mark.parametrize("index", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
@pytest.mark.parametrize("oob", ["error", "zero", "clamp", "wrap"])
def test_policies_and_index_types(both, oob, index):
    for values in ("[0,3,7]", "[5]", "[]"):
        both("gather", "[[1,2],[3,4],[5,6]]:i16", f"{values}:{index}", "--oob", oob)
        both("gather-elements", "[1,2,3]", f"{values}:{index}", "--oob", oob)


def test_files(garner, stand_in, both, tmp_path):
    """Large ones, those in Fortran's order, structured ones; out into a file."""
    table = numpy.arange(1 << 17, dtype="f4").reshape(512, 256)
    rows = numpy.random.default_rng(1).integers(-512, 512, 700)
    numpy.save(tmp_path / "c.npy", table)
    numpy.save(tmp_path / "f.npy", numpy.asfortranarray(table))
    numpy.save(tmp_path / "rows.npy", rows)
    for name in ("c", "f"):
        for device in ("cuda", "cuda:1"):
            answer = garner("gather", f"{name}.npy", "rows.npy", "--device", device, "-o", "out.npy", env=stand_in)
            assert (answer.code, answer.out, answer.err) == (0, b"", ""), answer
            assert numpy.array_equal(numpy.load(tmp_path / "out.npy"), table[rows])
    pairs = numpy.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])
    numpy.save(tmp_path / "pairs.npy", pairs)
    assert garner("gather", "pairs.npy", "[1,0,1]", *CUDA, "-o", "out.npy", env=stand_in).code == 0
    assert numpy.load(tmp_path / "out.npy").tolist() == pairs[[1, 0, 1]].tolist()
    both("gather", "[[],[]]:f32", "[1,0]")
    both("gather", "[[],[]]:f32", "[1,7]")


def test_a_bad_index_writes_nothing(garner, stand_in, tmp_path):
    answer = garner("gather", "iota(50,4)", "[1,50]", *CUDA, "-o", "out.npy", env=stand_in)
    assert answer.code == 3 and answer.err == "garner: Gather: indices[1] = 50 is outside [-50, 49] of data axis 0\n", answer
    assert not (tmp_path / "out.npy").exists()


def test_the_plan_is_told(garner, stand_in):
    said = garner("gather", "iota(5,4):f32", "[0,-1]", *CUDA, "-v", env=stand_in).err
    assert said.startswith("garner: plan: Gather: ") and ", device hopper, kernel elements-i64-v16, " in said


def test_bench(garner, stand_in):
    shapes = ["--data-shape", "100,16", "--indices-shape", "50"]
    answer = garner("bench", "gather", *shapes, "--seconds", "0", "--json", "--device", "cuda:1", env=stand_in)
    told = json.loads(answer.text)
    assert told["bytes"] == 50 * 64 and ", device hopper, " in told["plan"]
    (result,) = told["results"]
    assert result["device"] == "cuda:1" and result["samples"] >= 5 and "threads" not in result
    assert 0 < result["gather"]["seconds"] and 0 < result["copy"]["seconds"]
    lines = garner("bench", "gather", *shapes, "--seconds", "0", *CUDA, env=stand_in).text.splitlines()
    assert lines[3].split()[0] == "device" and lines[4].split()[0] == "cuda:0", lines


def test_bench_refuses(refuses, stand_in):
    refuses(3, "Gather: indices[0] = 7 is outside", "bench", "gather", "[1]", "[7]", "--seconds", "0", *CUDA, env=stand_in)
    refuses(2, "empty", "bench", "gather", "--data-shape", "3", "--indices-shape", "0", *CUDA, env=stand_in)


def test_what_is_no_device(refuses, stand_in):
    for word in ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda0", "CUDA", "cuda:99999", ""):
        refuses(2, f"--device takes cpu|cuda|cuda:N, not '{word}'", "gather", "[1]", "[0]", "--device", word, env=stand_in)
    refuses(2, "device 2 is not among the 2 that there are", "gather", "[1]", "[0]", "--device", "cuda:2", env=stand_in)
    for option, value in (("threads", "2"), ("how", "ring"), ("memory", "1M")):
        refuses(2, f"--{option} is for the CPU, and --device is cuda", "gather", "[1]", "[0]", f"--{option}", value, *CUDA, env=stand_in)
    refuses(2, "--device cuda does not take DATA from a model", "gather", "file:m.onnx#x", "[0]", *CUDA, env=stand_in)
    refuses(2, "--threads is for the CPU", "bench", "--threads", "1", *CUDA, env=stand_in)


def test_more_than_the_device_holds(refuses, stand_in, tmp_path):
    with open(tmp_path / "large.npy", "wb") as file:  # sparse
        numpy.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (2_000_000_000,)})
        file.truncate(file.tell() + 2_000_000_000)
    refuses(5, "device 0 has no memory for 2000000000 bytes", "gather", "large.npy", "[1,0]", *CUDA, "-o", "out.npy", env=stand_in)
