/* SPDX-License-Identifier: MIT */
/* gather, gather_elements, gather_nd: the operators of ONNX and OpenVINO, under their own names. */
#include "functions.h"

#include "arguments.h"
#include "call.h"

#define OPTIONS                                                                                             \
    "spec names one version of one specification ('onnx-13', 'openvino-8', ...) and enforces its types;\n"  \
    "strict=True keeps to its text to the letter. oob says what an index outside its axis does: 'error',\n" \
    "'zero', 'clamp' or 'wrap'. The result is of data's kind and goes into out if that is given.\n"         \
    "threads=1 stays in the calling thread; by default large work uses all cores.\n\n"

const char gather_doc[] =
    "gather($module, data, indices, axis=0, batch_dims=0, *, spec=None, strict=False, oob=None, out=None, "
    "threads=None)\n--\n\n"
    "Picks slices of data along an axis.\n\n"
    "out[p.., i.., q..] = data[p.., indices[i..], q..], with p before the axis and q after it; the first\n"
    "batch_dims axes are common to data and indices. Negative indices count from the end.\n\n" OPTIONS
    ">>> import array, garner\n"
    ">>> garner.gather(array.array('d', [1.5, 2.5, 3.5]), [2, 0, -1]).tolist()\n"
    "[3.5, 1.5, 3.5]\n"
    ">>> garner.gather([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1).tolist()\n"
    "[[3, 1], [6, 4]]\n"
    ">>> garner.gather([10, 20, 30], [1, 7], oob='zero').tolist()\n"
    "[20, 0]\n"
    ">>> garner.gather([10, 20, 30], [1, 7])\n"
    "Traceback (most recent call last):\n"
    "    ...\n"
    "garner.OutOfRange: Gather: indices[1] = 7 is outside [-3, 2] of data axis 0\n";

const char gather_elements_doc[] =
    "gather_elements($module, data, indices, axis=0, *, spec=None, strict=False, oob=None, out=None, "
    "threads=None)\n--\n\n"
    "Picks one element for each index, all other coordinates staying as they are.\n\n"
    "out[i, j, k] = data[i, indices[i, j, k], k] for axis 1 of rank 3, and so on. The result has the shape "
    "of\n"
    "indices, whose extents off the axis may be smaller than data's.\n\n" OPTIONS ">>> import garner\n"
    ">>> garner.gather_elements([[1, 2], [3, 4]], [[0, 0], [1, 0]], axis=1).tolist()\n"
    "[[1, 1], [4, 3]]\n";

const char gather_nd_doc[] =
    "gather_nd($module, data, indices, batch_dims=0, *, spec=None, strict=False, oob=None, out=None, "
    "threads=None)\n--\n\n"
    "Picks slices at tuples of indices.\n\n"
    "The last axis of indices holds tuples, one index for each of data's axes after the first batch_dims "
    "ones:\n"
    "out[b.., i.., :] = data[b.., indices[b.., i.., 0], indices[b.., i.., 1], ..., :].\n\n" OPTIONS
    ">>> import garner\n"
    ">>> garner.gather_nd([[0, 1], [2, 3]], [[0, 0], [1, 1]]).tolist()\n"
    "[0, 3]\n"
    ">>> garner.gather_nd([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[1], [0]], batch_dims=1).tolist()\n"
    "[[2, 3], [4, 5]]\n";

/* Where each operator's arguments stand; -1: it has no such argument. */
struct places {
    garner_kind kind;
    int axis, batch_dims, spec;
};

static PyObject *run(PyObject *module, const struct signature *signature, const struct places *places,
                     PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct call call;
    PyObject *values[MOST_PARAMETERS];
    call.state = PyModule_GetState(module);
    call.operator= garner_kind_name(places->kind);
    call.threads = 0;
    call.scalar = false;
    call.given = NULL;
    call.plan = NULL;
    if (!arguments_take(call.state, signature, arguments, count, keywords, values)) return NULL;
    PyObject *const *option = values + places->spec; /* spec, strict, oob, out, threads, in this order */
    if (!option_operator(call.state, &call.op, places->kind, option[0], option[1], option[2])) return NULL;
    if (places->axis >= 0 &&
        !option_integer(call.state, call.operator, "axis", values[places->axis], &call.op.axis))
        return NULL;
    if (places->batch_dims >= 0 && !option_integer(call.state, call.operator, "batch_dims",
                                                   values[places->batch_dims], &call.op.batch_dims))
        return NULL;
    if (!option_threads(call.state, option[4], &call.threads)) return NULL;
    call.out = option[3];
    return call_read(&call, values[0], "data", values[1], "indices") ? call_run(&call) : NULL;
}

PyObject *gather(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"gather",
                                               9,
                                               4,
                                               2,
                                               {NAME_data, NAME_indices, NAME_axis, NAME_batch_dims,
                                                NAME_spec, NAME_strict, NAME_oob, NAME_out, NAME_threads}};
    static const struct places places = {GARNER_GATHER, 2, 3, 4};
    return run(module, &signature, &places, arguments, count, keywords);
}

PyObject *gather_elements(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {
        "gather_elements",
        8,
        3,
        2,
        {NAME_data, NAME_indices, NAME_axis, NAME_spec, NAME_strict, NAME_oob, NAME_out, NAME_threads}};
    static const struct places places = {GARNER_GATHER_ELEMENTS, 2, -1, 3};
    return run(module, &signature, &places, arguments, count, keywords);
}

PyObject *gather_nd(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {
        "gather_nd",
        8,
        3,
        2,
        {NAME_data, NAME_indices, NAME_batch_dims, NAME_spec, NAME_strict, NAME_oob, NAME_out, NAME_threads}};
    static const struct places places = {GARNER_GATHER_ND, -1, 2, 3};
    return run(module, &signature, &places, arguments, count, keywords);
}
