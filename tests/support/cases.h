/* SPDX-License-Identifier: MIT */
/*
 * One case: an operator version, types, and three views. case_run puts it through every door of the
 * library between guard pages, compares every byte with the reference, and counts it.
 */
#ifndef GARNER_TESTS_CASES_H
#define GARNER_TESTS_CASES_H

#include "guard.h"
#include "random.h"
#include "reference.h"

#include <stdbool.h>

struct case_view {
    int rank;
    int64_t shape[GARNER_MAX_RANK];
    int64_t strides[GARNER_MAX_RANK];
    bool strided;     /* false: dense, and NULL strides are passed */
    size_t lead;      /* bytes before the first that is used, which misalign it */
    bool use_offset;  /* say where element 0 lies by byte_offset, not by the pointer */
    bool state_bytes; /* say how much may be reached */
};

struct test_case {
    const struct ref_version *version;
    garner_dtype dtype;
    garner_dtype index_dtype;
    size_t item_bytes; /* of GARNER_OPAQUE */
    int64_t axis;
    int64_t batch_dims;
    int oob; /* a garner_oob, or REF_OOB_OF_VERSION */
    bool strict;
    bool negative_is_outside;
    struct case_view data;
    struct case_view indices;
    struct case_view out; /* its shape is filled in by case_complete */

    uint64_t seed;         /* of the contents */
    bool only_positive;    /* generated indices do not count from the end */
    int bad_per_thousand;  /* how many of them lie outside */
    int64_t bad_position;  /* one more at this place; negative: none */
    const int64_t *values; /* the indices, in C order; NULL: generated */
    const void *elements;  /* dense contents of data; NULL: generated */
    int threads;           /* run on the process-wide pool too, with so many; 0: not */
    const void *expected;  /* dense contents of out; NULL: only the reference's word */
};

/* One of a case's buffers: all of its bytes, and the view of them. */
struct case_buffer {
    unsigned char *begin;
    size_t bytes;
    const garner_tensor *tensor;
};

/* Another way to run an operator than the CPU's. A program that has this function tests it instead of all
 * others, with the same cases. Strings it refuses with GARNER_UNSUPPORTED. */
garner_status case_other_door(const garner_op *op, const struct case_buffer *data,
                              const struct case_buffer *indices, const struct case_buffer *out,
                              garner_error *error) __attribute__((weak));

/* Memory for cases of up to `capacity` bytes a buffer; release it at the end. */
void cases_begin(size_t capacity);
void cases_end(void);

struct ref_op case_ref_op(const struct test_case *c);
void case_garner_op(const struct test_case *c, garner_op *op);
struct ref_view case_ref_view(const struct case_view *view, garner_dtype dtype, size_t item_bytes,
                              unsigned char *first);

/* Infers with the reference, fills in the shape of out (dense), and says what the reference said. */
garner_status case_complete(struct test_case *c);

/* True if garner_infer refuses what the reference refuses, with its status, and agrees on the shape. */
bool case_infer_agrees(const struct test_case *c);

/* Runs a complete case, its buffers at the pages before them and once more at those behind them. True if
 * everything agreed; otherwise the case is described on stderr. */
bool case_run(const struct test_case *c);

/* The same on one side alone, for those who run so many that the other has its turn. */
bool case_run_on(const struct test_case *c, enum guard_side side);

/* The version and types of a case in words, on stderr. */
void case_describe(const struct test_case *c, const char *trouble);

#endif
