# SPDX-License-Identifier: MIT
"""garner through its Python package, into a given out: what callers there pay on top of C. It competes with nobody."""

import garner

from . import Way


def version():
    return garner.__version__


def supports(cell):
    return "NumPy has no arrays of garner's strings" if cell.dtype == "str" else ""


def prepare(cell, inputs, context):
    """Names are looked up before the call, as they are for C."""
    gather, elements, nd, axis, batch_dims = garner.gather, garner.gather_elements, garner.gather_nd, cell.axis, cell.batch_dims
    data, indices, out, threads = inputs.data, inputs.indices, inputs.out, 1 if context.threads == 1 else None
    calls = {
        "gather": lambda: gather(data, indices, axis, batch_dims, out=out, threads=threads),
        "gather_elements": lambda: elements(data, indices, axis, out=out, threads=threads),
        "gather_nd": lambda: nd(data, indices, batch_dims, out=out, threads=threads),
    }
    return [Way(f"garner.{cell.op}(out=)", calls[cell.op])]
