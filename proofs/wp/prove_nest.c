/* SPDX-License-Identifier: MIT */
/* Two dims that become one walk along the same places in all three tensors. */
#include "nest.h"

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result <==> fits(a * b);
    ensures \result ==> *result == a * b; */
static inline bool multiply_fits(int64_t a, int64_t b, int64_t *result);

/*@ assigns \nothing;
    ensures \result ==> outer == n * inner; */
static inline bool continues_stride(int64_t outer, int64_t n, int64_t inner);

/*@ requires \valid_read(outer) && \valid_read(inner);
    assigns \nothing;
    ensures \result ==> outer->data == inner->n * inner->data;
    ensures \result ==> outer->index == inner->n * inner->index;
    ensures \result ==> outer->out == inner->n * inner->out; */
static inline bool walk_as_one(const struct dim *outer, const struct dim *inner);

/*@ predicate appended{A, B}(struct nest *nest, struct dim dim) =
      \at(nest->rank, B) == \at(nest->rank, A) + 1 && \at(nest->dim[\at(nest->rank, A)], B) == dim;
    predicate taken_in{A, B}(struct nest *nest, struct dim dim) = \let last = \at(nest->rank, A) - 1;
      last >= 0 && \at(nest->rank, B) == last + 1 &&
      \at(nest->dim[last].n, B) == dim.n * \at(nest->dim[last].n, A) &&
      \at(nest->dim[last].data, B) == dim.data && \at(nest->dim[last].data, A) == dim.n * dim.data &&
      \at(nest->dim[last].index, B) == dim.index && \at(nest->dim[last].index, A) == dim.n * dim.index &&
      \at(nest->dim[last].out, B) == dim.out && \at(nest->dim[last].out, A) == dim.n * dim.out; */

/*@ requires \valid(nest) && 0 <= nest->rank < GARNER_MAX_RANK;
    requires nest->rank > 0 ==> fits(dim.n * nest->dim[nest->rank - 1].n);
    assigns nest->rank, nest->dim[0 .. GARNER_MAX_RANK - 1];
    ensures appended{Pre, Post}(nest, dim) || taken_in{Pre, Post}(nest, dim); */
static inline void nest_append(struct nest *nest, struct dim dim);

/* What that means: step (i, j) of the two is step i * n + j of the one, which has no others. Not of the
 * product. */
/*@ requires 0 <= i < outer_n && 0 <= j < n;
    assigns \nothing;
    ensures i * (n * stride) + j * stride == (i * n + j) * stride;
    ensures 0 <= i * n + j < outer_n * n; */
void merged_step(int64_t i, int64_t outer_n, int64_t j, int64_t n, int64_t stride)
{
}
