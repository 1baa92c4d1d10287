# SPDX-License-Identifier: MIT
"""Limits that the system sets to a process are errors with a sentence."""

import resource
import subprocess

import pytest

OLD = b"what was there before\n"
BIG = ("gather", "iota(100000)", "iota(100000)")


def limited(program, surroundings, folder, *arguments, **options):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    return subprocess.run([program, *arguments], cwd=folder, env=surroundings, stderr=subprocess.PIPE, preexec_fn=limit, check=False, **options)


@pytest.mark.parametrize("target", ["x.npy", "x.npz", "x.safetensors", "x.pb"])
def test_files_of_a_limited_size(program, surroundings, tmp_path, target):
    """A file that would be too long is not begun: the old one stays as it was, and nothing lies beside it."""
    (tmp_path / target).write_bytes(OLD)
    said = limited(program, surroundings, tmp_path, *BIG, "-o", target)
    assert said.returncode == 5 and said.stderr.startswith(f"garner: {target}: ".encode()), said
    assert said.stderr.count(b"\n") == 1
    assert (tmp_path / target).read_bytes() == OLD and [path.name for path in tmp_path.iterdir()] == [target]
    assert limited(program, surroundings, tmp_path, "gather", "iota(3)", "[2]", "-o", target).returncode == 0


def test_output_of_a_limited_size(program, surroundings, tmp_path):
    with open(tmp_path / "out", "wb") as out:
        said = limited(program, surroundings, tmp_path, *BIG, stdout=out)
    assert said.returncode == 5 and b"standard output" in said.stderr, said
