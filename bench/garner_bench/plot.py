# SPDX-License-Identifier: MIT
"""Pictures of a benchmark, as SVG: ratios by cell, and cost against table size and row size."""

from .runtimes import tables as inside
from .runtimes.judge import lines_of
from .summary import MODE_LABELS, rows_of

PEER_COLOURS = {
    "garner": "#000000", "numpy": "#4c72b0", "torch": "#dd8452", "onnxruntime": "#55a868", "openvino": "#8172b3",
    "jax": "#c44e52", "ceiling": "#aaaaaa", "limit": "#dddddd",
}  # fmt: skip
LARGE_TABLE = 256 << 20


def _save(figure, folder, name):
    figure.savefig(folder / name, format="svg", bbox_inches="tight", metadata={"Date": None})
    return name


def _ratio_dots(pyplot, dots):
    """One line for each (name, ratio, whether it is behind), the smallest ratio lowest."""
    dots = sorted(dots, key=lambda dot: dot[1][0])
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.19 * len(dots)))
    for place, (_, (middle, low, high), behind) in enumerate(dots):
        axes.plot([low, high], [place, place], color="#999999", linewidth=3, solid_capstyle="butt")
        axes.plot(middle, place, "o", markersize=4, color="#c44e52" if behind else "#000000")
    axes.axvline(1.0, color="#c44e52", linewidth=1)
    axes.set_yticks(range(len(dots)), [dot[0] for dot in dots], fontsize=7)
    axes.set_xscale("log")
    axes.set_ylim(-1, len(dots))
    axes.grid(axis="x", which="both", linewidth=0.3)
    return figure, axes


def _ratios(pyplot, mode, folder):
    rows = [row for row in rows_of(mode) if row.ratio]
    dots = [(f"{row.name} ({row.best})", row.ratio, row.verdict == "behind") for row in rows]
    figure, axes = _ratio_dots(pyplot, dots)
    axes.set_xlabel("time of the best peer / time of garner")
    axes.set_title(MODE_LABELS[mode["mode"]])
    return _save(figure, folder, f"ratios-{mode['mode']}.svg")


def _inside(pyplot, section, folder):
    lines = lines_of(section, "cell") + lines_of(section, "model")
    figure, axes = _ratio_dots(pyplot, [(line.name, line.judged.ratio, line.verdict == "behind") for line in lines])
    axes.set_xlabel("time of the runtime alone / time with garner")
    axes.set_title(inside.label(section))
    return _save(figure, folder, f"inside-{section['runtime']}-{section['mode']}.svg")


def _cost(row, name):
    """Nanoseconds for each run moved."""
    ns = row.record["limit_ns"] if name == "limit" else row.time(name)
    return ns / row.record["points"] if ns is not None and row.record["points"] else None


def _curves(axes, rows, key):
    for name, colour in PEER_COLOURS.items():
        points = sorted((row.record[key], _cost(row, name)) for row in rows if _cost(row, name))
        if points:
            width = 2.2 if name == "garner" else 1.0
            axes.plot(*zip(*points), "o-", color=colour, label=name, markersize=3, linewidth=width)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("ns per row")
    axes.grid(which="both", linewidth=0.3)
    if axes.lines:
        axes.legend(fontsize=7)


def _plain_rows(mode):
    """Gathers of single rows at random, from which the two cost pictures are made."""
    return [r for r in rows_of(mode) if r.record["op"] == "gather" and r.record["dist"] == "uniform"
            and r.name.startswith("row")]  # fmt: skip


def _by_table_size(pyplot, mode, folder):
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4))
    for axes, run in zip(panels, (4, 64)):
        _curves(axes, [r for r in _plain_rows(mode) if r.record["run"] == run], "data_bytes")
        axes.set_xlabel(f"bytes of the table, rows of {run} B")
    figure.suptitle(MODE_LABELS[mode["mode"]])
    return _save(figure, folder, f"table-size-{mode['mode']}.svg")


def _by_row_size(pyplot, mode, folder):
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    _curves(axes, [r for r in _plain_rows(mode) if r.record["data_bytes"] >= LARGE_TABLE], "run")
    axes.set_xlabel("bytes of a row, tables of 256 MiB and more")
    axes.set_title(MODE_LABELS[mode["mode"]])
    return _save(figure, folder, f"row-size-{mode['mode']}.svg")


def draw(result, folder):
    """Draws everything; says in one sentence what was drawn, or why nothing."""
    try:
        import matplotlib
    except ImportError as error:
        return f"NO PLOTS: {error}."
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "garner"  # the same picture is the same file
    from matplotlib import pyplot

    names = []
    for mode in result["modes"]:
        for picture in (_ratios, _by_table_size, _by_row_size):
            names.append(picture(pyplot, mode, folder))
            pyplot.close("all")
    for section in result["runtimes"]:
        if section["records"]:
            names.append(_inside(pyplot, section, folder))
            pyplot.close("all")
    return f"Plots: {', '.join(names)}."
