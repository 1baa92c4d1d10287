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
    command = [sys.executable, "-P", "-m", f"{__package__}.child"]  # -P: folders here must not pass for packages
    done = subprocess.run(command, input=json.dumps(request), text=True, env=environment)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return done.returncode, [json.loads(line) for line in lines]


def measure_mode(mode, cells, peers, library, effort, minutes, folder):
    request = {
        "what": "times", "mode": mode, "cells": [asdict(c) for c in cells], "peers": list(peers),
        "library": str(library), "effort": effort._asdict(), "result": str(Path(folder) / f"{mode}.part"),
        "spares": machine.cpus(), "minutes": minutes,
    }  # fmt: skip
    status, records = _start(request, mode)
    if not records:
        raise RuntimeError(f"the process for mode {mode} ended with status {status} before it measured anything")
    header, measured = records[0], records[1:]
    if status == 0 and len(measured) < len(cells):
        return dict(header, cells=measured, stopped=f"{len(measured)} of {len(cells)} cells were measured in the time given")
    return _whole(dict(header, cells=measured), "cells", [c.name for c in cells], status)


def _whole(result, field, names, status):
    """The result, with a word about it if some of what was asked for is missing."""
    done = len(result[field])
    if status or done < len(names):
        result["broken"] = f"the process ended with status {status} at {(names + ['the end'])[done]}"
    return result


def measure_runtime(runtime, mode, cells, models, library, effort, small, folder):
    """The runtime alone against the runtime with garner. A section that is left out says why in "missing"."""
    request = {
        "what": "runtime", "runtime": runtime, "mode": mode, "cells": [asdict(c) for c in cells],
        "models": list(models), "small": small, "library": str(library), "effort": effort._asdict(),
        "result": str(Path(folder) / f"{runtime}-{mode}.part"),
    }  # fmt: skip
    status, records = _start(request, mode)
    if not records:
        ended = f"its process ended with status {status} before it measured anything"
        return {"runtime": runtime, "mode": mode, "missing": "", "broken": ended, "records": []}
    section = dict(records[0], records=records[1:])
    if section["missing"]:
        return section
    return _whole(section, "records", [c.name for c in cells] + list(models), status)


def measure_model(runtime, mode, model, effort, clock, scratch):
    """A stored model in one runtime: the header and, if the runtime is there, the record."""
    request = {
        "what": "model", "runtime": runtime, "mode": mode, "model": str(model), "effort": effort._asdict(),
        "clock": clock, "scratch": str(scratch), "result": str(Path(scratch) / "model.part"),
    }  # fmt: skip
    status, records = _start(request, mode)
    if not records or not records[0]["missing"] and len(records) < 2:
        header = records[0] if records else {"runtime": runtime, "mode": mode, "missing": ""}
        return header, {"name": Path(model).name, "wrong": [f"the process ended with status {status}"]}
    return records[0], records[1] if len(records) > 1 else None


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
