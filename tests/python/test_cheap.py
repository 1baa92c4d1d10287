# SPDX-License-Identifier: MIT
"""What a call costs beside NumPy's. The best of many short rounds, taken in turns, so that a busy machine does not matter."""

import timeit

import pytest
from conftest import SANITIZED

np = pytest.importorskip("numpy")

import garner  # noqa: E402


def ratio(ours, theirs, rounds=150, number=300):
    best = [float("inf"), float("inf")]
    timers = [timeit.Timer(ours), timeit.Timer(theirs)]
    for _ in range(rounds):
        for i, timer in enumerate(timers):
            best[i] = min(best[i], timer.timeit(number))
    return best[0] / best[1]


@pytest.mark.skipif(SANITIZED, reason="built with sanitizers")
def test_one_element():
    a, i = np.arange(10.0), np.array([3])
    assert ratio(lambda: garner.gather(a, i), lambda: a.take(i)) <= 1.2


@pytest.mark.skipif(SANITIZED, reason="built with sanitizers")
def test_elements():
    a, i = np.eye(4), np.array([[0, 2, 1, 1]] * 4)
    assert ratio(lambda: garner.gather_elements(a, i, 1), lambda: np.take_along_axis(a, i, 1)) <= 0.25
    assert ratio(lambda: garner.take_along_axis(a, i, 1), lambda: np.take_along_axis(a, i, 1)) <= 0.25
