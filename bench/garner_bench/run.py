# SPDX-License-Identifier: MIT
"""Starts the measuring processes, one after the other, and gathers what they wrote."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from . import machine

PACKAGE_FOLDER = str(Path(__file__).resolve().parent.parent)


def _start(request, mode):
    """Runs a child to its end; returns its exit status and the records that it wrote."""
    path = Path(request["result"])
    path.unlink(missing_ok=True)
    environment = machine.environment(mode)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (PACKAGE_FOLDER, environment.get("PYTHONPATH"))))
    command = [sys.executable, "-m", f"{__package__}.child"]
    done = subprocess.run(command, input=json.dumps(request), text=True, env=environment)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return done.returncode, [json.loads(line) for line in lines]


def measure_mode(mode, cells, peers, library, effort, folder):
    request = {
        "what": "times", "mode": mode, "cells": [asdict(c) for c in cells], "peers": list(peers),
        "library": str(library), "effort": effort._asdict(), "result": str(Path(folder) / f"{mode}.part"),
    }  # fmt: skip
    status, records = _start(request, mode)
    if not records:
        raise RuntimeError(f"the process for mode {mode} ended with status {status} before it measured anything")
    result = dict(records[0], cells=records[1:])
    if status or len(result["cells"]) < len(cells):
        at = cells[len(result["cells"])].name if len(result["cells"]) < len(cells) else "the end"
        result["broken"] = f"the process ended with status {status} at {at}"
    return result


def measure_peaks(mode, cell, ways, library, folder):
    """Peak memory of each peer on one cell. `ways` names the way of each that was found to be its best."""
    peaks = []
    for name, way in ways.items():
        request = {
            "what": "peak", "mode": mode, "cells": [asdict(cell)], "peers": [name], "way": way,
            "library": str(library), "result": str(Path(folder) / "peak.part"),
        }  # fmt: skip
        status, records = _start(request, mode)
        peaks.append(records[0] if records else {"peer": name, "absent": f"its process ended with status {status}"})
    return peaks
