# SPDX-License-Identifier: MIT
"""The tables of whole models."""

from ..summary import mode_label
from ..table import Table, number
from . import judge

SHOWN = 20e3  # ns: gathers that cost less on both sides are in the .tsv alone


def _interval(ratio):
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}–{ratio[2]:.2f})" if ratio else "-"


def _time(ns, unit):
    return number(ns / unit) if ns is not None else "-"


def _label(section):
    return f"{mode_label(section['mode'])} inside {section['title']} {section['version']}"


def _sums(lines):
    """All gathers together, of those that are nodes on both sides."""
    both = [line for line in lines if line.ratio]
    return sum(line.alone for line in both), sum(line.garner for line in both)


def _whole_row(record):
    line, gathers = judge.whole(record), judge.layers(record)
    alone, garner = _sums(gathers)
    taken = sum(line.verdict != "left" and line.garner is not None for line in gathers)
    left = sum(line.verdict == "left" for line in gathers)
    same = "same bits" if not record["ulps"] else f"{record['ulps']} ulp"
    return (line.model, line.verdict, _time(line.alone, 1e6), _time(line.garner, 1e6), _interval(line.ratio),
            _interval(line.itself), f"{taken} + {left}", _time(alone, 1e3), _time(garner, 1e3), same)  # fmt: skip


def whole_table(section):
    header = ("model", "verdict", "alone ms", "with garner ms", "ratio", "alone against itself", "gathers: garner's + left",
              "theirs alone µs", "with garner µs", "outputs")  # fmt: skip
    rows = [_whole_row(record) for record in section["records"] if "whole" in record]
    return Table(f"{_label(section)}: whole models", header, rows, words=2)


def _layer_row(line):
    times = (_time(line.alone, 1e3), _time(line.garner, 1e3))
    return (line.model, line.layer, line.what.replace("|", "\\|"), line.verdict, *times, _interval(line.ratio), _interval(line.itself))


def layers_table(section, least=0.0):
    lines = [line for record in section["records"] for line in judge.layers(record, section["runtime"])]
    rows = [_layer_row(line) for line in lines if max(line.alone or 0, line.garner or 0) >= least or line.verdict == judge.OVER]
    header = ("model", "layer", "operator", "verdict", "alone µs", "with garner µs", "ratio", "alone against itself")
    return Table(f"{_label(section)}: their gathers", header, rows, words=4)


def _loss(line):
    if line.verdict == judge.OVER:
        return f"{_time(line.alone, 1e3)} → {_time(line.garner, 1e3)} µs"
    return f"{line.ratio[0]:.2f}"


def judgement(section):
    """One sentence, and one more if there are models that garner leaves alone."""
    behind = list(judge.losses(section))
    measured = sum("whole" in record for record in section["records"])
    told = [f"{line.model}{': ' + line.layer if line.layer else ''} {_loss(line)}" for line in behind]
    rule = f"no model below {judge.WHOLE_LEAST}, no gather over {judge.LAYER_COSTS / 1e3:.0f} µs below {judge.LAYER_LEAST}"
    if section["runtime"] in judge.BOUNDED:
        rule += f", no gather of garner's over {judge.SMALL_FACTOR} times its time alone plus {judge.SMALL_MORE / 1e3:.0f} µs"
    left = f" Left whole to the runtime, by garner's rules: {', '.join(whole)}." if (whole := judge.left_whole(section)) else ""
    return f"{_label(section)}, {measured} models: {rule}: " + (f"BEHIND: {'; '.join(told)}." if told else "holds for all.") + left


def _summary_cells(section, model):
    record = next((record for record in section["records"] if record["name"] == model), {})
    if "whole" not in record:
        return "-", "-", "-", "-"
    _, _, _, _, ratio, itself, shares, alone, garner, _ = _whole_row(record)
    return ratio, itself, f"{alone} → {garner}", shares


def summary_table(sections):
    """A line for each model, all runtimes side by side."""
    models = list(dict.fromkeys(record["name"] for section in sections for record in section["records"]))
    heads = [f"{section['title']}{': all cores' if section['mode'] == 'all' else ''}" for section in sections]
    header = ("model", *(cell for head in heads for cell in (f"{head}: the whole", "alone against itself", "its gathers, µs", "garner's + left")))
    rows = [(model, *(cell for section in sections for cell in _summary_cells(section, model))) for model in models]
    return Table("Whole models", header, rows)


def _measured(sections):
    return [section for section in sections if "title" in section]


def markdown(sections, about):
    machine = f"{about['cpu']}, {about['architecture']}, {about['cores']} cores; load at the beginning {about['load']}"
    parts = [f"Whole models on {machine}.", "", summary_table(_measured(sections)).markdown()]
    for section in _measured(sections):
        parts += [whole_table(section).markdown(), layers_table(section, SHOWN).markdown(), judgement(section), ""]
    return "\n".join(parts)


def write(sections, about, folder):
    for section in _measured(sections):
        name = f"{section['runtime']}-{section['mode']}.tsv"
        (folder / f"whole-{name}").write_text(whole_table(section).tsv(), encoding="utf-8")
        (folder / f"gathers-{name}").write_text(layers_table(section).tsv(), encoding="utf-8")
    (folder / "models.md").write_text(markdown(sections, about), encoding="utf-8")


def text(sections):
    return "\n".join(f"{whole_table(section).text()}\n{judgement(section)}\n" for section in _measured(sections))
