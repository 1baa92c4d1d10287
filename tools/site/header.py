# SPDX-License-Identifier: MIT
"""garner.h as a page: its comments are prose, its sections headings, its declarations code.

What a comment sets apart (indented lines, columns, formulas) stays set apart.
"""

import re
import textwrap

BANNER = re.compile(r"/\* -{4} (.*?) -+ \*/")
COMMENT = re.compile(r"/\*(.*?)\*/\s*", re.DOTALL)


def words(line):
    """A line of prose as Markdown: names of the interface are code, nothing else means anything."""
    parts = re.split(r"(`[^`]+`|\*?\b(?:garner|GARNER)_\w+(?:\(\w*\))?|\*\w+|\w+\.shape\[[^\]]*\]|\bdata\.shape|\bindices\.shape)", line)
    return "".join(re.sub(r"([*_<\[\]])", r"\\\1", part) if n % 2 == 0 else f"`{part.strip('`')}`" for n, part in enumerate(parts))


def is_set_apart(line):
    return re.match(r" {2,}(?!- )\S", line) or re.search(r"\S {3,}\S", line) or re.match(r"out\[.*\] = ", line)


def prose(comment):
    """A comment as Markdown."""
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.strip().splitlines()]
    shown, block, in_list = [], [], False

    def close():
        if block:
            text = textwrap.dedent("\n".join(block)).rstrip()
            shown.extend(["", f"```{'c' if block[0].startswith('    ') else 'text'}", text, "```", ""])
            block.clear()

    for line in lines:
        item = line.lstrip().startswith("- ")
        if in_list and line.startswith("    "):
            shown.append("  " + words(line.strip()))
        elif is_set_apart(line) or (block and not line):
            block.append(line)
        else:
            close()
            if item and not in_list:
                shown.append("")
            elif in_list and not item and line:
                shown.append("")
            in_list = item or (in_list and not line)
            shown.append(words(line.strip()))
    close()
    return "\n".join(shown)


def declaration(code):
    """A declaration without what only compilers need; a function takes one line, or one for each argument."""
    code = re.sub(r"GARNER_(API|MUST_USE) ", "", code.strip())
    function = re.fullmatch(r"([\w ]+[ *])(garner_\w+)\((.*)\);", code, re.DOTALL)
    if not function:
        return "", code
    before, name, arguments = (" ".join(part.split()) for part in function.groups())
    line = f"{before}{'' if before.endswith('*') else ' '}{name}({arguments});"
    return name, line if len(line) <= 100 else line.replace("(", "(\n    ", 1).replace(", ", ",\n    ")


def section(text):
    """Comments and declarations, in order; a declaration ends at an empty line outside of braces."""
    shown = []
    for chunk in re.split(r"\n\n(?=/\*|GARNER_API|typedef|enum|#)", text.strip()):
        comment = COMMENT.match(chunk)
        code = chunk[comment.end() :] if comment else chunk
        if code.lstrip().startswith(("#if", "#endif", "#include")) and "\n#define" not in code:
            continue
        name, code = declaration(code)
        if name:
            shown.append(f"### {name}")
        if comment:
            shown.append(prose(comment.group(1)))
        if code:
            shown.append(f"```c\n{code}\n```")
    return shown


def header_page(path):
    text = re.sub(r"\A/\*.*?\*/\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)  # the licence
    text = re.sub(r"^#ifdef __cplusplus.*?^#endif\n|^#if defined\(__GNUC__\).*?^#endif\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#ifndef GARNER_H\n#define GARNER_H\n|^#endif /\* GARNER_H \*/\n", "", text, flags=re.MULTILINE)
    first, *rest = BANNER.split(text)
    about, *others = section(first)
    page = ["# C interface", about, "## Version and limits", *others]
    for title, part in zip(rest[::2], rest[1::2]):
        page += [f"## {title}", *section(part)]
    return "\n\n".join(page) + "\n"
