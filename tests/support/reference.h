/* SPDX-License-Identifier: MIT */
/*
 * The stupid reference: the formulas of the specifications, coordinate by coordinate and element by
 * element, one code path per operator. It shares nothing with src/, not even the sizes of types, so
 * that a mistake there has nothing here to agree with.
 */
#ifndef GARNER_TESTS_REFERENCE_H
#define GARNER_TESTS_REFERENCE_H

#include "garner.h"

#include <stdbool.h>

/* Wide enough for every value of every index type, and for sums of two. */
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 ref_int;
#else
typedef _BitInt(128) ref_int;
#endif

/* ---- Types (reference_types.c) ---- */

enum { REF_TYPES = 31, REF_INDEX_TYPES = 8 };
extern const garner_dtype ref_types[REF_TYPES];             /* every element type */
extern const garner_dtype ref_index_types[REF_INDEX_TYPES]; /* those that may index */

const char *ref_type_name(garner_dtype dtype);
int ref_bits(garner_dtype dtype); /* 0: opaque, or no such type */
bool ref_is_packed(garner_dtype dtype);
bool ref_is_unsigned(garner_dtype dtype);
size_t ref_bytes(garner_dtype dtype, size_t item_bytes, int64_t count); /* when dense */
ref_int ref_least(garner_dtype index_dtype);
ref_int ref_most(garner_dtype index_dtype);

unsigned ref_get_code(garner_dtype dtype, const unsigned char *first, int64_t n);
void ref_put_code(garner_dtype dtype, unsigned char *first, int64_t n, unsigned code);
ref_int ref_load_index(garner_dtype dtype, const unsigned char *at);
void ref_store_index(garner_dtype dtype, unsigned char *at, ref_int value);

/* ---- Views ---- */

struct ref_view {
    unsigned char *first; /* element 0 */
    garner_dtype dtype;
    size_t item_bytes; /* of GARNER_OPAQUE */
    int rank;
    int64_t shape[GARNER_MAX_RANK];
    int64_t strides[GARNER_MAX_RANK]; /* in elements */
};

int64_t ref_count(int rank, const int64_t *shape);
void ref_dense_strides(int rank, const int64_t *shape, int64_t *strides);
int64_t ref_offset(const struct ref_view *view, const int64_t *at); /* in elements */
size_t ref_item_bytes(const struct ref_view *view);
/* Steps `at` to the next coordinates in C order; false after the last. */
bool ref_next(int rank, const int64_t *shape, int64_t *at);

/* ---- Operator versions ---- */

struct ref_version {
    const char *spec; /* NULL: the lenient default */
    garner_kind kind;
    enum { REF_TYPES_ANY, REF_TYPES_ONNX_OLD, REF_TYPES_ONNX_13, REF_TYPES_OPENVINO } types;
    enum { REF_INDEX_ANY, REF_INDEX_I32_I64, REF_INDEX_I64 } index_types;
    enum { REF_BATCH_NONE, REF_BATCH_COUNTED, REF_BATCH_SIGNED } batch;
    bool off_axis_equal;     /* GatherElements: extents off the axis equal, not merely smaller */
    bool batches_multiplied; /* GatherND-5: the batch extents become one */
    bool zeros;              /* beyond the range: zeros, not an error */
    bool strict_from_zero;   /* under strict the range is [0, s-1] */
};

enum { REF_VERSIONS = 17 };
extern const struct ref_version ref_versions[REF_VERSIONS];
const struct ref_version *ref_find_version(garner_kind kind, const char *spec);

enum { REF_OOB_OF_VERSION = -1 };

struct ref_op {
    const struct ref_version *version;
    int64_t axis;
    int64_t batch_dims;
    int oob; /* a garner_oob, or REF_OOB_OF_VERSION */
    bool strict;
    bool negative_is_outside;
};

/* What came of it: a status, the shape of out, and the first bad index if there is one. */
struct ref_result {
    garner_status status;
    int rank;
    int64_t shape[GARNER_MAX_RANK];
    int64_t position;
    int64_t axis;
    int64_t bound;
    ref_int value;
};

/* GARNER_OK, GARNER_BAD_TYPE or GARNER_BAD_SHAPE, and the shape of out. */
garner_status ref_infer(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                        struct ref_result *result);

/* The data axis that the index at flat position `position` goes to. Needs a legal problem. */
int64_t ref_axis_of(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                    int64_t position);

/* Writes every element of out, or says which index is the first bad one. Needs a legal problem. */
garner_status ref_run(const struct ref_op *op, const struct ref_view *data, const struct ref_view *indices,
                      const struct ref_view *out, struct ref_result *result);

#endif
