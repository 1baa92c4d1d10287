# SPDX-License-Identifier: MIT
"""`python -m garner_bench.models export|measure|fusions`: see --help of each."""

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from .. import runtimes
from ..effort import Effort

ROOT = Path(__file__).resolve().parents[3]
FULL = Effort(runs=5, seconds=4.0)
QUICK = Effort(runs=2, seconds=0.2, least_rounds=1, most_rounds=4)


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="bench-models", description="Whole models inside ONNX Runtime and OpenVINO: each "
                                     "runtime alone against itself with garner.")  # fmt: skip
    steps = parser.add_subparsers(dest="step", required=True)
    export = steps.add_parser("export", help="write the architectures as ONNX and IR, large weights described; needs torch")
    measure = steps.add_parser("measure", help="fill the weights in, run, compare, write tables; needs the runtimes alone")
    fusions = steps.add_parser("fusions", help="compare what ONNX Runtime's optimizer makes of them with garner and without; needs onnx")
    for step in (export, measure, fusions):
        step.add_argument("--models", default=str(ROOT / "build" / "models"), metavar="FOLDER", help="of the exported models")
        step.add_argument("--only", default="*", metavar="GLOB", help="models whose name matches; several with commas")
    add = measure.add_argument
    add("--out", default=str(ROOT / "build" / "bench" / "models"), metavar="FOLDER", help="where the tables go")
    add("--runtimes", default=",".join(runtimes.NAMES), metavar="A,B", help=f"of {', '.join(runtimes.NAMES)}")
    add("--threads", default="one", choices=("one", "all", "both"), help="thread modes (default: one)")
    add("--seconds", type=float, metavar="S", help=f"for the calls of a model in a runtime (default: {FULL.seconds:.0f}), "
        "half as much again for its gathers")  # fmt: skip
    add("--clock", default="wall", choices=("wall", "processor"), help="of whole calls; processor: what the process spent, for a "
        "machine that others use meanwhile (default: wall)")  # fmt: skip
    add("--add", action="store_true", help="keep what the folder of the tables has of other models, runtimes and modes: one model "
        "at a time, on a machine that is quiet for short whiles")  # fmt: skip
    add("--quick", action="store_true", help="few calls: whether it works, not how fast")
    return parser.parse_args(argv)


def _export(options):
    from . import architectures
    from .export import export_all

    names = [name for name in architectures.ALL if any(fnmatchcase(name, part) for part in options.only.split(","))]
    return export_all(names, options.models)


def _runtimes(options):
    names = options.runtimes.split(",")
    unknown = [name for name in names if name not in runtimes.NAMES]
    if unknown:
        raise SystemExit(f"bench-models: no such runtime: {', '.join(unknown)}; there are {', '.join(runtimes.NAMES)}")
    return names


def _measure(options):
    from . import measuring

    effort = QUICK if options.quick else FULL
    if options.seconds is not None:
        effort = effort._replace(seconds=options.seconds)
    modes = ("one", "all") if options.threads == "both" else (options.threads,)
    chosen = measuring.found(options.models, options.only)
    return measuring.measure(chosen, _runtimes(options), modes, (effort, options.clock), options.out, options.add)


def _fusions(options):
    from . import fusions, measuring

    return fusions.report(measuring.found(options.models, options.only))


def main(argv=None):
    options = _arguments(argv)
    return {"export": _export, "measure": _measure, "fusions": _fusions}[options.step](options)


if __name__ == "__main__":
    sys.exit(main())
