# SPDX-License-Identifier: MIT
"""garner.dask.take against dask's own take: random rows of a table in chunks, under the threaded scheduler. Each measurement is a
process of its own, so that its memory is its own, too. The last row of each chunk of the result is looked at and kept.

    python bench/scale/dask_take.py [--rows 1000000] [--width 64] [--chunks 32] [--indices 1e6,1e7]
"""

import argparse
import json
import resource
import subprocess
import sys
import time


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(who, rows, width, chunks, count):
    import dask
    import dask.array as da
    import garner.dask
    import numpy as np

    rng = np.random.default_rng(1)
    table = rng.random((rows, width), np.float32)
    x = da.from_array(table, chunks=(-(-rows // chunks), width))
    indices = rng.integers(0, rows, count)
    take = garner.dask.take if who == "garner" else da.take
    take(x, indices[:1000]).compute(scheduler="threads")  # imports, threads
    before = peak()
    begun = time.perf_counter()
    result = take(x, indices, axis=0)
    built = time.perf_counter()
    last = result.map_blocks(lambda block: block[-1:].copy(), dtype=x.dtype, chunks=((1,) * result.numblocks[0], (width,)))
    with dask.config.set(scheduler="threads"):
        kept = last.compute()
    ended = time.perf_counter()
    ends = np.cumsum(result.chunks[0]) - 1
    if not np.array_equal(kept, table[indices[ends]]):
        sys.exit(f"{who}: wrong rows")
    return {"build": built - begun, "all": ended - begun, "tasks": len(dict(result.__dask_graph__())), "memory": peak() - before}


def in_a_process(*words):
    said = subprocess.run([sys.executable, __file__, "--one", *map(str, words)], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    return json.loads(said.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--chunks", type=int, default=32)
    parser.add_argument("--indices", default="1e6,1e7")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], *map(int, given.one[1:]))))
        return
    print("| indices | dask, s | its graph, s | tasks | MiB | garner, s | its graph, s | tasks | MiB | faster |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for count in (int(float(word)) for word in given.indices.split(",")):
        both = {who: in_a_process(who, given.rows, given.width, given.chunks, count) for who in ("dask", "garner")}
        cells = " | ".join(f"{one['all']:.2f} | {one['build']:.2f} | {one['tasks']} | {one['memory']:.0f}" for one in both.values())
        print(f"| {count} | {cells} | {both['dask']['all'] / both['garner']['all']:.1f} × |", flush=True)


if __name__ == "__main__":
    main()
