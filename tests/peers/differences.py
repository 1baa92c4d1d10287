# SPDX-License-Identifier: MIT
"""The differences on purpose, as the documents list them, held against those that were met."""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def listed(document, heading):
    """The first column of the table of a document whose first heading is that; names are between backticks."""
    lines = iter((DOCS / document).read_text().splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            break
    else:
        raise SystemExit(f"docs/{document} has no table of {heading}")
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("| "):
            break
        rows += line.split(" | ")[0].split("`")[1::2]
    return rows


def compare(failed, ran, expected, document):
    """Says what was not expected, and what was and did not come; how many of both."""
    surprises = [f"unexpected: {name}: {failed[name]}" for name in sorted(set(failed) - set(expected))]
    passed = [f"no difference any more: {name} passes; take it out of {document}" for name in expected if name in ran and name not in failed]
    print(*surprises, *passed, sep="\n")
    print(f"{len(failed)} differences, {len(surprises) + len(passed)} of them or others not as {document} has it")
    return len(surprises) + len(passed)
