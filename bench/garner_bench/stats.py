# SPDX-License-Identifier: MIT
"""The few statistics of the tables."""

from math import exp, log
from statistics import median, quantiles

__all__ = ["geometric_mean", "median", "spread", "uncertainty"]


def spread(values):
    """(median, lowest, highest). Of 5 runs, lowest to highest holds the true median 15 times out of 16."""
    return median(values), min(values), max(values)


def uncertainty(samples):
    """About how far the median may be off, as a fraction of it."""
    if len(samples) < 4:
        return float("inf")
    low, middle, high = quantiles(samples, n=4)
    return (high - low) / middle / len(samples) ** 0.5


def geometric_mean(values):
    values = list(values)
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")
