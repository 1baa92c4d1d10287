/* SPDX-License-Identifier: MIT */
/*
 * The table of typical gathers, and what is done with shapes that have no contents yet.
 */
#include "workload.h"

#include <string.h>

#include "options.h"
#include "print.h"

const struct workload workloads[] = {
    /* rows of a table, as embeddings are looked up */
    {{.kind = GARNER_GATHER}, {GARNER_F32, 2, {50000, 128}}, {GARNER_I64, 1, {8192}}},
    {{.kind = GARNER_GATHER}, {GARNER_F32, 2, {50000, 3}}, {GARNER_I32, 1, {8192}}},
    /* single elements, and columns */
    {{.kind = GARNER_GATHER}, {GARNER_F32, 1, {1000000}}, {GARNER_I32, 1, {262144}}},
    {{.kind = GARNER_GATHER, .axis = 1}, {GARNER_F32, 2, {1024, 1024}}, {GARNER_I64, 1, {128}}},
    {{.kind = GARNER_GATHER, .axis = 1, .batch_dims = 1},
     {GARNER_F16, 3, {32, 512, 64}},
     {GARNER_I64, 2, {32, 128}}},
    /* what takes other ways: narrow indices, packed elements */
    {{.kind = GARNER_GATHER}, {GARNER_F32, 2, {256, 64}}, {GARNER_U8, 1, {4096}}},
    {{.kind = GARNER_GATHER}, {GARNER_I4, 2, {1000, 33}}, {GARNER_I64, 1, {4096}}},
    {{.kind = GARNER_GATHER_ELEMENTS, .axis = 1},
     {GARNER_F32, 2, {1024, 1024}},
     {GARNER_I64, 2, {1024, 256}}},
    {{.kind = GARNER_GATHER_ELEMENTS}, {GARNER_F32, 2, {1024, 256}}, {GARNER_I64, 2, {1024, 256}}},
    {{.kind = GARNER_GATHER_ELEMENTS, .axis = 1}, {GARNER_F32, 3, {64, 64, 8}}, {GARNER_I32, 3, {64, 32, 8}}},
    {{.kind = GARNER_GATHER_ND}, {GARNER_F32, 3, {256, 256, 64}}, {GARNER_I64, 2, {16384, 2}}},
    {{.kind = GARNER_GATHER_ND}, {GARNER_F32, 3, {128, 128, 64}}, {GARNER_I32, 2, {65536, 3}}},
    {{.kind = GARNER_GATHER_ND, .batch_dims = 1},
     {GARNER_F32, 3, {16, 1024, 32}},
     {GARNER_I64, 3, {16, 256, 1}}},
};
const size_t workload_count = sizeof workloads / sizeof *workloads;

const struct workload *workload_of(garner_kind kind)
{
    size_t i = 0;
    while (i + 1 < workload_count && workloads[i].op.kind != kind)
        i++;
    return &workloads[i];
}

/* ---- Text ---- */

bool workload_shape(struct workload_tensor *tensor, const char *text)
{
    char extent[24];
    size_t length = strlen(text);
    bool brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    const char *end = text + length - brackets;
    text += brackets;
    tensor->rank = 0;
    if (text == end) return brackets;
    for (;; text++) {
        size_t digits = strcspn(text, ",]");
        if (tensor->rank == GARNER_MAX_RANK || digits == 0 || digits >= sizeof extent) return false;
        memcpy(extent, text, digits);
        extent[digits] = '\0';
        int64_t *number = &tensor->shape[tensor->rank++];
        if (!options_integer(extent, number) || *number < 0) return false;
        text += digits;
        if (text == end) return true;
        if (*text != ',') return false;
    }
}

static void print_tensor_shape(FILE *out, const garner_tensor *tensor, bool json)
{
    const char *name = tensor->dtype == GARNER_OPAQUE ? "opaque" : garner_dtype_name(tensor->dtype);
    fprintf(out, json ? "{\"dtype\": \"%s\", \"shape\": " : "%s", name);
    print_integers(out, tensor->shape, tensor->rank, json);
    fputs(json ? "}" : "", out);
}

void workload_print(FILE *out, const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                    bool json)
{
    fprintf(out, json ? "\"operator\": \"%s\", \"data\": " : "%s ", garner_kind_name(op->kind));
    print_tensor_shape(out, data, json);
    fputs(json ? ", \"indices\": " : " ", out);
    print_tensor_shape(out, indices, json);
    if (op->kind != GARNER_GATHER_ND)
        fprintf(out, json ? ", \"axis\": %lld" : " axis %lld", (long long)op->axis);
    if (op->batch_dims != 0 || (json && op->kind != GARNER_GATHER_ELEMENTS))
        fprintf(out, json ? ", \"batch_dims\": %lld" : " batch_dims %lld", (long long)op->batch_dims);
}

/* ---- Contents ---- */

garner_tensor workload_view(const struct workload_tensor *from)
{
    return (garner_tensor){.shape = from->shape, .rank = from->rank, .dtype = from->dtype};
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void put_index(const garner_tensor *indices, int64_t i, uint64_t value)
{
    int bytes = garner_dtype_bits(indices->dtype) / 8;
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    const void *from = bytes == 1   ? (void *)&one
                       : bytes == 2 ? (void *)&two
                       : bytes == 4 ? (void *)&four
                                    : &value;
    memcpy((char *)indices->data + i * bytes, from, (size_t)bytes);
}

/* The extent of the data axis that component k of an index tuple goes to. */
static int64_t bound_of(const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                        int64_t k)
{
    int64_t axis = op->axis < 0 ? op->axis + data->rank : op->axis;
    if (op->kind != GARNER_GATHER_ND) return data->shape[axis];
    int64_t batch = op->batch_dims < 0 ? op->batch_dims + indices->rank : op->batch_dims;
    return data->shape[batch + k];
}

void workload_fill(const garner_op *op, const garner_tensor *data, const garner_tensor *indices)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    int64_t bytes = garner_dtype_bytes(data->dtype, array_count(data->rank, data->shape), data->item_bytes);
    int64_t count = array_count(indices->rank, indices->shape);
    int64_t tuple = op->kind == GARNER_GATHER_ND ? indices->shape[indices->rank - 1] : 1;
    for (int64_t i = 0; i < bytes; i++)
        ((unsigned char *)data->data)[i] = (unsigned char)(i * 31 + (i >> 12));
    const int bits = garner_dtype_bits(indices->dtype) - 1; /* those of the largest signed number */
    for (int64_t i = 0; i < count; i++) {
        uint64_t bound = (uint64_t)bound_of(op, data, indices, i % tuple);
        if (bound > (uint64_t)1 << bits) bound = (uint64_t)1 << bits;
        if (bound > 0) put_index(indices, i, next_random(&state) % bound);
    }
}
