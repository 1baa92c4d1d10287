# SPDX-License-Identifier: MIT
"""Lets the profiles of both sides take turns: a run is a few blocks of calls for each."""

import gc
import random
import time

BLOCKS, BLOCK_CALLS = 5, 8  # in a run, in a block: with more, counters of a mean lose precision


def _block(trial, profile, calls):
    """So many calls in a row."""
    trial.begin_turn(profile.call)
    profile.begin_block()
    for _ in range(calls):
        trial.call_once(profile.call)
    profile.end_block()


def _run(trial, profiles, calls, effort, rng):
    for profile in profiles:
        profile.begin_run()
    deadline = time.perf_counter() + effort.seconds / effort.runs
    for number in range(BLOCKS):
        for profile in rng.sample(profiles, len(profiles)):
            _block(trial, profile, calls)
        if number + 1 >= effort.least_rounds and time.perf_counter() > deadline:
            break
    for profile in profiles:
        profile.end_run()


def profiled(trial, profiles, share, effort):
    """What each side's profile tells in the end. A block takes about as long as `share` calls."""
    calls = max(1, min(BLOCK_CALLS, int(share)))
    rng = random.Random(trial.inputs.cell.name)
    gc.collect()
    gc.disable()
    try:
        for _ in range(effort.runs):
            _run(trial, list(profiles.values()), calls, effort, rng)
    finally:
        gc.enable()
    return {side: profile.finish() for side, profile in profiles.items()}
