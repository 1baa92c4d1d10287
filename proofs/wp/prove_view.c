/* SPDX-License-Identifier: MIT */
/* What a view reaches is computed without overflow, and is what its elements reach. */
#include "index_contracts.h"
#include "sums.h"
#include "view.h"

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result <==> fits(a + b);
    ensures \result ==> *result == a + b; */
static inline bool add_fits(int64_t a, int64_t b, int64_t *result);

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result <==> fits(a * b);
    ensures \result ==> *result == a * b; */
static inline bool multiply_fits(int64_t a, int64_t b, int64_t *result);

/*@ requires a >= 0 && b > 0;
    assigns \nothing;
    ensures 0 <= \result <= a; */
static inline int64_t divide_up(int64_t a, int64_t b);

/*@ predicate type_is_sound(struct dtype *type) = type->packing == WHOLE || type->per_unit > 0; */

/*@ requires \valid_read(type) && type_is_sound(type) && \valid(bytes) && count >= 0 && item >= 0;
    assigns *bytes;
    ensures \result ==> *bytes >= 0;
    ensures \result && type->packing == WHOLE ==> *bytes == count * item; */
static inline bool dtype_size(const struct dtype *type, int64_t count, int64_t item, int64_t *bytes);

/* count_of(d): the product of the first d extents; stride_of(d): that of extents d and after. */
/*@ axiomatic Products {
      logic integer count_of(integer d);
      logic integer stride_of(integer d); }
    predicate counts{L}(int64_t *n, integer d) = count_of(d + 1) == count_of(d) * n[d];
    predicate has_zero{L}(int64_t *n, integer end) = \exists integer d; 0 <= d < end && n[d] == 0;
    predicate strides{L}(struct view *view, integer d) =
      stride_of(d) == stride_of(d + 1) * view->n[d] && fits(stride_of(d));
    predicate is_dense{L}(struct view *view, integer d) =
      view->n[d] == 1 || view->stride[d] == stride_of(d + 1);
    predicate all_dense{L}(struct view *view, integer begin) =
      \forall integer d; begin <= d < view->rank ==> is_dense(view, d); */

/*@ requires 0 <= rank <= 2 * GARNER_MAX_RANK && \valid_read(n + (0 .. rank - 1)) && \valid(count);
    requires \separated(n + (0 .. rank - 1), count);
    requires \forall integer i; 0 <= i < rank ==> n[i] >= 0;
    requires count_of(0) == 1 && \forall integer d; 0 <= d < rank ==> counts(n, d);
    assigns *count;
    ensures \result ==> *count >= 0 && (*count == 0 <==> has_zero(n, rank));
    ensures \result && !has_zero(n, rank) ==> *count == count_of(rank); */
bool garner_count(int rank, const int64_t *n, int64_t *count);

/*@ requires \valid_read(view) && 0 <= view->rank <= GARNER_MAX_RANK && stride_of(view->rank) == 1;
    requires \forall integer d; 0 <= d < view->rank ==> strides(view, d);
    assigns \nothing;
    ensures \result <==> all_dense(view, 0); */
bool garner_view_is_dense(const struct view *view);

/*@ requires \valid(reach) && n >= 1;
    assigns reach->low, reach->high;
    ensures \result ==> reach->low <= \old(reach->low) && reach->high >= \old(reach->high);
    ensures \result ==> reach->low == \old(reach->low) + least(n, stride);
    ensures \result ==> reach->high == \old(reach->high) + most(n, stride); */
static bool add_reach(struct span *reach, int64_t n, int64_t stride);

/*@ requires \valid(view) && 0 <= view->rank <= GARNER_MAX_RANK;
    requires 0 < view->item && 0 <= view->offset <= PTRDIFF_MAX;
    requires \forall integer i; 0 <= i < view->rank ==> view->n[i] >= 1;
    assigns view->span;
    ensures \result ==> -PTRDIFF_MAX <= view->span.low && view->span.high <= PTRDIFF_MAX;
    ensures \result ==> view->span.low ==
      low{Pre}(view, \old(view->rank)) * \old(view->item) + \old(view->offset);
    ensures \result ==> view->span.high ==
      (high{Pre}(view, \old(view->rank)) + 1) * \old(view->item) + \old(view->offset); */
static bool find_span(struct view *view);

/*@ requires \valid(view) && \valid_read(view->type) && type_is_sound(view->type);
    requires \separated(view, view->type);
    requires view->count >= 0 && view->item >= 0 && view->offset >= 0;
    assigns view->span;
    ensures \result == VIEW_FINE ==> 0 <= view->span.low <= view->span.high <= PTRDIFF_MAX;
    ensures \result == VIEW_FINE && view->buffer != 0 ==> view->span.high <= view->buffer;
    ensures \result == VIEW_FINE ==> view->span.low == view->offset;
    ensures \result == VIEW_FINE && view->type->packing == WHOLE ==>
      view->span.high == view->offset + view->count * view->item; */
static enum view_fault reach_dense(struct view *view);

/*@ requires \valid_read(view);
    assigns \nothing;
    ensures \result == VIEW_FINE && view->buffer != 0 ==>
      0 <= view->span.low && (view->span.high < 0 || view->span.high <= view->buffer); */
static inline enum view_fault check_buffer(const struct view *view);

#include "../../src/view.c"

/* What the sums mean: every element lies between them. Not of the product. */
/*@ requires 0 <= at < n;
    assigns \nothing;
    ensures least(n, stride) <= at * stride <= most(n, stride); */
void reach_of_axis(int64_t at, int64_t n, int64_t stride)
{
}

/*@ requires \valid_read(view) && 0 <= view->rank <= GARNER_MAX_RANK && \valid_read(at + (0 .. view->rank - 1));
    requires \forall integer i; 0 <= i < view->rank ==> 0 <= at[i] < view->n[i];
    assigns \nothing;
    ensures low(view, view->rank) <= place(view, at, view->rank) <= high(view, view->rank); */
void element_in_reach(const struct view *view, const int64_t *at)
{
    /*@ loop invariant 0 <= i <= view->rank;
        loop invariant low(view, i) <= place(view, at, i) <= high(view, i);
        loop assigns i;
        loop variant view->rank - i; */
    for (int i = 0; i < view->rank; i++) {
        reach_of_axis(at[i], view->n[i], view->stride[i]);
        /*@ assert place(view, at, i + 1) == place(view, at, i) + at[i] * view->stride[i]; */
        /*@ assert low(view, i + 1) == low(view, i) + least(view->n[i], view->stride[i]); */
        /*@ assert high(view, i + 1) == high(view, i) + most(view->n[i], view->stride[i]); */
    }
}
