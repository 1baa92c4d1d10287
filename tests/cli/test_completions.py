# SPDX-License-Identifier: MIT
"""Completion scripts, in the shells themselves: every command and option of the table is offered where it may stand."""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time

import pytest
from test_options import COMMANDS, NAMES, OPTIONS, commands_of

ALL = sorted(NAMES.values())
OPERATORS = ["gather", "gather-elements", "gather-nd"]
SPECS = {f"onnx-{n}" for n in (1, 11, 12, 13)} | {f"openvino-{n}" for n in (1, 5, 6, 7, 8)}


def need(shell):
    if not shutil.which(shell):
        pytest.skip(f"SKIP: {shell} is not installed, its completion is not tested")


@pytest.fixture
def script(garner, tmp_path):
    """script(shell): the file that holds its completion."""

    def write(shell):
        need(shell)
        answer = garner("help", "--completion", shell)
        assert answer.code == 0 and answer.err == "", answer
        path = tmp_path / f"completion.{shell}"
        path.write_bytes(answer.out)
        (tmp_path / "table one.npy").touch()
        (tmp_path / "folder").mkdir(exist_ok=True)
        return path

    return write


def test_scripts_parse(script):
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell):
            done = subprocess.run([shell, "-n", script(shell)], capture_output=True, check=False)
            assert (done.returncode, done.stderr) == (0, b""), shell


# ---- bash and fish say what they would offer -----------------------------------------------------


@pytest.fixture
def offered(script, tmp_path):
    """offered(shell, *words): what is offered for the last word."""

    def bash(path, words):
        cut = [piece for word in words for piece in (re.split("(=)", word) if word else [""])]
        cut = [piece for i, piece in enumerate(cut) if piece or i == len(cut) - 1]
        quoted = " ".join(map(shlex.quote, cut))
        return ["bash", "-c", f'source {path}; COMP_WORDS=({quoted}); COMP_CWORD={len(cut) - 1}; _garner; '
                'printf "%s\\n" "${COMPREPLY[@]}"']  # fmt: skip

    def fish(path, words):
        line = " ".join(words)
        return ["fish", "--no-config", "-c", f"source {path}; complete -C{shlex.quote(line)}"]

    def ask(shell, *words):
        command = {"bash": bash, "fish": fish}[shell](script(shell), ["garner", *words])
        environment = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.stderr == "", done
        found = {line.split("\t")[0] for line in done.stdout.splitlines() if line}
        return {word.rpartition("=")[2] if words[-1].startswith("-") and "=" in words[-1] else word for word in found}

    return ask


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_commands_are_offered(offered, shell):
    assert offered(shell, "") == set(ALL)
    assert offered(shell, "gather-") == {"gather-elements", "gather-nd"}
    assert offered(shell, "help", "") == set(ALL)


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_options_of_each_command_are_offered(offered, shell):
    for _, command, _ in COMMANDS:
        want = {f"--{option[2]}" for option in OPTIONS if command in commands_of(option)}
        assert offered(shell, command, "--") == want, command


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_values_are_offered(offered, shell):
    assert offered(shell, "gather", "--oob", "") == {"error", "zero", "clamp", "wrap"}
    assert offered(shell, "gather", "x.npy", "--format", "j") == {"json"}
    assert offered(shell, "gather", "--spec", "") == SPECS
    assert offered(shell, "gather", "--oob=c") == {"clamp"}
    assert offered(shell, "bench", "--index-dtype", "u") == {"u8", "u16", "u32", "u64"}
    assert offered(shell, "gather", "--axis", "") == set()


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_operands_are_offered(offered, shell):
    file = "table one.npy"
    assert offered(shell, "gather", "ta") == {file}
    assert offered(shell, "gather", "--axis", "1", "ta") == {file}
    assert offered(shell, "gather", "-o", "ta") == {file}
    assert offered(shell, "run", "--output-dir", "fo") in ({"folder"}, {"folder/"})
    assert offered(shell, "explain", "gather-") == {"gather-elements", "gather-nd"}
    assert offered(shell, "explain", "ta") == {file}
    assert offered(shell, "cpu", "ta") == set()


# ---- zsh is typed to, on a terminal of its own ---------------------------------------------------


class Terminal:
    def __init__(self, command, folder):
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", HOME=str(folder), ZDOTDIR=str(folder))
            os.execvp(command[0], command)
        self.seen = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, text, limit=20):
        end = time.monotonic() + limit
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
                self.seen = re.sub(".\b", "", self.seen)  # zsh steps back over what it has added
        assert text in self.seen, self.seen
        self.seen = self.seen.rpartition(text)[2]

    def close(self):
        os.close(self.master)
        os.waitpid(self.child, 0)


ZSH_CASES = [
    ("garner gather-e\t", "gather-elements "),
    ("garner help gather-n\t", "help gather-nd "),
    ("garner gather --stri\t", "--strict "),
    ("garner gather --oob=cl\t", "--oob=clamp "),
    ("garner gather --oob cl\t", "--oob clamp "),
    ("garner gather 'x' --spec openvino-6\t", "--spec openvino-6 "),
    ("garner gather ta\t", "table\\ one.npy "),
    ("garner gather 'x' 'y' -o ta\t", "-o table\\ one.npy "),
    ("garner explain gather-e\t", "explain gather-elements "),
    ("garner explain gather ta\t", "gather table\\ one.npy "),
    ("garner run --output-dir fo\t", "--output-dir folder/"),
    ("garner cpu --js\t", "cpu --json "),
]


def test_zsh_completes(script, tmp_path):
    path = script("zsh")
    shell = Terminal(["zsh", "-f", "-i"], tmp_path)
    try:
        shell.type("unsetopt zle_bracketed_paste prompt_sp; autoload -Uz compinit && compinit -u -D; ")
        shell.type(f"source {path}; PS1='rea''dy> '\n")
        shell.wait_for("ready> ")
        for typed, completed in ZSH_CASES:
            shell.type(typed + "#done")
            shell.wait_for(completed + "#done")
            shell.type("\x15\n")  # forget the line
            shell.wait_for("ready> ")
    finally:
        shell.type("\x15exit\n")
        shell.close()


def test_zsh_finds_it_in_a_folder_of_functions(script, tmp_path):
    """As installed: _garner, loaded by compinit from fpath."""
    functions = tmp_path / "functions"
    functions.mkdir()
    shutil.copy(script("zsh"), functions / "_garner")
    shell = Terminal(["zsh", "-f", "-i"], tmp_path)
    try:
        shell.type("unsetopt zle_bracketed_paste prompt_sp; fpath=($PWD/functions $fpath); ")
        shell.type("autoload -Uz compinit && compinit -u -D; PS1='rea''dy> '\n")
        shell.wait_for("ready> ")
        shell.type("garner gather --stri\t#done")
        shell.wait_for("--strict #done")
    finally:
        shell.type("\x15exit\n")
        shell.close()
