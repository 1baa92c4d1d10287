#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which conditions the tests have tried, folder by folder, out of what llvm-cov exported of one or more builds.

    tools/coverage.py [--record FILE] [--listing FILE] EXPORT... -- FOLDER=MEASURE:PERCENT...

MEASURE is mcdc (each condition was seen true and false, and where a decision has several, each was seen to change its outcome
alone; and each line has run) or branches (each condition true and false). The exports may be of several architectures: what
one of them covers is covered; of branches each outcome of a condition counts by itself. A line that no test can reach is marked with the reason, at its end or in the line before it:

    if (sizeof(void *) == 4 && ...)    /* uncovered: only on 32-bit machines */

Marks are counted. One that nothing needs is an error, unless it begins "uncovered at times:", for what threads do. The files
named in ELSEWHERE need instructions that the machine may not have: what a machine that has them covered is written by --record
and read like an export as long as the file is the same. They are counted by themselves, as the folder "elsewhere", which is
held to its percentage where anything of them has run. Conditions of macros of Python's headers are Python's, and not counted.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARK = re.compile(r"/\* uncovered( at times)?: ([^*]+) \*/")
ELSEWHERE = {"src/cpu/kernels/avx512.c", "src/cpu/kernels/avx512_gather.c", "src/cpu/kernels/lanes.h",
             "src/cpu/kernels/tiny_table.h"}  # fmt: skip
PYTHON_S = ("Py_CLEAR(", "Py_VISIT(")  # macros that have conditions
MCDC_BRANCH = 6  # llvm-cov's number of a condition that is one of several in its decision


class File:
    """What is known of one file. Places are (line, column, last line, last column)."""

    def __init__(self):
        self.lines = {}  # line: whether it ran
        self.outcomes = defaultdict(set)  # condition: those of True and False that it had
        self.reached = set()  # conditions that were evaluated, though some are constants, which have no outcome
        self.several = set()  # conditions that are not alone in their decision
        self.effects = defaultdict(list)  # decision: for each of its conditions, whether it was seen to matter by itself

    def add(self, exported):
        segments = exported["segments"]
        for line, ran in lines_of(segments).items():
            self.lines[line] = self.lines.get(line, False) or ran
        for *place, true, false, _, _, kind in exported["branches"]:
            place = tuple(place)
            self.outcomes[place] |= {True} if true else set()
            self.outcomes[place] |= {False} if false else set()
            if count_at(segments, place) > 0:
                self.reached.add(place)
            if kind == MCDC_BRANCH:
                self.several.add(place)
        for record in exported["mcdc_records"]:
            place, effects = tuple(record[:4]), record[-1]
            before = self.effects[place] or [False] * len(effects)
            self.effects[place] = [a or b for a, b in zip(before, effects)]

    def conditions(self):
        """{condition: what is missing of it, "" if nothing}; constants are none."""
        missing = {}
        for place, outcomes in self.outcomes.items():
            if outcomes or place not in self.reached:
                lacks = [str(value).lower() for value in (True, False) if value not in outcomes]
                missing[place] = "never " + " or ".join(lacks) if lacks else ""
        for decision, effects in self.effects.items():
            parts = sorted(place for place in self.several if decision[:2] <= place[:2] and place[2:] <= decision[2:])
            for place, effect in zip(parts, effects):
                if missing.get(place) == "" and not effect:
                    missing[place] = "never decides alone"
        return missing


def count_at(segments, place):
    """How often the code at the beginning of that place ran."""
    count = 0
    for line, column, times, has_count, *_ in segments:
        if (line, column) > place[:2]:
            break
        count = times if has_count else 0
    return count


def lines_of(segments):
    """{line: whether it ran} of the lines that have code, as llvm-cov counts them."""
    of_line = defaultdict(list)
    for segment in segments:
        of_line[segment[0]].append(segment)
    lines, wrapped = {}, None
    for line in range(segments[0][0], segments[-1][0] + 1) if segments else ():
        here = of_line[line]
        entries = [s for s in here if s[3] and s[4] and not s[5]]
        skipped = bool(here) and not here[0][3] and here[0][4]
        if not skipped and (entries or (wrapped and wrapped[3])):
            lines[line] = max([s[2] for s in entries] + ([wrapped[2]] if wrapped and wrapped[3] else [])) > 0
        wrapped = here[-1] if here else wrapped
    return lines


def digest(path):
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()


def read_exports(paths, least):
    """{file relative to the project: File}"""
    files = defaultdict(File)
    for export in paths:
        for exported in json.loads(Path(export).read_text())["data"][0]["files"]:
            path = Path(exported["filename"])
            name = str(path.resolve().relative_to(ROOT)) if path.is_absolute() else str(path)
            if exported.get("digest", "") not in {"", digest(name)}:
                print(f"{name} has changed since its coverage was recorded in {export}: left out")
            elif any(is_in(name, folder) for folder in least):
                files[name].add(exported)
    return files


def record(paths, output):
    """The part of the exports that only some machines can cover, with what the files were."""
    kept = []
    for export in paths:
        for exported in json.loads(Path(export).read_text())["data"][0]["files"]:
            name = str(Path(exported["filename"]).resolve().relative_to(ROOT))
            if name in ELSEWHERE:
                parts = {key: exported[key] for key in ("segments", "branches", "mcdc_records")}
                kept.append({"filename": name, "digest": digest(name), **parts})
    Path(output).write_text(json.dumps({"data": [{"files": kept}]}, separators=(",", ":")) + "\n")


def marks_of(name):
    """{line: (whether it is needed at times only, reason)}: a mark counts for its line, or for the next if it stands alone."""
    marks = {}
    for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
        found = MARK.search(line)
        if found:
            marks[number + (line.strip() == found.group())] = (bool(found[1]), found[2])
    return marks


class Folder:
    """The sums of a folder, and what is missing in it."""

    def __init__(self, measure):
        self.measure = measure
        self.files = self.conditions = self.good = self.marked = 0
        self.lines = self.ran = 0
        self.missing = []  # (file, line, words)
        self.useless = []

    def add(self, name, file):
        marks = marks_of(name)
        text = (ROOT / name).read_text().splitlines()
        used = set()
        self.files += 1
        for line, ran in file.lines.items():
            self.lines += 1
            self.ran += ran
            if not ran and not self.excuse(marks, used, (line,)) and self.measure == "mcdc":
                self.missing.append((name, line, "never runs"))
        for place, lacks in sorted(file.conditions().items()):
            if text[place[0] - 1][place[1] - 1 :].startswith(PYTHON_S):
                continue
            if lacks == "never decides alone" and self.measure != "mcdc":
                lacks = ""
            if lacks and self.excuse(marks, used, range(place[0], place[2] + 1)):
                self.marked += 1
                continue
            outcomes = 1 if self.measure == "mcdc" else 2
            self.conditions += outcomes
            self.good += outcomes - (lacks.count("true") + lacks.count("false") if outcomes == 2 else bool(lacks))
            if lacks:
                self.missing.append((name, place[0], f"column {place[1]} {lacks}"))
        self.useless += [f"{name}:{line}: nothing needs this mark" for line, (at_times, _) in marks.items()
                         if line not in used and not at_times]

    def excuse(self, marks, used, lines):
        found = [line for line in lines if line in marks]
        used.update(found)
        return bool(found)

    def percent(self):
        """Of the conditions or branches; 100 only if no line is missing either."""
        share = 100 * self.good / max(self.conditions, 1)
        return min(share, 99.9) if self.missing and self.measure == "mcdc" else share


def is_in(name, folder):
    return name in ELSEWHERE if folder == "elsewhere" else name.startswith(folder + "/")


def group(name, least):
    """The first folder that has it, so a folder within another comes before that."""
    return next(folder for folder in least if is_in(name, folder))


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("exports", nargs="+")
    parser.add_argument("--record")
    parser.add_argument("--listing")
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:cut])
    options.least = {}
    for word in arguments[cut + 1 :]:
        folder, _, wish = word.partition("=")
        measure, _, percent = wish.partition(":")
        options.least[folder] = (measure, float(percent))
    return options


def main(arguments):
    options = parse(arguments)
    if options.record:
        record(options.exports, options.record)
        return 0
    files = read_exports(options.exports, options.least)
    folders = {name: Folder(measure) for name, (measure, _) in options.least.items()}
    for name in sorted(files):
        folders[group(name, options.least)].add(name, files[name])
    listing = "".join(f"{name}:{line}: {words}\n" for folder in folders.values() for name, line, words in folder.missing)
    Path(options.listing or "/dev/null").write_text(listing)
    return print_table(folders, options)


def print_table(folders, options):
    faults = [line for folder in folders.values() for line in folder.useless]
    print(f"{'folder':<14} {'files':>5} {'lines ran':>14} {'to try':>10} {'measure':>9} {'covered':>9} {'at least':>9} {'marked':>7}")
    for name, folder in folders.items():
        least = options.least.get(name, ("", 0.0))[1]
        share = folder.percent()
        print(f"{name:<14} {folder.files:>5} {folder.ran:>6} of {folder.lines:<5} {folder.conditions:>9} {folder.measure:>9} "
              f"{share:>7.1f} % {least:>7.1f} % {folder.marked:>7}")
        if share < least and (name != "elsewhere" or folder.ran):
            faults.append(f"{name} has {share:.1f} % of its {folder.measure} covered; it must have {least:.1f} %")
    print("elsewhere: kernels of AVX-512, which a machine without it cannot run")
    for folder in folders.values():
        for file, line, words in folder.missing[:60] if faults and folder.measure == "mcdc" else ():
            print(f"{file}:{line}: {words}")
    if faults:
        print(*(f"coverage: {fault}" for fault in faults), sep="\n")
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
