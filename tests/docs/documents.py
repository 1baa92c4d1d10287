# SPDX-License-Identifier: MIT
"""Reads the fenced blocks of a Markdown document and runs what they show.

A shell block (sh, console) holds commands after "$ ", each followed by what it prints, standard error
included; a line of "..." stands for any lines. A block of C with a main is compiled and run; the text block
right after it, if there is one, is its output.

GARNER_TEST_INSTALLS=1 also runs the commands that install packages, as make check does. Otherwise the environment of these
tests takes the place of what they would install.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("GARNER_BUILD", "build")).resolve()
INSTALLS = os.environ.get("GARNER_TEST_INSTALLS") == "1"
SHELL = ("sh", "console", "shell", "bash")
MARK = "==== next command ===="


@dataclass
class Block:
    document: str
    line: int
    language: str
    text: str

    @property
    def where(self):
        return f"{self.document}:{self.line}"


def blocks_of(path, name=None):
    """Every fenced block of a document, in order."""
    found, open_block = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"\s*```\s*(\w*)", line)
        if fence and open_block is None:
            open_block = Block(name or path.name, number, fence.group(1), "")
        elif fence:
            found.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.text += line + "\n"
    if open_block is not None:
        raise ValueError(f"{open_block.where}: this block is never closed")
    return found


def commands_of(block):
    """The commands of a shell block: pairs of a command and the lines it is said to print."""
    pairs = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            pairs.append([line[2:], []])
        elif pairs and pairs[-1][0].endswith("\\") and not pairs[-1][1]:
            pairs[-1][0] += "\n" + line.removeprefix("> ")
        elif pairs and pairs[-1][1] is not None:
            pairs[-1][1].append(line)
        elif line.strip() and not line.startswith("#"):
            pairs.append([line, None])  # shown without a prompt: no output is claimed
    return [(command, expected) for command, expected in pairs]


def make_targets(makefile=None):
    text = (makefile or ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def is_make(command):
    """Whether this is a call of make; an unknown target in it is an error."""
    words = command.split("#")[0].split()
    if not words or words[0] != "make":
        return False
    targets = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
    unknown = set(targets) - make_targets()
    if unknown:
        raise AssertionError(f"the Makefile has no target {', '.join(sorted(unknown))}: {command}")
    return True


def is_left_out(command):
    """Whether this installs packages, which takes longer than make test has."""
    left_out = " -m venv build/onnxenv " in command and not INSTALLS
    if left_out:
        print(f"SKIP what installs packages, which make check runs: {command}")
    return left_out


def same_lines(expected, actual):
    """Compares two lists of lines; a line "..." in the first stands for any number of lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual)) is not None


def strip_empty(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def make_workplace(folder):
    """A folder that looks like the repository after `make`, `make amalgamation` and `make python`."""
    (folder / "build").mkdir(parents=True)
    (folder / "bin").mkdir()
    for name in ("garner", "libgarner.a", "libgarner.so"):
        (folder / "build" / name).symlink_to(BUILD / name)
    (folder / "bin" / "garner").symlink_to(BUILD / "garner")
    (folder / "build" / "venv").symlink_to(ROOT / "build" / "venv")
    if not INSTALLS:
        (folder / "build" / "onnxenv").symlink_to(sys.prefix)
    for name in ("include", "src", "examples"):
        (folder / name).symlink_to(ROOT / name)
    subprocess.run([ROOT / "tools" / "amalgamate", folder / "build"], check=True)
    return folder


def run_shell(block, folder):
    """Runs a shell block in one shell; raises if anything it shows is not what happens."""
    pairs = [(command, expected) for command, expected in commands_of(block) if not is_make(command) and not is_left_out(command)]
    for command, expected in pairs:
        if expected is None:
            raise AssertionError(f"{block.where}: write `$ ` before `{command}`, so that it is run")
    script = "".join(f"(exit $status)\n{command}\nstatus=$?; echo '{MARK}'\n" for command, _ in pairs)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    result = subprocess.run(
        ["bash", "-c", "status=0\n" + script],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=600 if INSTALLS else 120, check=False,
    )  # fmt: skip
    outputs = result.stdout.split(MARK + "\n")
    if len(outputs) != len(pairs) + 1:
        raise AssertionError(f"{block.where}: the shell stopped early:\n{result.stdout}")
    for (command, expected), output in zip(pairs, outputs):
        actual = output.splitlines()
        if not same_lines(strip_empty(expected), strip_empty(actual)):
            raise AssertionError(f"{block.where}: `{command}` prints\n{output}and not\n" + "\n".join(expected))


def compile_c(text, folder, name="example.c", run=True):
    """Compiles C against the header and the static library, with warnings as errors; returns its output."""
    source, program = folder / name, folder / Path(name).stem
    source.write_text(text, encoding="utf-8")
    line = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", source]
    line += [BUILD / "libgarner.a", "-pthread", "-lm", "-o", program] if run else ["-Wno-unused", "-fsyntax-only"]
    built = subprocess.run(line, capture_output=True, text=True, check=False)
    if built.returncode:
        raise AssertionError(f"does not compile:\n{built.stderr}\n{text}")
    if not run:
        return ""
    result = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if result.returncode:
        raise AssertionError(f"exit {result.returncode}:\n{result.stdout}{result.stderr}\n{text}")
    return result.stdout + result.stderr


def in_a_main(statements):
    """Statements as a whole program."""
    return f"#include <garner.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{{\n{statements}\nreturn 0;\n}}\n"


def run_c(block, following, folder):
    """Compiles a block of C, runs it if it is a program, and compares its output with the text that follows."""
    name = re.match(r"\s*/[/*] (\w+\.c)\b", block.text)
    name = name.group(1) if name else "example.c"
    if "int main" not in block.text:
        compile_c(in_a_main(block.text), folder, name, run=False)
        return
    output = compile_c(block.text, folder, name)
    if following is not None and following.language == "text":
        if not same_lines(strip_empty(following.text.splitlines()), strip_empty(output.splitlines())):
            raise AssertionError(f"{block.where}: prints\n{output}and not\n{following.text}")
