# SPDX-License-Identifier: MIT
"""The fuzzer of hostile calls must not be what crashes."""

import pathlib
import subprocess
import sys

import pytest

FUZZ = pathlib.Path(__file__).resolve().parents[2] / "fuzz"

GARBAGE = """
import ctypes, gc, random, sys
sys.path.insert(0, sys.argv[1])
sys.unraisablehook = lambda unraisable: None
from python_things import World, capsules

class Garbage:
    def __init__(self, held):
        self.me, self.held = self, held

gc.disable()
for seed in range(200):
    world = World(random.Random(seed), None)
    Garbage(world.wild_capsule())
    world.close()
others = [capsules.Deleter(lambda address: None) for _ in range(1000)]
gc.collect()
"""


@pytest.mark.slow
def test_capsules_that_are_garbage_when_a_case_ends():
    """Their destructors and deleters are callbacks, which must live as long as they do."""
    pytest.importorskip("numpy")
    done = subprocess.run([sys.executable, "-c", GARBAGE, str(FUZZ)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FOUND = [(7, 51565, "a capsule dies as Python hands on the exception of the call that it was given to"), (5501, 54, "a mode of None"),
         (5501, 24384, "text that waits to be written"), (8, 922, "an array that hostile code reshapes"), (88002, 49302, "so many elements that saving them takes a minute")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed, case, what", FOUND)
def test_cases_that_were_no_fault_of_the_package(seed, case, what):
    pytest.importorskip("numpy")
    done = subprocess.run([sys.executable, str(FUZZ / "python_calls.py"), "--seed", str(seed), "--case", str(case)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
