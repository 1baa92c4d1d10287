# SPDX-License-Identifier: MIT
"""Whether both sides gave the same. Garner changes no bit; but a runtime that fuses other operators on one side than on the
other may round otherwise there, so floats are held to a bound and what they differ by is told."""

import numpy as np

TOLERANCE = 1e-4  # of the output's largest value


def _ordered(array):
    """Floats as integers in the same order, whose distance is counted in units in the last place."""
    bits = array.view(f"i{array.itemsize}").astype(np.int64)
    return np.where(bits < 0, np.iinfo(f"i{array.itemsize}").min - bits, bits)


def ulps(got, want):
    return int(np.abs(_ordered(got) - _ordered(want)).max())


def _one(got, want):
    """(ulps, what is wrong)."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return 0, f"is {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if got.tobytes() == want.tobytes():
        return 0, ""
    if want.dtype.kind != "f":
        return 0, f"differs in {np.count_nonzero(got != want)} of {want.size} elements"
    if not np.isfinite(want).all():
        return 0, "is not finite, and differs"
    apart = float(np.abs(got - want).max())
    bound = TOLERANCE * float(np.abs(want).max())
    return ulps(got, want), "" if apart <= bound else f"differs by {apart:.3g}, and {bound:.3g} is allowed"


def compare(got, want):
    """The largest distance in units in the last place, and sentences about what is wrong."""
    if got.keys() != want.keys():
        return 0, [f"the outputs are {', '.join(got)}, not {', '.join(want)}"]
    found = {name: _one(got[name], want[name]) for name in want}
    return max(count for count, _ in found.values()), [f"{name} {wrong}" for name, (_, wrong) in found.items() if wrong]
