# SPDX-License-Identifier: MIT
"""torch's namesakes against recorded facts, with or without torch; and, where torch is installed, against torch itself."""

import importlib.util

import pytest
from conftest import NO_NUMPY
from torch_facts import DIFFERENCES, FACTS

import garner

HAS_TORCH = not NO_NUMPY and importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed (make check installs it)")


def ours(function, data, arguments):
    if function == "gather":
        return garner.gather_elements(data, arguments[1], axis=arguments[0])
    return getattr(garner, function)(data, *arguments)


def outcome(call):
    try:
        return call().tolist()
    except (IndexError, ValueError, TypeError, RuntimeError):
        return "refused"


@pytest.mark.parametrize("fact", FACTS + DIFFERENCES, ids=lambda f: f"{f[0]}{f[2]}")
def test_fact(fact):
    function, data, arguments, *_, right = fact
    assert outcome(lambda: ours(function, data, arguments)) == right


@needs_torch
@pytest.mark.parametrize("fact", FACTS + DIFFERENCES, ids=lambda f: f"{f[0]}{f[2]}")
def test_fact_is_torch_s(fact):
    import torch

    function, data, arguments, theirs, *own = fact
    given = [torch.tensor(a, dtype=torch.int64) if isinstance(a, list) or (function == "index_select" and i == 1) else a
             for i, a in enumerate(arguments)]  # fmt: skip
    assert outcome(lambda: getattr(torch, function)(torch.tensor(data), *given)) == theirs
    assert outcome(lambda: ours(function, torch.tensor(data), given)) == (own[0] if own else theirs)


@needs_torch
def test_tensors():
    import torch

    t = torch.arange(24.0).reshape(2, 3, 4)
    for view in (t, t.transpose(0, 2), t[:, ::2], t.flip(0)):
        at = torch.tensor([1, 0])
        picked = garner.gather(view, at, axis=1)
        assert type(picked) is torch.Tensor and torch.equal(picked, view.index_select(1, at))
        out = torch.empty(picked.shape[::-1]).permute(2, 1, 0)
        assert garner.gather(view, at, axis=1, out=out) is out and torch.equal(out, picked)
    for dtype in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2):
        picked = garner.gather(t.to(dtype), [1])
        assert picked.dtype == dtype and torch.equal(picked.float() if "float8" in str(dtype) else picked, (t.to(dtype).float() if "float8" in str(dtype) else t.to(dtype))[[1]])
    assert garner.gather(t, 1).shape == (3, 4) and garner.gather(torch.arange(3), 1).shape == ()
    assert garner.gather(torch.empty(0, 3), torch.empty(0, dtype=torch.int64)).shape == (0, 3)
    assert type(garner.gather(torch.nn.Parameter(t, requires_grad=False), [0])) is torch.Tensor


@needs_torch
def test_rare_types():
    """Each comes back as what it was, or is refused with a sentence; none as something else."""
    import torch

    bits = torch.arange(6, dtype=torch.uint8)
    narrow = [getattr(torch, f"{kind}{n}") for kind in ("int", "uint") for n in range(1, 8) if hasattr(torch, f"{kind}{n}")]
    assert len(narrow) >= 7
    for dtype in (*narrow, torch.uint16, torch.bool, torch.float8_e8m0fnu, torch.bfloat16):
        picked = garner.gather(bits.view(dtype), [2, 0])
        assert picked.dtype == dtype and torch.equal(picked.view(torch.uint8), bits.view(-1, dtype.itemsize)[[2, 0]].flatten())
        out = torch.zeros(2 * dtype.itemsize, dtype=torch.uint8)
        assert garner.gather(bits.view(dtype), [2, 0], out=out.view(dtype)) is not None and torch.equal(out, picked.view(torch.uint8))
        if dtype in narrow:
            with pytest.raises(garner.BadType, match="out has"):
                garner.gather(bits.view(dtype), [2, 0], out=out[:2])
            with pytest.raises(garner.BadType, match="indices is of torch"):
                garner.gather([1, 2], bits.view(dtype))
    halves = torch.tensor([1 + 2j, 3 - 4j, 5j]).to(torch.complex32)
    for call in (lambda x: garner.gather(x, [2, 0]), lambda x: garner.index_select(x, 0, [2, 0]), lambda x: garner.take(x, torch.tensor([2, 0]))):
        picked = call(halves)
        assert picked.dtype == torch.complex32 and picked.to(torch.complex64).tolist() == [5j, 1 + 2j]
    quantized = torch.quantize_per_tensor(torch.rand(3), 0.1, 0, torch.quint8)
    for tensor, way_out in [(quantized, r"\.int_repr\(\) or its \.dequantize\(\)"), (bits.view(torch.float4_e2m1fn_x2), r"\.view\(torch\.uint8\)")]:
        with pytest.raises(garner.BadType, match=way_out):
            garner.gather(tensor, [0])


@needs_torch
def test_scalars_stay_refused_where_the_specifications_ask_for_a_rank():
    import torch

    scalar, zero = torch.tensor(5.0), torch.tensor(0)
    assert torch.gather(scalar, 0, zero).tolist() == 5
    for call in (lambda: garner.gather(scalar, [0]), lambda: garner.gather_elements(scalar, zero, 0), lambda: garner.gather_nd(scalar, [[]])):
        with pytest.raises(garner.BadShape, match="data has rank 0; it must be at least 1"):
            call()
    assert garner.index_select(scalar, 0, zero).tolist() == 5 and garner.take(scalar, [0]).tolist() == [5]


@needs_torch
def test_axis_as_a_tensor():
    import torch

    t = torch.arange(4.0).reshape(2, 2)
    for axis in (torch.tensor(1), torch.tensor([1], dtype=torch.uint8), torch.tensor([[1]])):
        assert torch.equal(garner.gather(t, [0], axis), t[:, :1])
    for axis in (torch.tensor(True), torch.tensor([True]), torch.tensor(1.0), torch.tensor([1, 0]), torch.tensor([], dtype=torch.int64), [torch.tensor(1)]):
        with pytest.raises(TypeError, match="axis"):
            garner.gather(t, [0], axis)
        with pytest.raises(TypeError, match="dim"):
            garner.index_select(t, axis, [0])


@needs_torch
def test_comparing_an_array_with_tensors():
    import torch

    taken = garner.take([1, 2, 3], [0, 1])
    for dtype in (torch.int8, torch.float16, torch.bfloat16, torch.complex64, torch.float8_e5m2):
        for answer in (taken == torch.tensor([1, 3]).to(dtype), torch.tensor([1, 3]).to(dtype) == taken):
            assert type(answer) is garner.Array and answer.tolist() == [True, False]


@needs_torch
def test_tensors_that_mean_more_than_they_hold():
    import torch

    t = torch.arange(4.0)
    conjugate = torch.complex(t, t).conj()
    for tensor, way_out in [(t.clone().requires_grad_(), "detach"), (conjugate, "resolve_conj"), (conjugate.imag, "resolve_neg"),
                            (t.to_sparse(), "DLPack"), (t.to("meta"), "DLPack")]:  # fmt: skip
        with pytest.raises(garner.BadType, match=way_out):
            garner.gather(tensor, [0])
    with pytest.raises(garner.BadType, match="detach"):
        garner.gather(t, [0], out=torch.zeros(1, requires_grad=True))


@needs_torch
def test_a_tensor_over_a_file_is_written_to(tmp_path):
    """torch does not know of memory that is read-only. The file stays as it is."""
    import torch

    path = tmp_path / "a.npy"
    garner.save(path, [[1.5, 2.5], [3.5, 4.5]])
    before = path.read_bytes()
    tensor = torch.from_dlpack(garner.load(path))
    tensor[0] = 7
    assert tensor.tolist() == [[7, 7], [3.5, 4.5]] and path.read_bytes() == before and garner.load(path)[0, 0] == 1.5


@needs_torch
def test_tensors_that_require_grad_where_nothing_is_recorded():
    import torch

    weight = torch.nn.Embedding(4, 3).weight
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            picked = garner.gather(weight, torch.tensor([2, 0]))
            assert torch.equal(picked, weight[[2, 0]]) and not picked.requires_grad and type(picked) is torch.Tensor
            assert torch.equal(garner.index_select(weight, 0, [1]), weight[1:2])
    with pytest.raises(garner.BadType):
        garner.gather(weight, [0])


@needs_torch
def test_kinds_of_errors():
    """What docs/torch.md says about them: torch's, and ours."""
    import torch

    t, zero = torch.zeros(3, 4), torch.tensor([0])
    for call, theirs, mine in [(lambda m: m.index_select(t, 5, zero), IndexError, ValueError), (lambda m: m.index_select(t, 0, zero[None]), IndexError, ValueError),
                               (lambda m: m.take_along_dim(t, torch.zeros(2, 4, dtype=torch.int64), 1), RuntimeError, ValueError),
                               (lambda m: m.index_select(t, 0, zero + 9), IndexError, IndexError)]:  # fmt: skip
        with pytest.raises(theirs):
            call(torch)
        with pytest.raises(mine):
            call(garner)


@needs_torch
def test_random_against_torch():
    import torch

    torch.manual_seed(0)
    for _ in range(300):
        rank = int(torch.randint(1, 4, ()))
        shape = torch.randint(1, 5, (rank,)).tolist()
        dim = int(torch.randint(-rank, rank, ()))
        x = torch.rand(shape).permute(*torch.randperm(rank).tolist())
        index = torch.randint(0, x.shape[dim], (int(torch.randint(0, 6, ())),))
        assert torch.equal(garner.index_select(x, dim, index), torch.index_select(x, dim, index))
        at_shape = [n if torch.rand(()) < 0.5 else 1 for n in x.shape]
        at_shape[dim] = int(torch.randint(0, 6, ()))
        at = torch.randint(0, x.shape[dim], at_shape)
        assert torch.equal(garner.take_along_dim(x, at, dim), torch.take_along_dim(x, at, dim))
        flat = torch.take_along_dim(x.contiguous(), at)  # torch cannot flatten other layouts; garner can
        assert torch.equal(garner.take_along_dim(x, at), flat)


@pytest.mark.skipif(NO_NUMPY or importlib.util.find_spec("jax") is None, reason="jax is not installed (make check installs it)")
def test_jax():
    import jax
    import jax.numpy as jnp

    x = jnp.arange(12.0).reshape(3, 4)
    for dtype in (jnp.float32, jnp.bfloat16, jnp.int8, jnp.bool_, jnp.int4):
        picked = garner.gather(x.astype(dtype), jnp.array([2, 0]), axis=1)
        assert isinstance(picked, jax.Array) and (picked == x.astype(dtype)[:, jnp.array([2, 0])]).all() and picked.dtype == dtype
    with pytest.raises(garner.BadArgument, match="read-only"):
        garner.gather(x, [0], out=jnp.zeros((1, 4)))
