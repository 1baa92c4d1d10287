# SPDX-License-Identifier: MIT
"""Writes the pages of the site, as Markdown, into a folder: pages.py FOLDER.

The documents are pages as they stand; the reference, the tour and the C interface are made of the sources. Links are written
for people who read the repository; here one to a file that is a page leads to that page, under its title where the link
showed the file's name, and one to any other file becomes its bare text. Pictures come along. A link to a file that is not there
is left alone, and fails the build. A link to web/index.html leads to the page that tools/page builds, with its state.
"""

import posixpath
import re
import shutil
import sys
from pathlib import Path

from header import header_page
from reference import reference_page
from tour import tour_page

ROOT = Path(__file__).resolve().parents[2]
THE_PAGE = "web/index.html"
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def plain(path):
    return path.read_text(encoding="utf-8")


# Pages that do not lie in docs/: the file each is made of, and how.
MADE = {
    "index.md": ("README.md", plain),
    "news.md": ("NEWS.md", plain),
    "contributing.md": ("CONTRIBUTING.md", plain),
    "security.md": ("SECURITY.md", plain),
    "tour.md": ("examples/python_tour.py", tour_page),
    "api.md": ("python/garner/__init__.py", reference_page),
    "c.md": ("include/garner.h", header_page),
}

# What the side bar shows. A page that is missing here fails the build.
NAVIGATION = """
```{toctree}
:hidden:

Start <self>
Shell <shell>
Files <files>
Models <models>
In ONNX Runtime <onnxruntime>
In OpenVINO <openvino>
Larger than a machine <scale>
On GPUs <gpu>
```

```{toctree}
:hidden:
:caption: Python

Overview <python>
For users of NumPy <numpy>
For users of torch <torch>
A tour <tour>
API reference <api>
```

```{toctree}
:hidden:
:caption: C

C interface <c>
```

```{toctree}
:hidden:
:caption: How it works

Semantics <semantics>
Design <design>
What you can rely on <trust>
Performance <performance>
Inside the runtimes <performance-inside>
What made it fast <speedups>
```

```{toctree}
:hidden:
:caption: The project

News <news>
Contributing <contributing>
Security <security>
```
"""


def page_of(source):
    """The page made of a file of the repository, or None."""
    if source.startswith("docs/") and source.endswith(".md"):
        return source.removeprefix("docs/")
    return next((page for page, (made_of, _) in MADE.items() if made_of == source), None)


def shown_as(label, target, source):
    """What a link to a page shows: the title of the document if it was the file's name."""
    if label != target or not source.endswith(".md"):
        return label
    return "“" + plain(ROOT / source).split("\n", 1)[0].removeprefix("# ") + "”"


def lead_to_pages(text, here, folder):
    """Lets the links of a text that lies in the file `here` lead to pages, and its pictures to copies in the folder."""

    def lead(match):
        mark, label, target, anchor = match.group(1), match.group(2), match.group(3), match.group(4) or ""
        source = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        if re.match(r"[a-z]+:", target) or not (ROOT / source).exists():
            return match.group(0)
        if mark:
            shutil.copy(ROOT / source, folder)
            return f"![{label}]({posixpath.basename(source)})"
        if source == THE_PAGE: # which is no page of Sphinx's
            return f'<a href="play/index.html{anchor}">{label}</a>'
        page = page_of(source)
        return f"[{shown_as(label, target, source)}]({page}{anchor})" if page else label

    return LINK.sub(lead, text)


def finished(text, here, folder):
    """A page's links lead to pages, but for those in fenced blocks; sessions of Python are marked as such."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [lead_to_pages(text[end : fence.start()], here, folder)]
        parts += [re.sub(r"\A```python\n>>>", "```pycon\n>>>", fence.group())]
        end = fence.end()
    return "".join([*parts, lead_to_pages(text[end:], here, folder)])


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = {path.name: (f"docs/{path.name}", plain) for path in (ROOT / "docs").glob("*.md")} | MADE
    for page, (source, make) in pages.items():
        text = finished(make(ROOT / source), source, folder)
        (folder / page).write_text(text + (NAVIGATION if page == "index.md" else ""), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
