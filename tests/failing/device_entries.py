# SPDX-License-Identifier: MIT
"""What python_entries.py does, for arrays on a GPU in the stand-in of tests/cuda: one call fails of the module, of the library for
GPUs, or of the driver. Nothing of the device's memory stays in use, and no scope stays open.

    python device_entries.py EVERY [NAME...]        with failing_call.c preloaded, and GARNER_CUDA_LIBRARY"""

import gc
import re
import shutil
import sys
import tempfile

import python_entries
from python_entries import fail_each, objects_stay, refused

sys.path.insert(0, str(python_entries.HERE.parent / "python"))
import injector  # noqa: E402
import numpy as np  # noqa: E402
import stand_in  # noqa: E402
from stand_in import Current, Exporter, Interface, Managed, Namespaced, driver, ndarray  # noqa: E402

import garner  # noqa: E402
import garner.cuda  # noqa: E402

stand_in.install_cupy()
DRIVER = python_entries.HERE.parents[1] / "src/cuda/driver/driver.def"
X = np.arange(24, dtype=np.float32).reshape(4, 6)
x, i, wide = ndarray(X), ndarray([3, 1]), ndarray(np.array([[3, 9, 1, 9]]))
named, columns = Namespaced(X), Namespaced([[1], [2], [3], [4]])
exported, pinned, shown = Exporter(X), Exporter([2, 0]), Interface(X)
pinned.kind = 3
PLAN = garner.Plan("gather", (4, 6), (2,), axis=0)


class DriverCalls:
    """Lets the n-th call fail of each of the driver's functions, for want of memory."""

    symbols = re.findall(r"^DRIVER\((\w+)", DRIVER.read_text(), re.M)

    def each(self, call, every=1, first=1):
        for symbol in self.symbols:
            n = 1
            while True:
                driver.fake_fail_call(symbol.encode(), n, 2)
                try:
                    answer = call()
                except BaseException as error:  # noqa: BLE001 (each is to be judged)
                    answer = error
                if not driver.fake_has_failed():
                    driver.fake_fail_call(None, 0, 0)
                    break
                yield f"{symbol} ({n})", answer
                answer = None
                n += every


def into(x, indices, kind):
    out = kind(shape=(2, 6), dtype=np.float32)
    return garner.take(x, indices, axis=0, out=out).tolist()


def on_stream(call):
    Current.stream = 16
    try:
        return call()
    finally:
        Current.stream = 0


def deferred(*calls):
    with garner.cuda.deferred():
        made = [call() for call in calls]
    return [array.tolist() for array in made]


def told(call):
    """What an error of a scope says; the failures that are injected go on."""
    try:
        call()
    except garner.Error as error:
        return type(error).__name__, str(error)
    raise AssertionError("not refused")


CALLS = {
    "take": lambda: garner.take(x, i, axis=0).tolist(),
    "take, another stream": lambda: on_stream(lambda: garner.take(x, i, axis=0).tolist()),
    "take, flat": lambda: garner.take(x, [23, -24]).tolist(),
    "take, flat views": lambda: garner.take(x[:, ::-1], wide[0, ::2]).tolist(),
    "take, indices of NumPy": lambda: garner.take(x, np.array([[3], [0]]), axis=0).tolist(),
    "take, indices of NumPy that are a view": lambda: garner.take(x, np.array([[3, 9], [0, 9]])[:, 0], axis=0).tolist(),
    "take, no out": lambda: garner.take(x, i, axis=0, out=None).tolist(),
    "take_along_dim, flat views": lambda: garner.take_along_dim(x, wide[:, ::2]).tolist(),
    "take, pinned": lambda: (garner.take(pinned, [1]).tolist(), garner.take(x, pinned, axis=0).tolist()),
    "take, beyond": lambda: garner.take(x, [0, 2**70 + 1], axis=0, mode="wrap").tolist(),
    "take, refused": lambda: refused(lambda: garner.take(x, ndarray([0, 77]))),
    "take, elsewhere": lambda: refused(lambda: garner.take(X, i)),
    "gather, a view of a view": lambda: garner.gather(named[::2], wide[0, 2:3], axis=0).tolist(),
    "gather_nd": lambda: garner.gather_nd(named, Namespaced([[3, 5]])).tolist(),
    "take_along_axis": lambda: garner.take_along_axis(x, ndarray([[3, 2, 1, 0, 1, 2]]), axis=0).tolist(),
    "take_along_dim": lambda: garner.take_along_dim(named, columns, 1).tolist(),
    "take_along_dim, flat": lambda: garner.take_along_dim(x, ndarray([[1], [23]])).tolist(),
    "index_select": lambda: garner.index_select(named, 0, [2, 2]).tolist(),
    "plan": lambda: PLAN(x, i).tolist(),
    "out": lambda: into(x, i, ndarray),
    "out, exported": lambda: into(exported, Exporter([3, 0]), Exporter),
    "out, managed": lambda: into(Managed(X), Managed([3, 0]), Managed),
    "out, interface": lambda: into(shown, Interface([3, 0]), Interface),
    "out, of another size": lambda: refused(lambda: garner.take(x, [0], axis=0, out=x)),
    "no out": lambda: refused(lambda: garner.take(exported, Exporter([0]), axis=0)),
    "deferred": lambda: deferred(lambda: garner.take(x, i, axis=0), lambda: garner.take(x, [5])),
    "deferred, streams": lambda: deferred(lambda: garner.take(x, i, axis=0), lambda: on_stream(lambda: garner.take(x, i)), lambda: garner.take(named, i)),
    "deferred, many": lambda: deferred(*[lambda n=n: garner.take(x, ndarray([n] * n)) for n in range(1, 12)]),
    "deferred, refused": lambda: told(lambda: deferred(lambda: garner.take(x, ndarray([77])), lambda: garner.take(x, i))),
    "available": lambda: garner.cuda.available() in (True, False),
}  # fmt: skip


def without_exports(call):
    """What was exported for earlier calls is let go first."""

    def clean():
        stand_in.capsule.__globals__["_kept"].clear()
        return call()

    return clean


def main():
    every, chosen = int(sys.argv[1]), sys.argv[2:]
    module, interpreter = injector.Inside("_garner.,libgarner_cuda"), injector.Interpreter(garner._garner.__file__)
    injectors = [module, interpreter, DriverCalls()]
    folder = tempfile.mkdtemp()
    for name, call in CALLS.items():
        if chosen and not any(part in name for part in chosen):
            continue
        call = without_exports(call)
        failed = fail_each(name, call, injectors, every, folder)
        for inject in (module, interpreter) if every == 1 else ():
            objects_stay(name, call, inject, every, folder)
        gc.collect()
        before = driver.fake_in_use()
        fail_each(name, call, [module], every, folder)
        gc.collect()
        waits = stand_in.waits()
        garner.take(x, i, axis=0)
        if stand_in.waits() == waits:
            raise AssertionError(f"{name}: calls are not waited for any more")
        if driver.fake_in_use() > before:
            raise AssertionError(f"{name}: {driver.fake_in_use() - before} blocks or events of the device are left")
        print(f"{failed:6} {name}", flush=True)
    shutil.rmtree(folder)
    injector.look_for_leaks()


if __name__ == "__main__":
    main()
