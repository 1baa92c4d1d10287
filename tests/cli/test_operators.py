# SPDX-License-Identifier: MIT
"""The operators through the shell: options, versions, files, threads and where results go."""

import json
import os
import subprocess

import pytest
from terminal import read_terminal

DATA = "[[[0,1],[2,3]],[[4,5],[6,7]]]"

# arguments, what is printed
RESULTS = [
    (["gather", "[[1,2],[3,4],[5,6]]", "[2,0]"], "[[5,6],[1,2]]"),
    (["gather", "[[1,2],[3,4],[5,6]]", "[[1,-2]]", "--axis", "1"], "[[[2,1]],[[4,3]],[[6,5]]]"),
    (["gather", "[[1,2],[3,4]]", "1", "--axis=-1"], "[2,4]"),
    (["gather", "[[1,2],[3,4]]", "[[1],[0]]", "--axis", "1", "--batch-dims", "1"], "[[2],[3]]"),
    (["gather", "[[1,2],[3,4]]", "[[1],[0]]", "--axis", "1", "--batch-dims", "-1"], "[[2],[3]]"),
    (["gather", "[1,2,3]", "[9,-1]", "--spec", "openvino-8"], "[0,3]"),
    (["gather", "[1,2,3]", "[9,-9]", "--oob", "zero"], "[0,0]"),
    (["gather", "[1,2,3]", "[9,-9,-1]", "--oob", "clamp"], "[3,1,3]"),
    (["gather", "[1,2,3]", "[4,-4]", "--oob=wrap"], "[2,3]"),
    (["gather", "[1,2,3]", "[2,-1]:i8"], "[3,3]"),
    (["gather", "[1,2,3]", "[2]:u64", "--spec", "openvino-7"], "[3]"),
    (["gather", "[1,2,3]", "[0]", "--axis", "0:i32"], "[1]"),
    (["gather", "[1,2,3]", "[0]", "--axis", "[0]"], "[1]"),
    (["gather", '["a","b","c"]', "[[2],[0]]"], '[["c"],["a"]]'),
    (["gather_elements", "[[1,2],[3,4]]", "[[0,0],[1,0]]", "--axis", "1"], "[[1,1],[4,3]]"),
    (["gather-elements", "[[1,2],[3,4]]", "[[1]]"], "[[3]]"),
    (["gather-elements", "[1,2]", "[-1,0,1]", "--spec", "openvino-6"], "[2,1,2]"),
    (["gather-nd", DATA, "[[1],[0]]", "--batch-dims", "1", "--spec", "openvino-8"], "[[2,3],[4,5]]"),
    (["gather_nd", DATA, "[[1],[0]]", "--batch_dims=1"], "[[2,3],[4,5]]"),
    (["gather-nd", DATA, "[[0,1,1],[1,0,0]]"], "[3,4]"),
    (["gather-nd", DATA, "[[[[0]]],[[[1]]]]", "--spec", "onnx-11"], "[[[[[0,1],[2,3]]]],[[[[4,5],[6,7]]]]]"),
    (["gather-nd", "iota(2,2,2)", "[[[1],[0]],[[0],[1]]]", "--batch-dims=2", "--spec=openvino-5"], "[1,2,4,7]"),
    (["gather-nd", "iota(2,2,2)", "[[[1],[0]],[[0],[1]]]", "--batch-dims=2", "--spec=openvino-8"], "[[1,2],[4,7]]"),
]


@pytest.mark.parametrize("arguments,text", RESULTS, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else "")
def test_result(garner, arguments, text):
    answer = garner(*arguments)
    assert (answer.code, answer.text, answer.err) == (0, text + "\n", ""), answer


# exit code, words of the message, arguments
REFUSALS = [
    (3, ["Gather: indices[1] = 5 is outside [-3, 2] of data axis 0"], ["gather", "[1,2,3]", "[0,5]"]),
    (3, ["-4", "[-3, 2]"], ["gather", "[1,2,3]", "[0,-4]"]),
    (3, ["-1", "[0, 2]"], ["gather", "[1,2,3]", "[-1]", "--strict", "--spec", "openvino-7"]),
    (3, ["GatherElements: indices[1,0]"], ["gather-elements", "[[1,2],[3,4]]", "[[0],[2]]", "--axis", "1"]),
    (3, ["GatherND", "-9223372036854775808"], ["gather-nd", "[1,2]", "[[-9223372036854775808]]"]),
    (3, ["axis", "2"], ["gather", "[[1]]", "0", "--axis", "2"]),
    (3, ["axis", "-9223372036854775808"], ["gather", "[[1]]", "0", "--axis", "-9223372036854775808"]),
    (3, ["rank 0"], ["gather", "1", "0"]),
    (3, ["f32"], ["gather", "[1]", "[0.0]"]),
    (3, ["str"], ["gather", "[1]", '["a"]']),
    (3, ["bool"], ["gather", "[1]", "[true]"]),
    (3, ["i8"], ["gather", "[1]", "[0]:i8", "--spec", "onnx-13"]),
    (3, ["bf16"], ["gather", "[1]:bf16", "[0]", "--spec", "onnx-11"]),
    (3, ["batch_dims"], ["gather", "[[1]]", "[[0]]", "--axis=1", "--batch-dims=1", "--spec", "onnx-13"]),
    (3, ["GatherND"], ["gather-nd", "[1,2]", "[[0,0]]"]),
    (2, ["onnx-1", "openvino-8"], ["gather", "[1]", "[0]", "--spec", "onnx-99"]),
    (2, ["openvino-6"], ["gather-elements", "[1]", "[0]", "--spec", "openvino-8"]),
]


@pytest.mark.parametrize("code,words,arguments", REFUSALS, ids=lambda v: " ".join(map(str, v))[:60] if isinstance(v, list) else v)
def test_refusal(refuses, code, words, arguments):
    refuses(code, words, *arguments)


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 16])
def test_lowest_bad_index_at_any_thread_count(garner, threads):
    indices = "[" + ",".join("0" if i not in (4001, 9000) else str(i) for i in range(10000)) + "]"
    answer = garner("gather", "iota(10)", indices, "--threads", threads)
    assert answer.code == 3 and "indices[4001] = 4001 is outside [-10, 9]" in answer.err
    answer = garner("gather", "iota(10)", indices, env={"GARNER_NUM_THREADS": str(threads)})
    assert answer.code == 3 and "indices[4001] = 4001 is outside [-10, 9]" in answer.err


def test_header_only_with_verbose(garner):
    answer = garner("gather", "[[1.5,2],[3,4]]", "[1]", "-v")
    assert answer.text == "f32 [1,2]\n[[3.0,4.0]]\n"
    assert answer.err.startswith("garner: plan: ")
    assert garner("gather", "[[1.5,2],[3,4]]", "[1]").text == "[[3.0,4.0]]\n"
    assert garner("gather", "[1,2]", "0", "-v").text == "i64 []\n1\n"
    # 64 axes of 19 digits each: the line is longer than any buffer of a usual size, and whole.
    answer = garner("gather-nd", f"iota({'4000000000000000000,' * 63}0)", "iota(0,64)", "-v")
    assert answer.err.startswith("garner: plan: GatherND: ") and answer.err.count("\n") == 1, answer
    assert answer.err.count("(4000000000000000000,") == 63 and " task" in answer.err, answer


def test_json_line_is_as_documented(garner):
    answer = garner("gather", "[[1.5,2],[3,nan]]", "[1,0]", "--format", "json", "-v")
    assert answer.text == '{"dtype": "f32", "shape": [2, 2], "data": [[3.0, "nan"], [1.5, 2.0]]}\n'
    answer = garner("gather", "[9007199254740993]", "0", "--format=json")
    assert answer.text == '{"dtype": "i64", "shape": [], "data": 9007199254740993}\n'


def test_never_shortened_off_a_terminal(garner):
    answer = garner("gather", "iota(50,100)", "iota(50)")
    assert json.loads(answer.text) == [[100 * i + j for j in range(100)] for i in range(50)]


@pytest.fixture
def on_terminal(program, surroundings):
    """on_terminal(*arguments, env={}): runs with a terminal as its output; gives what the terminal saw."""

    def run(*arguments, env=None):
        master, slave = os.openpty()
        command = [program, *arguments]
        process = subprocess.Popen(command, stdout=slave, stderr=slave, env={**surroundings, **(env or {})})
        os.close(slave)
        seen = read_terminal(master)
        assert process.wait(60) == 0
        return seen.decode().replace("\r\n", "\n")

    return run


def test_terminal_shows_type_and_shortens(on_terminal):
    assert on_terminal("gather", "[1,2]", "[0]") == "i64 [1]\n[1]\n"
    long = on_terminal("gather", "iota(2000)", "iota(2000)")
    assert long == "i64 [2000]\n[0,1,2,...,1997,1998,1999]\n"
    wide = on_terminal("gather", "iota(40,50)", "iota(40)")
    assert wide.splitlines()[1].startswith("[[0,1,2,...,47,48,49],[50,51,52,")
    assert wide.count("...") == 7 and wide.endswith("1997,1998,1999]]\n")
    form = on_terminal("gather", "iota(2000)", "iota(2000)", "--format", "json")
    assert len(json.loads(form)["data"]) == 2000


def test_colour_on_a_terminal_unless_refused(on_terminal, garner):
    arguments = ["explain", "gather", "[[1,2],[3,4]]", "[1]"]
    plain = {"TERM": "xterm"}
    assert "\033[" in on_terminal(*arguments, env=plain)
    assert "\033" not in on_terminal(*arguments, env={**plain, "NO_COLOR": "1"})
    assert "\033" not in on_terminal(*arguments, env={"TERM": "dumb"})
    assert "\033" not in garner(*arguments, env=plain).text


def test_npy_files(garner, tmp_path):
    np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.save(tmp_path / "x.npy", data)
    np.save(tmp_path / "7.npy", data)
    (tmp_path / "odd name").write_bytes((tmp_path / "x.npy").read_bytes())
    want = data.take([2, 0], axis=1)
    for name in ("x.npy", "./x.npy", str(tmp_path / "x.npy"), "7.npy", "file:x.npy", "file:odd name"):
        answer = garner("gather", name, "[2,0]", "--axis", "1")
        assert answer.code == 0 and json.loads(answer.text) == want.tolist(), answer
    answer = garner("gather", "-", "[2,0]", "--axis=1", stdin=(tmp_path / "x.npy").read_bytes())
    assert json.loads(answer.text) == want.tolist()
    np.save(tmp_path / "i.npy", np.array([2, 0], np.int32))
    answer = garner("gather", "x.npy", "-", "--axis=1", stdin=(tmp_path / "i.npy").read_bytes())
    assert json.loads(answer.text) == want.tolist()
    for target in (["-o", "y.npy"], ["-oy.npy"], ["--out", "y.npy"], ["--out=y.npy"]):
        answer = garner("gather", "x.npy", "[2,0]", "--axis", "1", *target)
        assert (answer.code, answer.out) == (0, b""), answer
        assert np.array_equal(np.load(tmp_path / "y.npy"), want)
        (tmp_path / "y.npy").unlink()
    answer = garner("gather", "x.npy", "[2,0]", "--axis", "1", "-o", "-")
    (tmp_path / "z.npy").write_bytes(answer.out)
    assert np.array_equal(np.load(tmp_path / "z.npy"), want)


def test_opaque_elements_pass_but_do_not_print(garner, refuses, tmp_path):
    np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")
    for data in (np.array(["ab", "c", "def"]), np.array(["2020-01-01", "2021-01-01"], "M8[D]")):
        np.save(tmp_path / "x.npy", data)
        refuses(4, ["-o", "raw"], "gather", "x.npy", "[1,0]")
        refuses(4, ["-o", "raw"], "gather", "x.npy", "[1,0]", "--format", "json")
        assert garner("gather", "x.npy", "[1,0]", "-o", "y.npy").code == 0
        got = np.load(tmp_path / "y.npy")
        assert got.dtype == data.dtype and np.array_equal(got, data[[1, 0]])
        assert garner("gather", "x.npy", "[1,0]", "--format", "raw").out == data[[1, 0]].tobytes()


def test_trailing_bytes_are_mentioned_with_verbose(garner, tmp_path):
    np = pytest.importorskip("numpy", reason="SKIP: numpy is not installed")
    np.save(tmp_path / "x.npy", np.arange(3))
    with open(tmp_path / "x.npy", "ab") as file:
        file.write(b"12345")
    assert garner("gather", "x.npy", "[1]").err == ""
    assert "x.npy: 5 bytes" in garner("gather", "x.npy", "[1]", "-v").err


def test_explain_draws_and_writes_pictures(garner, refuses, tmp_path):
    for name in ("gather", "Gather"):
        answer = garner("explain", name, "[[1,2],[3,4]]", "[1,0]", "--axis", "1")
        assert answer.code == 0 and len(answer.text.splitlines()) > 1 and "\033" not in answer.text
    answer = garner("explain", "gather_nd", "[[1,2],[3,4]]", "[[1,0]]", "--svg", "p.svg")
    assert answer.code == 0 and "<svg" in (tmp_path / "p.svg").read_text()
    refuses(3, "outside", "explain", "gather", "[1,2]", "[7]")
    refuses(2, "no operator", "explain", "scatter", "[1,2]", "[7]")
    refuses(2, "gather-nd does not take --axis", "explain", "gather-nd", "[1,2]", "[[0]]", "--axis", "0")
