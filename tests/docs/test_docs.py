# SPDX-License-Identifier: MIT
"""What the documents show is what happens: every command, every C example, every link."""

import re

import pytest
from documents import (
    ROOT,
    SHELL,
    Block,
    blocks_of,
    compile_c,
    in_a_main,
    make_targets,
    make_workplace,
    run_c,
    run_shell,
)

NEEDED = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/design.md", "docs/semantics.md")]
DOCUMENTS = sorted({*NEEDED, *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")})


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_examples(path, tmp_path):
    """The blocks of one document run in order, in one folder, so that a later one sees an earlier one's files."""
    workplace = make_workplace(tmp_path / "garner")
    blocks = blocks_of(path, name_of(path))
    for block, following in zip(blocks, [*blocks[1:], None]):
        if block.language in SHELL:
            run_shell(block, workplace)
        elif block.language == "c":
            run_c(block, following, workplace)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links(path):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", prose):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), f"{name_of(path)} links to {target}, which is not there"


def test_the_picture_is_what_the_command_draws(tmp_path):
    """README shows one as a file: the command beside it draws the same, byte by byte."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = ROOT / re.search(r"!\[[^\]]+\]\((docs/\w+\.svg)\)", text).group(1)
    command = re.search(rf"^\$ (garner explain .* --svg {shown.name})$", text, re.MULTILINE).group(1)
    run_shell(Block("README.md", 0, "console", f"$ {command}\n"), make_workplace(tmp_path / "garner"))
    assert (tmp_path / "garner" / shown.name).read_bytes() == shown.read_bytes(), f"draw docs/{shown.name} again: {command}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_named_targets(path):
    """`make something` in the prose is a target that exists."""
    for target in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")):
        assert target in make_targets(), f"{name_of(path)}: the Makefile has no target {target}"


def names_nothing(text):
    """The files that a text names in backquotes, and the tests in brackets behind one, that are not there."""
    missing = []
    for path, inside in re.findall(r"`([\w.-]+/[\w./-]*)`(?: \(`(\w+)`\))?", text):
        if not (ROOT / path).exists():
            missing.append(path)
        elif inside and inside not in (ROOT / path).read_text(encoding="utf-8"):
            missing.append(f"{inside} of {path}")
    return missing


def test_promises_name_their_tests():
    """Every line of a table of promises names a file that stands behind it, and every file that is named is there."""
    text = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    assert names_nothing(text) == []
    promises = [row for table in re.findall(r"^\| promise .*\n\|.*\n((?:\|.*\n)+)", text, re.MULTILINE) for row in table.splitlines()]
    assert len(promises) > 20
    assert [row for row in promises if not re.search(r"`[\w-]+/[\w./-]*`", row.split("|")[2])] == []


def test_readme_shows_something():
    blocks = blocks_of(ROOT / "README.md")
    assert any("int main" in block.text for block in blocks if block.language == "c")
    assert any("$ " in block.text and "garner gather" in block.text for block in blocks if block.language in SHELL)


def test_header_example(tmp_path):
    """The example at the top of garner.h compiles without a warning and runs."""
    manual = (ROOT / "include/garner.h").read_text(encoding="utf-8").split("*/")[1]
    code = ""
    for line in manual.splitlines():
        if line.startswith(" *     "):
            code += line[7:] + "\n"
        elif code and line.strip(" *"):
            break  # the first example ends where prose goes on
    assert "garner_gather(" in code
    assert compile_c(in_a_main(code), tmp_path) == ""


def test_ci_runs_the_readme_test_command():
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


# ---- The checks themselves can fail --------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "right"),
    [
        ("$ echo one; echo two\none\ntwo\n", True),
        ("$ printf 'a\\nb\\nc\\n'\na\n...\nc\n", True),
        ("$ false\n$ echo $?\n1\n", True),
        ("$ echo \\\n> split\nsplit\n", True),
        ("make demo\nmake test  # both\n", True),
        ("$ echo one\ntwo\n", False),
        ("$ echo one\n", False),
        ("$ true\none\n", False),
        ("$ exit 1\n", False),
        ("$ make nothing\n", False),
        ("make demo\necho one\n", False),
    ],
)
def test_shell_blocks_are_checked(shown, right, tmp_path):
    block = Block("sample", 1, "sh", shown)
    (tmp_path / "bin").mkdir()
    if right:
        run_shell(block, tmp_path)
    else:
        with pytest.raises(AssertionError):
            run_shell(block, tmp_path)


def test_names_are_checked():
    assert names_nothing("`tests/docs/test_docs.py` (`names_nothing`), `tests/docs/`, `make test`") == []
    assert names_nothing("`tests/docs/none.py`, `docs/design.md` (`names_nothing`)") == ["tests/docs/none.py", "names_nothing of docs/design.md"]


def test_c_blocks_are_checked(tmp_path):
    program = Block("sample", 1, "c", '#include <stdio.h>\nint main(void)\n{\n    puts("one");\n    return 0;\n}\n')
    run_c(program, Block("sample", 9, "text", "one\n"), tmp_path)
    with pytest.raises(AssertionError):
        run_c(program, Block("sample", 9, "text", "two\n"), tmp_path)
    with pytest.raises(AssertionError):
        run_c(Block("sample", 1, "c", "this is not C;\n"), None, tmp_path)
