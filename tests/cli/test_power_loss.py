# SPDX-License-Identifier: MIT
"""Power that fails while a file is written. The calls that change the disk are logged (FAIL_LOG of the injector) and replayed,
to every prefix of the log: what has been synced is on the disk, and of what has not, any part may be. In each of these states
the old file is there, whole, or the new one."""

import re

import pytest

OLD = b"what was there before\n"
COMMANDS = {
    "x.npy": ["convert", "iota(30000)", "x.npy"],
    "x.npz": ["convert", "iota(50,50)", "x.npz"],
    "x.safetensors": ["convert", "iota(50,50)", "x.safetensors"],
    "x.pb": ["convert", "iota(50,50)", "x.pb"],
    "x.svg": ["explain", "gather", "iota(20)", "iota(20)", "--svg", "x.svg"],
}


class Disk:
    """What may be on a disk: for each file the contents that it may have, and the names that the folder may have."""

    def __init__(self, names):
        self.names = dict(names)  # as programs see them: name -> file
        self.folders = [dict(names)]  # as they may be after a power failure: the last synced, and each later one
        self.now, self.may = {}, {}  # file -> its content, and each that it may have
        self.opened = {}  # descriptor -> file, or "." for the folder

    def file(self, content):
        made = len(self.now)
        self.now[made], self.may[made] = content, [content]
        return made

    def change_names(self):
        self.folders.append(dict(self.names))

    def open(self, number, flags, path):
        if int(flags, 8) & 0o3 == 0:  # for reading
            self.opened[number] = "."
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
        if file == ".":
            self.folders = [dict(self.names)]
        else:
            self.may[file] = [self.now[file]]

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
        return {content for folder in self.folders for content in (self.may[folder[name]] if name in folder else [None])}


def replay(log, name, old, new):
    """Fails where a prefix of the log could leave anything else than the old file or the new one; gives what the end leaves."""
    disk = Disk({})
    if old is not None:
        disk.names[name] = disk.file(old)
        disk.folders = [dict(disk.names)]
    for line in log:
        call, *arguments = line.split(" ")
        getattr(disk, call)(*arguments)
        torn = disk.contents_of(name) - {old, new}
        assert not torn, f"power that fails after {line[:60]!r} may leave {len(torn)} torn files"
        for other in disk.names.keys() - {name}:
            assert other.startswith(".garner-"), other
    return disk.contents_of(name)


@pytest.fixture
def logged(garner, failing, tmp_path):
    """Runs a command and gives its calls, from the first that opens the folder on."""

    def run(name, old, nameless):
        (tmp_path / name).unlink(missing_ok=True)
        if old is not None:
            (tmp_path / name).write_bytes(old)
        (tmp_path / "log").unlink(missing_ok=True)
        answer = garner(*COMMANDS[name], env={**failing, "FAIL_LOG": str(tmp_path / "log"), **({} if nameless else {"NO_TMPFILE": "1"})})
        assert answer.code == 0, answer
        lines = (tmp_path / "log").read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if re.fullmatch(r"open \d+ \d+ \.", line))
        return [line for line in lines[first:] if not line.startswith("write 1 ")], (tmp_path / name).read_bytes()

    return run


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("old", [None, OLD], ids=["new", "replaced"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_prefix_leaves_the_old_file_or_the_new(logged, name, old, nameless):
    log, new = logged(name, old, nameless)
    assert replay(log, name, old, new) == {new}, "once the command is done, the new file is there to stay"
    calls = [line.split(" ")[0] for line in log]
    assert calls.count("fsync") == 2 and calls.count("write") >= 1, calls


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "named"])
@pytest.mark.parametrize("old", [None, OLD], ids=["new", "replaced"])
def test_a_writer_that_does_not_sync_is_caught(logged, old, nameless):
    log, new = logged("x.npy", old, nameless)
    synced = [i for i, line in enumerate(log) if line.startswith("fsync ")]
    without_first = [line for i, line in enumerate(log) if i != synced[0]]
    with pytest.raises(AssertionError, match="torn"):
        replay(without_first, "x.npy", old, new)
    without_last = [line for i, line in enumerate(log) if i != synced[-1]]
    assert replay(without_last, "x.npy", old, new) == {old, new}
