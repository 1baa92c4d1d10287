# SPDX-License-Identifier: MIT
"""The Array API's requirements for take and take_along_axis, held against array-api-strict."""

import pytest

np = pytest.importorskip("numpy")
xp = pytest.importorskip("array_api_strict")
pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

import garner  # noqa: E402

TYPES = [xp.bool, xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8, xp.uint16, xp.uint32, xp.uint64, xp.float32, xp.float64, xp.complex64,
         xp.complex128]  # fmt: skip
shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def counted(dtype, shape):
    x = xp.reshape(xp.arange(int(np.prod(shape))), shape)
    return xp.astype(x % 2 == 0, dtype) if dtype == xp.bool else xp.astype(xp.astype(x, xp.float64) if dtype in TYPES[-2:] else x, dtype)


def draw_indices(data, shape, extent):
    dtype = data.draw(st.sampled_from([xp.int64, xp.int32, xp.uint8, xp.int8]))
    low = 0 if dtype == xp.uint8 else -extent
    drawn = data.draw(hnp.arrays(np.int64, shape, elements=st.integers(low, max(extent - 1, low))))
    return xp.astype(xp.asarray(drawn), dtype)


@given(data=st.data(), shape=shapes, dtype=st.sampled_from(TYPES))
def test_take(data, shape, dtype):
    """out.dtype is x's; out.shape is x's but for the axis, whose size is the number of indices; out is x there."""
    x = counted(dtype, shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    count = data.draw(st.integers(0, 4)) if shape[axis] else 0
    indices = draw_indices(data, (count,), shape[axis])
    out = garner.take(x, indices, axis=axis)
    assert type(out) is type(x) and out.dtype == x.dtype
    expected = list(shape)
    expected[axis] = count
    assert out.shape == tuple(expected)
    for i in range(count):
        at = int(indices[i])
        for where in np.ndindex(*shape[: axis % len(shape)]):
            assert bool(xp.all(out[(*where, i, ...)] == x[(*where, at, ...)]))
    assert bool(xp.all(out == xp.take(x, xp.astype(indices, xp.int64), axis=axis)))


@given(data=st.data(), shape=shapes, dtype=st.sampled_from(TYPES))
def test_take_along_axis(data, shape, dtype):
    """x and indices broadcast against each other off the axis; the size along it is that of indices."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x_shape = [n if i == axis % len(shape) else data.draw(st.sampled_from([n, 1])) for i, n in enumerate(shape)]
    at_shape = [data.draw(st.sampled_from([n, 1])) for n in shape]
    at_shape[axis] = data.draw(st.integers(0, 4)) if shape[axis] else 0
    x, indices = counted(dtype, tuple(x_shape)), draw_indices(data, tuple(at_shape), shape[axis])
    out = garner.take_along_axis(x, indices, axis=axis)
    expected = list(np.broadcast_shapes(tuple(x_shape[:axis] + [1] + x_shape[axis:][1:]), tuple(at_shape)))
    assert type(out) is type(x) and out.dtype == x.dtype and out.shape == tuple(expected)
    assert bool(xp.all(out == xp.take_along_axis(x, xp.astype(indices, xp.int64), axis=axis)))
    default = garner.take_along_axis(x, indices) if axis in (-1, len(shape) - 1) else None
    assert default is None or bool(xp.all(default == out))


@pytest.mark.parametrize("bad", [5, -6])
def test_indices_outside_are_refused(bad):
    """The Array API leaves it open what an index outside does; here it is an error, as it must not go unnoticed."""
    with pytest.raises(IndexError):
        garner.take(xp.arange(5), xp.asarray([bad]), axis=0)
