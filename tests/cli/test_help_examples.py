# SPDX-License-Identifier: MIT
"""The examples of the help, taken from the help itself: each is run, and prints what is shown."""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

from documents import Block, run_shell  # noqa: E402

TABLE = (ROOT / "cli" / "options.def").read_text(encoding="utf-8")
COMMANDS = re.findall(r'^COMMAND\(\w+, "([a-z-]+)"', TABLE, re.M)


def shown(text):
    """The examples in one command's help."""
    return "".join(line.removeprefix("  ") + "\n" for line in text.partition("\nEXAMPLES\n")[2].splitlines())


def test_examples_run_as_shown(garner, program, tmp_path):
    """All in one folder, in the order of the table: a later one may use files of an earlier one."""
    (tmp_path / "bin").mkdir()
    os.symlink(program, tmp_path / "bin" / "garner")
    count = 0
    for command in COMMANDS:
        text = shown(garner(command, "--help").text)
        assert f"$ garner {command} " in text or f"$ garner {command}\n" in text, f"{command} has no example"
        run_shell(Block(f"garner help {command}", 1, "console", text), tmp_path)
        count += text.count("$ ")
    assert count >= len(re.findall(r"^EXAMPLE\(\w", TABLE, re.M))


def test_manual_shows_the_same_examples(garner):
    page = garner("help", "--man").text
    plain = page.replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\\")
    plain = re.sub(r"\\f[BR]|\\&", "", plain)
    for command in COMMANDS:
        for block in shown(garner(command, "--help").text).strip().split("\n$ "):
            assert block.removeprefix("$ ") in plain, command
