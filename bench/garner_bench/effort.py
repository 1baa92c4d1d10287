# SPDX-License-Identifier: MIT
"""How long to measure: for the table, for many cells (neighbours), for hundreds (drawn ones), and for a smoke test."""

from typing import NamedTuple


class Effort(NamedTuple):
    runs: int = 5
    seconds: float = 1.0  # of sampling per cell, all runs together
    least_rounds: int = 2
    most_rounds: int = 40
    slow_runs: int = 5  # in which peers take part that are far too slow to be the best
    wake: float = 0.02  # s of calls that begin a turn on several cores: until every thread is awake and has a core of its own


FULL = Effort()
MANY = Effort(seconds=0.3)
DRAWN = Effort(seconds=0.1, least_rounds=1, slow_runs=1, wake=0.005)
QUICK = Effort(runs=3, seconds=0.03, least_rounds=1, most_rounds=4)
QUICK_BYTES = 2 << 20  # the largest buffer of a cell in a quick run
