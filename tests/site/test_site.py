# SPDX-License-Identifier: MIT
"""The rendered site, build/site: every link leads somewhere, nothing comes from elsewhere, and the references are whole."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
PLAY = "play/index.html"  # make docs builds it, tools/docs --without-page does not
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}  # what a browser fetches unasked


class Page(HTMLParser):
    """The links, the anchors, the headings and the text of one page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors, self.headings, self.prose = [], [], {""}, [], ""
        self._inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.add(given.get("id") or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADED.get(tag)):
            self.loaded.append(given[LOADED[tag]])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
        self._inside = [*self._inside, tag] if tag in ("h1", "h2", "h3", "p", "a", "pre", "code") else self._inside

    def handle_endtag(self, tag):
        self.prose += "\n" if tag == "p" else ""
        if tag in self._inside:
            self._inside = self._inside[: len(self._inside) - self._inside[::-1].index(tag) - 1]

    def handle_data(self, data):
        if {"h1", "h2", "h3"} & set(self._inside) and "a" not in self._inside:
            self.headings[-1] += data
        if "p" in self._inside and not {"pre", "code"} & set(self._inside):
            self.prose += data


def pages_of(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def broken_links(pages):
    """PAGE: LINK for each link within the site, or to a file that a page needs, that leads nowhere."""
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            if parts.path == PLAY and (not (SITE / PLAY).is_file() or parts.fragment.startswith("op=")):
                continue  # test_the_page says so; its fragments are states
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else {"", unquote(parts.fragment)} if target.is_file() else ()
            if unquote(parts.fragment) not in known:
                yield f"{path.name}: {link}"


def test_the_page(pages):
    """The first page and every operator's section link the page to play with, each with a state of its own."""
    links = [link for page in pages.values() for link in page.links if urlsplit(link).path == PLAY]
    assert any(urlsplit(link).path == PLAY for link in pages[SITE / "index.html"].links)
    for op in ["gather", "gather-elements", "gather-nd"]:
        assert any(f"#op={op}&" in link for link in links), op
    if not (SITE / PLAY).is_file():
        pytest.skip("SKIP the page is not in the site: make docs builds it")
    assert {"garner.wasm", "app.js", "style.css"} <= {path.name for path in (SITE / PLAY).parent.iterdir()}


@pytest.fixture(scope="module")
def pages():
    assert (SITE / "index.html").is_file(), "make docs first"
    return pages_of(SITE)


def test_links(pages):
    assert sum(len(page.links) for page in pages.values()) > 100
    assert list(broken_links(pages)) == []


def test_nothing_comes_from_the_network(pages):
    assert [f"{path.name}: {link}" for path, page in pages.items() for link in page.loaded if urlsplit(link).netloc] == []


def test_the_readme_s_picture_arrives(pages):
    """On the first page, and as it is in docs."""
    assert "explain.svg" in {Path(unquote(urlsplit(link).path)).name for link in pages[SITE / "index.html"].loaded}
    (place,) = [SITE / unquote(link) for link in pages[SITE / "index.html"].loaded if link.endswith("explain.svg")]
    assert place.read_bytes() == (ROOT / "docs/explain.svg").read_bytes()


def test_every_document_is_a_page(pages):
    documents = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"index", "news", "contributing", "tour", "api", "c"}
    assert documents <= {path.stem for path in pages}
    start = {urlsplit(link).path.removesuffix(".html") for link in pages[SITE / "index.html"].links}
    assert documents - {"index"} <= start, "reached from the first page's side bar"


def test_markdown_is_understood(pages):
    """What only one reader of Markdown takes for a list, a table or a fence shows up in the text."""
    for path, page in pages.items():
        assert not re.search(r"^(- |\d\. |\|.*\|$)|```|\]\(", page.prose, re.MULTILINE), path.name


# ---- The references ------------------------------------------------------------------------------


def interface():
    """What the interface promises: the names and signatures that the package's own test holds it to."""
    tree = ast.parse((ROOT / "tests/python/test_interface.py").read_text(encoding="utf-8"))
    return next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "SIGNATURES"
    )


def offered():
    """What the package offers, by its own list."""
    tree = ast.parse((ROOT / "python/garner/__init__.py").read_text(encoding="utf-8"))
    return next(
        ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )


def text_of(name):
    text = (SITE / name).read_text(encoding="utf-8")
    return re.sub(r"<[^>]+>", "", text).replace("&#39;", "'").replace("&#x27;", "'").replace("&quot;", '"').replace("&gt;", ">")


def test_python_reference_is_whole(pages):
    shown, headings = text_of("api.html"), pages[SITE / "api.html"].headings
    signatures = interface()
    assert len(signatures) >= 15
    for name, signature in signatures.items():
        assert f"garner.{name}" in headings, name
        assert f"garner.{name}{signature}" in shown, name
    for name in offered():
        assert f"garner.{name}" in shown, name
    for member in ("shape", "tolist()", "run(inputs)", "inputs and outputs", "status", "coordinates", "bound"):
        assert member in shown, member


def test_c_reference_is_whole(pages):
    header = (ROOT / "include/garner.h").read_text(encoding="utf-8")
    functions = re.findall(r"^GARNER_API[^;(]*?(garner_\w+)\(", header, re.MULTILINE)
    assert len(functions) >= 20
    assert [name for name in functions if name not in pages[SITE / "c.html"].headings] == []
    names = set(re.findall(r"\b(?:garner|GARNER)_\w+", header)) - {"GARNER_API", "GARNER_MUST_USE", "GARNER_H"}
    shown = text_of("c.html")
    assert [name for name in names if name not in shown] == []


# ---- The checks themselves can fail --------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ('<a href="other.html#here">x</a>', 0),
        ('<a href="https://example.org/none">x</a>', 0),
        ('<a href="other.html#there">x</a>', 1),
        ('<a href="none.html">x</a>', 1),
        ('<a href="#none">x</a>', 1),
        ('<img src="none.png">', 1),
    ],
)
def test_links_are_checked(body, broken, tmp_path):
    (tmp_path / "one.html").write_text(body)
    (tmp_path / "other.html").write_text('<p id="here">')
    assert len(list(broken_links(pages_of(tmp_path)))) == broken
