# SPDX-License-Identifier: MIT
"""Power that fails while a file is written. The calls that change the disk are logged (FAIL_LOG of the injector) and replayed,
to every prefix of the log: what has been synced is on the disk, and of what has not, any part may be. In each of these states
the old file is there, whole, or the new one."""

import os
import re

import numpy as np
import pytest

from protobuf import helper, model, save, value

OLD = b"what was there before\n"
GATHER = ["gather", "table.npy", "iota(9000)", "--memory", "1M", "-o", "x.npy"]
RUN = ["run", "m.onnx", "x=[1.5,2.5]", "y=[0]", "z=[1]", "--output-dir"]
COMMANDS = {  # and what each writes
    "x.npy": (["convert", "iota(30000)", "x.npy"], ["x.npy"]),
    "x.npz": (["convert", "iota(50,50)", "x.npz"], ["x.npz"]),
    "x.safetensors": (["convert", "iota(50,50)", "x.safetensors"], ["x.safetensors"]),
    "x.pb": (["convert", "iota(50,50)", "x.pb"], ["x.pb"]),
    "x.svg": (["explain", "gather", "iota(20)", "iota(20)", "--svg", "x.svg"], ["x.svg"]),
    "gather, pread": ([*GATHER, "--how", "pread"], ["x.npy"]),
    "gather, ring": ([*GATHER, "--how", "ring"], ["x.npy"]),
    "gather, mapped": ([*GATHER, "--how", "mapped"], ["x.npy"]),
    "run": ([*RUN, "out"], ["out/Y.npy", "out/Z.npy"]),
}


class Disk:
    """What may be on a disk: for each file the contents that it may have, and the names that the folder may have, in which
    all files are that a command writes. That folder may be new itself."""

    def __init__(self, folder, names):
        self.folder = folder
        self.there = [True]  # whether the folder is after a power failure
        self.names = dict(names)  # as programs see them: name -> file
        self.folders = [dict(names)]  # as they may be after a power failure: the last synced, and each later one
        self.now, self.may = {}, {}  # file -> its content, and each that it may have
        self.opened = {}  # descriptor -> file, or the path of a folder

    def file(self, content):
        made = len(self.now)
        self.now[made], self.may[made] = content, [content]
        return made

    def change_names(self):
        self.folders.append(dict(self.names))

    def open(self, number, flags, path):
        if int(flags, 8) & 0o3 == 0:  # for reading
            self.opened[number] = os.path.normpath(path)
            return
        self.opened[number] = self.file(b"")
        if path != ".":
            self.names[path] = self.opened[number]
            self.change_names()

    def write(self, number, at, data):
        file = self.opened[number]
        old, new = self.now[file], bytes.fromhex(data)
        at = len(old) if at == "-" else int(at)
        for part in {0, 1, len(new) // 2, len(new)}:  # a page may have been written back, or not
            self.may[file].append(old[:at] + new[:part] + old[at + part :])
        self.now[file] = old[:at] + new + old[at + len(new) :]

    def fsync(self, number):
        file = self.opened[number]
        if file == self.folder:
            self.folders = [dict(self.names)]
        elif file == (os.path.dirname(self.folder) or "."):
            self.there = [True]
        else:
            self.may[file] = [self.now[file]]

    def mkdir(self, path):
        assert path == self.folder
        self.there = [False, True]

    def linkat(self, old, new):
        number = re.fullmatch(r"/proc/self/fd/(\d+)", old)
        self.names[new] = self.opened[number[1]] if number else self.names[old]
        self.change_names()

    def renameat(self, old, new):
        self.names[new] = self.names.pop(old)
        self.change_names()

    def unlinkat(self, path):
        del self.names[path]
        self.change_names()

    def contents_of(self, name):
        """All that a file of this name may hold after a power failure; None where there may be none."""
        held = {content for folder in self.folders for content in (self.may[folder[name]] if name in folder else [None])}
        return held | ({None} if False in self.there else set())


def replay(log, folder, old, new):
    """Fails where a prefix of the log could leave anything else than old files or new ones; gives what the end leaves. Both
    are contents by name, of old ones those that are there."""
    disk = Disk(folder, {})
    for name, content in old.items():
        disk.names[name] = disk.file(content)
    disk.folders = [dict(disk.names)]
    for line in log:
        call, *arguments = line.split(" ")
        getattr(disk, call)(*arguments)
        for name in new:
            torn = disk.contents_of(name) - {old.get(name), new[name]}
            assert not torn, f"power that fails after {line[:60]!r} may leave {len(torn)} torn files"
        for other in disk.names.keys() - new.keys():
            assert other.startswith(".garner-"), other
    return {name: disk.contents_of(name) for name in new}


@pytest.fixture
def logged(garner, failing, tmp_path):
    """Runs a command and gives its calls, from the first that makes or opens the folder on, that folder, and what was written."""
    np.save(tmp_path / "table.npy", np.arange(9000 * 40, dtype="f4").reshape(9000, 40))
    nodes = [helper.make_node("Gather", ["x", name], [name.upper()]) for name in "yz"]
    save(model(nodes, [value("x", 1), value("y", 7), value("z", 7)], [value("Y", 1), value("Z", 1)]), tmp_path / "m.onnx")

    def run(name, old, nameless):
        command, outputs = COMMANDS[name]
        folder = os.path.dirname(outputs[0]) or "."
        if old is not None:
            (tmp_path / folder).mkdir(exist_ok=True)
            for output in outputs:
                (tmp_path / output).write_bytes(old)
        answer = garner(*command, env={**failing, "FAIL_LOG": str(tmp_path / "log"), **({} if nameless else {"NO_TMPFILE": "1"})})
        assert answer.code == 0, answer
        lines = (tmp_path / "log").read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if re.fullmatch(rf"open \d+ \d+ {re.escape(folder)}|mkdir .*", line))
        lines = [line for line in lines[first:] if not line.startswith("write 1 ")]
        return lines, folder, {os.path.basename(output): (tmp_path / output).read_bytes() for output in outputs}

    return run


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("old", [None, OLD], ids=["new", "replaced"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_prefix_leaves_the_old_file_or_the_new(logged, name, old, nameless):
    log, folder, new = logged(name, old, nameless)
    before = dict.fromkeys(new, old) if old is not None else {}
    after = {output: {content} for output, content in new.items()}
    assert replay(log, folder, before, new) == after, "once the command is done, the new files are there to stay"
    calls = [line.split(" ")[0] for line in log]
    assert calls.count("fsync") == 2 * len(new) + calls.count("mkdir") and calls.count("write") >= len(new), calls


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("old", [None, OLD], ids=["new", "replaced"])
def test_a_writer_that_does_not_sync_is_caught(logged, old, nameless):
    log, folder, new = logged("x.npy", old, nameless)
    before = {"x.npy": old} if old is not None else {}
    synced = [i for i, line in enumerate(log) if line.startswith("fsync ")]
    without_first = [line for i, line in enumerate(log) if i != synced[0]]
    with pytest.raises(AssertionError, match="torn"):
        replay(without_first, folder, before, new)
    without_last = [line for i, line in enumerate(log) if i != synced[-1]]
    assert replay(without_last, folder, before, new) == {"x.npy": {old, new["x.npy"]}}
