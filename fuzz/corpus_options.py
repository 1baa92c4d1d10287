# SPDX-License-Identifier: MIT
"""Command lines, one word a line, with every command and option: python fuzz/corpus_options.py FOLDER"""

import pathlib
import re
import sys

TABLE = (pathlib.Path(__file__).resolve().parents[1] / "cli" / "options.def").read_text(encoding="utf-8")
COMMANDS = re.findall(r'^COMMAND\(\w+, "([a-z-]+)"', TABLE, re.M)
OPTIONS = re.findall(r"^OPTION\(\w+, (?:0|'(.)'), \"([a-z-]+)\", \"([^\"]*)\"", TABLE, re.M)

lines = [[], ["--version"], ["--", "gather", "[1]"], ["gather", "-1", "-inf"], ["gater"], ["gather", "[1]", "[0]", "-voy.npy"]]
# What must be one number, and would be gigabytes of them.
lines += [["gather", "[1]", "[0]", "--axis", axis] for axis in ("iota(400000000)", "[[1]]:i32", " 1", "[1,2]", "iota(1):u8")]
for command in COMMANDS:
    lines.append([command])
    for letter, name, value in OPTIONS:
        word = value.split("|")[0].replace("N", "1")
        lines.append([command, "[1]", f"--{name}", *([word] if value else []), "[0]"])
        lines.append([command, f"--{name.replace('-', '_')}={word}", f"-{letter or 'x'}"])
folder = pathlib.Path(sys.argv[1])
for number, words in enumerate(lines):
    (folder / str(number)).write_text("\n".join(words), encoding="utf-8")
