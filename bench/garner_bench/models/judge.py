# SPDX-License-Identifier: MIT
"""From the records of models to lines and verdicts: a whole model, and each of its gathers."""

from typing import NamedTuple

from ..stats import spread

WHOLE_LEAST = 0.97  # a model below this ratio is behind
LAYER_LEAST = 0.9  # a gather below this one, if on either side it costs more than
LAYER_COSTS = 20e3  # ns


class Line(NamedTuple):
    model: str
    layer: str  # "" for the whole model
    what: str
    alone: float  # ns, the median of runs; None if there is no such node on that side
    garner: float
    ratio: tuple  # median, lowest, highest; None if one side is missing
    verdict: str


def _ratio(alone, garner):
    return spread([a / b for a, b in zip(alone, garner)])


def _layer_verdict(sides, ratio):
    if "garner" not in sides:
        return "fused with garner"
    if not sides["garner"]["is_garner"]:
        return "left"
    if "alone" not in sides:
        return "fused alone"
    if max(sides[side]["middle"] for side in sides) <= LAYER_COSTS:
        return "short"
    return "behind" if ratio[0] < LAYER_LEAST else "ahead" if ratio[1] > 1 else "level"


def _layer(model, name, sides):
    sides = {side: told | {"middle": spread(told["runs"])[0]} for side, told in sides.items()}
    both = len(sides) == 2 and all(min(told["runs"]) > 0 for told in sides.values())
    ratio = _ratio(sides["alone"]["runs"], sides["garner"]["runs"]) if both else None
    times = [sides[side]["middle"] if side in sides else None for side in ("alone", "garner")]
    what = max((told["what"] for told in sides.values()), key=len)
    return Line(model, name, what, *times, ratio, _layer_verdict(sides, ratio) if both or len(sides) < 2 else "short")


def layers(record):
    """Lines of the gathers, those that cost most first."""
    made = [_layer(record["name"], name, sides) for name, sides in record.get("layers", {}).items()]
    return sorted(made, key=lambda line: -max(line.alone or 0, line.garner or 0))


def whole(record):
    alone, garner = (record["whole"][side]["runs"] for side in ("alone", "garner"))
    ratio = _ratio(alone, garner)
    verdict = "behind" if ratio[0] < WHOLE_LEAST else "ahead" if ratio[1] > 1 else "level"
    return Line(record["name"], "", "", spread(alone)[0], spread(garner)[0], ratio, verdict)


def losses(section):
    """All lines that are behind."""
    for record in section["records"]:
        if "whole" in record:
            yield from (line for line in [whole(record), *layers(record)] if line.verdict == "behind")


def faults(section):
    """What makes the benchmark fail: outputs that differ, a gather that ran elsewhere, a plug-in that takes nothing anywhere."""
    for record in section["records"]:
        yield from (f"{section['runtime']}: {record['name']}: {wrong}" for wrong in record["wrong"])
    measured = [record for record in section["records"] if "whole" in record]
    if measured and not any(record["claimed"] for record in measured):
        yield f"{section['runtime']}: garner took no gather of any model"
