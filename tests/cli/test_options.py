# SPDX-License-Identifier: MIT
"""The command line: every line of the table in cli/options.def, in parsing, help and manual page."""

import pathlib
import re
import shutil
import subprocess

import pytest

TABLE = (pathlib.Path(__file__).resolve().parents[2] / "cli" / "options.def").read_text()
COMMANDS = re.findall(r'^COMMAND\((\w+), "([a-z-]+)", "([^"]*)"', TABLE, re.M)
OPTIONS = re.findall(r"^OPTION\((\w+), (0|'.'), \"([a-z-]+)\", \"([^\"]*)\", (\w+),\s+([^\"]*?),\s", TABLE, re.M)
NAMES = {ident: name for ident, name, _ in COMMANDS}


def commands_of(option):
    """Names of the commands that take an option."""
    where = option[5]
    if "ON_EVERY" in where:
        return list(NAMES.values())
    found = [NAMES[ident] for ident in re.findall(r"ON\((\w+)\)", where)]
    return found + (["gather", "gather-elements", "gather-nd"] if "ON_GATHERS" in where else [])


def test_the_table_was_read():
    assert len(COMMANDS) == len(re.findall(r"^COMMAND\(", TABLE, re.M)) >= 5
    assert len(OPTIONS) == len(re.findall(r"^OPTION\(", TABLE, re.M)) >= 12


def test_help_by_every_door(garner):
    plain = garner()
    assert plain.code == 0 and plain.text.startswith("garner: ") and plain.err == ""
    for arguments in (["--help"], ["-h"], ["help"]):
        assert garner(*arguments).text == plain.text
    for _, name, operands in COMMANDS:
        assert f"\n  {name} " in plain.text
        one = garner(name, "--help")
        assert one.code == 0 and one.text.startswith(f"usage: garner {name} {operands}")
        assert garner("help", name).text == one.text
        assert garner("help", name.replace("-", "_")).text == one.text
        assert garner("--help", name, "what", "ever").text == one.text
    for text in (plain.text, garner("gather", "--help").text):
        assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o[2])
def test_option_is_in_help_and_manual(garner, option):
    _, letter, name, value, _, _ = option
    shown = (f"-{letter[1]}, " if letter != "0" else "") + f"--{name}" + (f" {value}" if value else "")
    general = not option[5].startswith("ON") or "ON_EVERY" in option[5]
    assert (f"\n  {shown}" in garner("--help").text) == general
    assert "\\fB" + shown.replace("-", "\\-") + "\n" in garner("help", "--man").text
    for _, command, _ in COMMANDS:
        in_help = f"\n  {shown}" in garner(command, "--help").text
        assert in_help == (command in commands_of(option)), command


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o[2])
def test_option_words(refuses, option):
    """A value missing, a value too many, a command that does not take it, a slip of the finger."""
    _, _, name, value, reader, _ = option
    if value:
        refuses(2, [f"--{name}", "needs a value"], "gather", "[1]", "[0]", f"--{name}")
    else:
        refuses(2, [f"--{name}", "takes no value"], "gather", "[1]", "[0]", f"--{name}=1")
    good = {"INTEGER": "0", "AXIS": "0", "COUNT": "1", "SIZE": "2G", "WORD": value.split("|")[0], "DEVICE": "cpu", "TEXT": "x"}.get(reader)
    given = f"--{name}" + (f"={good}" if value else "")
    if name not in ("help", "version"):
        for _, command, _ in COMMANDS:
            if command not in commands_of(option):
                refuses(2, f"{command} does not take --{name}", command, "[1]", "[0]", given)
    slip = name[:1] + name[2:] if len(name) > 3 else name + "x"
    refuses(2, f"did you mean --{name}?", "gather", "[1]", "[0]", f"--{slip}")
    if reader in ("INTEGER", "AXIS", "COUNT", "SIZE", "WORD", "DEVICE"):
        for bad in ("", "x", "1.5", "99999999999999999999", "[1,2]", "1:f32"):
            command = commands_of(option)[0]
            refuses(2, [f"--{name} takes", f"'{bad}'"], command, "[1]", "[0]", f"--{name}={bad}")


def test_options_stand_anywhere(garner):
    want = "[[2],[4]]\n"
    for arguments in (
        ["gather", "[[1,2],[3,4]]", "[1]", "--axis", "1"],
        ["gather", "--axis", "1", "[[1,2],[3,4]]", "[1]"],
        ["--axis=1", "gather", "[[1,2],[3,4]]", "[1]"],
        ["gather", "[[1,2],[3,4]]", "--axis", "-1", "[1]"],
        ["gather", "--axis", "0", "--axis=1", "--", "[[1,2],[3,4]]", "[1]"],
        ["--axis", "1", "--", "gather", "[[1,2],[3,4]]", "[1]"],
    ):
        answer = garner(*arguments)
        assert (answer.code, answer.text) == (0, want), arguments


def test_after_two_dashes_all_are_operands(refuses):
    refuses(2, "DATA: '--axis'", "gather", "--", "--axis", "[1]")
    refuses(2, "one too many", "gather", "--", "[1]", "[0]", "--strict")


def test_letters_run_together(garner, refuses, tmp_path):
    assert garner("gather", "[1,2]", "[0]", "-voy.npy").code == 0
    assert (tmp_path / "y.npy").is_file()
    refuses(2, "-x is no option", "gather", "[1]", "[0]", "-vx")
    refuses(2, "--out needs a value", "gather", "[1]", "[0]", "-o")


@pytest.mark.parametrize("text", [" 1", "1 ", "\t1", "\n", "", " [1]", "[1]:i32 ", "[1,1]", "[]", "1.0", "true", '"1"', "[1]:f32"])
def test_an_axis_is_one_integer(garner, refuses, text):
    refuses(2, ["--axis takes an integer, not", f"'{text}'" if text.isprintable() else ""],
            "gather", "[[1,2],[3,4]]", "[1]", "--axis", text)
    assert garner("gather", "[[1,2],[3,4]]", "[1]", "--axis", "[[1]]:i32").text == "[[2],[4]]\n"


def test_version(garner):
    assert garner("--version").text == "garner 0.1.0\n"


@pytest.mark.parametrize("_,name,__", COMMANDS, ids=lambda v: v)
def test_mistyped_command(refuses, _, name, __):
    refuses(2, f"'{name}x' is no command; did you mean {name}?", name + "x")
    swapped = name[1] + name[0] + name[2:]
    refuses(2, f"did you mean {name}?", swapped)


def test_commands_that_are_none(refuses):
    refuses(2, "garner --help", "frobnicate-everything")
    refuses(2, "garner --help", "")
    refuses(2, "garner --help", "x" * 5000)
    refuses(2, "no command", "-v")
    refuses(2, "no command", "help", "frobnicate")
    refuses(2, "needs DATA INDICES", "gather")
    refuses(2, "needs DATA INDICES", "gather", "[1]")
    refuses(2, "'[2]' is one too many", "gather", "[1]", "[0]", "[2]")


def test_manual_page_is_troff(garner):
    page = garner("help", "--man").text
    lines = page.splitlines()
    assert lines[0].startswith(".TH GARNER 1 ") and "garner 0.1.0" in lines[0]
    assert [line for line in lines if line.startswith(".SH")][:3] == [".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS"]
    for line in lines:
        if line.startswith("."):
            assert line.split()[0] in (".TH", ".nh", ".SH", ".SS", ".TP", ".PP", ".EX", ".EE"), line
        assert not line.startswith("'"), line
        assert not re.search(r"(?<!\\)-", line), line
        assert all(m in ("-", "e", "(", "f", "&") for m in re.findall(r"\\(.)", line)), line
    for heading in ("TENSORS", "OUTPUT", "EXIT STATUS", "ENVIRONMENT"):
        assert f".SH {heading}" in lines


def test_exit_codes_are_listed(garner):
    section = garner("--help").text.split("EXIT STATUS\n")[1].split("\n\n")[0]
    assert re.findall(r"^  (\d) ", section, re.M) == ["0", "1", "2", "3", "4", "5"]
    section = garner("help", "--man").text.split(".SH EXIT STATUS\n")[1].split(".SH")[0]
    assert re.findall(r"^\\fB(\d)$", section, re.M) == ["0", "1", "2", "3", "4", "5"]


def test_manual_page_formats_without_warning(garner):
    if not shutil.which("groff"):
        pytest.skip("SKIP: groff is not installed, the manual page is not formatted")
    page = garner("help", "--man").out
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=page, capture_output=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, b"")
