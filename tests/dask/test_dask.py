# SPDX-License-Identifier: MIT
"""garner.dask against NumPy: results, errors, the graph's size; under the threads of this process, and in a cluster of processes
of which one is killed."""

import doctest
import itertools
import pickle
import re
import time
from pathlib import Path

import garner
import numpy as np
import pytest

da = pytest.importorskip("dask.array")
import dask  # noqa: E402
import garner.dask  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def same(given, expected):
    got = given.compute()
    assert given.shape == got.shape == expected.shape and given.dtype == got.dtype == expected.dtype
    assert all(len(sizes) == n for sizes, n in zip(given.chunks, given.numblocks))
    np.testing.assert_array_equal(got, expected)


def random_chunks(extent):
    """A partition of an extent, empty chunks among it."""
    cuts = sorted(rng.integers(0, extent + 1, rng.integers(0, 4)).tolist())
    return tuple(b - a for a, b in itertools.pairwise([0, *cuts, extent]))


def random_array():
    shape = tuple(rng.integers(1, 9, rng.integers(1, 5)).tolist())
    a = rng.integers(-99, 99, shape).astype(rng.choice(["i1", "f4", "c16", "M8[s]"]))
    return a, da.from_array(a, chunks=tuple(map(random_chunks, shape)))


@pytest.mark.parametrize("turn", range(60))
def test_take(turn):
    a, x = random_array()
    axis = int(rng.integers(-a.ndim, a.ndim))
    bound = a.shape[axis]
    shape = tuple(rng.integers(0, 9, rng.integers(0, 4)).tolist())
    kind = rng.choice(["i1", "u2", "i4", "i8", "u8"])
    indices = rng.integers(0 if kind[0] == "u" else -bound, bound, shape).astype(kind)
    same(garner.dask.take(x, indices, axis), np.take(a, indices, axis))
    lazy = da.from_array(indices, chunks=tuple(map(random_chunks, shape)))
    same(garner.dask.take(x, lazy, axis), np.take(a, indices, axis))


@pytest.mark.parametrize("turn", range(60))
def test_take_along_axis(turn):
    a, x = random_array()
    axis = int(rng.integers(-a.ndim, a.ndim))
    shape = [1 if rng.random() < 0.2 else extent for extent in a.shape]
    shape[axis] = int(rng.integers(0, 9))
    indices = rng.integers(-a.shape[axis], a.shape[axis], shape)
    expected = np.take_along_axis(a, indices, axis)
    same(garner.dask.take_along_axis(x, indices, axis), expected)
    lazy = da.from_array(indices, chunks=tuple(map(random_chunks, shape)))
    same(garner.dask.take_along_axis(x, lazy, axis), expected)


def test_take_along_axis_broadcasts_data():
    a = rng.random((7, 1))
    indices = rng.integers(-7, 7, (4, 5))
    x = da.from_array(a, chunks=(3, 1))
    same(garner.dask.take_along_axis(x, indices, 0), np.take_along_axis(a, indices, 0))
    same(garner.dask.take_along_axis(x, da.from_array(indices, chunks=2), 0), np.take_along_axis(a, indices, 0))


def test_whatever_numpy_makes_integers_of():
    x = da.arange(10, chunks=3)
    assert garner.dask.take(x, 7).compute() == 7
    assert garner.dask.take(x, []).compute().shape == (0,)
    assert garner.dask.take(x, range(2), axis=-1).compute().tolist() == [0, 1]
    assert garner.dask.take(x, garner.take([9, 8, 7], [2, 0])).compute().tolist() == [7, 9]
    empty = da.zeros((0, 3), chunks=2)
    assert garner.dask.take(empty, []).compute().shape == (0, 3)


def test_default_axes():
    x = da.from_array(np.arange(12).reshape(3, 4), chunks=2)
    assert garner.dask.take(x, [2]).shape == (1, 4)
    assert garner.dask.take_along_axis(x, [[3]]).compute().tolist() == [[3], [7], [11]]


# ---- Refusals --------------------------------------------------------------------------------------------------------------


def as_garner(function, *arguments):
    with pytest.raises(garner.Error) as raised:
        function(*arguments)
    return raised.value


def fields(error):
    return type(error), str(error), error.status, error.axis, error.position, error.coordinates, error.value, error.bound


@pytest.mark.parametrize("value", [7, -8, 2**63 - 1])
@pytest.mark.parametrize("lazy", [False, True])
def test_an_index_outside_is_garners_error(value, lazy):
    a = np.zeros((3, 7, 2))
    x = da.from_array(a, chunks=2)
    indices = np.zeros((9, 5), np.int64)
    indices[6, 3] = value
    given = da.from_array(indices, chunks=(4, 2)) if lazy else indices

    def run():
        made = garner.dask.take(x, given, 1)
        assert lazy, "what is in memory is checked at once"
        made.compute()

    error = as_garner(run)
    assert fields(error) == fields(as_garner(garner.take, a, indices, 1))
    assert fields(pickle.loads(pickle.dumps(error))) == fields(error)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("extent", [1, 2])
def test_an_index_outside_of_elements(lazy, extent):
    a = np.zeros((5, 2))
    indices = np.zeros((6, extent), np.int16)
    indices[5, extent - 1] = -6
    given = da.from_array(indices, chunks=(4, 1)) if lazy else indices
    error = as_garner(lambda: garner.dask.take_along_axis(da.from_array(a, chunks=(2, 1)), given, 0).compute())
    assert fields(error) == fields(as_garner(garner.gather_elements, a, indices, 0))


def test_an_index_into_nothing():
    error = as_garner(garner.dask.take, da.zeros((0, 3), chunks=2), [0])
    assert fields(error) == fields(as_garner(garner.take, np.zeros((0, 3)), [0], 0))


def test_an_unsigned_index_beyond():
    indices = np.array([0, 2**64 - 1], np.uint64)
    error = as_garner(garner.dask.take, da.zeros(4, chunks=2), indices)
    assert error.value == 2**64 - 1 and error.position == 1


def test_unknown_chunks_are_refused():
    x = da.arange(10, chunks=3)
    unknown = x[x > 4]
    for function in (garner.dask.take, garner.dask.take_along_axis):
        with pytest.raises(garner.BadShape, match=r"x has chunks of unknown size on axis 0; its compute_chunk_sizes\(\)"):
            function(unknown, [0])
        with pytest.raises(garner.BadShape, match="indices has chunks of unknown size"):
            function(x, unknown)
    assert garner.dask.take(unknown.compute_chunk_sizes(), [-1]).compute() == 9


@pytest.mark.parametrize("arguments, kind, words", [
    ((np.arange(3), [0]), garner.BadType, "x is a ndarray; garner.dask takes dask arrays"),
    ((da.arange(3), [0.5]), garner.BadType, "indices of type float64; they must be integers"),
    ((da.arange(3), [True]), garner.BadType, "indices of type bool"),
    ((da.arange(3), da.ones(2)), garner.BadType, "indices of type float64"),
    ((da.arange(3), [0], 1), garner.BadShape, r"axis 1 is outside \[-1, 0\] for x of rank 1"),
    ((da.arange(3), [0], None), TypeError, "NoneType"),
    ((da.asarray(3), 0), garner.BadShape, "x has rank 0"),
])  # fmt: skip
def test_refused(arguments, kind, words):
    for function in (garner.dask.take, garner.dask.take_along_axis):
        with pytest.raises(kind, match=words):
            function(*arguments)


def test_shapes_that_do_not_go_together():
    x = da.ones((3, 4), chunks=2)
    with pytest.raises(garner.BadShape, match="indices has extent 2 on axis 0, where x has 3"):
        garner.dask.take_along_axis(x, [[0], [0]], 1)
    with pytest.raises(garner.BadShape, match="indices has rank 1 and x has rank 2"):
        garner.dask.take_along_axis(x, [0], 1)


# ---- The graph -------------------------------------------------------------------------------------------------------------


def tasks(array):
    return len(dict(array.__dask_graph__()))


def test_the_graph_grows_with_chunks_and_not_with_indices():
    x = da.zeros((10**6, 16), chunks=(10**5, 16), dtype="f4")
    few, many = rng.integers(0, 10**6, 10**5), rng.integers(0, 10**6, 10**6)
    assert tasks(garner.dask.take(x, few)) < 60
    assert tasks(garner.dask.take(x, many)) < 10 * 10 + 60
    assert tasks(garner.dask.take(x, np.sort(many))) < 90  # each chunk of the result needs one or two of x


def test_chunks_of_the_result_stay_within_the_limit():
    x = da.zeros((1000, 1000), chunks=(10, 1000), dtype="f4")
    with dask.config.set({"array.chunk-size": "1MiB"}):
        y = garner.dask.take(x, rng.integers(0, 1000, 10**5))
    assert max(y.chunks[0]) * 4000 <= 2**19 and min(y.chunks[0][:-1]) * 4000 > 2**18


def test_the_same_call_has_the_same_name():
    x = da.arange(10, chunks=3)
    assert garner.dask.take(x, [1, 2]).name == garner.dask.take(x, [1, 2]).name
    assert garner.dask.take(x, [1, 2]).name != garner.dask.take(x, [1, 3]).name


def test_docstrings():
    result = doctest.testmod(garner.dask)
    assert result.attempted >= 6 and result.failed == 0


def test_the_document():
    """What docs/scale.md shows of dask runs."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scale.md").read_text(), re.DOTALL)
    ours = [block for block in blocks if "garner.dask" in block]
    assert ours
    for block in ours:
        exec(block, {})


def test_garner_has_it_without_an_import():
    assert garner.dask.take is garner.__getattr__("dask").take


# ---- A cluster -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None) as made:
        with distributed.Client(made) as client:
            yield made, client


def is_done(result):
    from distributed import futures_of

    return all(future.done() for future in futures_of(result))


def slow(block):
    time.sleep(0.2)
    return block


def test_a_worker_that_is_killed(cluster):
    workers, client = cluster
    a = rng.random((4000, 8))
    x = da.from_array(a, chunks=(200, 8)).map_blocks(slow, dtype=a.dtype)
    indices = rng.integers(-4000, 4000, 20000)
    result = client.persist(garner.dask.take(x, indices))
    deadline = time.monotonic() + 120
    while sum(map(len, client.has_what().values())) < 5:  # results that lie in workers
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not is_done(result)
    before = {name: nanny.pid for name, nanny in workers.workers.items()}
    workers.workers[0].process.process.kill()
    np.testing.assert_array_equal(result.compute(), a[indices])
    while {name: nanny.pid for name, nanny in workers.workers.items()} == before:
        assert time.monotonic() < deadline, "no worker was killed"
        time.sleep(0.05)


def test_errors_come_back_from_workers(cluster):
    _, client = cluster
    indices = np.zeros(100, np.int64)
    indices[77] = 50
    x = da.zeros((50, 2), chunks=20)
    error = as_garner(garner.dask.take(x, da.from_array(indices, chunks=30)).compute)
    assert fields(error) == fields(as_garner(garner.take, np.zeros((50, 2)), indices, 0))
