# SPDX-License-Identifier: MIT
"""The command line of the benchmark."""

import argparse
import fnmatch
import sys
from pathlib import Path

from . import drawn, machine, native, neighbours, peers, report, run, runtimes, workloads
from .effort import DRAWN, FULL, MANY, QUICK, QUICK_BYTES

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Times garner and every peer that is installed on the cells of bench/workloads.tsv: with one thread (held to one CPU) and
with all cores. Each library has a process of its own, which stands still while the others are measured, in turns. The
results are compared bit by bit; a peer that is wrong is named and its time not counted. Then the same cells, and four models, inside ONNX Runtime and OpenVINO: each alone against
itself with garner's plug-in. Tables go to the terminal and, with plots, into the output folder."""


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="bench", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    add = parser.add_argument
    add("--cells", default="*", metavar="GLOB", help="only cells whose name or operator matches; several with commas")
    add("--threads", default="both", metavar="A,B", help="thread modes: one, all, both (the default), or numbers as in 1,4")
    add("--peers", default=",".join(peers.NAMES), metavar="A,B", help=f"of {', '.join(peers.NAMES)}")
    add("--no-peers", action="store_true", help="leave out the peers: only what runs inside the runtimes")
    add("--runtimes", default=",".join(runtimes.NAMES), metavar="A,B", help=f"of {', '.join(runtimes.NAMES)}")
    add("--no-runtimes", action="store_true", help="leave out what runs inside the runtimes")
    add("--models", default="*", metavar="GLOB", help="only models inside the runtimes whose name matches")
    add("--runs", type=int, metavar="N", help="runs per cell, of which the median counts (default: 5)")
    add("--seconds", type=float, metavar="S", help="time spent sampling each cell (default: 1)")
    add("--minutes", type=float, default=1e9, metavar="M", help="begin no cell after so many minutes of a thread mode")
    add("--quick", action="store_true", help="small cells and few samples: whether it works, not how fast")
    add("--neighbours", action="store_true", help="also ten neighbours of each cell: other extents and alignments")
    add("--draw", type=int, metavar="N", dest="drawn", help="N cells of random shapes instead of the table's, the worst first")
    add("--seed", type=int, default=1, metavar="S", help="from which they are drawn (default: 1)")
    add("--no-memory", action="store_true", help="leave out the peak memory of each peer")
    add("--library", default=str(ROOT / "build" / "libgarner.so"), metavar="FILE", help="the libgarner.so to measure")
    add("--include", default=str(ROOT / "include"), metavar="FOLDER", help="where its garner.h lies")
    add("--workloads", default=str(ROOT / "bench" / "workloads.tsv"), metavar="FILE", help="the table of cells")
    add("--output", default=str(ROOT / "build" / "bench"), metavar="FOLDER", help="where the results go")
    return parser.parse_args(argv)


def _cells(options):
    table = workloads.read(options.workloads) if options.drawn is None else drawn.drawn(options.drawn, options.seed)
    cells = workloads.select(table, options.cells)
    if options.quick:
        cells = [c for c in cells if max(c.data_bytes, c.index_bytes, c.out_bytes) <= QUICK_BYTES]
    if options.neighbours:
        cells = [near for cell in cells for near in [cell] + ([] if cell.tiny else neighbours.neighbours(cell))]
    return cells


def _effort(options):
    effort = QUICK if options.quick else DRAWN if options.drawn else MANY if options.neighbours else FULL
    given = {"runs": options.runs, "seconds": options.seconds}
    return effort._replace(**{name: value for name, value in given.items() if value is not None})


def _modes(given):
    """The names of the thread modes; "1" is "one"."""
    names = ["one", "all"] if given == "both" else ["one" if name == "1" else name for name in given.split(",")]
    for name in names:
        if name not in ("one", "all") and not (name.isdecimal() and int(name) > 0):
            raise SystemExit(f"bench: --threads {name}: neither one, all, both nor a number of threads")
        if name.isdecimal() and int(name) > len(machine.cpus()):
            raise SystemExit(f"bench: --threads {name}: this process may use {len(machine.cpus())} CPUs")
    return names


def _named(given, known, what):
    names = [name for name in given.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"bench: no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _peers(options):
    """Of drawn cells, what Python adds is of no interest."""
    others = [name for name in _named(options.peers, peers.NAMES, "peer") if name != "garner"]
    return ["garner"] + [name for name in others if name != "python" or options.drawn is None]


def _sections(options, cells, modes, library, effort):
    """Each runtime in each mode, in a process of its own."""
    names = [] if options.no_runtimes or options.drawn else _named(options.runtimes, runtimes.NAMES, "runtime")
    own = [cell for cell in cells if "~" not in cell.name]
    models = [name for name in runtimes.MODELS if fnmatch.fnmatchcase(name, options.models)]
    return [run.measure_runtime(name, mode, own, models, library, effort, options.quick, options.output)
            for name in names for mode in modes]  # fmt: skip


def _peaks(options, cells, modes, library):
    """On the cell with the largest out, in the last mode measured: with all cores where that was asked for."""
    cell = max((c for c in cells if c.dtype != "str" and "~" not in c.name), key=lambda c: c.out_bytes, default=None)
    if options.no_memory or options.drawn or cell is None or not modes:
        return None
    record = next((r for r in modes[-1]["cells"] if r["name"] == cell.name), {"times": {}})
    ways = {name: record["times"].get(name, {}).get("way", "") for name in _peers(options)}
    return {"cell": cell.name, "mode": modes[-1]["mode"],
            "peaks": run.measure_peaks(modes[-1]["mode"], cell, ways, library, options.output)}  # fmt: skip


def main(argv=None):
    options = _arguments(argv)
    cells, effort = _cells(options), _effort(options)
    if not cells and not options.no_peers:
        raise SystemExit(f"bench: no cell matches {options.cells}")
    if not Path(options.library).exists():
        raise SystemExit(f"bench: there is no {options.library}; build it first")
    Path(options.output).mkdir(parents=True, exist_ok=True)
    library = native.build(options.library, options.include, options.output)
    about = dict(machine.describe(), compiler=native.compiler_version())  # before we make the machine busy
    names = _modes(options.threads)
    compared = () if options.no_peers else names
    modes = [dict(run.measure_mode(mode, cells, _peers(options), library, effort, options.minutes, options.output),
                  drawn=options.drawn is not None) for mode in compared]  # fmt: skip
    result = {
        "machine": about,
        "effort": effort._asdict(),
        "modes": modes,
        "memory": _peaks(options, cells, modes, library),
        "runtimes": _sections(options, cells, names, library, effort),
    }
    print(report.write(result, options.output))
    for fault in report.faults(result):
        print(f"bench: {fault}", file=sys.stderr)
    return 1 if report.faults(result) else 0
