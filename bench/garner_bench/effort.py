# SPDX-License-Identifier: MIT
"""How long to measure: for the table, for many cells (neighbours, drawn ones), and for a smoke test."""

from typing import NamedTuple


class Effort(NamedTuple):
    runs: int = 5
    seconds: float = 1.0  # of sampling per cell, all runs together
    least_rounds: int = 2
    most_rounds: int = 40


FULL = Effort()
MANY = Effort(seconds=0.3)
QUICK = Effort(runs=3, seconds=0.03, least_rounds=1, most_rounds=4)
QUICK_BYTES = 2 << 20  # the largest buffer of a cell in a quick run
