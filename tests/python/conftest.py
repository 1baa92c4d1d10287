# SPDX-License-Identifier: MIT
"""What the tests of the Python package share.

GARNER_NO_NUMPY=1 runs them as on a machine without NumPy: whoever imports it is told that there is none.
GARNER_TEST_SCALE multiplies how long random and repeated tests go on.
"""

import os
import sys

import pytest

NO_NUMPY = os.environ.get("GARNER_NO_NUMPY") == "1"
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")  # every call is slow: how long one takes says nothing of the product
SCALE = float(os.environ.get("GARNER_TEST_SCALE", "1"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long where sanitizers check: make check runs it there, make test without them")


class _NoNumPy:
    """A finder that finds no NumPy."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "ml_dtypes", "array_api_strict", "torch", "jax"):
            raise ModuleNotFoundError(f"No module named {name!r} (GARNER_NO_NUMPY)", name=name)
        return None


# What hypothesis remembers has paths of this machine in it, and belongs beside what was built.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(os.path.dirname(__file__), "../../build/hypothesis"))

if NO_NUMPY:
    sys.meta_path.insert(0, _NoNumPy)

try:
    from hypothesis import HealthCheck, settings

    settings.register_profile("garner", max_examples=int(150 * SCALE), deadline=None, derandomize=SCALE == 1,
                              suppress_health_check=list(HealthCheck))  # fmt: skip
    settings.load_profile("garner")
except ModuleNotFoundError:
    pass


@pytest.fixture
def scale():
    return SCALE
