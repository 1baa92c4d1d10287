# SPDX-License-Identifier: MIT
"""The report: every table of a benchmark, as text, Markdown, TSV and JSON. What is in one is in all."""

import json
from pathlib import Path

from . import plot
from .runtimes import judge
from .runtimes import tables as inside
from .stats import spread
from .summary import LONG_WORK, gains, mode_label, near, overall, python_cost, rows_of, worst_first
from .table import Table, number, size

SCALING_NEEDED = 0.9
SHOWN = 20  # lines of each table that a terminal gets of drawn cells
BUSY = 0.7  # the load average above which something else is running

def _peer_names(mode):
    """All that were asked for, the missing ones too."""
    return [name for name in [*mode["versions"], *mode["missing"]] if name != "garner"]

def _us(ns):
    return number(ns / 1e3) if ns is not None else "-"

def _interval(triple):
    return f"{triple[0]:.2f} ({triple[1]:.2f}–{triple[2]:.2f})" if triple else "-"

def _peer_cell(row, name, mode):
    if name in row.record["times"]:
        return _us(row.time(name))
    if name in mode["missing"]:
        return "missing"
    wrong = any(peer == name and what.startswith("wrong") for peer, _, what in row.record["notes"])
    return "wrong" if wrong else "-"

def _main_line(row, mode):
    garner = row.garner
    spread_text = f"±{(garner[2] - garner[1]) / 2 / garner[0]:.0%}" if garner else "-"
    share = f"{row.limit_share:.0%} {row.record['limit']}" if garner else "-"
    return (
        row.name, row.verdict, _us(garner[0] if garner else None), spread_text, _interval(row.ratio), row.best or "-",
        _us(row.record["limit_ns"]), share, _us(row.time("ceiling")),
        *(_peer_cell(row, name, mode) for name in _peer_names(mode)),
    )  # fmt: skip

def _summary_notes(mode, rows):
    total = overall(rows)
    counts = ", ".join(f"{len(names)} {verdict}" for verdict, names in sorted(total["verdicts"].items()))
    notes = [f"{total['cells']} cells: {counts}."]
    if total["smallest"]:
        notes.append(
            f"Smallest ratio {total['smallest'][0]:.2f} ({total['smallest'][1]}); geometric mean {total['mean']:.2f}, "
            f"without the tiny cells {total['mean_without_tiny']:.2f}; {total['mean_at_limit']:.2f} if garner reached "
            "the limit wherever it has not."
        )
        below = ", ".join(f"{count} ({count / total['cells']:.1%}) behind {least}" for least, count in total["below"].items())
        notes.append(f"Of the best peer's speed: {below}.")
    within, beyond = python_cost(rows)
    if within or beyond:
        others = f"; beyond: {', '.join(beyond)}" if beyond else ""
        notes.append(f"From Python, with out=: {within} of {within + len(beyond)} cells within 3 % and 0.5 µs of C{others}.")
    behind = total["verdicts"].get("behind")
    if behind:
        notes.append(f"Behind: {', '.join(behind)}.")
    if mode.get("broken"):
        notes.append(f"NOT COMPLETE: {mode['broken']}.")
    if mode.get("stopped"):
        notes.append(f"NOT COMPLETE: {mode['stopped']}.")
    return tuple(notes)

def _main_table(mode):
    """Cells of the table in its order; drawn ones, which have none, the worst first."""
    rows = worst_first(rows_of(mode)) if mode.get("drawn") else rows_of(mode)
    header = ("cell", "verdict", "garner µs", "spread", "ratio to best", "best",
              "limit µs", "of the limit", "ceiling µs")  # fmt: skip
    title = f"{mode_label(mode['mode'])}: microseconds, and the best peer's time over garner's"
    lines = [_main_line(row, mode) for row in rows]
    return Table(title, (*header, *_peer_names(mode)), lines, _summary_notes(mode, rows), words=2)

def _tiny_table(mode):
    names = _peer_names(mode)
    lines = []
    for row in rows_of(mode):
        c_call = row.record["c_call"]
        if c_call:
            inside = (number(c_call[key]) for key in ("planned_ns", "one_call_ns", "entry_ns"))
            peers = (number(row.time(name)) for name in names)
            lines.append((row.name, *inside, number(row.garner[0]), *peers))
    header = ("cell", "C, planned", "C, one call", "empty entry", "through the entry", *names)
    note = (
        "The first two are timed in a loop in C. An empty entry is what the runner's own way into C costs; it is "
        "part of the next column, which is what the ratios count. Peers are called in their own way."
    )
    title = f"{mode_label(mode['mode'])}: nanoseconds of one small call"
    return Table(title, header, lines, (note,)) if lines else None

def _limits_table(modes):
    lines = []
    for mode in modes:
        label = f"{mode_label(mode['mode'])} ({mode['threads']})"
        for key, name, unit in (("copy", "copy", "GB/s"), ("line", "random 64 B lines", "ns each")):
            measured = mode["limits"][key].items()
            lines.append((label, name, unit, ", ".join(f"{size(int(s))}: {number(v)}" for s, v in measured)))
    notes = (
        "Limit of a cell: the largest of *stream* (indices, out and the touched part of data pass once at the speed "
        "of a copy), *issue* (one load per line moved, from L1) and *lines* (the runs it touches come "
        "at random). The ceiling is a plain loop with the same access pattern and no checks.",
    )
    header = ("threads", "what", "unit", "by size")
    return Table("The machine's own limits, measured in the same run", header, lines, notes, words=4)

def _gains_table(modes):
    if len(modes) < 2 or modes[0]["threads"] != 1:
        return None
    every = modes[-1]
    found = gains(modes[0], every)
    lines = [(g.name, f"{g.garner:.2f}", f"{g.ceiling:.2f}", f"{g.share:.2f}",
              "" if g.share >= SCALING_NEEDED else "falls short") for g in found]  # fmt: skip
    short = [g.name for g in found if g.share < SCALING_NEEDED]
    note = (
        f"{len(found)} cells of more than {LONG_WORK / 1e6:.0f} ms with one thread; "
        f"{len(short)} below {SCALING_NEEDED} of the ceiling's gain."
    )
    header = ("cell", "garner's gain", "ceiling's gain", "share", "verdict")
    return Table(f"Gain of {every['threads']} cores over one", header, lines, (note,)) if found else None

def _near_table(mode):
    found = near(mode)
    lines = []
    for n in found:
        middle, low, _ = spread(n.ratios)
        verdict = "" if n.reached == len(n.ratios) else "falls short"
        lines.append((n.name, f"{n.ratio:.2f}", f"{low:.2f}", f"{middle:.2f}", f"{n.reached}/{len(n.ratios)}", verdict))
    header = ("cell", "its ratio", "lowest near it", "median near it", "within 10 %", "verdict")
    title = f"{mode_label(mode['mode'])}: neighbours with other extents and alignments"
    return Table(title, header, lines) if lines else None

def _memory_table(memory):
    if not memory:
        return None
    lines = []
    for peak in memory["peaks"]:
        if "absent" in peak:
            lines.append((peak["peer"], "-", "-", "-", peak["absent"]))
        else:
            lines.append((peak["peer"], size(peak["given"]), size(peak["peak"]), size(peak["extra"]), peak["way"]))
    header = ("peer", "the caller's three buffers", "peak of the process", "beyond what it had before", "way")
    note = "Beyond what it had before: from before the peer's model, session or plan is made until after three calls."
    return Table(f"Memory on {memory['cell']}, {mode_label(memory['mode']).lower()}", header, lines, (note,))

def _faults_of(mode):
    """Everything that was refused, wrong or missing: cell, peer, why. Neighbours go by their cell's name."""
    for name, reason in mode["missing"].items():
        yield "every cell", name, f"missing: {reason}"
    for record in mode["cells"]:
        cell = record["name"].split("~")[0]
        for name, reason in record["absent"].items():
            yield cell, name, f"left out: {reason}"
        for name, way, what in record["notes"]:
            yield cell, name, f"{way}: {what}"


def _notes_table(modes):
    """Each of them once, with the modes in which it happened."""
    where = {}
    for mode in modes:
        for fault in _faults_of(mode):
            where.setdefault(fault, {})[mode["mode"]] = True
    lines = [(*fault, " and ".join(seen)) for fault, seen in where.items()]
    lines = [tuple(part.replace("|", "\\|") for part in line) for line in lines]
    return Table("Left out, refused or wrong", ("cell", "peer", "why", "threads"), lines, (), 4) if lines else None


def tables(result):
    modes = result["modes"]
    made = [_main_table(mode) for mode in modes] + [_tiny_table(mode) for mode in modes]
    made += [_limits_table(modes) if modes else None, _gains_table(modes)] + [_near_table(mode) for mode in modes]
    made += [_memory_table(result["memory"]), _notes_table(modes)] + inside.tables(result["runtimes"])
    return [table for table in made if table]

def _heading(result):
    m = result["machine"]
    versions = {name: version for mode in result["modes"] for name, version in mode["versions"].items()}
    missing = {name for mode in result["modes"] for name in mode["missing"]} - set(versions)
    for section in result["runtimes"]:
        if "version" in section:
            versions.update({"garner": section["garner"], section["runtime"]: section["version"]})
    huge = max((mode["huge_bytes"] for mode in result["modes"]), default=None)
    in_use = "" if huge is None else f", {size(huge)} in use"
    lines = [
        f"{m['cpu']}, {m['architecture']}, {m['cores']} cores, {m['caches']}; Linux {m['kernel']}; "
        f"huge pages: {m['huge_pages']}{in_use}.",
        ", ".join(" ".join(pair) for pair in versions.items()) + f"; Python {m['python']}; {m['compiler']}.",
        f"Median of {result['effort']['runs']} runs; intervals are the lowest and the highest run.",
    ]
    if m["load"] > BUSY:
        lines.append(f"THE MACHINE WAS BUSY when this began (load {m['load']}): the times mean little.")
    if missing:
        lines.append(f"MISSING: {', '.join(sorted(missing))}.")
    return lines + inside.missing(result["runtimes"])

def faults(result):
    """What makes a benchmark fail: a process that died, or garner refused, wrong or absent."""
    found = [mode["broken"] for mode in result["modes"] if mode.get("broken")]
    for mode in result["modes"]:
        if "garner" in mode["missing"]:
            found.append(f"garner is missing: {mode['missing']['garner']}")
        found += [f"{r['name']}: garner: {r['absent']['garner']}" for r in mode["cells"] if "garner" in r["absent"]]
        found += [f"{r['name']}: {what}" for r in mode["cells"] for name, _, what in r["notes"] if name == "garner"]
    return found + [fault for section in result["runtimes"] for fault in judge.faults(section)]

def write(result, folder):
    """Writes report.md, report.json, a TSV for each mode and each section, and the plots; returns the text for a terminal."""
    folder = Path(folder)
    made = tables(result)
    heading = _heading(result)
    (folder / "report.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    page = "\n\n".join(heading) + "\n\n" + "\n".join(t.markdown() for t in made)
    (folder / "report.md").write_text(page, encoding="utf-8")
    for mode in result["modes"]:
        (folder / f"cells-{mode['mode']}.tsv").write_text(_main_table(mode).tsv(), encoding="utf-8")
    inside.write_tsv(result["runtimes"], folder)
    drawn = plot.draw(result, folder)
    shown = [table.head(SHOWN) for table in made] if any(mode.get("drawn") for mode in result["modes"]) else made
    return "\n".join(["", *heading, "", *(t.text() for t in shown), f"{drawn} Everything is in {folder}."])
