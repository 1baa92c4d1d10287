# SPDX-License-Identifier: MIT
"""Fuzzes models: random graphs of gathers, as ONNX and as OpenVINO IR, in garner, in ONNX Runtime and OpenVINO with garner
inside, and in these alone, all held against what the specifications say.

    python fuzz/graphs.py --seconds 60 --seed 1          # as many as there is time for
    python fuzz/graphs.py --seed 1 --case onnx 4711      # that one again, and what it is

garner must be installed or on PYTHONPATH. A runtime that is not installed is left out, which is said. Cases run in processes
of their own, one for each CPU, so that a crash ends one of them alone. What is found lies in --found, a folder for each, with
the model, its inputs and what is wrong; crashes of a runtime without garner are told and counted, and are no failure.
"""

import argparse
import importlib.util
import json
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve()
STYLES = {"onnx": "graph_onnx", "ir": "graph_ir"}
PACKAGES = {"onnx": "onnxruntime", "ir": "openvino"}
SHARE = {"onnx": 4, "ir": 1}  # of cases: OpenVINO compiles each of its models, which takes several times as long
STATE = struct.Struct("<qqd")  # of a worker: case, stage, when that began
LONGEST = 60  # seconds that one stage may take
FEWEST = 20  # cases of a worker, even if it began late
MOST = 50  # findings that are kept; more are counted


# ---- Cases -----------------------------------------------------------------------------------------


def make_case(seed, form, number):
    import graph_maker

    style = importlib.import_module(STYLES[form])
    return graph_maker.make(np.random.default_rng([seed, number, list(STYLES).index(form)]), style), style


def form_of(number, forms):
    """Which format a case has: in turn, by their shares."""
    turns = [form for form in forms for _ in range(SHARE[form])]
    return turns[number % len(turns)]


def describe(case):
    """A case in words: each node with what it reads."""
    lines = [f"{case.format}, {json.dumps(case.traits)}, error: {case.error}"]
    for node in case.nodes:
        read = ", ".join(f"{value.name} ({value.source} {value.dtype}{list(value.array.shape)} stated {value.shape})" for value in node.inputs)
        made = "nothing" if node.out.array is None else f"{node.out.dtype}{list(node.out.array.shape)}"
        lines.append(f"{node.out.name} = {node.operator} {node.version} axis {node.axis} batch_dims {node.batch_dims} of {read}: {made}")
    return "\n".join(lines)


def keep(arguments, form, number, message):
    """Saves a case that shows something, and gives the folder."""
    import graph_runs

    folder = pathlib.Path(arguments.found) / f"{form}-{arguments.seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    case, style = make_case(arguments.seed, form, number)
    style.write(case, folder)
    graph_runs.save(case, folder)
    again = f"python fuzz/graphs.py --seed {arguments.seed} --case {form} {number}"
    (folder / "what.txt").write_text(f"{message}\n\n{describe(case)}\n\n{again}\n", encoding="utf-8")
    return folder


# ---- A worker ----------------------------------------------------------------------------------------


def work(arguments):
    """Runs cases until time is up, and writes a line for each that is wrong. Its state is in a mapped file, where the parent
    finds it after a crash."""
    import graph_runs

    first, step, state = json.loads(arguments.worker)
    with open(state, "r+b") as file:
        shared = mmap.mmap(file.fileno(), STATE.size)
    forms, folder = arguments.formats, pathlib.Path(tempfile.mkdtemp(prefix="graphs-", dir=arguments.scratch))
    runtimes = {form: graph_runs.RUNTIMES[form]() if importlib.util.find_spec(PACKAGES[form]) else None for form in forms}
    print(json.dumps({"runtimes": [runtime.version for runtime in runtimes.values() if runtime]}), flush=True)
    number, done = first, 0
    while done < FEWEST or time.time() < arguments.until:
        form = form_of(number // step, forms)

        def note(stage):
            STATE.pack_into(shared, 0, number, graph_runs.STAGES.index(stage), time.time())

        note("made")
        case, style = make_case(arguments.seed, form, number)
        wrong = graph_runs.check(case, style.write(case, folder), runtimes[form], note)
        if wrong:
            print(json.dumps({"form": form, "case": number, "wrong": wrong}), flush=True)
        number, done = number + step, done + 1
    shutil.rmtree(folder)
    print(json.dumps({"done": done}), flush=True)


# ---- The parent --------------------------------------------------------------------------------------


class Worker:
    """One process after another, each beginning behind the case that ended the last."""

    def __init__(self, arguments, place, step):
        self.arguments, self.next, self.step = arguments, place, step
        self.place = place
        self.state = pathlib.Path(arguments.scratch) / f"state-{place}"
        self.state.write_bytes(bytes(STATE.size))
        self.log = pathlib.Path(arguments.scratch) / f"log-{place}"
        self.begin()

    def begin(self):
        options = ["--seed", self.arguments.seed, "--until", self.arguments.until, "--scratch", self.arguments.scratch, "--formats", *self.arguments.formats]
        worker = json.dumps([self.next, self.step, str(self.state)])
        self.out = open(self.log, "w+", encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, HERE, *map(str, options), "--worker", worker], stdout=self.out, stderr=subprocess.STDOUT)

    def where(self):
        return STATE.unpack(self.state.read_bytes())

    def lines(self):
        """What it wrote: our lines as they were meant, and the rest as text."""
        self.out.close()
        ours, rest = [], []
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                ours.append(json.loads(line))
            except ValueError:
                rest.append(line)
        return [line for line in ours if isinstance(line, dict)], "\n".join(rest[-30:])


class Fuzzing:
    def __init__(self, arguments):
        self.arguments, self.done, self.findings, self.crashes, self.versions = arguments, 0, 0, 0, None
        self.workers = [Worker(arguments, place, arguments.workers) for place in range(arguments.workers)]

    def found(self, form, number, message):
        self.findings += 1
        if self.findings > MOST:
            return
        folder = keep(self.arguments, form, number, message)
        print(f"graphs: {form} {number}: {message.splitlines()[0][:300]}\n  {folder}", flush=True)

    def read(self, worker):
        """What a process that has ended says."""
        ours, rest = worker.lines()
        for line in ours:
            self.versions = line.get("runtimes", self.versions)
            self.done += line.get("done", 0)
            if "wrong" in line:
                self.found(line["form"], line["case"], line["wrong"])
        return any("done" in line for line in ours), rest

    def ended(self, worker):
        """A process has ended: with its time, or with a case."""
        import graph_runs

        finished, rest = self.read(worker)
        if finished:
            return False
        number, stage, _ = worker.where()
        form = form_of(number // worker.step, self.arguments.formats)
        code, stage = worker.process.returncode, graph_runs.STAGES[stage]
        self.done += max(0, (number - worker.next) // worker.step)
        if stage == "alone" and code < 0:
            self.crashes += 1
            folder = keep(self.arguments, form, number, f"{stage}: ended by signal {-code}\n{rest}")
            print(f"graphs: {form} {number}: the runtime alone ended by signal {-code}\n  {folder}", flush=True)
        else:
            self.found(form, number, f"{stage}: the process ended with {code}\n{rest}")
        worker.next = number + worker.step
        return time.time() < self.arguments.until

    def watch(self):
        running = list(self.workers)
        while running:
            time.sleep(0.1)
            for worker in list(running):
                _, _, began = worker.where()
                if worker.process.poll() is None and began and time.time() - began > LONGEST:
                    worker.process.kill()
                    worker.process.wait()
                if worker.process.poll() is None:
                    continue
                if self.ended(worker):
                    worker.begin()
                else:
                    running.remove(worker)


def prepare(forms):
    """What takes its time only once, in a process that may fail: OpenVINO's extension is compiled."""
    program = "import graph_runs, sys\nfor form in sys.argv[1:]: graph_runs.RUNTIMES[form]()"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]))
    subprocess.run([sys.executable, "-c", program, *forms], env=environment, check=True)


def run(arguments):
    missing = [PACKAGES[form] for form in arguments.formats if not importlib.util.find_spec(PACKAGES[form])]
    for package in missing:
        print(f"SKIP graphs: {package} is not installed; garner alone runs its models")
    prepare([form for form in arguments.formats if PACKAGES[form] not in missing])
    began = time.time()
    arguments.until = began + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="graphs-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        arguments.scratch = scratch
        fuzzing = Fuzzing(arguments)
        fuzzing.watch()
    for version in fuzzing.versions or ():
        print(f"{'SKIP ' if 'without' in version else ''}graphs: {version}")
    rate = fuzzing.done / (time.time() - began)
    crashes = f", {fuzzing.crashes} crashes of a runtime alone" if fuzzing.crashes else ""
    print(f"graphs: seed {arguments.seed}, {fuzzing.done} models in {arguments.seconds} s, {rate:.0f} each second, {fuzzing.findings} findings{crashes}")
    return 1 if fuzzing.findings or not fuzzing.done else 0


def run_one(arguments):
    """One case in this process, and what it is."""
    import graph_runs

    form, number = arguments.case[0], int(arguments.case[1])
    case, style = make_case(arguments.seed, form, number)
    print(describe(case))
    runtime = graph_runs.RUNTIMES[form]() if importlib.util.find_spec(PACKAGES[form]) else None
    with tempfile.TemporaryDirectory() as folder:
        wrong = graph_runs.check(case, style.write(case, pathlib.Path(folder)), runtime, lambda stage: print(f"... {stage}", flush=True))
    print(wrong or "as it should be")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="not given: another one each time")
    parser.add_argument("--formats", nargs="+", choices=STYLES, default=list(STYLES))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--found", default="build/fuzz/graphs", help="the folder for what is found")
    parser.add_argument("--case", nargs=2, metavar=("FORMAT", "NUMBER"))
    for name in ("--worker", "--scratch"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = int(time.time())
    if arguments.worker:
        return work(arguments)
    return run_one(arguments) if arguments.case else run(arguments)


if __name__ == "__main__":
    sys.exit(main())
