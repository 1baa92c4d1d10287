/* SPDX-License-Identifier: MIT */
/*
 * Bytes become a gather: an operator version, types, two shapes, how the three views lie in memory, and
 * indices. The library must refuse what the reference refuses; what is legal goes through every door of
 * the library between guard pages, and every byte of out is compared with the reference.
 */
#include <stdlib.h>
#include <string.h>

#include "arrange.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CAPACITY = 1 << 20, MOST_ELEMENTS = 400, MOST_INDICES = 100 };

struct input {
    const uint8_t *bytes;
    size_t left;
};

static unsigned take(struct input *in)
{
    if (in->left == 0) return 0;
    in->left--;
    return *in->bytes++;
}

static uint64_t take_bytes(struct input *in, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | take(in);
    return value;
}

static int64_t take_extent(struct input *in, int64_t *budget)
{
    unsigned byte = take(in);
    int64_t extent = byte < 4 ? byte : byte < 240 ? 1 + byte % 12 : byte * 4;
    if (extent > *budget) extent = *budget;
    if (extent > 0) *budget /= extent;
    return extent;
}

static int take_rank(struct input *in)
{
    unsigned byte = take(in);
    return byte < 240 ? (int)(byte % 7) : (int)(byte % (GARNER_MAX_RANK + 1));
}

/* Indices that fit the operator are rare by chance, so most inputs derive their shape from data's. */
static void fit_indices(struct test_case *c, struct input *in)
{
    struct case_view *indices = &c->indices;
    int64_t batch = c->batch_dims < 0 ? 0 : c->batch_dims;
    if (c->version->kind == GARNER_GATHER_ELEMENTS) {
        indices->rank = c->data.rank;
        for (int d = 0; d < indices->rank; d++)
            if (d != c->axis && indices->shape[d] > c->data.shape[d]) indices->shape[d] = c->data.shape[d];
    }
    for (int d = 0; d < batch && d < indices->rank && d < c->data.rank; d++)
        indices->shape[d] = c->data.shape[d];
    if (c->version->kind == GARNER_GATHER_ND && indices->rank > 0)
        indices->shape[indices->rank - 1] = c->data.rank > batch ? 1 + take(in) % (c->data.rank - batch) : 1;
}

static void take_operator(struct test_case *c, struct input *in)
{
    unsigned flags = take(in);
    c->version = &ref_versions[take(in) % REF_VERSIONS];
    c->dtype = ref_types[take(in) % REF_TYPES];
    c->index_dtype = ref_index_types[take(in) % REF_INDEX_TYPES];
    c->item_bytes = 1 + take(in) % 40;
    c->axis = c->version->kind == GARNER_GATHER_ND ? 0 : (int8_t)take(in) % 8;
    c->batch_dims = flags & 1 ? 0 : (int8_t)take(in) % 4;
    c->oob = (int)(flags >> 1 & 7) % 5 - 1;
    c->strict = flags >> 4 & 1;
    c->negative_is_outside = (flags >> 5 & 7) == 7;
    c->bad_position = -1;
}

static void take_shapes(struct test_case *c, struct input *in)
{
    int64_t budget = MOST_ELEMENTS;
    c->data.rank = take_rank(in);
    for (int d = 0; d < c->data.rank; d++)
        c->data.shape[d] = take_extent(in, &budget);
    bool free_indices = take(in) % 8 == 0;
    budget = MOST_INDICES;
    c->indices.rank = take_rank(in);
    for (int d = 0; d < GARNER_MAX_RANK; d++)
        c->indices.shape[d] = d < c->indices.rank || !free_indices ? take_extent(in, &budget) : 0;
    if (!free_indices) fit_indices(c, in);
}

/* A legal problem is small: fitted shapes can multiply beyond the memory that cases have. */
static bool small_enough(const struct test_case *c)
{
    double out = 1, indices = 1;
    for (int d = 0; d < c->out.rank; d++)
        out *= (double)c->out.shape[d];
    for (int d = 0; d < c->indices.rank; d++)
        indices *= (double)c->indices.shape[d];
    return out <= 4 * MOST_ELEMENTS && indices <= 4 * MOST_INDICES;
}

/* Near the range that is allowed most of the time, anywhere otherwise. */
static int64_t *take_indices(const struct test_case *c, struct input *in)
{
    int64_t count = ref_count(c->indices.rank, c->indices.shape);
    int64_t *values = malloc(count > 0 ? (size_t)count * sizeof *values : 1);
    const ref_int least = ref_least(c->index_dtype), most = ref_most(c->index_dtype);
    bool wild = take(in) % 4 == 0;
    for (int64_t i = 0; values && i < count; i++) {
        ref_int value = wild ? (ref_int)(int64_t)take_bytes(in, 8) : (int8_t)take(in) % 6;
        value = value < least ? least : value > most ? most : value;
        values[i] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    return values;
}

static bool agrees(struct test_case *c, struct input *in)
{
    if (case_complete(c) != GARNER_OK || !small_enough(c)) return case_infer_agrees(c);
    struct random random = random_from(c->seed);
    bool packed = ref_is_packed(c->dtype);
    arrange(&random, &c->data, packed, true);
    arrange(&random, &c->indices, false, true);
    arrange(&random, &c->out, packed, false);
    int64_t *values = take_indices(c, in);
    c->values = values;
    bool agreed = case_run_on(c, c->seed & 1 ? GUARD_BEFORE : GUARD_AFTER);
    free(values);
    return agreed;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool begun;
    struct input in = {bytes, size};
    struct test_case c;
    if (!begun) cases_begin(CAPACITY);
    begun = true;
    memset(&c, 0, sizeof c);
    c.seed = take_bytes(&in, 4);
    take_operator(&c, &in);
    take_shapes(&c, &in);
    if (!agrees(&c, &in)) abort();
    return 0;
}
