# SPDX-License-Identifier: MIT
"""What the machine is, in words, and how a process is held to some of its CPUs. A thread mode is "one", "all", or a
number of threads as text."""

import os
import platform
from pathlib import Path

COUNTED_BY = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "TBB_NUM_THREADS")
ALWAYS = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}


def cpus():
    return sorted(os.sched_getaffinity(0))


def threads(mode):
    """How many a mode means; None: as many as there are."""
    return {"one": 1, "all": None}[mode] if mode in ("one", "all") else int(mode)


def environment(mode):
    made = dict(os.environ, **ALWAYS)
    if threads(mode):
        made.update({name: str(threads(mode)) for name in COUNTED_BY})
    return made


def _siblings(cpu):
    """CPUs of the same core, as the kernel writes them."""
    return _first(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", str(cpu))


def choose(count):
    """So many CPUs, of different cores as long as there are; the last ones, since interrupts tend to go to the first."""
    by_core = {}
    for cpu in reversed(cpus()):
        by_core.setdefault(_siblings(cpu), []).append(cpu)
    depth = max(map(len, by_core.values()))
    ranked = [core[i] for i in range(depth) for core in by_core.values() if i < len(core)]
    return sorted(ranked[:count])


def hold(mode):
    """The whole process on as many CPUs as the mode has threads: JAX takes all that it sees."""
    if threads(mode):
        os.sched_setaffinity(0, choose(threads(mode)))


def move(cpu):
    """All threads of this process to a CPU."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {cpu})


def _first(path, default=""):
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return default


def _model():
    """From the kernel on x86-64; aarch64 has numbers there, which lscpu knows by name."""
    for line in _first("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    with os.popen("LC_ALL=C lscpu 2>/dev/null") as lines:
        for line in lines:
            if line.startswith("Model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _caches():
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if _first(folder / "type") != "Instruction":
            found.append(f"L{_first(folder / 'level')} {_first(folder / 'size')}")
    return ", ".join(found) or "unknown"


def _huge_pages():
    said = _first("/sys/kernel/mm/transparent_hugepage/enabled", "[never]")
    return said[said.index("[") + 1 : said.index("]")]


def describe():
    return {
        "cpu": _model(),
        "architecture": platform.machine(),
        "cores": len(cpus()),
        "caches": _caches(),
        "huge_pages": _huge_pages(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }
