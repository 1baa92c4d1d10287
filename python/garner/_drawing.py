# SPDX-License-Identifier: MIT
"""Drawings of gathers: in the terminal as text, in a notebook as a picture."""

import os
import shutil
import sys

from . import _garner


class Drawing:
    """A gather, drawn: str(drawing) is the text, and notebooks show the picture."""

    def __init__(self, text, picture):
        self._text, self._picture = text, picture

    def __repr__(self):
        return self._text.rstrip("\n")

    def _repr_svg_(self):
        return self._picture

    def _repr_pretty_(self, printer, cycle):
        printer.text(repr(self))


def _is_shown_anyway():
    """Whether whoever called shows what comes back: a notebook, or an interactive interpreter."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules


def explain(op, data, indices, axis=0, batch_dims=0, *, spec=None, strict=False, oob=None):
    """Draws where each element of a gather's result comes from.

    In a terminal the drawing is printed; a notebook shows it as a picture. op is 'gather', 'gather_elements' or 'gather_nd',
    the other arguments are the operator's. What comes back is the drawing: str() of it is the text.

    >>> import garner
    >>> drawing = garner.explain("gather", [10, 20, 30], [2, 0, -1])
    Gather, axis 0
    out[i] = data[indices[i]]
    ...
    >>> drawing._repr_svg_().startswith("<svg")
    True
    """
    colour = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns
    text, picture = _garner._explain_gather(op, data, indices, axis, batch_dims, spec, strict, oob, width, int(colour))
    drawing = Drawing(text, picture)
    if not _is_shown_anyway():
        print(drawing)
    return drawing


for _thing in (Drawing, explain):
    _thing.__module__ = "garner"
