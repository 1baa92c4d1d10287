/* SPDX-License-Identifier: MIT */
/*
 * The worked examples and the XML layers of the specification texts, as one table
 * (examples/specifications.def). An example states values; a layer states shapes alone and is filled with
 * generated contents.
 */
#ifndef GARNER_TESTS_EXAMPLES_H
#define GARNER_TESTS_EXAMPLES_H

#include "cases.h"

struct dims {
    int rank;
    int64_t extents[8];
};

struct example {
    const char *text;   /* which text */
    const char *number; /* which example of it */
    garner_kind kind;
    const char *spec;
    int64_t axis;
    int64_t batch_dims;
    struct dims data, indices, out;
    const float *elements; /* of data, in C order; NULL for a layer */
    const int64_t *values; /* of indices */
    const float *expected; /* of out */
};

/* clang-format off */
#define SCALAR {0, {0}}
#define SHAPE(...) {(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}}
#define FLOATS(...) (const float[]){__VA_ARGS__}
#define VALUES(...) (const int64_t[]){__VA_ARGS__}
#define EXAMPLE(text, number, kind, spec, axis, batch_dims, data, elements, indices, values, out, expected) \
    {text, number, GARNER_##kind, spec, axis, batch_dims, data, indices, out, elements, values, expected},
#define LAYER(text, number, kind, spec, axis, batch_dims, data, indices, out) \
    {text, number, GARNER_##kind, spec, axis, batch_dims, data, indices, out, NULL, NULL, NULL},
/* clang-format on */

static const struct example examples[] = {
#include "specifications.def"
};

enum { EXAMPLES = (int)(sizeof examples / sizeof examples[0]) };

/* Every text that must be there; a text without an example fails the run. */
static const char *const texts[] = {
    "ONNX Gather-1",
    "ONNX Gather-11",
    "ONNX Gather-13",
    "ONNX GatherElements-11",
    "ONNX GatherElements-13",
    "ONNX GatherElements (page)",
    "ONNX GatherND-11",
    "ONNX GatherND-12",
    "ONNX GatherND-13",
    "OpenVINO Gather-1",
    "OpenVINO Gather-7",
    "OpenVINO Gather-8",
    "OpenVINO GatherElements-6",
    "OpenVINO GatherND-5",
    "OpenVINO GatherND-8",
};

enum { TEXTS = (int)(sizeof texts / sizeof texts[0]) };

/* The example as a case, with its own indices in the given type. */
static inline struct test_case example_case(const struct example *example, garner_dtype index_dtype)
{
    struct test_case c = {.version = ref_find_version(example->kind, example->spec),
                          .dtype = GARNER_F32,
                          .index_dtype = index_dtype,
                          .axis = example->axis,
                          .batch_dims = example->batch_dims,
                          .oob = REF_OOB_OF_VERSION,
                          .seed = 1,
                          .bad_position = -1,
                          .values = example->values,
                          .elements = example->elements,
                          .expected = example->expected};
    c.data.rank = example->data.rank;
    c.indices.rank = example->indices.rank;
    for (int d = 0; d < example->data.rank; d++)
        c.data.shape[d] = example->data.extents[d];
    for (int d = 0; d < example->indices.rank; d++)
        c.indices.shape[d] = example->indices.extents[d];
    return c;
}

/* True if a completed case has the shape of out that the text states. */
static inline bool example_shape_stated(const struct example *example, const struct test_case *c)
{
    if (c->out.rank != example->out.rank) return false;
    for (int d = 0; d < c->out.rank; d++)
        if (c->out.shape[d] != example->out.extents[d]) return false;
    return true;
}

#endif
