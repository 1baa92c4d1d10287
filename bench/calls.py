#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the calls of docs/numpy.md and docs/torch.md, theirs and ours, and prints the tables as they stand there.

    python bench/calls.py numpy      # or torch; --quick: small inputs alone, whether both give the same

The process is held to one CPU. Their call and ours take turns, and the fastest of 100 rounds counts. A number is their
time divided by ours, so above 1 garner is ahead: the median of five runs, each with memory of its own, and behind it the
lowest and the highest.
"""

import argparse
import os
import statistics
import sys
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before anything counts the CPUs

# Theirs, ours; what the names in them stand for is in inputs().
CALLS = {
    "numpy": [
        ("a[i]", "garner.gather(a, i)"),
        ("a[:, k]", "garner.gather(a, k, axis=1)"),
        ("np.take(a, i, axis=0)", "garner.take(a, i, axis=0)"),
        ("a.take(k, axis=1)", "garner.take(a, k, axis=1)"),
        ("np.take(a, flat)", "garner.take(a, flat)"),
        ('np.take(a, i, 0, out, "clip")', 'garner.take(a, i, 0, out, "clip")'),
        ("np.take_along_axis(a, order, axis=1)", "garner.take_along_axis(a, order, axis=1)"),
        ("np.take_along_axis(a, order, axis=0)", "garner.take_along_axis(a, order, axis=0)"),
        ("a[i, j]", "garner.gather_nd(a, np.stack([i, j], -1))"),
        ("a[ij[:, 0], ij[:, 1]]", "garner.gather_nd(a, ij)"),
        ("a[np.arange(len(a)), j]", "garner.gather(a, j, axis=1, batch_dims=1)"),
    ],
    "torch": [
        ("t[i]", "garner.gather(t, i)"),
        ("t[:, k]", "garner.gather(t, k, axis=1)"),
        ("torch.index_select(t, 0, i)", "garner.index_select(t, 0, i)"),
        ("torch.index_select(t, 1, k)", "garner.index_select(t, 1, k)"),
        ("torch.index_select(t, 0, i, out=out)", "garner.index_select(t, 0, i, out=out)"),
        ("torch.nn.functional.embedding(i, t)", "garner.gather(t, i)"),
        ("torch.gather(t, 1, order)", "garner.gather_elements(t, order, 1)"),
        ("torch.gather(t, 0, order)", "garner.gather_elements(t, order, 0)"),
        ("torch.take_along_dim(t, order, 1)", "garner.take_along_dim(t, order, 1)"),
        ("torch.take(t, flat)", "garner.take(t, flat)"),
        ("t[i, j]", "garner.gather_nd(t, torch.stack([i, j], -1))"),
        ("t[ij[:, 0], ij[:, 1]]", "garner.gather_nd(t, ij)"),
        ("t[torch.arange(len(t)), j]", "garner.gather(t, j, axis=1, batch_dims=1)"),
    ],
}
EXTENTS = {"4 × 4": 4, "1024 × 1024": 1024}


def inputs(library, extent):
    """A square float32 matrix; as many rows (i), columns (j, k) and points (ij, flat) as it has rows; an order of each row."""
    import numpy as np

    import garner

    random = np.random.default_rng(1)
    a = random.random((extent, extent), np.float32)
    i, j, k, flat = (random.integers(0, high, extent) for high in (extent, extent, extent, extent * extent))
    order = np.stack([random.permutation(extent) for _ in range(extent)])
    arrays = {"i": i, "j": j, "k": k, "flat": flat, "ij": np.stack([i, j], -1), "order": order, "out": np.empty_like(a)}
    if library == "numpy":
        return {"np": np, "garner": garner, "a": a, **arrays}
    import torch

    torch.set_num_threads(1)
    return {"torch": torch, "garner": garner, "t": torch.from_numpy(a), **{n: torch.from_numpy(x) for n, x in arrays.items()}}


def seconds(call, loops):
    start = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - start) / loops


def ratio(theirs, ours, rounds):
    """Their time divided by ours."""
    loops = max(1, int(0.002 / max(seconds(theirs, 3), 1e-9)))
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for which, call in enumerate((theirs, ours)):
            best[which] = min(best[which], seconds(call, loops))
    return best[0] / best[1]


def compare(library, extent, rounds):
    """The ratio of each pair of calls, once both have given the same."""
    names = inputs(library, extent)
    for theirs, ours in CALLS[library]:
        run = [eval(f"lambda: {text}", names) for text in (theirs, ours)]  # noqa: S307
        if run[0]().tolist() != run[1]().tolist():
            raise SystemExit(f"calls.py: {theirs} and {ours} differ")
        yield ratio(*run, rounds)


def cell(ratios):
    low, middle, high = (f"{value:.{1 if value >= 10 else 2}f}" for value in (min(ratios), statistics.median(ratios), max(ratios)))
    return f"{middle} ({low}–{high})"


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=CALLS)
    parser.add_argument("--quick", action="store_true", help="the small inputs alone, and one round")
    options = parser.parse_args(argv)
    runs, rounds, extents = (1, 1, ["4 × 4"]) if options.quick else (5, 100, list(EXTENTS))
    columns = [zip(*[compare(options.library, EXTENTS[extent], rounds) for _ in range(runs)]) for extent in extents]
    print(f"| {options.library} | garner | {' | '.join(extents)} |\n|---|---|{'---:|' * len(extents)}")
    for (theirs, ours), *cells in zip(CALLS[options.library], *columns):
        print(f"| `{theirs}` | `{ours}` | {' | '.join(map(cell, cells))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
