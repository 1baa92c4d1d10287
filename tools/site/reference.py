# SPDX-License-Identifier: MIT
"""The reference of the Python package, from the signatures and docstrings of the package that is installed here.

Docstrings are plain text with examples as doctest reads them; words that are code there are made to look like it.
"""

import inspect
import re

import garner

# Everything that the package offers, in the order to read it; the kinds of errors are a table at the end.
GROUPS = {
    "The operators": ["gather", "gather_elements", "gather_nd"],
    "Under names that you know": ["take", "take_along_axis", "index_select", "take_along_dim"],
    "Plans and arrays": ["Plan", "Array"],
    "Files and models": ["load", "save", "open", "Table", "Tensors", "Model", "Port"],
    "Drawings": ["explain", "Drawing"],
    "Threads and the machine": ["get_num_threads", "set_num_threads", "cpu_info", "__version__"],
    "Errors": ["Error"],
}
ERRORS = ["OutOfRange", "BadShape", "BadType", "BadArgument", "BadSpec", "BadFile"]
MADE_BY_GARNER = {"Array", "Table", "Tensors", "Port", "Drawing", "Error"}  # nobody calls these
CODE = re.compile(r"""(out\[.*\]\s=\s.*\] | '[^'\s]+' | \w+=\w+ | [\w.]*_\w+ (?:\([^()]*\))? | \b[\w.]+\([^()]*\))""", re.VERBOSE)


def escaped(text):
    """Text as Markdown that shows it: what looks like code is set as code, and nothing else means anything."""
    parts = CODE.split(text)
    return "".join(re.sub(r"([*_<\[\]])", r"\\\1", part) if n % 2 == 0 else f"`{part}`" for n, part in enumerate(parts))


def body(docstring):
    """A docstring as Markdown: paragraphs, and examples as sessions."""
    shown = []
    for paragraph in inspect.cleandoc(docstring or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            shown.append(f"```pycon\n{paragraph}\n```")
        else:
            shown.append(escaped(paragraph))
    return "\n\n".join(shown)


def signature(thing):
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""


def members(thing):
    """The methods and attributes that a class says something about, in its own order."""
    for name, member in vars(thing).items():
        told = inspect.getdoc(member) if callable(member) or inspect.isdatadescriptor(member) else None
        if told and not name.startswith("_") and not told.startswith("Alias for field"):
            call = re.sub(r"\((self(, )?)?/?", "(", signature(member), count=1) if callable(member) else ""
            yield f"- **`{name}{call}`**: {escaped(' '.join(told.split()))}"


def entry(name):
    thing = getattr(garner, name)
    if isinstance(thing, str):
        return [f"### {escaped(f'garner.{name}')}", f"The version of the library, as {thing!r}."]
    kind = "class " if inspect.isclass(thing) else ""
    call = "" if name in MADE_BY_GARNER else signature(thing)
    shown = [f"### garner.{name}", f"```python\n{kind}garner.{name}{call}\n```", body(thing.__doc__)]
    return shown + ["\n".join(members(thing))] if kind else shown


def error_rows():
    """A table of the kinds of errors."""
    yield "| class | is also | raised for |\n|---|---|---|"
    for kind in map(garner.__dict__.get, ERRORS):
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__ if base is not garner.Error)
        yield f"| `garner.{kind.__name__}` | {bases} | {escaped(kind.__doc__)} |"


def reference_page(_):
    missing = set(garner.__all__) ^ {*ERRORS, *(name for names in GROUPS.values() for name in names)}
    if missing:
        raise SystemExit(f"tools/site/reference.py: no group for, or no such name as, {', '.join(sorted(missing))}")
    page = ["# API reference", body(garner.__doc__)]
    for title, names in GROUPS.items():
        page.append(f"## {title}")
        for name in names:
            page += entry(name)
    page.append("\n".join(error_rows()))
    return "\n\n".join(page) + "\n"
