# SPDX-License-Identifier: MIT
"""From the records of models to lines and verdicts: a whole model, and each of its gathers."""

from typing import NamedTuple

from ..runtimes.judge import SMALL_FACTOR, SMALL_MORE
from ..stats import spread

WHOLE_LEAST = 0.97  # a model below this ratio is behind
LAYER_LEAST = 0.9  # a gather below this one, if on either side it costs more than
LAYER_COSTS = 20e3  # ns
OVER = "over the limit"
BOUNDED = ("openvino",)  # where each of garner's, short ones too, may take SMALL_FACTOR times as long and SMALL_MORE


class Line(NamedTuple):
    model: str
    layer: str  # "" for the whole model
    what: str
    alone: float  # ns, the median of runs; None if there is no such node on that side
    garner: float
    ratio: tuple  # median, lowest, highest; None if one side is missing
    itself: tuple  # the same of the runtime alone against a second session of it: what ratios differ by anyway
    verdict: str


def _ratio(sides, name):
    """The runtime alone against another of the field; None where one of them has no time."""
    both = [sides[side]["runs"] for side in ("alone", name) if side in sides]
    if len(both) < 2 or not all(min(runs) > 0 for runs in both):
        return None
    return spread([a / b for a, b in zip(*both)])


def _layer_verdict(sides, times, ratio, bounded):
    if times["garner"] is None:
        return "fused with garner"
    if not sides["garner"]["is_garner"]:
        return "left"
    if times["alone"] is None:
        return "fused alone"
    long = ratio is not None and max(times.values()) > LAYER_COSTS
    if long and ratio[0] < LAYER_LEAST:
        return "behind"
    if bounded and times["garner"] > SMALL_FACTOR * times["alone"] + SMALL_MORE:
        return OVER
    return "short" if not long else "ahead" if ratio[1] > 1 else "level"


def _layer(model, name, sides, bounded):
    times = {side: spread(sides[side]["runs"])[0] if side in sides else None for side in ("alone", "garner")}
    ratio, itself = _ratio(sides, "garner"), _ratio(sides, "again")
    what = max((told["what"] for told in sides.values()), key=len)
    return Line(model, name, what, *times.values(), ratio, itself, _layer_verdict(sides, times, ratio, bounded))


def layers(record, runtime=""):
    """Lines of the gathers, those that cost most first."""
    made = [_layer(record["name"], name, sides, runtime in BOUNDED) for name, sides in record.get("layers", {}).items()]
    return sorted(made, key=lambda line: -max(line.alone or 0, line.garner or 0))


def whole(record):
    sides = record["whole"]
    ratio = _ratio(sides, "garner")
    verdict = "behind" if ratio[0] < WHOLE_LEAST else "ahead" if ratio[1] > 1 else "level"
    times = [spread(sides[side]["runs"])[0] for side in ("alone", "garner")]
    return Line(record["name"], "", "", *times, ratio, _ratio(sides, "again"), verdict)


def losses(section):
    """All lines that are behind or over the limit."""
    for record in section["records"]:
        if "whole" in record:
            lines = [whole(record), *layers(record, section["runtime"])]
            yield from (line for line in lines if line.verdict in ("behind", OVER))


def left_whole(section):
    """The models of which the runtime keeps every gather, by garner's own rules."""
    return [record["name"] for record in section["records"] if not record.get("claimed") and record.get("claimable")]


def faults(section):
    """What makes the benchmark fail: outputs that differ, a gather that ran elsewhere, a plug-in that takes nothing anywhere."""
    for record in section["records"]:
        yield from (f"{section['runtime']}: {record['name']}: {wrong}" for wrong in record["wrong"])
    measured = [record for record in section["records"] if "whole" in record]
    if measured and not any(record["claimed"] or record.get("claimable") for record in measured):
        yield f"{section['runtime']}: garner took no gather of any model"
