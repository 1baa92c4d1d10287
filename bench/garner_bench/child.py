# SPDX-License-Identifier: MIT
"""The process in which everything is measured, one for each thread mode. The request comes on standard input,
the answer goes to a file, a line of JSON for each cell: what is done is kept even if a peer brings it down."""

import importlib
import json
import os
import sys

from . import machine


def main():
    request = json.load(sys.stdin)
    machine.hold(request["mode"])  # before anything imports a peer, which counts CPUs when it is imported
    work = {"times": ".session", "peak": ".peak", "runtime": ".runtimes.section", "model": ".models.session"}[request["what"]]
    measure = importlib.import_module(work, __package__)
    with open(request["result"], "w", encoding="utf-8") as file:
        for record in measure.run(request):
            print(json.dumps(record), file=file, flush=True)
    sys.stderr.flush()
    os._exit(0)  # some peers do not survive their own tidying up


if __name__ == "__main__":
    main()
