/* SPDX-License-Identifier: MIT */
/*
 * How two tensors differ, bit by bit: type, shape, or elements, of which the first is told and all are
 * counted. A NaN equals the same NaN, and 0.0 differs from -0.0.
 */
#ifndef GARNER_CLI_DIFFERENCE_H
#define GARNER_CLI_DIFFERENCE_H

#include <stdio.h>

#include "array.h"

enum difference_kind { DIFFERENCE_NONE, DIFFERENCE_TYPE, DIFFERENCE_SHAPE, DIFFERENCE_ELEMENTS };

struct difference {
    enum difference_kind kind;
    int64_t first; /* of DIFFERENCE_ELEMENTS: the first element that differs, counted in C order */
    int64_t count; /* how many do */
    int64_t total; /* of how many */
};

/* Compares two tensors of any strides. Fails only for want of memory. */
garner_status difference_find(struct difference *difference, const struct array *a, const struct array *b,
                              garner_error *error);

/* Prints it as one line: "first difference at [1,0]: 3.0 and 4.0; 2 of 6 elements differ". */
void difference_print(FILE *out, const struct difference *difference, const struct array *a,
                      const struct array *b);

#endif
