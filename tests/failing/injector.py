# SPDX-License-Identifier: MIT
"""Builds failing_call.c, the library that lets calls fail, and drives it: from outside by the environment of a program, from
inside, where it was preloaded, around single calls."""

import ctypes
import errno
import gc
import os
import pathlib
import re
import shutil
import subprocess
import sys

SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
SOURCE = pathlib.Path(__file__).resolve().parent / "failing_call.c"
INTERPRETER = SOURCE.with_name("failing_interpreter.c")


def why_not():
    """Why nothing can be made to fail here, in words; None if it can."""
    if not sys.platform.startswith("linux") or "glibc" not in os.confstr("CS_GNU_LIBC_VERSION"):
        return "SKIP: failing calls are tested with glibc on Linux"
    return None if shutil.which("cc") else "SKIP: no C compiler, failing calls are not tested"


def build(folder, source=SOURCE):
    """The library's path."""
    made = pathlib.Path(folder) / ("failing.so" if source == SOURCE else f"{source.stem}.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", made, source, "-ldl"], check=True)
    return made


def environment(library, **more):
    """What a program runs with; before a sanitizer's library where there is one."""
    options = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": f"{library} {os.environ.get('LD_PRELOAD', '')}".strip(),
            "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0:detect_leaks=0:allocator_may_return_null=1", **more}  # fmt: skip


# A frame of garner's own code in a report of LeakSanitizer, whose own source lies in a folder src, too.
OWN = re.compile(r" in \w+ \S*/(?:python/src|formats|table|model|draw|plugin|onnxruntime|_openvino|openvino|src(?!/libsanitizer))/\S+\.c")


def run_entries(script, *arguments, folder, seldom=7, **more):
    """Runs one of the programs beside this one with the library preloaded, which lets each `seldom`-th call fail if not all are to; how
    many failed, by entry. Where there is a sanitizer, nothing may have leaked that garner's code allocated."""
    options = environment(build(folder), PYTHONPATH=os.pathsep.join(path for path in sys.path if path), **more)
    options["FAILING_INTERPRETER"] = str(build(folder, INTERPRETER))
    options["ASAN_OPTIONS"] = options["ASAN_OPTIONS"].replace("detect_leaks=0", "") + ":detect_leaks=1:leak_check_at_exit=0"
    if SANITIZED:  # LeakSanitizer does not look into the interpreter's own arenas for what is still in use
        options.setdefault("PYTHONMALLOC", "malloc")
    every = "1" if os.environ.get("GARNER_TEST_FAILING") == "all" else str(seldom)
    said = subprocess.run([sys.executable, SOURCE.with_name(script), *arguments, every], capture_output=True, text=True,
                          env={**os.environ, **options})  # fmt: skip
    assert said.returncode == 0, said.stdout[-2000:] + said.stderr[-6000:]
    if SANITIZED:
        assert "leaks looked for" in said.stdout, said.stdout
        leaks = [part for part in said.stdout.split("\n\n") if part.lstrip().startswith(("Direct leak", "Indirect leak")) and OWN.search(part)]
        assert not leaks, "\n\n".join(leaks[:5])
    return {name: int(count) for count, name in re.findall(r"^ *(\d+) (.*)$", said.stdout, re.M)}


def look_for_leaks():
    """What LeakSanitizer says, where it is, to standard output."""
    check = getattr(ctypes.CDLL(None), "__lsan_do_recoverable_leak_check", None)
    if check:
        gc.collect()
        sys.stdout.flush()
        os.dup2(1, 2)
        print("leaks looked for", check())


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
            yield f"{told[0] if told else 'of a thread that has not told yet'} ({n})", answer
            answer = None
            n += every


class Interpreter:
    """Lets calls fail that an extension module makes of the interpreter, with MemoryError; see failing_interpreter.c."""

    def __init__(self, module):
        self.library = ctypes.PyDLL(os.environ["FAILING_INTERPRETER"])
        self.library.refusing_begin.argtypes = [ctypes.c_long]
        self.library.refusing_end.restype = ctypes.c_char_p
        assert self.library.refusing_enter(os.fsencode(module)) > 20, module

    def each(self, call, every=1, first=1):
        n = first
        while True:
            self.library.refusing_begin(n)
            try:
                answer = call()
            except BaseException as error:  # noqa: BLE001 (each is to be judged)
                answer = error
            failed = self.library.refusing_end()
            if failed is None:
                return
            yield f"{failed.decode()} ({n})", answer
            answer = None
            n += every


class PythonCalls:
    """Lets the n-th call raise that Python code of a folder makes of C code, by the interpreter's own hook."""

    def __init__(self, folder, make):
        self.folder, self.make = folder, make

    def each(self, call, every=1, first=1):
        n = first
        while True:
            left, failed = n, None

            def watch(frame, event, what):
                nonlocal left, failed
                if event != "c_call" or not frame.f_code.co_filename.startswith(self.folder):
                    return
                left -= 1
                if left == 0:
                    failed = getattr(what, "__qualname__", repr(what))
                    raise self.make()

            sys.setprofile(watch)
            try:
                answer = call()
            except BaseException as error:  # noqa: BLE001 (each is to be judged)
                answer = error
            finally:
                sys.setprofile(None)
            if failed is None:
                return
            yield f"{failed} ({n})", answer
            answer = None
            n += every


def of_python(folder):
    """Both kinds of failure that its Python code can meet."""
    return [PythonCalls(folder, MemoryError), PythonCalls(folder, lambda: OSError(errno.EIO, "injected"))]
