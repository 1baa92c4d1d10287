/* SPDX-License-Identifier: MIT */
/*
 * Elements of a row as numbers of one kind, a block at a time: so that large arrays are compared without a
 * question about types for each element. What no block holds exactly goes one by one (element_value.h).
 */
#ifndef GARNER_PYTHON_ELEMENT_BLOCK_H
#define GARNER_PYTHON_ELEMENT_BLOCK_H

#include "state.h"

enum { BLOCK_ELEMENTS = 512 };

enum block_kind {
    BLOCK_NONE,
    BLOCK_INTEGERS, /* those of u64 as the same bits */
    BLOCK_REALS,
};

union block {
    int64_t integers[BLOCK_ELEMENTS];
    double reals[BLOCK_ELEMENTS];
};

/* The kind in which elements of both types are compared exactly. */
enum block_kind block_kind_of(garner_dtype a, garner_dtype b);

/* Loads at most BLOCK_ELEMENTS elements, the first of them `offset` elements from `first`, each `stride`
 * elements after the one before. In this machine's byte order. */
void block_load(union block *block, enum block_kind kind, garner_dtype dtype, const void *first,
                int64_t offset, int64_t stride, int count);

#endif
