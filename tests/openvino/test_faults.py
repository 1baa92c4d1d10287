# SPDX-License-Identifier: MIT
"""Gathers that the runtime's own transformations and kernels get wrong, which garner must not leave to them."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset6, opset7, opset8
from support import EXACT, core_with_garner, infer, layers_of

import garner.openvino

DATA = np.arange(20, dtype=np.float32).reshape(2, 2, 5)
LENGTHS = [0, garner.openvino.MIN_BYTES]


def gather(shape, indices, axis=0, batch_dims=0, opset=opset8, kind=np.float32):
    """From an input or, where that is all the same, from what a layer makes of it; by constants or an input of a shape."""
    data = opset8.parameter(shape, kind)
    inputs = [data]
    if isinstance(indices, tuple):
        inputs.append(opset8.parameter(indices, np.int64))
        rows = inputs[1]
    else:
        rows = ov.op.Constant(np.array(indices, np.int64))
    return ov.Model([opset.gather(opset8.abs(data), rows, np.int64(axis), batch_dims)], inputs, "gather")


@pytest.fixture(params=[(way, length) for way in ("replace", "file") for length in LENGTHS], ids=str)
def ours(request, tmp_path):
    """A function from a model to the same with garner inside."""
    way, length = request.param

    def take(model):
        if way == "replace":
            return garner.openvino.replace(model, min_bytes=length)
        ov.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
        return core_with_garner(min_bytes=length).read_model(tmp_path / "model.xml")

    return take


def compiled(model):
    return ov.Core().compile_model(model, "CPU", EXACT)


@pytest.mark.parametrize("batch_dims", [1, -1])
def test_indices_that_count_up_from_batch_to_batch(batch_dims, ours):
    """The runtime sees that they count up, and that there is nothing to gather."""
    got = infer(compiled(ours(gather([2, 2, 5], [[0], [1]], 1, batch_dims))), DATA).data
    assert got.shape == (2, 1, 5) and (got[:, 0] == DATA[[0, 1], [0, 1]]).all()


def test_a_gather_of_everything_is_none():
    model = garner.openvino.replace(gather([2, 2, 5], [0, 1], 1), min_bytes=0)
    program = compiled(model)
    assert (infer(program, DATA).data == DATA).all()
    assert "Gather" not in {node.get_type_name() for node in program.get_runtime_model().get_ops()}


@pytest.mark.parametrize("shape, indices, batch_dims", [([4, 3], [0], -2), ([2, 5], (3,), -2), ([1], [0, 0, 0], -2), ([3], (2, 3), -2)])
@pytest.mark.parametrize("opset", [opset7, opset8])
def test_more_batches_than_axes(shape, indices, batch_dims, opset, ours):
    """The runtime adds the rank of indices each time that it copies the layer, until it is one that can be."""
    values = [np.ones(shape, np.float32)] + ([np.zeros(indices, np.int64)] if isinstance(indices, tuple) else [])
    with pytest.raises(RuntimeError, match=rf"batch_dims {batch_dims} is outside \[-1, 1\] for these ranks"):
        infer(compiled(ours(gather(shape, indices, 0, batch_dims, opset))), *values)


@pytest.mark.parametrize("indices", [[7], (1,)], ids=str)
def test_an_index_outside_of_one_row(indices, ours):
    """The runtime takes what is there once, whatever the index is."""
    row = np.ones((1, 3), np.float32)
    values = [row] + ([np.array([7])] if isinstance(indices, tuple) else [])
    assert (infer(compiled(ours(gather([1, 3], indices))), *values).data == 0).all()
    with pytest.raises(RuntimeError, match=r"indices\[0\] = 7 is outside \[-1, 0\] of data axis 0"):
        infer(compiled(ours(gather([1, 3], indices, opset=opset7))), *values)


UNSAFE = {
    "with one batch": gather([1, 8], (1,), 1, 1),
    "with batches": gather([4, 8], (4, 2), 1, 1),
    "of nothing": gather([0, 8], (2,), 1),
    "by nothing": gather([4, 8], (3, 0), 1),
    "by nothing from open extents": gather([-1, -1], (3, 0), 1),
    "by constants, of which there are none": gather([4, 8], np.zeros((3, 0)), 1),
    "of shapes, by nothing": gather([3], [], kind=np.int64),
    "of shapes, outside": gather([3], [3], kind=np.int64),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_what_the_runtime_would_crash_with_stays_here(name, ours):
    """Its kernels for x86-64 divide by zero, or take memory of others."""
    assert "GarnerGather" in {node.get_type_name() for node in ours(UNSAFE[name].clone()).get_ops()}


NO_LOOP_OF_ITS_OWN = {
    "by more than 64 indices": (gather([3], (65,), kind=np.int32), 3),
    "by a matrix": (gather([3], (2, 2), kind=np.int32), 3),
    "of more than 64 integers": (gather([65], (2,), kind=np.int32), 65),
}


@pytest.mark.parametrize("name", NO_LOOP_OF_ITS_OWN)
def test_longer_vectors_of_integers_are_left(name):
    """There the runtime's kernel gives zeros for an index outside."""
    model, extent = NO_LOOP_OF_ITS_OWN[name]
    model = garner.openvino.replace(model.clone())
    assert "GarnerGather" not in {node.get_type_name() for node in model.get_ops()}
    shape = model.input(1).shape
    indices = np.resize([extent, extent - 1, -extent, -extent - 1, 2**31 - 1, -(2**31)], shape)
    data = np.arange(1, extent + 1, dtype=np.int32)
    inside = (indices >= -extent) & (indices < extent)
    assert (infer(compiled(model), data, indices).data == np.where(inside, data[np.where(inside, indices, 0)], 0)).all()


def vector(extent, indices, kind=np.int32, opset=opset8):
    """Of an input where it lies, which others lie behind."""
    data, rows = opset8.parameter([extent], kind), opset8.parameter(indices, np.int64)
    return ov.Model([opset8.multiply(opset.gather(data, rows, np.int64(0)), opset8.constant(np.array(1, kind)))], [data, rows])


VECTORS = {
    "integers": vector(3, (8,)),
    "integers of 64 bits, which are converted": vector(3, (8,), np.int64),
    "open": vector(-1, (-1,)),
    "open, with bounds": vector(ov.Dimension(0, 450), (ov.Dimension(0, 450),)),
    "bytes": vector(3, (8,), np.uint8),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_runtime_gathers_short_vectors_of_integers_as_a_matrix(name, ours):
    """Its loop for them takes what lies where the index says; its kernel for matrices gives zeros for those outside."""
    model = VECTORS[name].clone()
    memory = np.arange(1, 65).astype(model.input(0).get_element_type().to_dtype())
    indices = np.array([0, 2, -1, -3, 3, 40, -4, 2**31 - 1])
    assert infer(compiled(ours(model)), ov.Tensor(memory[:3], shared_memory=True), indices).data.tolist() == [1, 3, 3, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("index, expected", [(2, 3), (-3, 1), (3, 0), (-4, 0)])
@pytest.mark.parametrize("extent", [3, -1])
def test_one_index_into_a_vector(index, expected, extent, ours):
    memory = np.arange(1, 65, dtype=np.int32)
    got = infer(compiled(ours(vector(extent, []))), ov.Tensor(memory[:3], shared_memory=True), np.array(index)).data
    assert got.shape == () and got == expected


def test_constants_into_a_vector_of_open_length(ours):
    data = opset8.parameter([-1], np.int32)
    picked = opset8.gather(data, opset8.constant(np.array([1, 5])), np.int64(0))
    model = ov.Model([opset8.multiply(picked, opset8.constant(np.int32(1)))], [data])
    memory = np.arange(1, 65, dtype=np.int32)
    assert infer(compiled(ours(model)), ov.Tensor(memory[:3], shared_memory=True)).data.tolist() == [2, 0]


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("least", LENGTHS)
def test_who_runs_them(name, least):
    """Under the layer's own name, so that profiles show it."""
    model = garner.openvino.replace(VECTORS[name].clone(), min_bytes=least)
    (layer,) = (node for node in model.get_ops() if "Gather" in node.get_type_name())
    ran = dict(layers_of(compiled(model)))
    assert ("Reference" in ran.values()) == (least == 0), ran
    assert least == 0 or ran[layer.get_friendly_name()] == "Gather", ran


def test_what_the_runtime_reads_otherwise_stays():
    """Gather-1 and -7 count negative indices from the end, which the runtime does not."""
    for opset in (opset1, opset7):
        program = compiled(garner.openvino.replace(vector(3, (2,), opset=opset)))
        assert "Reference" in dict(layers_of(program)).values()


def test_shapes_are_left():
    assert "Gather" in {node.get_type_name() for node in garner.openvino.replace(gather([3], [1], kind=np.int64), min_bytes=0).get_ops()}


# ---- A refused call ----


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("extents", [(5, 2), (-1, -1)], ids=["known", "open"])
def test_an_error_is_not_lost_by_wait(threads, extents):
    """Not even with one thread, where infer() loses it."""
    inputs = [opset8.parameter([extents[0], 4], np.float32), opset8.parameter([extents[1]], np.int64)]
    model = garner.openvino.replace(ov.Model([opset1.gather(*inputs, np.int64(0))], inputs), min_bytes=0)
    request = ov.Core().compile_model(model, "CPU", {**EXACT, "INFERENCE_NUM_THREADS": threads}).create_infer_request()
    rows = np.arange(20, dtype=np.float32).reshape(5, 4)
    for _ in range(3):
        request.start_async([rows, np.array([0, 9])])
        with pytest.raises(RuntimeError, match=r"indices\[1\] = 9 is outside \[-5, 4\] of data axis 0"):
            request.wait()
        request.start_async([rows, np.array([3, -1])])
        request.wait()
        assert (request.get_output_tensor(0).data == rows[[3, -1]]).all()


@pytest.mark.parametrize("operator", [
    lambda d, i: opset8.gather_nd(d, opset8.unsqueeze(i, np.int64(1))),
    lambda d, i: opset6.gather_elements(d, opset8.unsqueeze(i, np.int64(1)), 0),
    lambda d, i: opset1.gather(d, i, np.int64(0)),
], ids=["GatherND-8", "GatherElements-6", "Gather-1"])  # fmt: skip
def test_shapes_after_a_refused_call(operator):
    """The plug-in notes the shapes of inputs after calls that went well: the one after a refusal must not be mistaken for them."""
    inputs = [opset8.parameter([-1, 1], np.float32), opset8.parameter([-1], np.int64)]
    model = garner.openvino.replace(ov.Model([operator(*inputs)], inputs), min_bytes=0)
    request = ov.Core().compile_model(model, "CPU", {**EXACT, "INFERENCE_NUM_THREADS": 2}).create_infer_request()
    data, rows = np.arange(5, dtype=np.float32).reshape(5, 1), np.array([4, 0, 2])
    for _ in range(3):
        assert request.infer([data, rows])[0].tolist() == data[rows].tolist()
        with pytest.raises(RuntimeError, match="outside"):
            request.infer([data, np.append(rows, 5)])
