# SPDX-License-Identifier: MIT
"""A gather of a model as one side ran it."""

from typing import NamedTuple


class Layer(NamedTuple):
    what: str  # operator and shapes, as far as the runtime tells them
    is_garner: bool
    runs: list  # nanoseconds in each run
