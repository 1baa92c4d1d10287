# SPDX-License-Identifier: MIT
"""Calls every function of the Python package with hostile arguments, in a process of its own, case by case.

    python fuzz/python_calls.py --seconds 60 --seed 1        with the package that PYTHONPATH says
    python fuzz/python_calls.py --seed 1 --case 4711         one case again, with everything that it does

A case is a few calls of random functions with random arguments, good, bad or with methods that do harm (python_things.py).
A call must give the right answer (python_reference.py) where there is one; an exception that it may raise; leave its arguments
as they were, and nothing behind. A case that fails, crashes or hangs is written to the folder --found; the exit is then 1.
If the package was built with AddressSanitizer, its runtime is loaded first. Needs nothing but NumPy.
"""

import argparse
import collections.abc
import ctypes
import faulthandler
import gc
import importlib.util
import mmap
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
SLOWEST = 60  # seconds for one case, on a busy machine with sanitizers

# ---- The parent: runs workers, and keeps the case of one that ends -----------------------------------------------------


def sanitized_environment():
    """What a process needs that loads a module with AddressSanitizer; the same environment for one without."""
    package = importlib.util.find_spec("garner")
    if package is None:
        sys.exit("python_calls: there is no package garner; PYTHONPATH=FOLDER/python says where it was built")
    folder = package.submodule_search_locations[0]
    module = next(name for name in sorted(os.listdir(folder)) if name.startswith("_garner.") and name.endswith(".so"))
    with open(os.path.join(folder, module), "rb") as file:
        is_sanitized = b"__asan_init" in file.read()
    environment = dict(os.environ, PYTHONMALLOC="malloc", PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
    if is_sanitized:
        runtime = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
                   for name in ("libasan.so", "libstdc++.so")]  # fmt: skip
        environment["LD_PRELOAD"] = " ".join(runtime)
        # gcc 13 stores whole AVX-512 vectors into stack frames that stack_use_after_return does not align for them.
        environment["ASAN_OPTIONS"] = ("detect_leaks=0:allocator_may_return_null=1:new_delete_type_mismatch=0:max_allocation_size_mb=4096:"
                                       "detect_stack_use_after_return=0")  # fmt: skip
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    return environment, is_sanitized


def keep(found, seed, case, why, text):
    os.makedirs(found, exist_ok=True)
    path = os.path.join(found, f"python-{seed}-{case}")
    with open(path, "w") as file:
        file.write(f"{why}\nagain: python fuzz/python_calls.py --seed {seed} --case {case}\n\n{text}\n")
    print(f"{why}: case {case} of seed {seed}, kept as {path}\n{text[-4000:]}", flush=True)


def begin_worker(options, first, seconds, environment, progress, **more):
    command = [sys.executable, os.path.abspath(__file__), "--worker", progress.name, "--seed", str(options.seed), "--case", str(first), "--seconds", str(seconds)]
    progress.write(first.to_bytes(8, "little"))
    progress.flush()
    return subprocess.Popen(command, env=environment, **more)


def run_worker(options, first, seconds, environment):
    """Runs cases from `first` on. The number of the next one, how many ran, and whether something was found."""
    with tempfile.NamedTemporaryFile() as progress, tempfile.TemporaryFile("w+", errors="replace") as output:
        worker = begin_worker(options, first, seconds, environment, progress, stdout=output, stderr=subprocess.STDOUT)
        case, since, why = first, time.monotonic(), ""
        while worker.poll() is None:
            time.sleep(0.05)
            at = current_case(progress)
            if at != case:
                case, since = at, time.monotonic()
            elif time.monotonic() - since > SLOWEST:
                why = f"no end after {SLOWEST} s"
                worker.send_signal(signal.SIGUSR1)  # says where it is
                time.sleep(1)
                worker.kill()
                worker.wait()
        case = current_case(progress)
        if not why and worker.returncode != 0:
            why = f"ended with {worker.returncode}"
        if why:
            output.seek(0)
            keep(options.found, options.seed, case, why, output.read())
        return case + 1, case + 1 - first, bool(why)


def current_case(progress):
    progress.seek(0)
    return int.from_bytes(progress.read(8), "little")


def show_case(options):
    """Runs one case before everybody's eyes."""
    with tempfile.NamedTemporaryFile() as progress:
        environment = dict(sanitized_environment()[0], GARNER_FUZZ_SHOW="1")
        return begin_worker(options, options.case, 0, environment, progress).wait()


def main(options):
    environment, is_sanitized = sanitized_environment()
    begin, ran, found, case = time.monotonic(), 0, 0, 0
    while (left := options.seconds - (time.monotonic() - begin)) > 0 and found < 10:
        case, count, failed = run_worker(options, case, left, environment)
        ran, found = ran + count, found + failed
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime
    print(f"fuzz: python: {ran} cases in {time.monotonic() - begin:.0f} s ({ran / max(spent, 1e-9):.0f} in a second of CPU time) "
          f"{'with' if is_sanitized else 'WITHOUT'} sanitizers, "
          f"seed {options.seed}, {f'{found} FAILED, see {options.found}' if found else 'nothing found'}", flush=True)  # fmt: skip
    return found > 0


# ---- The worker: cases ------------------------------------------------------------------------------------------------


def work(options):
    """Runs cases until the time is over; raises at the first that is wrong."""
    sys.path.insert(0, HERE)
    from python_cases import Cases

    with open(options.worker, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 8)
    faulthandler.register(signal.SIGUSR1)
    sys.unraisablehook = lambda unraisable: None
    sys.stdout = open(os.devnull, "w", buffering=1)  # where drawings go, at once: what waits to be written looks like a leak
    begin, case = time.monotonic(), options.case
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where writing to the disk costs nothing
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        cases = Cases(folder)
        gc.freeze()  # each case collects its garbage, which these objects are none of
        while True:
            shared[:8] = case.to_bytes(8, "little")
            one_case(cases, options.seed, case, check_leaks=case % 16 == 0)
            if time.monotonic() - begin > options.seconds:
                return
            case += 1


def one_case(cases, seed, case, check_leaks):
    cases.run(random.Random(f"{seed}:{case}"))
    if check_leaks:
        look_for_leaks(lambda: cases.run(random.Random(f"{seed}:{case}")))


def allocated():
    """Bytes that are allocated now, as AddressSanitizer counts them; without it, what Python counts."""
    gc.collect()
    getattr(sys, "_clear_internal_caches", sys._clear_type_cache)()  # what Python knows of classes, which each case makes anew
    for base in collections.abc.MutableMapping.__mro__[:-1]:
        base._abc_caches_clear()
    try:
        count = ctypes.CDLL(None).__sanitizer_get_current_allocated_bytes
    except AttributeError:
        return sys.getallocatedblocks()
    count.restype = ctypes.c_size_t
    return count()


def look_for_leaks(again):
    """The same case over and over must not need more memory each time. Caches may grow, but not for ever."""
    for rounds in (3, 6, 24):
        again()
        before = allocated()
        growth = []
        for _ in range(rounds):
            again()
            growth.append(allocated() - before)
            before += growth[-1]
        if min(growth) <= 0:
            return
    raise AssertionError(f"the case leaks: it grew by {growth} in {rounds} runs")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of all random numbers; by default the time")
    parser.add_argument("--case", type=int, default=None, help="only this one")
    parser.add_argument("--found", default=os.path.join("build", "fuzz", "found"), help="folder for cases that fail")
    parser.add_argument("--worker", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.seed = int(time.time()) if options.seed is None else options.seed
    return options


if __name__ == "__main__":
    chosen = arguments()
    if chosen.worker:
        try:
            work(chosen)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    elif chosen.case is not None:
        sys.exit(show_case(chosen))
    else:
        sys.exit(main(chosen))
