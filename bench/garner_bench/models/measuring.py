# SPDX-License-Identifier: MIT
"""Measures stored models, each in each runtime in a process of its own, and writes the tables."""

import json
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from .. import machine, run
from . import judge, stored, tables


def _put(section, header, record):
    """A record in its place, instead of the one of that name if the section has it."""
    versions = [told["version"] for told in (section, header) if "version" in told]
    if len(set(versions)) > 1:
        raise SystemExit(f"bench-models: --add: the folder has {section['title']} {versions[0]}, and this is {versions[1]}")
    section |= header
    names = [known["name"] for known in section["records"]]
    where = names.index(record["name"]) if record["name"] in names else len(names)
    section["records"][where : where + 1] = [record]


def _measure_all(sections, models, how, folder):
    """Fills in the records, model by model; yields after each, and where a runtime is missing, which "missing" then says."""
    for section in sections:
        for model in models:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                header, record = run.measure_model(section["runtime"], section["mode"], model.folder, *how, scratch)
            if header["missing"]:
                section |= header
                yield
                break
            _put(section, header, record)
            yield


def _kept(folder, about):
    """The sections of an earlier call on this kind of machine."""
    path = folder / "models.json"
    if not path.exists():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))
    if before["machine"]["cpu"] != about["cpu"]:
        raise SystemExit(f"bench-models: --add: {folder} was measured on {before['machine']['cpu']}, and this is {about['cpu']}")
    return before["sections"]


def _section(sections, runtime, mode):
    """That of a runtime and mode, which is begun if there is none."""
    for section in sections:
        if (section["runtime"], section["mode"]) == (runtime, mode):
            return section
    sections.append({"runtime": runtime, "mode": mode, "missing": "", "records": []})
    return sections[-1]


def _write(sections, about, folder):
    (folder / "models.json").write_text(json.dumps({"machine": about, "sections": sections}, indent=1) + "\n", encoding="utf-8")
    tables.write(sections, about, folder)


def measure(models, runtimes, modes, how, folder, adds=False):
    """Prints the tables and what is wrong; the exit status. `how` is the effort and the clock. What is done is kept if it is
    stopped. One that adds keeps what the folder has of other models, runtimes and modes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = machine.describe()  # before we make the machine busy
    sections = _kept(folder, about) if adds else []
    wanted = [_section(sections, name, mode) for name in runtimes for mode in modes]
    for _ in _measure_all(wanted, models, how, folder):
        _write(sections, about, folder)
    print(tables.text(sections))
    for section in sections:
        if section["missing"]:
            print(f"bench-models: LEFT OUT: {section['runtime']}: {section['missing']}", file=sys.stderr)
    faults = [fault for section in sections for fault in judge.faults(section)]
    for fault in faults:
        print(f"bench-models: {fault}", file=sys.stderr)
    measured = any("whole" in record for section in sections for record in section["records"])
    return 0 if measured and not faults else 1


def found(folder, pattern):
    """Those stored models that the pattern names, several with commas."""
    models = stored.found(folder)
    chosen = [model for model in models if any(fnmatchcase(model.name, part) for part in pattern.split(","))]
    if not chosen:
        known = ", ".join(model.name for model in models) or "none: export them first"
        raise SystemExit(f"bench-models: no model in {folder} matches {pattern}; there are {known}")
    return chosen
