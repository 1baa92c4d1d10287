/* SPDX-License-Identifier: MIT */
/* What the functions of index.h promise. Proved by prove_index.c, used by others; but that index_load reads
 * no more than its bytes and may give any number is assumed: WP cannot see through its union. */
#ifndef GARNER_PROOFS_INDEX_CONTRACTS_H
#define GARNER_PROOFS_INDEX_CONTRACTS_H

#include "builtins.h"
#include "index.h"

/*@ axiomatic Conversion { // what C says: to become unsigned, negative numbers are counted modulo 2^64
      axiom as_unsigned: \forall int64_t x; (uint64_t)x == (x < 0 ? x + 18446744073709551616 : x); }
    predicate is_axis(struct axis *a) = a->bound >= 0 && (a->wrap == 0 || a->wrap == a->bound); */

/*@ assigns \nothing; */
static inline int64_t index_load(const void *at, struct index_type type);

/*@ assigns \nothing;
    ensures \result == (type.is_unsigned && index < 0); */
static inline bool index_is_beyond(int64_t index, struct index_type type);

/*@ requires 0 <= wrap;
    assigns \nothing;
    ensures \result == (index < 0 ? index + wrap : index); */
static inline int64_t index_wrap(int64_t index, int64_t wrap);

/*@ requires \valid(picked) && bound >= 0 && wrap >= 0;
    assigns *picked;
    ensures \result <==> 0 <= *picked < bound;
    ensures *picked == (index < 0 ? index + wrap : index); */
static inline bool index_inside(int64_t index, int64_t bound, int64_t wrap, int64_t *picked);

/*@ requires \valid(picked) && \valid_read(axis) && \separated(picked, axis) && is_axis(axis);
    assigns *picked;
    ensures \result == INSIDE || \result == NOWHERE || \result == REFUSED;
    ensures \result == INSIDE ==> 0 <= *picked < axis->bound; */
static inline enum landing index_land(int64_t index, struct index_type type, const struct axis *axis,
                                      garner_oob policy, int64_t *picked);

#endif
