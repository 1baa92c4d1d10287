# SPDX-License-Identifier: MIT
"""Rows from a file that is not in memory: garner's tables against fio, np.memmap and a sorted np.memmap.

    python -m garner_bench.disk --disk FILE [--gigabytes N] [--widths 64,512] [--rows N]

FILE is made if it is not there, and is not removed. Cold means that the page cache holds none of it: it is told to forget
(POSIX_FADV_DONTNEED) before each measurement. fio reads blocks at random for as long as garner took, with the same engine, depth
and alignment, and knows neither rows nor indices: it is what the device gives."""

import argparse
import ctypes
import itertools
import json
import mmap
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (64, 512, 4096, 65536)
U8, I64, GATHER = 2, 7, 1
HOWS = ("any", "mapped", "ring", "pread")
TURNS = 24  # every order of the four ways of a hot gather


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32), ("bytes", ctypes.c_uint64),
                ("item_bytes", ctypes.c_uint64), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class Op(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("kind", ctypes.c_int), ("axis", ctypes.c_int64), ("batch_dims", ctypes.c_int64),
                ("oob", ctypes.c_int), ("negative", ctypes.c_int), ("spec", ctypes.c_int32), ("strict", ctypes.c_int32)]  # fmt: skip


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("how", ctypes.c_int), ("memory", ctypes.c_uint64), ("threads", ctypes.c_int32),
                ("follow_links", ctypes.c_int32), ("watch", ctypes.c_void_p), ("context", ctypes.c_void_p)]  # fmt: skip


class Exec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p), ("cancelled", ctypes.c_void_p),
                ("context", ctypes.c_void_p), ("threads", ctypes.c_void_p)]  # fmt: skip


class Stats(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("how", ctypes.c_int), ("direct", ctypes.c_int32), ("gathers", ctypes.c_uint64),
                ("points", ctypes.c_uint64), ("reads", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]  # fmt: skip


def tensor(array, dtype):
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    made = Tensor(array.ctypes.data, shape, None, array.ndim, dtype, array.nbytes, 0, 0)
    return made


class Library:
    """libgarner.so and libgarner_files.so of a build folder."""

    def __init__(self, folder):
        self.core = ctypes.CDLL(str(Path(folder) / "libgarner.so"), mode=ctypes.RTLD_GLOBAL)
        self.files = ctypes.CDLL(str(Path(folder) / "libgarner_files.so"))
        self.core.garner_threads.restype = Exec
        self.pool = self.core.garner_threads(0)

    def check(self, status, error):
        if status:
            raise SystemExit(f"bench: {error.raw[-512:].split(bytes(1))[0].decode()}")

    def plain(self, table, indices, out):
        error = ctypes.create_string_buffer(4096)
        operator = Op(kind=GATHER)
        status = self.core.garner_run(ctypes.byref(operator), ctypes.byref(tensor(table, U8)), ctypes.byref(tensor(indices, I64)),
                                      ctypes.byref(tensor(out, U8)), ctypes.byref(self.pool), error)  # fmt: skip
        self.check(status, error)


class Table:
    def __init__(self, library, path, member, how="any"):
        self.library, self.handle = library, ctypes.c_void_p()
        options = Options(size=ctypes.sizeof(Options), how=HOWS.index(how))
        status = library.files.garner_table_open(os.fsencode(path), member.encode(), ctypes.byref(options), ctypes.byref(self.handle), None)
        if status:
            raise SystemExit(f"bench: {path} cannot be opened as a table: status {status}")

    def gather(self, indices, out):
        error = ctypes.create_string_buffer(4096)
        operator = Op(kind=GATHER)
        status = self.library.files.garner_table_gather(self.handle, ctypes.byref(operator), ctypes.byref(tensor(indices, I64)),
                                                        ctypes.byref(tensor(out, U8)), error)  # fmt: skip
        self.library.check(status, error)

    def how(self):
        stats = Stats(size=ctypes.sizeof(Stats))
        self.library.files.garner_table_report(self.handle, ctypes.byref(stats))
        return HOWS[stats.how]

    def close(self):
        self.library.files.garner_table_close(self.handle)


# ---- The file -----------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def make_file(path, size):
    """Bytes that no file system can leave out or pack, and a model beside them that gives them a shape of each width."""
    if not path.exists() or path.stat().st_size < size:
        piece = np.random.default_rng(1).integers(0, 256, 1 << 24, np.uint8)
        with open(path, "wb") as file:
            for _ in range(0, size, len(piece)):
                piece[::4096] += 1
                file.write(piece.tobytes())
            os.fsync(file.fileno())


def make_model(path, widths, size):
    model = path.with_suffix(".onnx")
    tensors = b""
    for width in widths:
        external = block(13, block(1, b"location") + block(2, os.fsencode(path.name)))
        shape = number(1, size // width) + number(1, width)
        tensors += block(5, shape + number(2, U8) + block(8, f"w{width}".encode()) + external + number(14, 1))
    model.write_bytes(number(1, 8) + block(7, tensors))
    return model


def forget(path):
    """Lets the page cache drop the file, all of whose pages are clean."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# ---- Measuring ----------------------------------------------------------------------------------------


def fio(path, width, seconds):
    """Random reads a second of blocks as large as a row, or as the smallest that the device reads."""
    if not shutil.which("fio"):
        return None
    size = max(width, 512)
    command = ["fio", "--name=rows", f"--filename={path}", "--readonly", "--rw=randread", f"--bs={size}", "--direct=1", "--iodepth=128",
               "--ioengine=io_uring", f"--runtime={seconds}", "--time_based", "--norandommap", "--randrepeat=0", "--output-format=json"]  # fmt: skip
    for engine in ("io_uring", "libaio"):
        command[9] = f"--ioengine={engine}"
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]["read"]["iops"]
    return None


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def draw_indices(generator, rows, count, skew):
    if skew == "uniform":
        return generator.integers(0, rows, count)
    return (generator.zipf(1.1, count) * 2654435761 % rows).astype(np.int64)  # few rows are most, and lie anywhere


def sorted_memmap(table, indices, out):
    order = np.argsort(indices)
    out[order] = table[indices[order]]


def check(path, width, indices, out):
    """Without a mapping, whose pages the page cache does not forget."""
    with open(path, "rb") as file:
        for index, row in zip(indices, out):
            assert os.pread(file.fileno(), width, int(index) * width) == row.tobytes()


def measure(path, model, library, width, count, skew, options):
    """Rows a second, by name: of cold gathers the median of a few rounds, in each of which all take their turn."""
    result = {"width": width, "rows": count, "skew": skew}
    rounds = [measure_cold(path, model, library, width, count, skew, options, number) for number in range(options.rounds)]
    result["chosen cold"] = rounds[0].pop("chosen cold")
    for name in rounds[0]:
        result[name] = median([found[name] for found in rounds])
    for name in ("fio", "memmap", "sorted"):
        result[f"any/{name}"] = median([ratio(found["any"], found.get(name)) for found in rounds])
    table = Table(library, model, f"w{width}")
    measure_hot(path, library, table, width, count, result, np.random.default_rng(7))
    table.close()
    return result


def measure_cold(path, model, library, width, count, skew, options, number):
    rows = path.stat().st_size // width
    generator = np.random.default_rng(number)
    out = np.ones((count, width), np.uint8)  # whose pages are there
    found = {}

    def cold(name, some, work):
        chosen = draw_indices(generator, rows, some, skew)
        forget(path)
        found[name] = some / seconds_of(lambda: work(chosen, out[:some]))
        return chosen

    def cold_table(how):
        table = Table(library, model, f"w{width}", how)
        indices = cold(how, count, table.gather)
        check(path, width, indices[:64], out)
        taken = table.how()
        table.close()
        return taken

    if cold_table("ring") != "ring":
        found["ring"] = None
    if skew == "uniform":
        found["fio"] = fio(path, width, options.fio_seconds)
    found["chosen cold"] = cold_table("any")
    cold_table("pread")
    few = max(count // 8, 64)
    cold("memmap", few, lambda chosen, to: np.take(mapped(path, rows, width), chosen, axis=0, out=to))
    cold("sorted", few, lambda chosen, to: sorted_memmap(mapped(path, rows, width), chosen, to))
    return found


def mapped(path, rows, width):
    """A mapping of its own for each use: the page cache keeps what is mapped."""
    return np.memmap(path, np.uint8, "r", shape=(rows, width))


def ratio(a, b):
    return a / b if a and b else None


def median(values):
    there = [value for value in values if value is not None]
    return statistics.median(there) if there else None


def measure_hot(path, library, table, width, count, result, generator):
    """The same rows again and again, from a quarter of a gigabyte that the page cache holds: from the table, by a plain gather
    from the same pages and from a copy of them, and by NumPy. They take turns, each time in another order."""
    part = min(path.stat().st_size // width, (1 << 28) // width)
    count = min(count, (1 << 27) // width)
    shared = mapped(path, part, width)
    private = np.array(shared)
    indices = draw_indices(generator, part, count, result["skew"])
    out = np.ones((count, width), np.uint8)  # whose pages are there
    ways = {"hot": lambda: table.gather(indices, out), "hot mapped": lambda: library.plain(shared, indices, out),
            "hot private": lambda: library.plain(private, indices, out), "hot memmap": lambda: np.take(shared, indices, axis=0, out=out)}  # fmt: skip
    times = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name in permuted(list(ways), turn):
            times[name].append(seconds_of(ways[name]))
    result["chosen hot"] = table.how()
    for name in ways:
        result[name] = count / statistics.median(times[name][1:])  # the first turn warms up
    for name in list(ways)[1:]:
        result[f"hot/{name}"] = statistics.median(theirs / ours for theirs, ours in zip(times[name][1:], times["hot"][1:]))


def permuted(names, turn):
    orders = list(itertools.permutations(names))
    return orders[turn % len(orders)]


# ---- The table ----------------------------------------------------------------------------------------


def shown(value):
    if value is None:
        return "-"
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value / 1e3:.1f}k" if value >= 1e4 else f"{value:.0f}"


def shown_ratio(value):
    return "-" if value is None else f"{value:.2f}"


COLUMNS = ("row", "indices", "fio", "ring", "pread", "any", "memmap", "sorted", "any/fio", "any/memmap", "any/sorted", "hot", "hot/mapped memory",
           "hot/private memory", "hot/memmap")  # fmt: skip


def line(r):
    ratios = [shown_ratio(r[name]) for name in ("any/fio", "any/memmap", "any/sorted", "hot/hot mapped", "hot/hot private", "hot/hot memmap")]
    return (f"{r['width']} B", r["skew"], shown(r.get("fio")), shown(r["ring"]), shown(r["pread"]), f"{shown(r['any'])} ({r['chosen cold']})",
            shown(r["memmap"]), shown(r["sorted"]), *ratios[:3], f"{shown(r['hot'])} ({r['chosen hot']})", *ratios[3:])  # fmt: skip


def print_line(fields):
    print("| " + " | ".join(fields) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="bench --disk", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--disk", required=True, type=Path, metavar="FILE", help="the file to read from; made if it is not there")
    parser.add_argument("--gigabytes", type=float, default=4, help="its size, if it is made (default: 4)")
    parser.add_argument("--widths", default=",".join(map(str, WIDTHS)), help="bytes of a row (default: 64,512,4096,65536)")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of a gather, or less of long ones: a quarter of a gigabyte")
    parser.add_argument("--rounds", type=int, default=3, help="how often each cold gather is measured; the median counts (default: 3)")
    parser.add_argument("--fio-seconds", type=int, default=3, help="how long fio reads (default: 3)")
    parser.add_argument("--skews", default="uniform,zipf", help="how indices are drawn (default: uniform,zipf)")
    parser.add_argument("--library", default=str(ROOT / "build"), metavar="FOLDER", help="where libgarner.so and libgarner_files.so lie")
    parser.add_argument("--output", default=str(ROOT / "build" / "bench" / "disk.json"), metavar="FILE", help="where the figures go")
    options = parser.parse_args()
    widths = [int(width) for width in options.widths.split(",")]
    options.disk.parent.mkdir(parents=True, exist_ok=True)
    make_file(options.disk, int(options.gigabytes * (1 << 30)) // mmap.PAGESIZE * mmap.PAGESIZE)
    size = options.disk.stat().st_size
    model = make_model(options.disk, widths, size)
    library = Library(options.library)
    if not shutil.which("fio"):
        print("bench: SKIP fio: it is not installed (Debian: fio)", file=sys.stderr)
    print("rows a second\n")
    print_line(COLUMNS)
    print("|" + "---|" * len(COLUMNS))
    results = []
    for width in widths:
        for skew in options.skews.split(","):
            results.append(measure(options.disk, model, library, width, max(64, min(options.rows, (1 << 28) // width)), skew, options))
            print_line(line(results[-1]))
    Path(options.output).parent.mkdir(parents=True, exist_ok=True)
    Path(options.output).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
