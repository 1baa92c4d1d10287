# SPDX-License-Identifier: MIT
"""Weights in a few words instead of megabytes: one value throughout, or random numbers with the mean, the deviation and the
bounds of those they stand for. What has structure (positions, masks, anchors) or is no float is not described: it is kept."""

import numpy as np

LEAST_BYTES = 4096  # smaller arrays are kept
SAMPLE = 1 << 16  # so many elements are looked at
DISTINCT, CORRELATED = 0.5, 0.05  # fewer distinct values than that share, or neighbours more alike: structure
BLOCK = 1 << 20  # elements drawn at a time


def _is_random(array):
    """Whether the elements are as different as random numbers, and neighbours no more alike; a row's and a column's both."""
    part = array.reshape(-1)[:SAMPLE].astype(np.float64)
    if len(np.unique(part)) < DISTINCT * len(part):
        return False
    strides = {1, array.shape[-1]} if array.ndim > 1 else {1}
    pairs = [(part[:-step], part[step:]) for step in strides if step < len(part) // 2]
    bound = max(CORRELATED, 4 / len(part) ** 0.5)
    return all(abs(np.corrcoef(a, b)[0, 1]) < bound for a, b in pairs)


def describe(array):
    """The words, as a dict for JSON; None if the array must be kept."""
    if array.dtype.kind != "f" or array.nbytes < LEAST_BYTES:
        return None
    low, high = float(array.min()), float(array.max())
    if not np.isfinite([low, high]).all():
        return None
    if low == high:
        return {"dtype": array.dtype.name, "count": array.size, "value": low}
    if not _is_random(array):
        return None
    return {"dtype": array.dtype.name, "count": array.size, "low": low, "high": high,
            "mean": float(array.mean(dtype=np.float64)), "deviation": float(array.std(dtype=np.float64))}  # fmt: skip


def blocks(words, seed):
    """Arrays that make up the described one, one after the other; the same for the same seed."""
    rng = np.random.default_rng(seed)
    for first in range(0, words["count"], BLOCK):
        count = min(BLOCK, words["count"] - first)
        if "value" in words:
            yield np.full(count, words["value"], words["dtype"])
            continue
        drawn = rng.standard_normal(count, np.float32)
        drawn *= words["deviation"]
        drawn += words["mean"]
        yield drawn.clip(words["low"], words["high"]).astype(words["dtype"])
