# SPDX-License-Identifier: MIT
"""garner through its Python package, into a given out: what callers there pay on top of C. It competes with nobody."""

import garner

from . import Way


def version():
    return garner.__version__


def supports(cell):
    return "NumPy has no arrays of garner's strings" if cell.dtype == "str" else ""


def prepare(cell, inputs, context):
    data, indices, out = inputs.data, inputs.indices, inputs.out
    threads = 1 if context.threads == 1 else None
    if cell.op == "gather":
        call = lambda: garner.gather(data, indices, cell.axis, cell.batch_dims, out=out, threads=threads)  # noqa: E731
    elif cell.op == "gather_elements":
        call = lambda: garner.gather_elements(data, indices, cell.axis, out=out, threads=threads)  # noqa: E731
    else:
        call = lambda: garner.gather_nd(data, indices, cell.batch_dims, out=out, threads=threads)  # noqa: E731
    return [Way(f"garner.{cell.op}(out=)", call)]
