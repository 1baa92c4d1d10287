# SPDX-License-Identifier: MIT
"""A table, once made, as aligned text for a terminal, as Markdown, or as tab-separated values."""

from typing import NamedTuple


class Table(NamedTuple):
    title: str
    header: tuple
    rows: list  # of tuples of text
    notes: tuple = ()
    words: int = 1  # how many columns at the left hold words; the others are numbers, set to the right

    def _widths(self):
        return [max(len(line[i]) for line in [self.header, *self.rows]) for i in range(len(self.header))]

    def _pad(self, line, widths):
        pairs = enumerate(zip(line, widths))
        return [cell.ljust(width) if i < self.words else cell.rjust(width) for i, (cell, width) in pairs]

    def text(self):
        widths = self._widths()
        lines = ["  ".join(self._pad(line, widths)).rstrip() for line in [self.header, *self.rows]]
        return "\n".join([self.title, "", *lines, *([""] if self.notes else []), *self.notes, ""])

    def markdown(self):
        marks = ["---" if i < self.words else "---:" for i in range(len(self.header))]
        lines = ["| " + " | ".join(line) + " |" for line in [self.header, *self.rows]]
        lines.insert(1, "|" + "|".join(marks) + "|")
        notes = [line for note in self.notes for line in ("", note)]
        return "\n".join([f"### {self.title}", "", *lines, *notes, ""])

    def head(self, count):
        """Its first lines, and how many more there are."""
        left = len(self.rows) - count
        return self if left <= 0 else self._replace(rows=self.rows[:count], notes=(f"{left} more lines.", *self.notes))

    def tsv(self):
        return "".join("\t".join(line) + "\n" for line in [self.header, *self.rows])


def number(value, digits=3):
    """With so many significant digits, never in powers of ten."""
    if value is None:
        return "-"
    decimals = 0
    while decimals < 6 and abs(value) * 10**decimals < 10 ** (digits - 1) and value:
        decimals += 1
    return f"{value:,.{decimals}f}"


def size(count):
    """Bytes in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{number(count)} {unit}" if count % 1 else f"{count:.0f} {unit}"
        count /= 1024
