# SPDX-License-Identifier: MIT
"""garner check: verdicts, counts, exit codes."""

import json
import os
import pathlib
import shutil

import numpy
import pytest

from protobuf import TensorProto, helper, model, numpy_helper, save, value

TABLE = numpy.arange(6, dtype="f4").reshape(3, 2)


@pytest.fixture
def case(tmp_path):
    """case(name, operator="Gather", sets=1): a folder that passes, if garner runs the operator."""

    def make(name, operator="Gather", sets=1):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        node = helper.make_node(operator, ["x", "i"], ["y"], name="n")
        save(model([node], ["x", value("i", 7)]), folder / "model.onnx")
        for k in range(sets):
            data = folder / f"test_data_set_{k}"
            data.mkdir()
            save(numpy_helper.from_array(TABLE, "x"), data / "input_0.pb")
            save(numpy_helper.from_array(numpy.array([k, 0]), "i"), data / "input_1.pb")
            save(numpy_helper.from_array(TABLE[[k, 0]], "y"), data / "output_0.pb")
        return folder

    return make


def replace(path, make):
    path.unlink()
    make(path)


def elsewhere():
    """A tensor whose elements lie in a file that is not there."""
    tensor = TensorProto(name="x", dims=TABLE.shape, data_type=1, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="nosuch.bin")
    return tensor


def test_verdicts(garner, case):
    case("good", sets=3)
    answer = garner("check", "good")
    assert (answer.code, answer.text, answer.err) == (0, "pass        good\n1 passed, 0 failed, 0 unsupported\n", "")
    bad = case("bad", sets=2)
    save(numpy_helper.from_array(TABLE[[1, 1]], "y"), bad / "test_data_set_1" / "output_0.pb")
    case("odd", "Scatter")
    answer = garner("check", "good", "bad", "odd")
    lines = answer.text.splitlines()
    assert answer.code == 1 and answer.err == ""
    assert lines[1].startswith("fail        bad: test_data_set_1: output 'y' and output_0.pb: first difference at [1,0]: 0.0 and 2.0; 2 of 4")
    assert lines[2].startswith("unsupported odd: ") and "1 × Scatter: 1 operator that does not run here" in lines[2]
    assert lines[3] == "1 passed, 1 failed, 1 unsupported" and len(lines) == 4
    assert garner("check", "odd", "good").code == 4
    whole = json.loads(garner("check", "good", "bad", "odd", "--json").text)
    assert (whole["passed"], whole["failed"], whole["unsupported"]) == (1, 1, 1)
    assert [f["result"] for f in whole["folders"]] == ["pass", "fail", "unsupported"]
    assert [f["folder"] for f in whole["folders"]] == ["good", "bad", "odd"]


def test_bits_count(garner, case):
    """0.0 is not -0.0, f32 is not f64, and [3,2] is not [2,3]."""
    folder = case("case")
    for array, words in [(TABLE[[0, 0]] * numpy.float32(-1) * 0, "0.0 and -0.0"), (TABLE[[0, 0]].astype("f8"), "f32 and f64"),
                         (TABLE[[0, 0]].reshape(4), "[2,2] and [4]")]:
        save(numpy_helper.from_array(array, "y"), folder / "test_data_set_0" / "output_0.pb")
        answer = garner("check", "case")
        assert answer.code == 1 and words in answer.text, answer


@pytest.mark.parametrize("break_it, words", [
    (lambda f: (f / "test_data_set_0" / "output_0.pb").unlink(), "missing"),
    (lambda f: (f / "test_data_set_0" / "input_1.pb").unlink(), "'i' is not given"),
    (lambda f: shutil.copy(f / "test_data_set_0" / "input_1.pb", f / "test_data_set_0" / "input_2.pb"), "more tensors"),
    (lambda f: shutil.copy(f / "test_data_set_0" / "output_0.pb", f / "test_data_set_0" / "output_1.pb"), "more tensors"),
    (lambda f: shutil.rmtree(f / "test_data_set_0"), "no test_data_set_N"),
    (lambda f: (f / "test_data_set_0" / "input_1.pb").write_bytes(b"\xff"), "malformed"),
    (lambda f: (f / "model.onnx").write_bytes(b"\xff"), "malformed"),
    (lambda f: save(numpy_helper.from_array(numpy.array([9]), "i"), f / "test_data_set_0" / "input_1.pb"), "indices[0] = 9"),
    (lambda f: (f / "model.onnx").unlink(), "model.onnx: cannot open: No such file"),
    (lambda f: replace(f / "model.onnx", lambda p: p.symlink_to("nosuch")), "model.onnx: cannot open: No such file"),
    (lambda f: replace(f / "model.onnx", pathlib.Path.mkdir), "model.onnx: cannot read: Is a directory"),
    (lambda f: replace(f / "test_data_set_0" / "input_0.pb", pathlib.Path.mkdir), "input_0.pb: cannot read: Is a directory"),
    (lambda f: replace(f / "test_data_set_0" / "output_0.pb", pathlib.Path.mkdir), "output_0.pb: cannot read: Is a directory"),
    (lambda f: save(elsewhere(), f / "test_data_set_0" / "input_0.pb"), "No such file"),
])
def test_broken_folders_fail_and_the_others_go_on(garner, case, break_it, words):
    break_it(case("broken"))
    case("good")
    answer = garner("check", "broken", "good")
    assert answer.code == 1 and answer.err == "", answer
    assert answer.text.startswith("fail        broken: ") and words in answer.text.splitlines()[0], answer
    assert answer.text.endswith("pass        good\n1 passed, 1 failed, 0 unsupported\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["", "model.onnx", "test_data_set_0", "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"])
@pytest.mark.parametrize("arguments", [["all"], ["all/broken", "all/good"]], ids=len)
def test_what_may_not_be_read_fails_and_the_others_go_on(garner, case, name, arguments):
    path = case("all/broken") / name
    case("all/good")
    path.chmod(0)
    try:
        answer = garner("check", *arguments)
    finally:
        path.chmod(0o700)
    assert answer.code == 1 and answer.err == "", answer
    assert answer.text.startswith("fail        all/broken: ") and "Permission denied" in answer.text.splitlines()[0], answer
    assert answer.text.endswith("pass        all/good\n1 passed, 1 failed, 0 unsupported\n")


def test_a_fifo_is_no_model(garner, case, tmp_path):
    case("good")
    for name in ("model.onnx", "test_data_set_0/output_0.pb"):
        folder = case(name.partition("/")[0])
        (folder / name).unlink()
        os.mkfifo(folder / name)
        answer = garner("check", folder.name)
        assert answer.code == 1 and f"{name} is a FIFO, and must be a file" in answer.text.replace(": is", " is"), answer
        shutil.rmtree(folder)


def test_json_is_whole_whatever_happens(garner, case, tmp_path):
    (case("broken") / "model.onnx").unlink()
    case("good")
    (tmp_path / "empty").mkdir()
    answer = garner("check", "--json", "broken", "good")
    whole = json.loads(answer.text)
    assert answer.code == 1 and [f["result"] for f in whole["folders"]] == ["fail", "pass"], answer
    assert "No such file" in whole["folders"][0]["message"] and whole["folders"][1]["message"] == ""
    answer = garner("check", "--json", "good", "empty")
    whole = json.loads(answer.text)
    assert answer.code == 4 and "empty: there is no model.onnx" in answer.err, answer
    assert (len(whole["folders"]), whole["passed"]) == (1, 1)
    assert garner("check", "good", "empty").text == "pass        good\n1 passed, 0 failed, 0 unsupported\n"


def test_a_folder_of_folders(garner, case):
    for name in ("all/b", "all/a", "all/c"):
        case(name)
    assert garner("check", "all/").text == "pass        all/a\npass        all/b\npass        all/c\n3 passed, 0 failed, 0 unsupported\n"


def test_what_is_no_folder(refuses, case, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(b"")
    case("good")
    refuses(4, ["empty", "no model.onnx"], "check", "empty")
    refuses(5, "none", "check", "good", "none")
    refuses(5, "file", "check", "good", "file")
    refuses(2, "check needs DIR", "check")


def test_names_are_escaped(garner, case):
    case("a\x1b[31m")
    answer = garner("check", "a\x1b[31m")
    assert answer.text.startswith("pass        a\\x1b[31m\n")
