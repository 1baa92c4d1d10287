# SPDX-License-Identifier: MIT
"""The core and its unit tests, compiled once; and again, as far as need be, with a mutation in it."""

import concurrent.futures
import os
import pathlib
import resource
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCALE = "0.05"
SECONDS = 180  # that a test may take
COMPILER = [os.environ.get("CC", "cc"), "-std=c11", "-w", "-pthread"]  # without optimisation: quick to compile
WORKERS = os.cpu_count() or 1


def compile_one(source, output, include, options=()):
    folders = [ROOT / "include", ROOT / "tests/support", ROOT / "examples", include]
    command = [*COMPILER, *options, *(f"-I{folder}" for folder in folders)]
    subprocess.run(command + ["-c", source, "-o", output, "-MMD", "-MF", output.with_suffix(".d")], check=True,
                   capture_output=True)


def compile_all(sources, folder, include, workers=1):
    """Objects of many sources, by source name."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = {source.name: folder / (source.stem + ".o") for source in sources}
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda source: compile_one(source, objects[source.name], include), sources))
    return objects


def core_sources(source_root):
    return sorted(source for source in source_root.rglob("*.c") if "cuda" not in source.parts)


def needs(built, file):
    """Whether this object of the unchanged core was made of that file; the compiler wrote down what it read."""
    read = built.with_suffix(".d").read_text().replace("\\\n", " ").split()[1:]
    return ROOT / file in (pathlib.Path(path).resolve() for path in read)


class Suite:
    """The tests of these names with the unchanged core. Each may take so many seconds of CPU time."""

    def __init__(self, tests, scratch, cpu_seconds=60):
        self.cpu_seconds = cpu_seconds
        self.said = ""  # by the test that failed last
        self.core = compile_all(core_sources(ROOT / "src"), scratch / "base", ROOT / "src", WORKERS)
        support = compile_all(sorted(ROOT.glob("tests/support/*.c")), scratch / "support", ROOT / "src", WORKERS)
        self.support = list(support.values())
        sources = [next(ROOT.glob(f"tests/src/**/{test}.c")) for test in tests]
        self.programs = compile_all(sources, scratch / "suite", ROOT / "src", WORKERS)
        (scratch / "unchanged").mkdir()
        failure = self.first_failure({}, scratch / "unchanged", tests)
        if failure:
            raise SystemExit(f"{self.said}\n{failure} fails on the unchanged core")

    def limit(self):
        """A test that no longer ends is over soon; what it crashes with is not kept."""
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def first_failure(self, changed, folder, tests):
        """The first of these tests that fails with these objects in the core, or None. A crash is a failure."""
        environment = dict(os.environ, GARNER_TEST_SCALE=SCALE)
        core = {**self.core, **changed}
        for test in tests:
            program = folder / test
            objects = [self.programs[test + ".c"], *self.support, *core.values()]
            subprocess.run(COMPILER + [*objects, "-lcmocka", "-lm", "-ldl", "-o", program], check=True)
            try:
                result = subprocess.run([program], env=environment, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=self.limit)
            except subprocess.TimeoutExpired:
                return f"{test} (no end)"
            program.unlink()
            if result.returncode != 0:
                self.said = result.stdout.decode(errors="replace")
                return test
        return None
