# SPDX-License-Identifier: MIT
"""Arrays of torch, CuPy and JAX on a GPU. A program, too, which needs no pytest:

    PYTHONPATH=build/python python3 tests/python/test_cuda_device.py

A line for each check, and how many there were and failed at the end. What is not installed is said in a line that begins with SKIP.
"""

import functools
import os
import re
import statistics
import sys
import threading
import time
import traceback
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take the memory of the others

try:
    import numpy as np

    import garner
    import garner.cuda

    MISSING = None if garner.cuda.available() else "libgarner_cuda.so and a driver with a device"
    if MISSING:
        try:
            garner._garner._device_count()
        except OSError as error:
            MISSING = str(error)
except ImportError as error:
    MISSING = str(error)


def optional(name):
    try:
        return __import__(name)
    except Exception as error:  # one that is installed and does not load
        print(f"SKIP {name}: {error}")
        return None


def find_torch():
    torch = optional("torch")
    if torch and not torch.cuda.is_available():
        print("SKIP torch: it has no CUDA here")
        return None
    return torch


def find_cupy():
    cupy = optional("cupy")
    try:
        cupy and cupy.arange(3).sum().item()
    except Exception as error:
        print(f"SKIP cupy: {error}")
        return None
    return cupy


def find_jax():
    jax = optional("jax")
    if jax and jax.default_backend() not in ("gpu", "cuda"):
        print(f"SKIP jax: its backend is {jax.default_backend()}")
        return None
    return jax


torch, cupy, jax = (None, None, None) if MISSING else (find_torch(), find_cupy(), find_jax())


class Kind:
    """How a library makes an array, and gives one back."""

    def __init__(self, name, make, back, type_):
        self.name, self.make, self.back, self.type = name, make, back, type_


KINDS = {}
if torch:
    KINDS["torch"] = Kind("torch", lambda a: torch.tensor(a, device="cuda"), lambda t: t.cpu().numpy(), torch.Tensor)
if cupy:
    KINDS["cupy"] = Kind("cupy", cupy.asarray, cupy.asnumpy, cupy.ndarray)
if jax:
    KINDS["jax"] = Kind("jax", lambda a: jax.device_put(a), np.asarray, jax.Array)

X = None if MISSING else np.arange(24, dtype=np.float32).reshape(4, 6)
CHECKS = []


def check(function):
    CHECKS.append((function.__name__, function))
    return function


def for_each(*names):
    def decorate(function):
        for name in names:
            if name in KINDS:
                bound = functools.partial(function, KINDS[name])
                CHECKS.append((f"{function.__name__}[{name}]", bound))
        return function

    return decorate


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def same(kind, made, expected):
    assert isinstance(made, kind.type), type(made)
    back = kind.back(made)
    assert back.dtype == expected.dtype and back.shape == expected.shape and back.tobytes() == expected.tobytes(), (back, expected)


CALLS = [] if MISSING else [
    (lambda x, i: garner.take(x, i, axis=1), np.array([[5, 0], [-1, 2]], np.int32)),
    (garner.take, np.array([23, 0, -2], np.int32)),
    (lambda x, i: garner.take(x, i, axis=0, mode="wrap"), np.array([9, -9], np.int32)),
    (lambda x, i: garner.gather(x, i, axis=1, batch_dims=1), np.array([[0], [1], [2], [3]], np.int32)),
    (lambda x, i: garner.gather(x, i, oob="zero"), np.array([1, 7], np.int32)),
    (lambda x, i: garner.gather_elements(x, i, axis=1), np.array([[5, 4], [3, 2], [1, 0], [0, -6]], np.int32)),
    (garner.gather_nd, np.array([[3, 5], [0, -1]], np.int32)),
    (lambda x, i: garner.take_along_axis(x, i, axis=0), np.array([[3, 2, 1, 0, 1, 2]], np.int32)),
    (lambda x, i: garner.take_along_axis(x, i, axis=1), np.array([[5]], np.int32)),
    (lambda x, i: garner.index_select(x, 0, i), np.array([2, 2, 0], np.int32)),
    (lambda x, i: garner.take_along_dim(x, i, 1), np.array([[1], [2], [3], [4]], np.int32)),
    (lambda x, i: garner.take(x, i, axis=0), np.zeros((0, 3), np.int32)),
]  # fmt: skip


@for_each("torch", "cupy", "jax")
def results(kind):
    x = kind.make(X)
    for call, indices in CALLS:
        expected = call(X, indices)
        for given in kind.make(indices), indices, indices.tolist() if indices.size else indices:
            same(kind, call(x, given), expected)


@for_each("torch", "cupy", "jax")
def plans(kind):
    plan, indices = garner.Plan("gather", (4, 6), (2,), index_dtype="i32"), np.array([3, 1], np.int32)
    for given in kind.make(indices), indices:
        same(kind, plan(kind.make(X), given), X[indices])


@for_each("torch", "cupy", "jax")
def types(kind):
    names = "bool int8 uint8 int16 int32 float16 float32 complex64".split() + ([] if kind.name == "jax" else ["int64", "float64", "complex128"])
    for name in names:
        x = (np.arange(60).reshape(5, 4, 3) % 7).astype(name)
        same(kind, garner.take(kind.make(x), kind.make(np.array([3, -4, 0], np.int32)), axis=1), x[:, [3, 0, 0]])


@for_each("torch", "cupy", "jax")
def errors(kind):
    for call, indices in [(lambda x, i: garner.gather(x, i, axis=1), np.array([[0, 1], [6, -7]], np.int32)), (garner.take, np.array([0, 24, 25], np.int32)),
                          (lambda x, i: garner.take_along_axis(x, i, axis=1), np.array([[0, 1, 66]], np.int32)),
                          (garner.gather_nd, np.array([[0, 0], [3, 6]], np.int32)), (lambda x, i: garner.index_select(x, 0, i), np.array(4, np.int32))]:  # fmt: skip
        expected = raises(garner.OutOfRange, lambda: call(X, indices))
        for given in kind.make(indices), indices:
            error = raises(garner.OutOfRange, lambda: call(kind.make(X), given))
            for name in "status axis position coordinates value bound".split():
                assert getattr(error, name) == getattr(expected, name), name
            assert str(error) == str(expected)
        same(kind, garner.take(kind.make(X), [1, 2], axis=0), X[[1, 2]])
    raises(garner.BadShape, lambda: garner.take(kind.make(X), kind.make(np.array([0], np.int32)), axis=2))
    raises(garner.BadArgument, lambda: garner.take(X, kind.make(np.array([0], np.int32))))


@for_each("torch", "cupy", "jax")
def deferred(kind):
    x = kind.make(X)

    def body():
        with garner.cuda.deferred():
            good.append(garner.take(x, kind.make(np.array([1, 2], np.int32)), axis=0))
            bad.append(garner.take(x, kind.make(np.array([1, 77, 2], np.int32))))
            garner.take(x, kind.make(np.array([88], np.int32)))

    good, bad = [], []
    error = raises(garner.OutOfRange, body)
    assert error.value == 77 and error.coordinates == (1,), error
    same(kind, good[0], X[[1, 2]])
    if kind.name != "jax":
        same(kind, bad[0], np.array([1, 0, 2], np.float32))
    with garner.cuda.deferred():
        made = garner.take(x, [3], axis=0)
    same(kind, made, X[[3]])


@for_each("torch", "cupy")
def out(kind):
    x, to = kind.make(X), kind.make(np.zeros((2, 12), np.float32))
    assert garner.take(x, [3, 0], axis=0, out=to[:, ::2]) is not None
    assert kind.back(to)[:, ::2].tolist() == X[[3, 0]].tolist() and not kind.back(to)[:, 1::2].any()
    raises(garner.Error, lambda: garner.take(x, [0, 1], axis=0, out=x[:2]))
    raises(garner.BadArgument, lambda: garner.take(x, [0, 1], axis=0, out=np.zeros((2, 6), np.float32)))
    same(kind, garner.take(x[::2, 1:], [1, 0], axis=1), X[::2, 1:][:, [1, 0]])
    same(kind, garner.take(x[:, ::2], [4, 0]), X[:, ::2].ravel()[[4, 0]])


@for_each("jax")
def out_of_jax_is_refused(kind):
    raises(garner.BadArgument, lambda: garner.take(kind.make(X), [0, 1], axis=0, out=kind.make(X[:2])))


@for_each("torch", "cupy", "jax")
def large(kind):
    """Results in the order of their library's own work before and after; one bad index among ten million."""
    table = np.random.default_rng(1).standard_normal((100_000, 64), dtype=np.float32)
    indices = np.random.default_rng(2).integers(0, 100_000, 1_000_000).astype(np.int32)
    x, i = kind.make(table), kind.make(indices)
    for _ in range(3):
        y = garner.take(x * 2, i, axis=0) + 1
    same(kind, y, table[indices] * 2 + 1)
    many = np.zeros(10_000_000, np.int32)
    many[9_999_999] = 100_000
    error = raises(garner.OutOfRange, lambda: garner.take(x, kind.make(many), axis=0, mode="raise"))
    assert error.position == 9_999_999, error


@for_each("torch", "cupy")
def streams(kind):
    """On a stream that is not the default one and does not wait for it, with work before and after."""
    table = np.random.default_rng(1).standard_normal((200_000, 64), dtype=np.float32)
    indices = np.random.default_rng(2).integers(0, 200_000, 500_000)
    x, i = kind.make(table), kind.make(indices)
    if kind.name == "torch":
        stream, synchronize = torch.cuda.Stream(), torch.cuda.synchronize
        context = torch.cuda.stream(stream)
    else:
        stream = context = cupy.cuda.Stream(non_blocking=True)
        synchronize = cupy.cuda.Device().synchronize
    synchronize()
    for check_later in False, True:
        with context, garner.cuda.deferred() if check_later else threading.Lock():
            y = x
            for _ in range(20):
                y = y + 1
            z = garner.take(y, i, axis=0) * 2
        synchronize()
        assert np.allclose(kind.back(z), (table + 20)[indices] * 2)


@check
def interface_alone():
    """Through __cuda_array_interface__, without DLPack."""
    if not (torch or cupy):
        return
    make = KINDS["cupy" if cupy else "torch"].make

    class Bare:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    to = make(np.zeros(2, np.float32))
    garner.take(Bare(make(X)), Bare(make(np.array([5, 7]))), out=Bare(to))
    assert to.tolist() == [5, 7]
    assert "give out" in str(raises(garner.BadArgument, lambda: garner.take(Bare(make(X)), Bare(make(np.array([5]))))))


@check
def mixed_libraries():
    if torch and cupy:
        x, i = torch.tensor(X, device="cuda"), cupy.asarray(np.array([1, 2]))
        assert garner.take(x, i, axis=0).tolist() == X[[1, 2]].tolist()
        assert garner.take(cupy.asarray(X), torch.tensor([1, 2], device="cuda"), axis=0).tolist() == X[[1, 2]].tolist()
        with torch.cuda.stream(torch.cuda.Stream()), garner.cuda.deferred():
            made = garner.take(x + 1, cupy.asarray(np.array([3])) - 1, axis=0)
        torch.cuda.synchronize()
        assert made.tolist() == (X + 1)[[2]].tolist()


@check
def torch_facts():
    if not torch:
        return
    x, i = torch.tensor(X, device="cuda", requires_grad=True), torch.tensor([1], device="cuda")
    assert "requires grad" in str(raises(garner.BadType, lambda: garner.take(x, i)))
    with torch.no_grad():
        assert garner.take(x, i).tolist() == [1]
    half = torch.tensor(X, device="cuda").bfloat16()
    made = garner.take(half, i, axis=0)
    assert made.dtype == torch.bfloat16 and made.tolist() == half[[1]].tolist()
    made.record_stream(torch.cuda.current_stream())
    pinned = torch.tensor(X).pin_memory()
    assert garner.take(pinned, [3], axis=0).tolist() == X[[3]].tolist()
    if torch.cuda.device_count() > 1:
        raises(garner.BadArgument, lambda: garner.take(half, torch.tensor([1], device="cuda:1")))
        assert garner.take(half.to("cuda:1"), torch.tensor([1], device="cuda:1"), axis=0).device.index == 1
    else:
        print("SKIP two devices: there is one")


@check
def graph_of_torch():
    if not torch:
        return
    x, i = torch.tensor(X, device="cuda"), torch.tensor([1, 2], device="cuda")
    assert "captured" not in str(garner.take(x, i))
    check, graph = garner.cuda.deferred(), torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), check:
        garner.take(x, i, axis=0)  # the warm-up
    torch.cuda.current_stream().wait_stream(side)
    with check, torch.cuda.graph(graph):
        y = garner.take(x, i, axis=0) * 2
    for numbers in [3, 0], [2, 2]:
        i.copy_(torch.tensor(numbers))
        graph.replay()
        torch.cuda.synchronize()
        check.check()
        assert y.tolist() == (X[numbers] * 2).tolist()
    i.copy_(torch.tensor([0, 9]))
    graph.replay()
    torch.cuda.synchronize()
    error = raises(garner.OutOfRange, check.check)
    assert error.value == 9 and y.tolist()[1] == [0] * 6
    i.copy_(torch.tensor([1, 1]))
    graph.replay()
    torch.cuda.synchronize()
    check.check()
    assert y.tolist() == (X[[1, 1]] * 2).tolist()


@check
def graph_without_deferred_is_refused():
    if not torch:
        return
    x, i, seen = torch.tensor(X, device="cuda"), torch.tensor([1, 2], device="cuda"), []
    garner.take(x, i, axis=0)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        y = x + 1
        seen.append(raises(garner.BadArgument, lambda: garner.take(y, i, axis=0)))
    assert "deferred" in str(seen[0])


@check
def compiled():
    """torch.compile: with a graph break as it is, and without one as a custom operator."""
    if not torch:
        return
    x, i = torch.tensor(X, device="cuda"), torch.tensor([3, 1], device="cuda")

    @torch.library.custom_op("garner_test::take", mutates_args=())
    def take(x: torch.Tensor, i: torch.Tensor, axis: int) -> torch.Tensor:
        return garner.take(x, i, axis=axis)

    @take.register_fake
    def _(x, i, axis):
        return x.new_empty(*x.shape[:axis], *i.shape, *x.shape[axis + 1 :])

    for backend in "eager", "inductor":
        try:
            broken = torch.compile(lambda x, i: garner.take(x * 2, i, axis=0) + 1, backend=backend)(x, i)
            whole = torch.compile(lambda x, i: take(x * 2, i, 0) + 1, backend=backend, fullgraph=True)(x, i)
        except Exception as error:
            if backend == "eager":
                raise
            print(f"SKIP torch.compile by {backend}: {str(error).splitlines()[0]}")
            continue
        assert broken.tolist() == whole.tolist() == (X[[3, 1]] * 2 + 1).tolist()


@check
def threads():
    if not KINDS:
        return
    kind = next(iter(KINDS.values()))
    wrong = []

    def work(number):
        x = kind.make(X)
        for _ in range(200):
            if garner.take(x, [number], axis=1).tolist() != X[:, [number]].tolist():
                wrong.append(number)
            try:
                garner.take(x, [100 + number])
                wrong.append("no error")
            except garner.OutOfRange as error:
                if error.value != 100 + number:
                    wrong.append(str(error))

    all_threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    assert not wrong, wrong[:3]


@for_each("torch")
def a_thousand_errors(kind):
    x, i = kind.make(X), torch.zeros(1_000_000, dtype=torch.int64, device="cuda")
    i[765_432] = -5
    good = torch.tensor([2], device="cuda")
    for _ in range(1000):
        error = raises(garner.OutOfRange, lambda: garner.take(x, i, axis=0))
        assert error.position == 765_432 and error.value == -5
        assert garner.take(x, good).item() == 2


@for_each("torch", "cupy")
def memory_stays(kind):
    """What calls allocate comes back."""
    x, i = kind.make(np.zeros((1000, 1000), np.float32)), kind.make(np.arange(1000))
    used = torch.cuda.memory_allocated if kind.name == "torch" else cupy.get_default_memory_pool().used_bytes
    garner.take(x, i, axis=0)
    before = used()
    for n in range(200):
        with garner.cuda.deferred():
            garner.take(x, i, axis=0)
            garner.take(x, [1, 2, 3], axis=0)
        try:
            garner.take(x, [1000], axis=0)
        except garner.OutOfRange:
            pass
    assert used() == before, (used(), before)


@check
def examples_of_the_documentation():
    """What docs/gpu.md shows, in one go."""
    page = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"
    if not torch or not page.exists():
        print("SKIP docs/gpu.md: it is not here, or torch is not")
        return
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    variables = {"__name__": "gpu"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), variables)


# ---- What a call costs ----


def time_calls(calls, rounds=15, repeats=300):
    """Microseconds of the calling thread for each, medians of interleaved rounds; the device waits for none of them."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            times[name].append((time.perf_counter() - begin) / repeats * 1e6)
            torch.cuda.synchronize()
    return {name: statistics.median(values) for name, values in times.items()}


@for_each("torch")
def cost_of_a_call(kind):
    x, i = torch.rand(1000, 16, device="cuda"), torch.arange(8, device="cuda")
    j, to = i[:, None].expand(8, 16).contiguous(), torch.empty(8, 16, device="cuda")
    calls = {
        "torch.index_select": lambda: torch.index_select(x, 0, i),
        "garner.index_select": lambda: garner.index_select(x, 0, i),
        "garner.take": lambda: garner.take(x, i, axis=0),
        "garner.gather": lambda: garner.gather(x, i),
        "torch.index_select, out": lambda: torch.index_select(x, 0, i, out=to),
        "garner.index_select, out": lambda: garner.index_select(x, 0, i, out=to),
        "torch.gather": lambda: torch.gather(x, 0, j),
        "garner.gather_elements": lambda: garner.gather_elements(x, j),
    }
    peers = {"garner.gather_elements": "torch.gather", "garner.index_select, out": "torch.index_select, out"}
    for how in "deferred", "checked":
        if how == "deferred":
            with garner.cuda.deferred():
                cost = time_calls(calls)
        else:
            cost = time_calls(calls)
        for name in calls:
            if name.startswith("garner"):
                peer = peers.get(name, "torch.index_select")
                print(f"COST {how} {name}: {cost[name]:.2f} us, {peer} {cost[peer]:.2f} us, ratio {cost[name] / cost[peer]:.2f}")


@check
def cost_of_a_call_elsewhere():
    """CuPy's and JAX's own calls beside ours, for the record."""
    if cupy and torch:
        x, i = cupy.zeros((1000, 16), np.float32), cupy.arange(8)
        with garner.cuda.deferred():
            cost = time_calls({"cupy.take": lambda: cupy.take(x, i, axis=0), "garner.take": lambda: garner.take(x, i, axis=0)})
        print(f"COST deferred garner.take of CuPy's: {cost['garner.take']:.2f} us, cupy.take {cost['cupy.take']:.2f} us, "
              f"ratio {cost['garner.take'] / cost['cupy.take']:.2f}")  # fmt: skip
    if jax and torch:
        a, b = jax.device_put(np.zeros((1000, 16), np.float32)), jax.device_put(np.arange(8, dtype=np.int32))
        cost = time_calls({"jax.numpy.take": lambda: jax.numpy.take(a, b, axis=0).block_until_ready(), "garner.take": lambda: garner.take(a, b, axis=0)},
                          repeats=50)  # fmt: skip
        print(f"COST garner.take of JAX's: {cost['garner.take']:.2f} us, jax.numpy.take {cost['jax.numpy.take']:.2f} us")


# ---- By pytest, and alone ----


def pytest_generate_tests(metafunc):
    metafunc.parametrize("body", [function for _, function in CHECKS], ids=[name for name, _ in CHECKS])


def test_on_a_device(body):
    if MISSING or not KINDS:
        import pytest

        pytest.skip(f"SKIP the GPU: {MISSING or 'none of torch, CuPy and JAX has one'}")
    body()


def main():
    if MISSING or not KINDS:
        print(f"SKIP everything: {MISSING or 'none of torch, CuPy and JAX has a GPU'}")
        return 0
    versions = ", ".join(f"{library.__name__} {library.__version__}" for library in (torch, cupy, jax) if library)
    print(f"garner {garner.__version__} ({garner.__file__}), {versions}, DLPack's C functions of torch: "
          f"{bool(torch) and hasattr(torch.Tensor, '__dlpack_c_exchange_api__')}")  # fmt: skip
    failed = 0
    for name, function in CHECKS:
        begin = time.perf_counter()
        try:
            function()
            print(f"ok     {name} ({time.perf_counter() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(CHECKS)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
