# SPDX-License-Identifier: MIT
"""The tables of what runs inside the runtimes."""

from ..summary import mode_label
from ..table import Table, number
from .judge import lines_of, overall

HEADER = ("verdict", "alone µs", "with garner µs", "spread", "ratio", "clock",
          "call alone µs", "call with garner µs", "ratio of calls")  # fmt: skip
CLOCKS = (
    "Ratio: the runtime's own time over its time with garner, above 1 is ahead; behind it the lowest and the highest "
    "run. Clock: *profile* is the runtime's own, in microseconds (ONNX Runtime's counts five to ten for itself; "
    "OpenVINO's, in one-node models, the conversions around the gather too); *repeated* is the difference of models "
    "with few and with many copies of a short node; *whole* is the call, for tiny nodes that no finer clock tells. "
    "Too short: for the clock."
)


def label(section):
    return f"{mode_label(section['mode'])} inside {section['title']} {section['version']}"


def _interval(ratio):
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}–{ratio[2]:.2f})"


def _times(row):
    return number(row.time("alone") / 1e3), number(row.garner[0] / 1e3)


def _line(line):
    judged = line.judged
    spread = f"±{(judged.garner[2] - judged.garner[1]) / 2 / judged.garner[0]:.0%}"
    return (line.name, line.verdict, *_times(judged), spread, _interval(judged.ratio), line.clock,
            *_times(line.whole), _interval(line.whole.ratio))  # fmt: skip


def _notes(section, lines):
    total = overall(lines)
    notes = []
    if total["worst"]:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in total["counts"].items())
        notes.append(f"{len(lines)} measured: {counts}. Worst {total['worst'][0]:.2f} ({total['worst'][1]}).")
        notes.append(f"Geometric mean {total['mean']:.2f}, without tiny nodes {total['mean_without_tiny']:.2f}; "
                     f"of whole calls {total['whole_mean']:.2f}.")  # fmt: skip
    if total["behind"]:
        notes.append(f"Behind: {', '.join(total['behind'])}.")
    if section.get("broken"):
        notes.append(f"NOT COMPLETE: {section['broken']}.")
    return notes


def cells_table(section):
    lines = lines_of(section, "cell")
    title = f"{label(section)}: one-node models"
    return Table(title, ("cell", *HEADER), [_line(line) for line in lines], (*_notes(section, lines), CLOCKS), words=2)


def models_table(section):
    lines = lines_of(section, "model")
    title = f"{label(section)}: three models and the gathers in them"
    return Table(title, ("model: node", *HEADER), [_line(line) for line in lines], words=2)


def _left_out(section):
    for record in section["records"]:
        for side, reason in record["absent"].items():
            yield record["name"], side, f"left out: {reason}"
        for side, way, what in record["notes"]:
            yield record["name"], side, f"{way}: {what}"


def _left_out_table(section):
    lines = [(name, side, what.replace("|", "\\|")) for name, side, what in _left_out(section)]
    return Table(f"{label(section)}: left out, refused or wrong", ("cell", "side", "why"), lines, words=3)


def tables(sections):
    made = []
    for section in sections:
        if "title" in section:
            made += [cells_table(section), models_table(section), _left_out_table(section)]
    return [table for table in made if table.rows]


def missing(sections):
    """One sentence for each section that was left out, with its reason."""
    found = {}
    for section in sections:
        if section["missing"]:
            found[section["runtime"]] = f"LEFT OUT: what runs inside {section['runtime']}: {section['missing']}."
    return list(found.values())


def write_tsv(sections, folder):
    for section in sections:
        if "title" in section:
            name = f"{section['runtime']}-{section['mode']}.tsv"
            (folder / f"inside-{name}").write_text(cells_table(section).tsv(), encoding="utf-8")
            (folder / f"models-{name}").write_text(models_table(section).tsv(), encoding="utf-8")
