# SPDX-License-Identifier: MIT
"""Files are written whole or not at all."""

import errno
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import xml.dom.minidom

import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_options import NAMES

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ["gather", "[1.5,2.5,3.5]", "[2,0]", "-o"]
RESULT = numpy.array([3.5, 1.5], "f4")
OLD = b"what was there before\n"


def is_result(path):
    return numpy.array_equal(numpy.load(path), RESULT)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def failed_calls(answer):
    return [line for line in answer.err.splitlines() if line.startswith("failing: ")]


CALLS = [
    # call, and whether it is made for a new file, for a replaced one, and then without nameless files
    ("write", True, True, True, True),
    ("fsync", True, True, True, True),
    ("linkat", True, True, False, False),
    ("renameat", False, True, True, True),
    ("getrandom", False, True, True, True),
    ("fchmod", False, True, True, True),
]


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("exists", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_failing_calls(garner, failing, tmp_path, call, exists, nameless):
    name, new, replaced, named_new, named_replaced = call
    target = tmp_path / "x.npy"
    if exists:
        target.write_bytes(OLD)
        target.chmod(0o604)  # so that the mode must be set
    environment = {**failing, "FAIL_CALL": f"{name}:1:{errno.EIO}", **({} if nameless else {"NO_TMPFILE": "1"})}
    answer = garner(*COMMAND, "x.npy", env=environment)
    expected = (replaced if exists else new) if nameless else (named_replaced if exists else named_new)
    assert failed_calls(answer) == [f"failing: {name}"] * expected, answer
    if not expected:
        assert answer.code == 0 and is_result(target), answer
        return
    assert answer.code == 5, answer
    assert "garner: x.npy: cannot write: Input/output error" in answer.err, answer
    assert names(tmp_path) == (["x.npy"] if exists else []), "nothing else in the folder"
    if exists:
        assert target.read_bytes() == OLD and stat.S_IMODE(target.stat().st_mode) == 0o604


OUTPUTS = {
    "x.npy": ["convert", "iota(50,50)", "x.npy"],
    "x.npz": ["convert", "iota(50,50)", "x.npz"],
    "x.safetensors": ["convert", "iota(50,50)", "x.safetensors"],
    "x.pb": ["convert", "iota(50,50)", "x.pb"],
    "x.svg": ["explain", "gather", "iota(20)", "iota(20)", "--svg", "x.svg"],
}


@pytest.mark.parametrize("exists", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_each_call_fails_once(garner, failing, tmp_path, name, exists):
    """The first call of each kind fails, then the second, and so on to the last: nothing is lost or left. The
    last fsync is the folder's: the new file is in place by then, and stays."""
    target = tmp_path / name
    assert garner(*OUTPUTS[name]).code == 0
    new = target.read_bytes()
    failures = dict.fromkeys(["write", "fsync", "linkat", "renameat"], 0)
    for call in failures:
        for number in range(1, 100):
            target.unlink(missing_ok=True)
            if exists:
                target.write_bytes(OLD)
            answer = garner(*OUTPUTS[name], env={**failing, "FAIL_CALL": f"{call}:{number}:{errno.EIO}"})
            failures[call] += len(failed_calls(answer))
            if answer.code == 0:
                assert target.read_bytes() == new and names(tmp_path) == [name], answer
                assert failures[call] == number - (call != "fsync"), answer
                break
            assert answer.code == 5 and f"garner: {name}: cannot write: Input/output error" in answer.err, answer
            assert names(tmp_path) == ([name] if exists else []), "nothing else in the folder"
            assert not exists or target.read_bytes() == OLD
    assert failures["write"] >= 1
    assert (failures["fsync"], failures["linkat"], failures["renameat"]) == (2, 1, exists)


def test_file_system_without_nameless_files(garner, failing, tmp_path):
    for content in [None, OLD]:
        if content:
            (tmp_path / "x.npy").write_bytes(content)
        assert garner(*COMMAND, "x.npy", env={**failing, "NO_TMPFILE": "1"}).code == 0
        assert names(tmp_path) == ["x.npy"] and is_result(tmp_path / "x.npy")


@pytest.mark.parametrize("how", ["short", str(errno.EINTR)])
def test_short_and_interrupted_writes(garner, failing, tmp_path, how):
    answer = garner("gather", "iota(50000)", "iota(50000)", "-o", "x.npy", env={**failing, "FAIL_CALL": f"write:0:{how}"})
    assert answer.code == 0 and failed_calls(answer), answer
    assert (numpy.load(tmp_path / "x.npy") == numpy.arange(50000)).all()


def test_full_disk(garner, refuses, tmp_path):
    refuses(5, ["/dev/full", "No space left on device"], *COMMAND, "/dev/full")
    refuses(5, "No space left on device", "explain", "gather", "[1]", "[0]", "--svg", "/dev/full")
    with open("/dev/full", "wb") as full:
        for arguments in [COMMAND[:-1], [*COMMAND, "-"], ["explain", *COMMAND[:-1]]]:
            answer = garner(*arguments, stdout=full)
            assert answer.code == 5 and "No space left on device" in answer.err, answer
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert names(tmp_path) == []


def test_file_size_limit(program, tmp_path):
    """A limit on file sizes cuts a write short, then fails it: as a full disk does in the middle."""
    (tmp_path / "x.npy").write_bytes(OLD)
    process = subprocess.run(
        ["sh", "-c", 'trap "" XFSZ; ulimit -f 100; exec "$0" gather "iota(100000)" "iota(100000)" -o x.npy', program],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert process.returncode == 5 and b"File too large" in process.stderr, process
    assert names(tmp_path) == ["x.npy"] and (tmp_path / "x.npy").read_bytes() == OLD


@pytest.mark.parametrize("arguments", [COMMAND[:-1], [*COMMAND, "-"]], ids=["text", "npy"])
def test_closed_pipe(garner, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    answer = garner(*arguments, stdout=writer)
    os.close(writer)
    assert answer.code == 5 and "Broken pipe" in answer.err, answer


# Every command, in a way that prints something.
PRINTING = {
    "gather": COMMAND[:-1],
    "gather-elements": ["gather-elements", "[1,2]", "[0]"],
    "gather-nd": ["gather-nd", "[1,2]", "[[0]]"],
    "explain": ["explain", *COMMAND[:-1]],
    "run": ["run", "m.onnx", "rows=[0]"],
    "info": ["info", "m.onnx"],
    "diff": ["diff", "[1]", "[2]"],
    "convert": ["convert", "[1]", "-"],
    "check": ["check", "case"],
    "bench": ["bench", "gather", "[1]", "[0]", "--seconds", "0"],
    "cpu": ["cpu"],
    "device": ["device"],
    "help": ["help"],
}


@pytest.fixture
def model(tmp_path):
    """A model to run and to look at, and a folder to check."""
    rows = helper.make_tensor_value_info("rows", TensorProto.INT64, [1])
    out = helper.make_tensor_value_info("out", TensorProto.INT64, [1])
    table = numpy_helper.from_array(numpy.arange(3), "table")
    graph = helper.make_graph([helper.make_node("Gather", ["table", "rows"], ["out"])], "g", [rows], [out], [table])
    bytes_of_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(bytes_of_model)
    (tmp_path / "case" / "test_data_set_0").mkdir(parents=True)
    (tmp_path / "case" / "model.onnx").write_bytes(bytes_of_model)
    for name in ("input_0", "output_0"):
        tensor = numpy_helper.from_array(numpy.array([1])).SerializeToString()
        (tmp_path / "case" / "test_data_set_0" / f"{name}.pb").write_bytes(tensor)


@pytest.mark.parametrize("name", [*NAMES.values(), "--help", "--version"])
def test_standard_output_fails_for_every_command(garner, model, name):
    arguments = PRINTING[name] if not name.startswith("--") else [name]
    assert garner(*arguments).out != b""
    with open("/dev/full", "wb") as full:
        answer = garner(*arguments, stdout=full)
        assert answer.code == 5 and "No space left on device" in answer.err, answer
    reader, writer = os.pipe()
    os.close(reader)
    answer = garner(*arguments, stdout=writer)
    os.close(writer)
    assert answer.code == 5 and "Broken pipe" in answer.err, answer
    assert len(answer.err.splitlines()) == 1, answer


def as_nobody(program, folder, *arguments):
    """Runs a copy of the program without the administrator's rights."""
    copy = folder / "garner"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    if os.geteuid() == 0 and not os.stat("/").st_mode & stat.S_IXOTH:
        pytest.skip("SKIP: / is closed to all but the administrator, so nobody else can run a program")
    return subprocess.run([copy, *arguments], cwd=folder, capture_output=True, check=False, **user)


@pytest.fixture
def public_folder():
    with tempfile.TemporaryDirectory(prefix="garner-writer-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield folder


def test_folder_that_may_not_be_written(program, public_folder):
    locked = public_folder / "locked"
    locked.mkdir()
    (locked / "x.npy").write_bytes(OLD)
    (locked / "x.npy").chmod(0o666)
    locked.chmod(0o555)
    for name in ["x.npy", "new.npy"]:
        process = as_nobody(program, public_folder, *COMMAND, f"locked/{name}")
        assert process.returncode == 5 and b"Permission denied" in process.stderr, process
    assert names(locked) == ["x.npy"] and (locked / "x.npy").read_bytes() == OLD
    locked.chmod(0o755)


def test_file_that_may_not_be_written(program, public_folder):
    opened = public_folder / "opened"
    opened.mkdir()
    opened.chmod(0o777)
    (opened / "x.npy").write_bytes(OLD)
    (opened / "x.npy").chmod(0o444)
    process = as_nobody(program, public_folder, *COMMAND, "opened/x.npy")
    assert process.returncode == 5 and b"Permission denied" in process.stderr, process
    assert names(opened) == ["x.npy"] and (opened / "x.npy").read_bytes() == OLD
    # A folder that may be written but not listed is enough.
    (opened / "x.npy").unlink()
    opened.chmod(0o733)
    assert as_nobody(program, public_folder, *COMMAND, "opened/x.npy").returncode == 0
    assert is_result(opened / "x.npy")


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIP: only the administrator can make files of others")
@pytest.mark.parametrize("owner,group,mode,expected", [
    (0, 0, 0o666, 0o606),  # the group cannot be kept, nor may another one have its rights
    (0, 65534, 0o664, 0o664),
    (65534, 0, 0o660, 0o600),
])
def test_files_of_others(program, public_folder, owner, group, mode, expected):
    opened = public_folder / "opened"
    opened.mkdir()
    opened.chmod(0o777)
    target = opened / "x.npy"
    target.write_bytes(OLD)
    os.chown(target, owner, group)
    target.chmod(mode)
    process = as_nobody(program, public_folder, *COMMAND, "opened/x.npy")
    assert process.returncode == 0, process
    about = target.stat()
    assert is_result(target) and (about.st_uid, about.st_gid) == (65534, 65534)
    assert oct(stat.S_IMODE(about.st_mode)) == oct(expected)


def test_mode_and_name(program, tmp_path):
    """While it is written the file has no name; named ones are random and private."""
    subprocess.run(["sh", "-c", 'umask 027; exec "$@"', "sh", program, *COMMAND, "x.npy"], cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "x.npy").stat().st_mode) == 0o640
    (tmp_path / "x.npy").chmod(0o604)
    subprocess.run([program, *COMMAND, "x.npy"], cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "x.npy").stat().st_mode) == 0o604
    assert names(tmp_path) == ["x.npy"]


def watch(folder, done, seen):
    while not done.is_set():
        for entry in os.scandir(folder):
            try:
                seen.setdefault(entry.name, set()).add(stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode))
            except FileNotFoundError:
                pass


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
def test_what_others_see(program, failing, tmp_path, nameless):
    """A slow writer, watched: no temporary name at all, or a new random one of mode 0600 each time."""
    environment = {**os.environ, **failing, "FAIL_CALL": "write:0:short"}
    if not nameless:
        environment["NO_TMPFILE"] = "1"
    seen, done = {}, threading.Event()
    watcher = threading.Thread(target=watch, args=(tmp_path, done, seen))
    watcher.start()
    for i in range(30):  # a watcher that gets no turn on a busy machine sees nothing of a writer, or its end alone
        if i >= 2 and (nameless or sum(0o600 in modes for modes in list(seen.values())) >= 2):
            break
        subprocess.run(
            ["sh", "-c", 'umask 022; exec "$@"', "sh", program, "gather", "iota(300000)", "iota(300000)", "-o", f"{i}.npy"],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    done.set()
    watcher.join()
    temporary = {name: modes for name, modes in seen.items() if not name.endswith(".npy")}
    if nameless:
        assert temporary == {}
    else:
        assert sum(0o600 in modes for modes in temporary.values()) >= 2
        assert all(len(name) == len(".garner-") + 32 for name in temporary)
        for modes in temporary.values():
            assert modes <= {0o600, 0o644}  # the final mode comes with the final content


def test_links_devices_and_fifos(garner, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.npy").symlink_to("real/x.npy")
    for _ in range(2):  # into nothing, then over a file
        assert garner(*COMMAND, "link.npy").code == 0
        assert is_result(tmp_path / "real" / "x.npy") and (tmp_path / "link.npy").is_symlink()
    assert garner(*COMMAND, "/dev/null").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    assert garner(*COMMAND, "fifo").code == 0
    reader.join()
    assert got == [(tmp_path / "real" / "x.npy").read_bytes()]
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert names(tmp_path) == ["fifo", "link.npy", "real"] and names(tmp_path / "real") == ["x.npy"]


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("exists", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("call", ["readlink", "fsync"])
def test_fifo_that_appears_meanwhile(garner, failing, tmp_path, call, exists, nameless):
    """After the place has been looked at, and after the content has been written."""
    if exists:
        (tmp_path / "x.npy").write_bytes(OLD)
    environment = {**failing, "APPEARS": f"{call}:x.npy", **({} if nameless else {"NO_TMPFILE": "1"})}
    answer = garner(*COMMAND, "x.npy", env=environment)
    assert failed_calls(answer) == [f"failing: {call}"], answer
    assert answer.code == 5 and "garner: x.npy: cannot write: File exists" in answer.err, answer
    assert stat.S_ISFIFO((tmp_path / "x.npy").stat().st_mode)
    assert names(tmp_path) == ["x.npy"]


def test_fifo_whose_reader_leaves(garner, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = threading.Thread(target=lambda: open(tmp_path / "fifo", "rb").close())
    reader.start()
    answer = garner("gather", "iota(1000000)", "iota(1000000)", "-o", "fifo")
    reader.join()
    assert answer.code == 5 and "Broken pipe" in answer.err, answer


def test_standard_output_by_its_name(garner, tmp_path):
    """/dev/stdout may be a regular file, which must be written to, not replaced."""
    (tmp_path / "link.npy").symlink_to("/dev/stdout")
    with open(tmp_path / "x.npy", "wb") as out:
        answer = garner(*COMMAND, "link.npy", stdout=out)
        assert answer.code == 0, answer
        assert os.fstat(out.fileno()).st_ino == (tmp_path / "x.npy").stat().st_ino
    assert is_result(tmp_path / "x.npy")


@pytest.mark.parametrize("name,redirect", [("/dev/stdout", ">x"), ("/dev/stderr", "2>x"), ("/dev/fd/3", "3>x")])
def test_descriptors_by_their_name(garner, program, tmp_path, name, redirect):
    """Written to where the shell stands in the file: nothing before or after is lost."""
    number = {"/dev/stdout": 1, "/dev/stderr": 2}.get(name, 3)
    script = f'{{ printf before >&{number}; "$@"; printf "after $?" >&{number}; }} {redirect}'
    subprocess.run(["sh", "-c", script, "sh", program, *COMMAND, name], cwd=tmp_path, check=True)
    assert garner(*COMMAND, "want.npy").code == 0
    assert (tmp_path / "x").read_bytes() == b"before" + (tmp_path / "want.npy").read_bytes() + b"after 0"


def test_devices_that_are_none(refuses, tmp_path):
    refuses(2, ["/dev/nosuch", ".npy"], *COMMAND, "/dev/nosuch")
    (tmp_path / "x").write_bytes(OLD)
    refuses(2, ["'x'", ".npy"], *COMMAND, "x")
    assert (tmp_path / "x").read_bytes() == OLD


def test_input_may_be_the_output(garner, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.arange(100000))
    assert garner("gather", "x.npy", "[99999,0]", "-o", "x.npy").code == 0
    assert numpy.load(tmp_path / "x.npy").tolist() == [99999, 0]


def test_pictures_are_written_as_safely(garner, refuses, tmp_path):
    (tmp_path / "x.svg").write_bytes(OLD)
    refuses(3, [], "explain", "gather", "[1]", "[5]", "--svg", "x.svg")
    assert (tmp_path / "x.svg").read_bytes() == OLD
    assert garner("explain", "gather", "[1]", "[0]", "--svg", "x.svg").code == 0
    xml.dom.minidom.parse(str(tmp_path / "x.svg"))
    assert names(tmp_path) == ["x.svg"]


KINDS = ["npy", "npz", "safetensors", "pb"]


def quickest(command, folder):
    """How long the command takes: seconds, the least of a few runs, since the first may wait for the disk."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


@pytest.mark.parametrize("exists", [False, True], ids=["new", "replaced"])
@pytest.mark.slow
def test_killed_at_any_moment(program, tmp_path, exists):
    """SIGKILL leaves the old file or the new one, whole. Replacing has two system calls between which
    the new file has a second name: being killed there leaves it, whole, and nothing else ever."""
    chance = random.Random(7)
    new, duration = {}, {}
    for kind in KINDS:
        duration[kind] = quickest([program, "convert", "iota(40000):f32", f"x.{kind}"], tmp_path)
        new[kind] = (tmp_path / f"x.{kind}").read_bytes()
    killed = leftovers = 0
    for moment in range(100):
        kind = KINDS[moment % len(KINDS)]
        for name in names(tmp_path):
            (tmp_path / name).unlink()
        target = tmp_path / f"x.{kind}"
        if exists:
            target.write_bytes(OLD)
        process = subprocess.Popen([program, "convert", "iota(40000):f32", target.name], cwd=tmp_path)
        time.sleep(chance.uniform(0, 1.1 * duration[kind]))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        for name in names(tmp_path):
            content = (tmp_path / name).read_bytes()
            if name == target.name:
                assert content == new[kind] or (exists and content == OLD)
            else:
                assert exists and name.startswith(".garner-") and content == new[kind]
                leftovers += 1
        assert target.exists() or not exists
    assert killed > 10
    assert leftovers <= 3, "the moment between link and rename is too long"


def test_signals_wait_for_the_rename(program, tmp_path):
    """Other signals never hit between the two calls: not one second name in all these."""
    chance = random.Random(8)
    target = tmp_path / "x.npy"
    command = [program, "gather", "iota(20000):f32", "iota(20000)", "-o", "x.npy"]
    duration = quickest(command, tmp_path)
    for _ in range(30):
        target.write_bytes(OLD)
        process = subprocess.Popen(command, cwd=tmp_path)
        time.sleep(chance.uniform(0, 1.1 * duration))
        process.terminate()
        process.wait()
        assert names(tmp_path) == ["x.npy"]
