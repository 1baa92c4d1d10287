/* SPDX-License-Identifier: MIT */
/*
 * The rules of one operator version, and how a caller's garner_op becomes them. Code below asks a
 * rule, never a version.
 */
#ifndef GARNER_OP_H
#define GARNER_OP_H

#include "base.h"

/* What batch_dims may be. */
enum batch_rule {
    BATCH_NONE,    /* 0: the operator has no such attribute */
    BATCH_LEADING, /* 0 up to, not including, the smaller rank */
    BATCH_SIGNED   /* up to the smaller rank and to the axis; negative counts from the indices' rank */
};

/* How extents of indices compare with those of data off the axis, where both walk together. */
enum extent_rule { EXTENT_EQUAL, EXTENT_AT_MOST };

struct rules {
    const char *spec; /* NULL: the lenient default */
    garner_kind kind;
    uint64_t data_types; /* masks over dtype numbers */
    uint64_t strict_data_types;
    uint64_t index_types;
    enum batch_rule batch;
    enum extent_rule extent;
    bool merges_batch; /* the batch extents are multiplied into one in the shape of out */
    garner_oob oob;
    garner_negative strict_negative;
};

/* A caller's operator, checked and completed. */
struct op {
    const struct rules *rules;
    const char *name;
    int64_t axis, batch_dims;
    garner_oob oob;
    garner_negative negative;
    uint64_t data_types;
};

/* The lenient default. */
void garner_op_default(struct op *op, garner_kind kind, int64_t axis, int64_t batch_dims);

garner_status garner_op_resolve(struct op *op, const garner_op *original, garner_error *error);

#endif
