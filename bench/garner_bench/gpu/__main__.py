# SPDX-License-Identifier: MIT
"""`python -m garner_bench.gpu`: see --help."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from .. import workloads
from . import bare, cells, measure, peers, pictures, report
from .device import Clocks, Device

ROOT = Path(__file__).resolve().parents[3]
PART_MINUTES = 8  # of a process, after which another one goes on
WRITE_EVERY = 20  # seconds between two writings of the tables


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench-gpu", description="Gathers on a GPU: garner against torch, CuPy and JAX on the same buffers, a plain copy and a bare "
        "loop, the most important cells first. Tables and plots go into a folder, after each cell that is measured. Without --minutes "
        f"the cells are measured by processes of {PART_MINUTES} minutes, one after the other, until none is left.")  # fmt: skip
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench" / "gpu", help="the folder (default: build/bench/gpu)")
    parser.add_argument("--library", default=str(ROOT / "build" / "libgarner_cuda.so"), help="(default: build/libgarner_cuda.so)")
    parser.add_argument("--bare", help="the bare loop, as nvcc compiled bench/native/bare.cu; else nvcc or NVRTC compile it")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU (default: 0)")
    parser.add_argument("--minutes", type=float, help="stop after so many, and say which cells are left")
    parser.add_argument("--add", action="store_true", help="keep what the folder has, and measure the other cells")
    parser.add_argument("--cells", help="only those whose names or operators match one of these patterns, such as 'first-*,row*'")
    parser.add_argument("--peers", default=",".join(peers.NAMES), help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each way (default: 5)")
    parser.add_argument("--quick", action="store_true", help="small cells, one sample of one call: looks whether it works")
    parser.add_argument("--merge", nargs="+", metavar="FILE", help="measure nothing: make one report of several result.json")
    return parser.parse_args(arguments)


def chosen(options):
    every = cells.quick() if options.quick else cells.every()
    found = workloads.select(every, options.cells) if options.cells else every
    if not found:
        raise SystemExit(f"bench-gpu: no cell matches {options.cells}")
    return found


def finish(result, folder):
    report.write(result, folder)
    for line in [*report.summary(result), pictures.draw(result, folder), f"Tables: {folder}/report.md, report.txt, cells.tsv"]:
        print(line)


def merge(options):
    results = [json.loads(Path(name).read_text(encoding="utf-8")) for name in options.merge]
    try:
        finish(report.merge(results), options.output)
    except ValueError as error:
        raise SystemExit(f"bench-gpu: --merge: {error}") from None
    return 0


# ---- One process ----


def open_device(options):
    try:
        return Device(options.library, options.device)
    except (OSError, RuntimeError, AttributeError) as error:
        raise SystemExit(f"bench-gpu: nothing can be measured here: {error}") from None


def machine_of(device):
    info = device.info
    return {"name": info.name.decode(), "driver": f"{info.driver // 1000}.{info.driver % 1000 // 10}", "capability": f"{info.major}.{info.minor}",
            "multiprocessors": info.multiprocessors, "memory": info.memory, "profile": info.profile.decode()}  # fmt: skip


def open_setup(options, device):
    """Everything but the cells; the peers that are missing; why there is no bare loop."""
    wanted = [name for name in options.peers.split(",") if name]
    unknown = [name for name in wanted if name not in peers.NAMES]
    if unknown:
        raise SystemExit(f"bench-gpu: no such peer: {', '.join(unknown)}; there are {', '.join(peers.NAMES)}")
    found, missing = peers.load(wanted)
    loop = None
    try:
        image, why = bare.image_of(device.info.major * 10 + device.info.minor, options.bare)
        loop = bare.Bare(device, image) if image else None
    except (OSError, RuntimeError, AttributeError) as error:
        why = str(error)
    if loop is None:
        missing["bare loop"] = why
    rounds, sample = (1, 0) if options.quick else (options.rounds, measure.SAMPLE)
    return measure.Setup(device, loop, found, Clocks(options.device), rounds, sample), missing


def buffers(device, todo):
    """data by whether it is bool, and room for the rest; the cells that fit."""
    most = int(device.info.memory * 0.9)
    fitting = [cell for cell in todo if cell.data_bytes + measure.room_for(cell) < most]
    data = max((max(cell.data_bytes, measure.most_copied(cell)) for cell in fitting), default=1)
    where = {False: device.allocate(data)}
    device.fill(where[False], data)
    logical = [max(cell.data_bytes, measure.most_copied(cell)) for cell in fitting if cell.dtype == "bool"]
    if logical:
        import numpy as np

        where[True] = device.allocate(max(logical))
        device.put(where[True], np.random.default_rng(2).integers(0, 2, max(logical), np.uint8))
    return where, measure.Room(device, max(map(measure.room_for, fitting), default=1)), fitting


def line_of(record):
    row = report.row_of(record)
    if row is None:
        return f"{record['name']}: {record['failed']}"
    ratio = f"{row.ratio:.2f} of {row.best}" if row.best else "no peer"
    bare_text = f", {row.bare:.2f} x bare" if row.bare is not None else ""
    return f"{row.name}: {row.seconds * 1e6:.1f} us, {ratio}, {row.copies:.2f} x copy{bare_text}  [{record['took']:.1f} s]"


def measure_part(options, begun):
    device = open_device(options)
    every = chosen(options)
    setup, missing = open_setup(options, device)
    result = {"machine": machine_of(device), "versions": {name: peer.version for name, peer in setup.peers.items()}, "missing": missing,
              "cells": [], "left": []}  # fmt: skip
    before = options.output / "result.json"
    if options.add and before.is_file():
        result = report.merge([json.loads(before.read_text(encoding="utf-8")), result])
    done = {record["name"] for record in result["cells"]}
    todo = [cell for cell in every if cell.name not in done]
    where, room, fitting = buffers(device, todo)
    result["left"] = [cell.name for cell in fitting]
    result["cells"] += [{"name": cell.name, "failed": "does not fit into the device's memory"} for cell in todo if cell not in fitting]
    written = time.monotonic()
    for cell in fitting:
        if options.minutes is not None and time.monotonic() - begun > 60 * options.minutes:
            break
        record = measure.record_of(setup, cell, where[cell.dtype == "bool"], room)
        result["cells"].append(record)
        result["left"].remove(cell.name)
        print(line_of(record), flush=True)
        if time.monotonic() - written > WRITE_EVERY:
            report.write(result, options.output)
            written = time.monotonic()
    finish(result, options.output)
    return 0


# ---- Several ----


def left(folder):
    """How many cells a folder lacks; None if nothing is there."""
    try:
        return len(json.loads((folder / "result.json").read_text(encoding="utf-8"))["left"])
    except (OSError, ValueError):
        return None


def measure_all(options, arguments):
    before = None
    for number in range(1000):
        add = ["--add"] if number or options.add else []
        code = subprocess.run([sys.executable, "-m", "garner_bench.gpu", *arguments, *add, "--minutes", str(PART_MINUTES)], check=False).returncode
        now = left(options.output)
        if code or not now or now == before:
            return code or (1 if now is None or now else 0)
        before = now
    return 1


def main(arguments):
    begun = time.monotonic()
    options = parse(arguments)
    if options.merge:
        return merge(options)
    if options.minutes is None and not options.quick:
        return measure_all(options, arguments)
    return measure_part(options, begun)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
