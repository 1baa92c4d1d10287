# SPDX-License-Identifier: MIT
"""Pictures of a benchmark, as SVG: ratios by cell, and cost against table size and row size."""

from .runtimes import tables as inside
from .runtimes.judge import lines_of
from .summary import mode_label, rows_of

PEER_COLOURS = {
    "garner": "#000000", "numpy": "#4c72b0", "torch": "#dd8452", "onnxruntime": "#55a868", "openvino": "#8172b3",
    "jax": "#c44e52", "ceiling": "#aaaaaa", "limit": "#dddddd",
}  # fmt: skip
LARGE_TABLE = 256 << 20
RATIO_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
CAPTION = (
    "limit: the least time that this machine's memory leaves, measured in the same run: a copy of as many bytes, or as many\n"
    "random loads of cache lines; a copy also reads the lines that it writes, so non-temporal stores can pass it.\n"
    "ceiling: the same accesses as a bare loop in C, without any check."
)


def _save(figure, folder, name):
    figure.savefig(folder / name, format="svg", bbox_inches="tight", metadata={"Date": None})
    return name


def _title(result, text):
    """What is shown, and the CPU that it was measured on."""
    return f"{text}, {result['machine']['cpu']}"


def _ticks_between(low, high):
    """The round ratios around an interval: at least one on each side of it, and always 0.5 to 2."""
    low, high = min(low, 0.5), max(high, 2)
    first = max(tick for tick in RATIO_TICKS if tick <= low or tick == RATIO_TICKS[0])
    last = min(tick for tick in RATIO_TICKS if tick >= high or tick == RATIO_TICKS[-1])
    return [tick for tick in RATIO_TICKS if first <= tick <= last]


def _ratio_dots(pyplot, dots):
    """One line for each (name, ratio, whether it is behind), the smallest ratio lowest."""
    dots = sorted(dots, key=lambda dot: dot[1][0])
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.19 * len(dots)))
    for place, (_, (middle, low, high), behind) in enumerate(dots):
        axes.plot([low, high], [place, place], color="#999999", linewidth=3, solid_capstyle="butt")
        axes.plot(middle, place, "o", markersize=4, color="#c44e52" if behind else "#000000")
    axes.axvline(1.0, color="#c44e52", linewidth=1)
    axes.set_yticks(range(len(dots)), [dot[0] for dot in dots], fontsize=7)
    ticks = _ticks_between(min(dot[1][1] for dot in dots), max(dot[1][2] for dot in dots))
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-1, len(dots))
    axes.grid(axis="x", linewidth=0.3)
    return figure, axes


def _ratios(pyplot, result, mode, folder):
    rows = [row for row in rows_of(mode) if row.ratio]
    if not rows:
        return None
    dots = [(f"{row.name} ({row.best})", row.ratio, row.verdict == "behind") for row in rows]
    figure, axes = _ratio_dots(pyplot, dots)
    axes.set_xlabel("time of the best peer / time of garner")
    axes.set_title(_title(result, mode_label(mode["mode"])))
    return _save(figure, folder, f"ratios-{mode['mode']}.svg")


def _inside(pyplot, result, section, folder):
    lines = lines_of(section, "cell") + lines_of(section, "model")
    if not lines:
        return None
    figure, axes = _ratio_dots(pyplot, [(line.name, line.judged.ratio, line.verdict == "behind") for line in lines])
    axes.set_xlabel("time of the runtime alone / time with garner")
    axes.set_title(_title(result, inside.label(section)))
    return _save(figure, folder, f"inside-{section['runtime']}-{section['mode']}.svg")


def _cost(row, name):
    """Nanoseconds for each run moved."""
    ns = row.record["limit_ns"] if name == "limit" else row.time(name)
    return ns / row.record["points"] if ns is not None and row.record["points"] else None


def _curves(axes, rows, key):
    from matplotlib.ticker import LogLocator

    for name, colour in PEER_COLOURS.items():
        points = sorted((row.record[key], _cost(row, name)) for row in rows if _cost(row, name))
        if points:
            width = 2.2 if name == "garner" else 1.0
            axes.plot(*zip(*points), "o-", color=colour, label=name, markersize=3, linewidth=width)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("ns per row")
    axes.grid(which="both", linewidth=0.3)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")


def _legend_and_caption(figure, axes):
    """Beside the curves, not on them; below, what the two grey ones are."""
    if axes.lines:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.text(0.02, -0.02, CAPTION, fontsize=7, va="top")


def _plain_rows(mode):
    """Gathers of single rows at random, from which the two cost pictures are made."""
    return [r for r in rows_of(mode) if r.record["op"] == "gather" and r.record["dist"] == "uniform"
            and r.name.startswith("row")]  # fmt: skip


def _by_table_size(pyplot, result, mode, folder):
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4))
    for axes, run in zip(panels, (4, 64)):
        _curves(axes, [r for r in _plain_rows(mode) if r.record["run"] == run], "data_bytes")
        axes.set_xlabel(f"bytes of the table, rows of {run} B")
    figure.suptitle(_title(result, mode_label(mode["mode"])))
    _legend_and_caption(figure, panels[-1])
    return _save(figure, folder, f"table-size-{mode['mode']}.svg")


def _by_row_size(pyplot, result, mode, folder):
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    _curves(axes, [r for r in _plain_rows(mode) if r.record["data_bytes"] >= LARGE_TABLE], "run")
    axes.set_xlabel("bytes of a row, tables of 256 MiB and more")
    axes.set_title(_title(result, mode_label(mode["mode"])))
    _legend_and_caption(figure, axes)
    return _save(figure, folder, f"row-size-{mode['mode']}.svg")


def load_pyplot():
    """matplotlib's, without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "garner"  # the same picture is the same file
    from matplotlib import pyplot

    return pyplot


def draw(result, folder):
    """Draws everything; says in one sentence what was drawn, or why nothing."""
    try:
        pyplot = load_pyplot()
    except ImportError as error:
        return f"NO PLOTS ({error}): pip install matplotlib, and they are drawn."

    drawn = [(picture, mode) for mode in result["modes"] for picture in (_ratios, _by_table_size, _by_row_size)]
    drawn += [(_inside, section) for section in result["runtimes"] if section["records"]]
    names = []
    for picture, part in drawn:
        names.append(picture(pyplot, result, part, folder))
        pyplot.close("all")
    return f"Plots: {', '.join(name for name in names if name)}."
