# SPDX-License-Identifier: MIT
"""Builds failing_call.c, the library that lets calls fail, and drives it: from outside by the environment of a program, from
inside, where it was preloaded, around single calls."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "failing_call.c"


def why_not():
    """Why nothing can be made to fail here, in words; None if it can."""
    if not sys.platform.startswith("linux") or "glibc" not in os.confstr("CS_GNU_LIBC_VERSION"):
        return "SKIP: failing calls are tested with glibc on Linux"
    return None if shutil.which("cc") else "SKIP: no C compiler, failing calls are not tested"


def build(folder):
    """The library's path."""
    made = pathlib.Path(folder) / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", made, SOURCE, "-ldl"], check=True)
    return made


def environment(library, **more):
    """What a program runs with; before a sanitizer's library where there is one."""
    options = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": f"{library} {os.environ.get('LD_PRELOAD', '')}".strip(),
            "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0:detect_leaks=0:allocator_may_return_null=1", **more}  # fmt: skip


class Inside:
    """Lets calls fail in this very process, if the library was preloaded; those that the named objects make."""

    def __init__(self, objects):
        self.objects = objects.encode()
        self.library = ctypes.CDLL(None)
        self.told = os.memfd_create("told")

    def begin(self, plan):
        os.ftruncate(self.told, 0)
        os.lseek(self.told, 0, os.SEEK_SET)
        self.library.failing_begin(plan, self.objects, self.told)

    def end(self):
        """How many calls there were that might have failed, whether one did, and what was told of each."""
        count, happened = self.library.failing_end(), bool(self.library.failing_happened())
        told = os.pread(self.told, 1 << 24, 0).decode()
        return count, happened, re.findall(r"^(?:called|failing): (\w+)$", told, re.M)

    def each(self, call, every=1, first=1):
        """Calls once for each n with the n-th call failing, every-th of them only; gives what failed and what came of it."""
        n = first
        while True:
            plan = b"*:%d" % n
            self.begin(plan)
            try:
                answer = call()
            except BaseException as error:  # noqa: BLE001 (each is to be judged)
                answer = error
            _, happened, told = self.end()
            if not happened:
                return
            yield f"{told[0]} ({n})", answer
            answer = None
            n += every
