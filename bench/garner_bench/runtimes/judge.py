# SPDX-License-Identifier: MIT
"""From the records of a section to its rows and verdicts."""

from collections import Counter
from typing import NamedTuple

from ..stats import geometric_mean
from ..summary import Row, row_of
from . import Fallback

LEVEL_TINY = "level (tiny)"
LEVEL_SMALL = "level (small)"  # a short node of a model, no slower than a call may cost
SMALL_FACTOR, SMALL_MORE = 1.2, 5e3  # times as long, and ns more
TOO_SHORT = "too short"  # for the clock to tell: neither ahead nor behind
SHORT, UNCERTAIN = 20e3, 2e3  # ns: a profile counts microseconds, some of them its own
TINY = 10e3  # ns that a node takes alone: below it the way to the kernel costs more than the kernel


class Line(NamedTuple):
    """A gather, or a whole model: how long both sides took inside the runtime, and for the call around it."""

    record: dict
    node: str  # which of the model's gathers; "" for the whole model
    judged: Row  # what the verdict is about
    whole: Row

    @property
    def name(self):
        if self.record["kind"] == "cell":
            return self.record["name"]
        return f"{self.record['name']}: {self.node or 'the whole'}"

    @property
    def verdict(self):
        return self.judged.verdict

    @property
    def clock(self):
        return self.judged.record["clock"]


def _is_tiny(record):
    return record["tiny"] or any(min(times["alone"]["runs"]) < TINY for times in record["nodes"].values())


def _row(record, times, clock, tiny_allowed):
    row = row_of(dict(record, times=times, clock=clock))
    if record["tiny"] and row.verdict == "behind" and row.ratio[0] * tiny_allowed >= 1:
        row = row._replace(verdict=LEVEL_TINY)
    if clock == "profile" and row.ratio:
        times = row.time("alone"), row.garner[0]
        if max(times) < SHORT and abs(times[0] - times[1]) < UNCERTAIN:
            row = row._replace(verdict=TOO_SHORT)
    return row


def _small(row):
    """A node of a model: what the way to a kernel costs is allowed for where that is much of its time."""
    if row.verdict != "behind":
        return row
    alone, garner = row.time("alone"), row.garner[0]
    is_level = alone < SHORT and garner <= SMALL_FACTOR * alone + SMALL_MORE
    return row._replace(verdict=LEVEL_SMALL) if is_level else row


def _lines_of(record, tiny_allowed):
    if record["kind"] == "cell":
        record = dict(record, tiny=_is_tiny(record))
    whole = _row(record, record["whole"], "whole", tiny_allowed)
    lines = [Line(record, node, _row(record, times, times["garner"]["way"], tiny_allowed), whole)
             for node, times in record["nodes"].items()]  # fmt: skip
    if record["kind"] == "model":
        lines = [line._replace(judged=_small(line.judged)) for line in lines]
        return [Line(record, "", whole, whole), *lines] if whole.ratio else []
    by_whole = record["tiny"] and any(line.clock == "profile" for line in lines)  # finer than a profile can tell
    return [Line(record, "", whole, whole)] if by_whole else lines


def lines_of(section, kind):
    """Those of the cells, or those of the models."""
    allowed = section.get("tiny_allowed", 1.0)
    return [line for record in section["records"] if record["kind"] == kind for line in _lines_of(record, allowed)]


def overall(lines):
    """The worst ratio with its name, geometric means, the names behind."""
    worst = min(lines, key=lambda line: line.judged.ratio[0], default=None)
    return {
        "worst": (worst.judged.ratio[0], worst.name) if worst else None,
        "mean": geometric_mean(line.judged.ratio[0] for line in lines),
        "mean_without_tiny": geometric_mean(line.judged.ratio[0] for line in lines if not line.record["tiny"]),
        "whole_mean": geometric_mean(line.whole.ratio[0] for line in lines),
        "counts": dict(sorted(Counter(line.verdict for line in lines).items())),
        "behind": [line.name for line in lines if line.verdict == "behind"],
    }


def faults(section):
    """What makes a benchmark fail: a process that died; garner refused, wrong, or not where it should be."""
    title = f"{section.get('title', section['runtime'])}, {section['mode']}"
    if section.get("broken"):
        yield f"{title}: {section['broken']}"
    for record in section["records"]:
        for side, reason in record["absent"].items():
            if side == "garner" or reason.startswith(Fallback.__name__):
                yield f"{title}: {record['name']}: {side}: {reason}"
        for side, _, what in record["notes"]:
            if side == "garner":
                yield f"{title}: {record['name']}: {what}"
