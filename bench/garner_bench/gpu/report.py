# SPDX-License-Identifier: MIT
"""From records to tables: the ratio to the best peer, to the copy, to the bare loop and to the limit; what that makes in all."""

import json
from pathlib import Path
from typing import NamedTuple

from ..stats import geometric_mean
from ..table import Table, number, size
from .peers import NAMES

LEVEL = 0.97  # of the best peer's speed: level from there, behind below
BARE = 1.10  # times the bare loop: no slower than that
LIMITS = ("first vector", "sectors", "random sectors")  # of which the slowest is the limit, as the driver's copy and plain loops reach it


class Row(NamedTuple):
    record: dict
    seconds: float  # garner's
    best: str  # the fastest peer, "" if there is none
    ratio: float  # its time over garner's; None
    copies: float  # garner's time over that of a copy which reads and writes as much
    bare: float  # garner's time over the bare loop's; None
    limit: float  # garner's time over the limit's; None

    @property
    def name(self):
        return self.record["name"]

    @property
    def verdict(self):
        if self.ratio is None:
            return "alone"
        return "behind" if self.ratio < LEVEL else "level" if self.ratio <= 1 / LEVEL else "ahead"


def row_of(record):
    """None where nothing was measured."""
    times = record.get("times")
    if not times:
        return None
    seconds = times["garner"]["seconds"]
    peers = {name: times[name]["seconds"] for name in NAMES if name in times}
    best = min(peers, key=peers.get) if peers else ""
    bare = seconds / times["bare"]["seconds"] if "bare" in times else None
    limits = [times[name]["seconds"] for name in LIMITS if name in times]
    return Row(record, seconds, best, peers[best] / seconds if best else None, seconds / times["copy"]["seconds"], bare,
               seconds / max(limits) if limits else None)  # fmt: skip


def rows_of(result):
    return [row for row in map(row_of, result["cells"]) if row]


# ---- Text ----


def _ratio(value):
    return "-" if value is None else f"{value:.2f}"


def _peer(row, name, result):
    if name in row.record["times"]:
        return number(row.record["times"][name]["seconds"] * 1e6)
    if name in result["missing"]:
        return "missing"
    return "wrong" if any(note[0] == name and note[2].startswith("wrong") for note in row.record["notes"]) else "-"


def summary(result):
    """The lines that say it all."""
    rows, failed = rows_of(result), [record for record in result["cells"] if record.get("failed")]
    verdicts = {word: [row.name for row in rows if row.verdict == word] for word in ("ahead", "level", "behind", "alone")}
    compared = [row for row in rows if row.ratio is not None]
    lines = [f"{len(rows)} cells: " + ", ".join(f"{len(names)} {word}" for word, names in verdicts.items() if names or word != "alone")
             + f" ({LEVEL} of the best peer is level)."]  # fmt: skip
    if compared:
        least = min(compared, key=lambda row: row.ratio)
        limited = [row for row in compared if row.limit is not None]
        if limited:
            best = geometric_mean(row.ratio * max(1, row.limit) for row in limited)  # as fast as garner where that is faster
            lines.append(f"A gather at the limit of each cell would have the geometric mean {best:.2f}; garner takes "
                         f"{geometric_mean(row.limit for row in limited):.2f} times as long as the limit.")  # fmt: skip
        lines[0] += f" Geometric mean {geometric_mean(row.ratio for row in compared):.2f}, smallest {least.ratio:.2f} ({least.name})."
    loops = [row for row in rows if row.bare is not None]
    if loops:
        worst = max(loops, key=lambda row: row.bare)
        above = [row for row in loops if row.bare > BARE]
        lines.append(f"Against the bare loop: worst {worst.bare:.2f} ({worst.name}), {len(above)} of {len(loops)} cells above {BARE}"
                     + (": " + ", ".join(f"{row.name} {row.bare:.2f}" for row in above) if above else "") + ".")  # fmt: skip
    if verdicts["behind"]:
        lines.append("Behind: " + ", ".join(f"{row.name} {row.ratio:.2f} ({row.best})" for row in compared if row.verdict == "behind") + ".")
    lines += [f"NOT MEASURED: {record['name']}: {record['failed']}" for record in failed]
    lines += [f"MISSING: {name}: {why}" for name, why in result["missing"].items()]
    if result["left"]:
        lines.append(f"NOT COMPLETE: {len(result['left'])} cells are left, from {result['left'][0]} on.")
    return lines


def _machine(result):
    about = result["machine"]
    clocks = [record.get("sm_mhz") for record in result["cells"] if record.get("sm_mhz")]
    memory = sorted({record["memory_mhz"] for record in result["cells"] if record.get("memory_mhz")})
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [f"{about['name']}, driver for CUDA {about['driver']}, profile {about['profile']}; {versions or 'no peers'}."]
    if clocks:
        lines.append(f"Clocks after each cell: multiprocessors {min(clocks)} to {max(clocks)} MHz, memory {'/'.join(map(str, memory))} MHz.")
    lines.append("Times are medians between events on the device, of several calls each; JAX's, which has a stream of its own, are the host's.")
    return lines


def _limit(times):
    return max((name for name in LIMITS if name in times), key=lambda name: times[name]["seconds"], default="-")


def main_table(result):
    names = [name for name in NAMES if name in result["versions"] or name in result["missing"]]
    header = ("cell", "verdict", "best", "garner µs", "ratio to best", "× copy", "× bare loop", "× limit", "limit", "bare µs", "copy µs", *(f"{name} µs" for name in names))
    lines = []
    for row in rows_of(result):
        times = row.record["times"]
        bare = number(times["bare"]["seconds"] * 1e6) if "bare" in times else "-"
        lines.append((row.name, row.verdict, row.best or "-", number(row.seconds * 1e6), _ratio(row.ratio), _ratio(row.copies), _ratio(row.bare), _ratio(row.limit), _limit(times), bare,
                      number(times["copy"]["seconds"] * 1e6), *(_peer(row, name, result) for name in names)))  # fmt: skip
    return Table("Gathers on a GPU", header, lines, (*_machine(result), *summary(result)), words=3)


def what_table(result):
    """What each cell is, and how it was planned and by whom beaten."""
    lines = []
    for row in rows_of(result):
        record = row.record
        shape = lambda extents: "x".join(map(str, extents)) or "-"  # noqa: E731
        plan = record["plan"].partition("kernel ")[2] or record["plan"]
        lines.append((row.name, record["op"], f"{record['dtype']} {shape(record['data'])}", f"{record['index_dtype']} {shape(record['indices'])}",
                      record["dist"], size(record["data_bytes"]), plan, record["times"][row.best]["way"] if row.best else "-"))  # fmt: skip
    return Table("What the cells are", ("cell", "operator", "data", "indices", "distribution", "table", "kernel", "best peer's way"), lines, words=8)


def notes_table(result):
    lines = [(record["name"], *note) for record in result["cells"] for note in record.get("notes", ())]
    return Table("Left out, or wrong", ("cell", "peer", "way", "why"), lines, words=4)


# ---- Files ----


def merge(results):
    """One result of several: of a cell that several have, the last; of machines that differ, an error."""
    merged = results[0]
    for other in results[1:]:
        if other["machine"] != merged["machine"]:
            raise ValueError(f"{other['machine']['name']} is not {merged['machine']['name']}, or has another driver")
        new = {record["name"] for record in other["cells"]}
        cells = [record for record in merged["cells"] if record["name"] not in new] + other["cells"]
        versions = {**merged["versions"], **other["versions"]}
        missing = {name: why for name, why in {**merged["missing"], **other["missing"]}.items() if name not in versions}
        done = {record["name"] for record in cells}
        left = [name for name in dict.fromkeys([*merged["left"], *other["left"]]) if name not in done]
        merged = {**merged, "cells": cells, "versions": versions, "missing": missing, "left": left}
    return merged


def write(result, folder):
    """All files; the table of cells as text, Markdown and tab-separated values."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = [main_table(result), what_table(result), notes_table(result)]
    (folder / "result.json.new").write_text(json.dumps(result) + "\n", encoding="utf-8")
    (folder / "result.json.new").replace(folder / "result.json")
    (folder / "cells.tsv").write_text(tables[0].tsv(), encoding="utf-8")
    (folder / "plans.tsv").write_text(tables[1].tsv(), encoding="utf-8")
    (folder / "report.txt").write_text("\n\n".join(t.text() for t in tables if t.rows), encoding="utf-8")
    (folder / "report.md").write_text("\n\n".join(t.markdown() for t in tables if t.rows), encoding="utf-8")
