# SPDX-License-Identifier: MIT
"""The notebook-style example as a page: each cell ("# %% Title") is a heading and its code."""

import ast
import re


def tour_page(path):
    text = path.read_text(encoding="utf-8")
    about, *cells = re.split(r"^# %% ?", text, flags=re.MULTILINE)
    first, *command = ast.get_docstring(ast.parse(about)).split("\n\n")
    page = ["# A tour of the Python package", first, f"```console\n$ {command[0].strip()}\n```"]
    for cell in cells:
        title, code = cell.split("\n", 1)
        page += [f"## {title}", f"```python\n{code.strip()}\n```"]
    return "\n\n".join(page) + "\n"
