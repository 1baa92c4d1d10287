/* SPDX-License-Identifier: MIT */
/*
 * Gathers as people meet them, by their shapes alone: cpu shows the kernels that they get, bench measures
 * them. And contents for such shapes.
 */
#ifndef GARNER_CLI_WORKLOAD_H
#define GARNER_CLI_WORKLOAD_H

#include <stdbool.h>
#include <stdio.h>

#include "array.h"

struct workload_tensor {
    garner_dtype dtype;
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK];
};

struct workload {
    garner_op op;
    struct workload_tensor data, indices;
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* The first of that operator. */
const struct workload *workload_of(garner_kind kind);

/* Reads "100,64" or "[100,64]" as a shape. False if it is none. */
bool workload_shape(struct workload_tensor *tensor, const char *text);

/* "Gather f32[100,64] i64[7] axis 0", or the same as members of a JSON object. */
void workload_print(FILE *out, const garner_op *op, const garner_tensor *data, const garner_tensor *indices,
                    bool json);

/* The tensor without its elements; it points into `from`. */
garner_tensor workload_view(const struct workload_tensor *from);

/* Fills dense data with bytes that are not all the same, and indices at random with such as the operator
 * allows, the same ones each time. Shapes and types must have been found legal. */
void workload_fill(const garner_op *op, const garner_tensor *data, const garner_tensor *indices);

#endif
