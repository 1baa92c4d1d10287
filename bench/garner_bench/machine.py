# SPDX-License-Identifier: MIT
"""What the machine is, in words, and how a process is held to one of its CPUs."""

import os
import platform
from pathlib import Path

ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "TBB_NUM_THREADS")
}
ALWAYS = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}


def cpus():
    return sorted(os.sched_getaffinity(0))


def environment(mode):
    made = dict(os.environ, **ALWAYS)
    if mode == "one":
        made.update(ONE_THREAD)
    return made


def hold(mode):
    """In the one-thread mode, the whole process on one CPU: JAX takes all that it sees. The last one, since
    interrupts tend to go to the first."""
    if mode == "one":
        os.sched_setaffinity(0, {cpus()[-1]})


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
