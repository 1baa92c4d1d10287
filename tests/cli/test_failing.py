# SPDX-License-Identifier: MIT
"""Whole commands while one call fails: each allocation, and each call of the system, in turn. The answer is exit code 5 and
a sentence, or the right one; what was on the disk stays, and nothing is left there. By default a part of the calls, another
one for each command; with GARNER_TEST_FAILING=all every one."""

import collections
import os
import pathlib
import re
import shutil
import subprocess

import pytest

np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")
from protobuf import TensorProto, helper, model, numpy_helper, save  # noqa: E402

OLD = b"what was there before\n"
EVERY = 1 if os.environ.get("GARNER_TEST_FAILING") == "all" else 7
IR = """<?xml version="1.0"?><net name="rows" version="11"><layers>
<layer id="0" name="table" type="Const" version="opset1"><data element_type="f32" shape="3,2" offset="0" size="24"/>
<output><port id="0" precision="FP32"><dim>3</dim><dim>2</dim></port></output></layer>
<layer id="1" name="ids" type="Parameter" version="opset1"><data element_type="i64" shape="?"/>
<output><port id="0" precision="I64"><dim>-1</dim></port></output></layer>
<layer id="2" name="axis" type="Const" version="opset1"><data element_type="i64" shape="" offset="24" size="8"/>
<output><port id="0" precision="I64"/></output></layer>
<layer id="3" name="pick" type="Gather" version="opset8"><data batch_dims="0"/>
<input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="3" precision="FP32"/></output></layer>
<layer id="4" name="rows" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>
"""

COMMANDS = {
    "gather": ["gather", "x.npy", "[2,0]", "--axis", "[0]"],
    "gather, json": ["gather", '["a","bb"]', "[1,0]", "--format", "json", "-v"],
    "gather, stdin": ["gather", "-", "[1]"],
    "gather, threads": ["gather", "large.npy", "iota(6000)", "--threads", "3", "-o", "out.npy"],
    "gather, npy": ["gather", "text.npy", "[1,0]", "-o", "old.npy"],
    "gather, npz": ["gather", "t.npz:x", "[1,0]", "-o", "out.npz"],
    "gather, pread": ["gather", "large.npy", "iota(200)", "--how", "pread", "--memory", "1M", "-o", "old.npy"],
    "gather, chosen": ["gather", "large.npy", "iota(200)", "--memory", "1M", "-o", "out.npy"],
    "gather, ring": ["gather", "large.npy", "iota(200)", "--how", "ring", "-o", "out.npy"],
    "gather, member": ["gather", "t.npz:x", "[1,0]", "--how", "pread"],
    "gather, initializer": ["gather", "file:model.onnx#absent", "[1]"],
    "gather-elements": ["gather-elements", "t.safetensors:x", "[[0,1]]", "-o", "out.safetensors"],
    "gather-nd": ["gather-nd", "t.pb", "[[1,0]]", "-o", "out.pb"],
    "explain": ["explain", "gather", "[[1,2],[3,4]]", "[1]"],
    "explain, svg": ["explain", "gather-nd", "x.npy", "[[1],[2]]", "--svg", "old.svg"],
    "explain, onnx": ["explain", "model.onnx"],
    "explain, gathers": ["explain", "model.onnx", "--gathers"],
    "explain, gathers, svg": ["explain", "mixed.onnx", "--gathers", "--svg", "out.svg"],
    "explain, onnx, svg": ["explain", "model.onnx", "--svg", "out.svg"],
    "explain, refused": ["explain", "mixed.onnx"],
    "explain, xml, svg": ["explain", "model.xml", "--svg", "old.svg"],
    "info": ["info", "x.npy"],
    "info, npz": ["info", "t.npz"],
    "info, json": ["info", "t.safetensors", "--json"],
    "info, onnx": ["info", "model.onnx"],
    "info, onnx, json": ["info", "model.onnx", "--json"],
    "info, gathers": ["info", "mixed.onnx", "--gathers"],
    "info, refused": ["info", "mixed.onnx", "--json"],
    "info, xml": ["info", "model.xml"],
    "run": ["run", "model.onnx", "x=[[0,1],[2,3]]:f32", "--threads", "1"],
    "run, files": ["run", "model.onnx", "x=case/test_data_set_0/input_0.pb", "--output-dir", "outputs"],
    "run, two files": ["run", "model.onnx", "x=[[0,1],[2,3]]:f32", "-o", "y=old.npy", "-o", "b=out.npy"],
    "run, xml": ["run", "model.xml", "ids=[2,0]"],
    "run, refused": ["run", "mixed.onnx", "x=[1.0]"],
    "check": ["check", ".", "--threads", "1"],
    "check, json": ["check", "case", "--json"],
    "convert": ["convert", "t.npz", "out.safetensors"],
    "convert, npz": ["convert", "t.safetensors", "old.npz"],
    "diff": ["diff", "t.npz", "t.safetensors"],
    "diff, different": ["diff", "x.npy", "[[0,1],[2,3],[4,6]]"],
    "bench": ["bench", "gather", "[1,2]", "[0]", "--seconds", "0", "--threads", "1"],
    "cpu": ["cpu"],
    "cpu, json": ["cpu", "--json"],
    "device": ["device"],
    "device, json": ["device", "--json"],
    "help": ["help", "gather"],
    "man page": ["help", "--man"],
    "completions": ["help", "--completion", "zsh"],
}


@pytest.fixture(scope="session")
def sanitized(program):
    return any(name in pathlib.Path(program).read_bytes() for name in (b"__asan_init", b"__tsan_init"))


@pytest.fixture
def calls(failing, sanitized):
    """The environment in which calls of whole commands fail."""
    if sanitized:
        pytest.skip("SKIP: the plain build tests each failing call of whole commands, this one looks for leaks")
    return failing


def external(array, name, location):
    tensor = TensorProto(name=name, dims=array.shape, data_type=7, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


@pytest.fixture
def folder(tmp_path):
    """Files of every kind, among them some that are replaced."""
    x = np.arange(6).reshape(3, 2)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "large.npy", np.arange(6000 * 64, dtype="f4").reshape(6000, 64))
    np.save(tmp_path / "text.npy", np.array(["ab", "c"]))
    np.savez_compressed(tmp_path / "t.npz", x=x)
    header = b'{"x":{"dtype":"I64","shape":[3,2],"data_offsets":[0,48]}}'
    (tmp_path / "t.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + x.tobytes())
    save(numpy_helper.from_array(x, "x"), tmp_path / "t.pb")
    for name in ("old.npy", "old.npz", "old.svg"):
        (tmp_path / name).write_bytes(OLD)
    case = tmp_path / "case"
    (case / "test_data_set_0").mkdir(parents=True)
    nodes = [helper.make_node("Constant", [], ["i"], value_ints=[1, 0]), helper.make_node("Gather", ["x", "i"], ["a"]),
             helper.make_node("Identity", ["a"], ["b"]), helper.make_node("GatherElements", ["b", "e"], ["y"], name="pick")]
    shaped = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])
    for place in (tmp_path, case):
        (place / "e.bin").write_bytes(np.array([[0, 1]]).tobytes())
        save(model(nodes, [shaped], ["y", "b"], [external(np.array([[0, 1]]), "e", "e.bin")]), place / "model.onnx")
    save(model([helper.make_node("Relu", ["x"], ["r"], name="odd"), helper.make_node("Gather", ["r", "k"], ["y"])],
               [shaped, helper.make_tensor_value_info("k", TensorProto.INT64, ["n"])]), tmp_path / "mixed.onnx")
    inner = np.arange(4, dtype="f4").reshape(2, 2)
    for name, array in (("input_0", inner), ("output_0", np.array([[2, 1]], "f4")), ("output_1", inner[[1, 0]])):
        save(numpy_helper.from_array(array), case / "test_data_set_0" / f"{name}.pb")
    (tmp_path / "model.xml").write_text(IR)
    (tmp_path / "model.bin").write_bytes(np.arange(6, dtype="f4").tobytes() + np.array(0).tobytes())
    return tmp_path


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def restore(folder, before):
    for name in contents(folder).keys() - before.keys():
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
    for name, content in before.items():
        if content is not None and (folder / name).read_bytes() != content:
            (folder / name).write_bytes(content)


def steady(text):
    """bench prints times."""
    return re.sub(rb" *[0-9.]+", b"0", text)


def judge(answer, want, before, after, folder):
    """Exit 5, one sentence and everything as it was, or the right answer."""
    now = contents(folder)
    sentences = [line for line in answer.err.splitlines() if not line.startswith("failing: ")]
    if answer.code == 5:
        assert len(sentences) >= 1 and all(line.startswith("garner: ") for line in sentences), answer
        gone = {name for name in before if now.get(name) != before[name] and now.get(name) != after.get(name)}
        assert not gone, gone
        left = {name: now[name] for name in now.keys() - before.keys() if name not in after or now[name] != after[name]}
        assert not left, left
    else:
        assert answer.code == want.code, answer
        assert answer.out == want.out or steady(answer.out) == steady(want.out) != b"", (answer, want)
        assert sentences == want.err.splitlines(), (answer, want)
        assert now == after


def fail_each(garner, calls, folder, name, chosen):
    """Lets each call fail whose name is chosen, the first of that name, the second, and so on; answers how many did."""
    arguments = COMMANDS[name]
    before = contents(folder)
    stdin = before["x.npy"] if "-" in arguments else None
    want = garner(*arguments, stdin=stdin)
    after = contents(folder)
    assert want.code in (0, 1, 4), want
    restore(folder, before)
    told = garner(*arguments, stdin=stdin, env={**calls, "FAIL_CALL": "?:0"}).err
    counts = collections.Counter(re.findall(r"^called: (\w+)$", told, re.M))
    plans = [f"{call}:{n}" for call in counts if chosen(call) for n in range(1, counts[call] + 1)]
    for plan in plans[list(COMMANDS).index(name) % EVERY :: EVERY]:
        restore(folder, before)
        answer = garner(*arguments, stdin=stdin, env={**calls, "FAIL_CALL": plan})
        try:
            judge(answer, want, before, after, folder)
        except AssertionError as wrong:
            raise AssertionError(f"{' '.join(arguments)}: {plan} failed: {wrong}") from None
    return counts


@pytest.mark.parametrize("name", COMMANDS)
def test_each_allocation_fails(garner, calls, folder, name):
    counts = fail_each(garner, calls, folder, name, lambda call: call == "memory")
    assert counts["memory"] > 0 or name in ("help", "man page", "completions"), counts


@pytest.mark.parametrize("name", COMMANDS)
def test_each_system_call_fails(garner, calls, folder, name):
    counts = fail_each(garner, calls, folder, name, lambda call: call != "memory")
    for word, calls in (("npy", ["open", "fstat"]), ("onnx", ["open", "read|mmap"]), ("-o", ["write", "fsync", "linkat"]),
                        ("iota(200) --memory", ["preadv2"]), ("threads 3", ["pthread_create"]), ("check", ["scandir", "open_memstream", "access"])):
        for call in calls if word in " ".join(COMMANDS[name]) else ():
            assert any(re.match(call, made) for made in counts), (call, counts)


def test_nothing_leaks(program, failing, sanitized, folder):
    """All of this again in one process, after which LeakSanitizer looks."""
    if not sanitized:
        pytest.skip("SKIP: LeakSanitizer is in the build with sanitizers")
    # Tables begin threads anew each time, in which the sanitizer itself does not survive a failing call; tests/table has their leaks.
    chosen = [line for line in list(COMMANDS.values())[:: 1 if EVERY == 1 else EVERY] if not {"-", "--how", "--memory"} & set(line)]
    options = failing["ASAN_OPTIONS"].replace("detect_leaks=0", "detect_leaks=1")
    said = subprocess.run([pathlib.Path(program).parent / "tests" / "failing_commands"], cwd=folder, capture_output=True, text=True,
                          input="".join("\t".join(line) + "\n" for line in chosen), env={**os.environ, **failing, "ASAN_OPTIONS": options})  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr[-5000:]
    counts = [int(line.split("\t")[0]) for line in said.stdout.splitlines()]
    assert len(counts) == len(chosen) and min(counts) > 5, said.stdout
    print(f"{sum(counts)} failing calls in {len(chosen)} commands, no leak")
