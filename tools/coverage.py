#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many lines have run, folder by folder, in a build with gcc --coverage whose tests have.

    tools/coverage.py BUILD-FOLDER FOLDER=PERCENT...

Needs gcov alone, which comes with gcc. Prints a table of the folders named, then the files that have the most lines that never
ran, and where. Fails if a folder has fewer covered than its percentage. A line counts once, however many kernels were made of it.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = 12  # files in the second table


def records(build):
    """What gcov says about each object file: one JSON document after the other."""
    notes = sorted(str(path.resolve()) for path in build.rglob("*.gcno"))
    if not any(build.rglob("*.gcda")):
        sys.exit(f"coverage: nothing has run in {build}: build it with --coverage and run its tests")
    said = subprocess.run(["gcov", "--json-format", "--stdout", *notes], cwd=build, capture_output=True, text=True, check=True).stdout
    return map(json.loads, said.splitlines())


def lines_of(build):
    """{file: {line: times that it ran}}, files relative to the project."""
    found = defaultdict(lambda: defaultdict(int))
    for record in records(build):
        for file in record["files"]:
            path = Path(record["current_working_directory"], file["file"]).resolve()
            if path.is_relative_to(ROOT):
                for line in file["lines"]:
                    found[path.relative_to(ROOT)][line["line_number"]] += line["count"]
    return found


def percent(lines):
    return 100 * sum(count > 0 for count in lines) / len(lines)


def spans(numbers):
    """Lines as "12-15 20"."""
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(f"{a}-{b}" if a < b else str(a) for a, b in parts)


def shorten(text, most):
    return text if len(text) <= most else text[: text.rindex(" ", 0, most)] + " ..."


def main(arguments):
    if len(arguments) < 2:
        sys.exit("usage: tools/coverage.py BUILD-FOLDER FOLDER=PERCENT...")
    least = {folder: float(number) for folder, number in (word.split("=") for word in arguments[1:])}
    files = {path: lines for path, lines in lines_of(Path(arguments[0])).items() if path.parts[0] in least}
    short = []
    print(f"{'folder':<12} {'files':>5} {'lines':>6} {'covered':>8} {'at least':>9}")
    for folder, minimum in least.items():
        own = [lines for path, lines in files.items() if path.parts[0] == folder]
        share = percent([count for lines in own for count in lines.values()]) if own else 0
        print(f"{folder:<12} {len(own):>5} {sum(map(len, own)):>6} {share:>6.1f} % {minimum:>7.1f} %")
        if share < minimum:
            short.append(f"{folder} has {share:.1f} % of its lines covered; it must have {minimum:.1f} %")
    missed = {path: sorted(number for number, count in lines.items() if not count) for path, lines in files.items()}
    print(f"\n{'least covered':<32} {'covered':>8}  lines that never ran")
    for path in sorted(missed, key=lambda path: (-len(missed[path]), path))[:SHOWN]:
        if missed[path]:
            print(f"{path!s:<32} {percent(files[path].values()):>6.1f} %  {shorten(spans(missed[path]), 80)}")
    if short:
        sys.exit("coverage: " + "; ".join(short))


main(sys.argv[1:])
