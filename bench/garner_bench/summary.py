# SPDX-License-Identifier: MIT
"""From the times of runs to what the tables say: ratios with their intervals, verdicts, gains."""

from typing import NamedTuple

from .stats import geometric_mean, median, spread

AT_LIMIT = 0.8  # the share of the machine's limit from which a time counts as being at it
LEVEL_AT_LIMIT = 0.97
LONG_WORK = 1e6  # ns: gains from cores are asked of cells above this
BEHIND = (0.97, 0.9)  # ratios below which cells are counted
NOT_PEERS = ("garner", "python", "ceiling")


def mode_label(mode):
    return {"one": "One thread", "all": "All cores"}.get(mode, f"{mode} threads")


class Row(NamedTuple):
    """One cell in one mode; times in ns."""

    record: dict
    garner: tuple  # median, lowest, highest; None if there is none
    best: str  # the fastest peer, "" if there is none
    ratio: tuple  # of the best peer's time to garner's: median, lowest, highest; None
    verdict: str

    @property
    def name(self):
        return self.record["name"]

    @property
    def limit_share(self):
        """How near garner is to the machine's limit, 1 being at it."""
        return self.record["limit_ns"] / self.garner[0] if self.garner else None

    @property
    def ratio_at_limit(self):
        """What the ratio would be if garner reached the machine's limit; as it is where it has passed that."""
        return self.ratio[0] / min(1, self.limit_share)

    def time(self, name):
        timed = self.record["times"].get(name)
        return median(timed["runs"]) if timed else None


def _best_peer(times):
    medians = {name: median(timed["runs"]) for name, timed in times.items() if name not in NOT_PEERS}
    return min(medians, key=medians.get) if medians else ""


def _verdict(ratio, own_share, peer_share):
    middle, low, high = ratio
    if low >= 1:
        return "ahead"
    if high >= 1:
        return "level"
    if middle >= LEVEL_AT_LIMIT and min(own_share, peer_share) >= AT_LIMIT:
        return "level (limit)"
    return "behind"


def row_of(record):
    times = record["times"]
    best = _best_peer(times)
    garner = spread(times["garner"]["runs"]) if "garner" in times else None
    if garner is None or not best:
        return Row(record, garner, best, None, "garner is missing" if garner is None else "no peer")
    ratio = spread([peer / own for peer, own in zip(times[best]["runs"], times["garner"]["runs"])])
    limit = record["limit_ns"]
    return Row(record, garner, best, ratio, _verdict(ratio, limit / garner[0], limit / median(times[best]["runs"])))


def rows_of(mode):
    """The cells of the table, without their neighbours."""
    return [row_of(record) for record in mode["cells"] if "~" not in record["name"]]


def worst_first(rows):
    """Cells that nobody could be compared in come last."""
    return sorted(rows, key=lambda row: row.ratio[0] if row.ratio else float("inf"))


def python_cost(rows):
    """Of the cells measured from Python too: how many cost at most 3 % and half a microsecond more there, and which more."""
    both = [(row.name, row.garner[0], row.time("python")) for row in rows if row.garner and row.time("python")]
    beyond = [name for name, c, python in both if python > 1.03 * c + 500]
    return len(both) - len(beyond), beyond


def overall(rows):
    """The smallest ratio with its cell, the geometric mean with and without the tiny cells, what it could be without
    them at the machine's limit, how many are behind, the verdicts."""
    counted = [row for row in rows if row.ratio]
    larger = [row for row in counted if not row.record["tiny"]]
    smallest = min(counted, key=lambda row: row.ratio[0], default=None)
    return {
        "cells": len(rows),
        "smallest": (smallest.ratio[0], smallest.name) if smallest else None,
        "mean": geometric_mean(row.ratio[0] for row in counted),
        "mean_without_tiny": geometric_mean(row.ratio[0] for row in larger),
        "mean_at_limit": geometric_mean(row.ratio_at_limit for row in larger),
        "below": {least: sum(row.ratio[0] < least for row in counted) for least in BEHIND},
        "verdicts": {verdict: [r.name for r in rows if r.verdict == verdict] for verdict in {r.verdict for r in rows}},
    }


class Gain(NamedTuple):
    name: str
    garner: float
    ceiling: float

    @property
    def share(self):
        return self.garner / self.ceiling


def gains(one, every):
    """What all cores gain over one, for cells of more than a millisecond: garner's gain and the ceiling's."""
    single = {row.name: row for row in rows_of(one)}
    found = []
    for row in rows_of(every):
        alone = single.get(row.name)
        times = [r.time(n) for r in (alone, row) if r for n in ("garner", "ceiling")]
        if len(times) == 4 and all(times) and times[0] > LONG_WORK:
            found.append(Gain(row.name, times[0] / times[2], times[1] / times[3]))
    return found


class Near(NamedTuple):
    """A cell and its neighbours: its ratio, theirs."""

    name: str
    ratio: float
    ratios: list
    needed = 0.9

    @property
    def reached(self):
        return sum(r >= self.needed * self.ratio for r in self.ratios)


def near(mode):
    ratios = {row.name: row.ratio[0] for row in map(row_of, mode["cells"]) if row.ratio}
    groups = {}
    for name, ratio in ratios.items():
        if "~" in name:
            groups.setdefault(name.split("~")[0], []).append(ratio)
    return [Near(name, ratios[name], group) for name, group in groups.items() if name in ratios]
