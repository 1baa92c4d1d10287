# SPDX-License-Identifier: MIT
# The extension module. What it offers to others is described in __init__.pyi.
from typing import Any

def __getattr__(name: str) -> Any: ...
