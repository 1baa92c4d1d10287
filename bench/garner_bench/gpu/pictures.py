# SPDX-License-Identifier: MIT
"""Pictures of it, as SVG: the ratio to the best peer by cell, and times the copy by the length of rows."""

from ..plot import _ratio_dots, _save, load_pyplot
from .peers import NAMES
from .report import rows_of

COLOURS = {"garner": "#000000", "bare": "#aaaaaa", "torch": "#dd8452", "cupy": "#55a868", "jax": "#c44e52"}
BY_LENGTH = ("256m", "4g", "64g")


def _ratios(pyplot, result, folder):
    rows = [row for row in rows_of(result) if row.ratio and not row.name.startswith("grid-")]
    if not rows:
        return None
    dots = [(f"{row.name} ({row.best})", (row.ratio,) * 3, row.verdict == "behind") for row in rows]
    _, axes = _ratio_dots(pyplot, dots)
    axes.set_xlabel("time of the best peer / time of garner")
    axes.set_title(result["machine"]["name"])
    return _save(axes.figure, folder, "ratios.svg")


def _lengths(pyplot, result, folder):
    figure, panels = pyplot.subplots(1, len(BY_LENGTH), figsize=(13, 4), sharey=True)
    drawn = False
    for axes, table in zip(panels, BY_LENGTH):
        rows = [row for row in rows_of(result) if row.name.startswith("grid-") and row.name.endswith(f"-{table}-uniform")]
        for name in ("garner", "bare", *NAMES):
            points = [(row.record["run"], row.record["times"][name]["seconds"] / row.record["times"]["copy"]["seconds"])
                      for row in rows if name in row.record["times"]]  # fmt: skip
            if points:
                drawn = True
                axes.plot(*zip(*sorted(points)), "o-", markersize=3, color=COLOURS[name], label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel(f"bytes of a row, table of {table.upper()}iB")
        axes.grid(which="both", linewidth=0.3)
    panels[0].set_ylabel("times a copy")
    if not drawn:
        return None
    [axes for axes in panels if axes.lines][-1].legend(fontsize=7, frameon=False)
    figure.suptitle(f"Rows at random, {result['machine']['name']}")
    return _save(figure, folder, "rows.svg")


def draw(result, folder):
    """Draws what there is; says in one sentence what was drawn, or why nothing."""
    try:
        pyplot = load_pyplot()
    except ImportError as error:
        return f"NO PLOTS ({error}): install matplotlib, and --merge draws them."

    names = []
    for picture in (_ratios, _lengths):
        names.append(picture(pyplot, result, folder))
        pyplot.close("all")
    return f"Plots: {', '.join(name for name in names if name) or 'none'}."
