/* SPDX-License-Identifier: MIT */
/* What becomes of dims of the nest: two that become one, those that the run takes in, and those of packed
 * elements that become bytes walk along the same places as before. */
#include "multiples.h"
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

/* ---- The run ---- */

/*@ requires fits(multiple(times, stride));
    assigns \nothing;
    ensures \result == multiple(times, stride); */
static inline int64_t walk_steps(int64_t times, int64_t stride);

/* run_of(d): what the run is once all dims from d on are taken in. */
/*@ axiomatic Runs { logic integer run_of(integer d); }
    predicate takes_in{L}(struct nest *nest, integer d) =
      run_of(d) == multiple(nest->dim[d].n, run_of(d + 1)) && fits(run_of(d));
    predicate continues_run{L}(struct nest *nest, integer d) = nest->dim[d].index == 0 &&
      nest->dim[d].data == run_of(d + 1) && nest->dim[d].out == run_of(d + 1);
    predicate runs_on{L}(struct nest *nest, integer begin) =
      \forall integer d; begin <= d < nest->rank ==> continues_run(nest, d); */

/*@ requires \valid(nest) && 0 <= nest->rank <= GARNER_MAX_RANK && run_of(nest->rank) == nest->run;
    requires \forall integer d; 0 <= d < nest->rank ==> takes_in(nest, d);
    assigns nest->run, nest->rank;
    ensures 0 <= nest->rank <= \old(nest->rank) && nest->run == run_of(nest->rank);
    ensures runs_on{Pre}(nest, nest->rank); */
static inline void peel_run(struct nest *nest);

/* ---- Packed elements ---- */

#ifdef UNITS_ARE_QUOTIENTS
/*@ predicate are_units(integer elements, integer per) = elements % per == 0;
    predicate are_bytes(integer elements, integer bytes, integer per, integer unit) =
      elements == elements / per * per && bytes == elements / per * unit; */
#else
/*@ axiomatic Units {
      predicate are_units(integer elements, integer per); // whole ones, of so many elements each
      predicate are_bytes(integer elements, integer bytes, integer per, integer unit); } // of whole units */
#endif

/*@ predicate axis_whole{L}(struct nest *nest, integer k, integer per) = are_units(nest->axis[k].stride, per);
    predicate dim_whole{L}(struct nest *nest, integer d, integer per) =
      are_units(nest->dim[d].data, per) && are_units(nest->dim[d].out, per);
    predicate axes_whole{L}(struct nest *nest, integer end, integer per) =
      \forall integer k; 0 <= k < end ==> axis_whole(nest, k, per);
    predicate dims_whole{L}(struct nest *nest, integer end, integer per) =
      \forall integer d; 0 <= d < end ==> dim_whole(nest, d, per);
    predicate run_whole{L}(struct nest *nest, integer per) = are_units(nest->run, per);
    predicate nest_whole{L}(struct nest *nest, integer per) = run_whole(nest, per) &&
      axes_whole(nest, nest->axes, per) && dims_whole(nest, nest->rank, per);

    predicate axes_unpacked{A, B}(struct nest *nest, integer end, integer per, integer unit) =
      (\forall integer k; 0 <= k < end ==>
        are_bytes(\at(nest->axis[k].stride, A), \at(nest->axis[k].stride, B), per, unit)) &&
      (\forall integer k; end <= k < \at(nest->axes, A) ==>
        \at(nest->axis[k].stride, B) == \at(nest->axis[k].stride, A));
    predicate dims_unpacked{A, B}(struct nest *nest, integer end, integer per, integer unit) =
      (\forall integer d; 0 <= d < end ==>
        are_bytes(\at(nest->dim[d].data, A), \at(nest->dim[d].data, B), per, unit) &&
        are_bytes(\at(nest->dim[d].out, A), \at(nest->dim[d].out, B), per, unit)) &&
      (\forall integer d; end <= d < \at(nest->rank, A) ==>
        \at(nest->dim[d].data, B) == \at(nest->dim[d].data, A) &&
        \at(nest->dim[d].out, B) == \at(nest->dim[d].out, A)); */

/*@ requires per > 0;
    assigns \nothing;
    ensures \result <==> are_units(elements, per); */
static inline bool is_whole(int64_t elements, int64_t per);

/*@ requires per > 0 && are_units(elements, per);
    assigns \nothing;
    ensures are_bytes(elements, \result, per, unit); */
static inline int64_t in_bytes(int64_t elements, int64_t per, int64_t unit);

/*@ requires \valid_read(nest) && nest->rank <= GARNER_MAX_RANK && nest->axes <= GARNER_MAX_RANK;
    requires 0 <= nest->rank && 0 <= nest->axes && per > 0;
    assigns \nothing;
    ensures \result ==> nest_whole(nest, per); */
static bool is_aligned(const struct nest *nest, int64_t per);

/*@ requires \valid(nest) && nest->rank <= GARNER_MAX_RANK && nest->axes <= GARNER_MAX_RANK;
    requires 0 <= nest->rank && 0 <= nest->axes && per > 0 && nest_whole(nest, per);
    assigns nest->run, nest->axis[0 .. nest->axes - 1].stride;
    assigns nest->dim[0 .. nest->rank - 1].data, nest->dim[0 .. nest->rank - 1].out;
    ensures are_bytes(\old(nest->run), nest->run, per, unit);
    ensures axes_unpacked{Pre, Post}(nest, nest->axes, per, unit);
    ensures dims_unpacked{Pre, Post}(nest, nest->rank, per, unit); */
static void unpack(struct nest *nest, int64_t per, int64_t unit);

#include "../../src/nest.c"

/* ---- What that means; not of the product ---- */

/* Step (i, j) of the two is step i * n + j of the one, which has no others. */
/*@ requires 0 <= i < outer_n && 0 <= j < n;
    assigns \nothing;
    ensures i * (n * stride) + j * stride == (i * n + j) * stride;
    ensures 0 <= i * n + j < outer_n * n; */
void merged_step(int64_t i, int64_t outer_n, int64_t j, int64_t n, int64_t stride)
{
}

/* Byte byte_of(rank) of the run at point p is byte byte_of(kept) of the longer run at the point that has the
 * first `kept` numbers of p. Where the point lies along the first d dims is data_of(d), index_of(d) and
 * out_of(d). */
/*@ axiomatic Places {
      logic integer data_of(integer d);
      logic integer index_of(integer d);
      logic integer out_of(integer d);
      logic integer byte_of(integer d); }
    predicate walks{L}(struct nest *nest, int64_t *p, integer d) = 0 <= p[d] < nest->dim[d].n &&
      data_of(d + 1) == data_of(d) + multiple(p[d], nest->dim[d].data) &&
      index_of(d + 1) == index_of(d) + multiple(p[d], nest->dim[d].index) &&
      out_of(d + 1) == out_of(d) + multiple(p[d], nest->dim[d].out) &&
      byte_of(d) == multiple(p[d], run_of(d + 1)) + byte_of(d + 1); */

/*@ requires \valid_read(nest) && 0 <= kept <= nest->rank <= GARNER_MAX_RANK;
    requires \valid_read(p + (0 .. nest->rank - 1)) && 0 <= byte_of(nest->rank) < run_of(nest->rank);
    requires \forall integer d; kept <= d < nest->rank ==> takes_in(nest, d);
    requires runs_on(nest, kept);
    requires \forall integer d; kept <= d < nest->rank ==> walks(nest, p, d);
    assigns \nothing;
    ensures 0 <= byte_of(kept) < run_of(kept);
    ensures data_of(nest->rank) + byte_of(nest->rank) == data_of(kept) + byte_of(kept);
    ensures out_of(nest->rank) + byte_of(nest->rank) == out_of(kept) + byte_of(kept);
    ensures index_of(nest->rank) == index_of(kept); */
void same_bytes(const struct nest *nest, int kept, const int64_t *p)
{
    /*@ ghost laws_of_parts(); */
    /*@ loop invariant kept <= d <= nest->rank;
        loop invariant 0 <= byte_of(d) < run_of(d);
        loop invariant data_of(nest->rank) + byte_of(nest->rank) == data_of(d) + byte_of(d);
        loop invariant out_of(nest->rank) + byte_of(nest->rank) == out_of(d) + byte_of(d);
        loop invariant index_of(nest->rank) == index_of(d);
        loop assigns d;
        loop variant d; */
    for (int d = nest->rank; d > kept; d--) {
        /*@ assert takes_in(nest, d - 1); */
        /*@ assert continues_run(nest, d - 1); */
        /*@ assert walks(nest, p, d - 1); */
    }
}

/* Elements that lie `times` strides of whole units from whole units are whole units, too, and their bytes lie
 * as many strides in bytes from those of the first. */
/*@ assigns \nothing;
    ensures \let more = units + times * stride_units;
      units * per + times * (stride_units * per) == more * per &&
      units * unit_bytes + times * (stride_units * unit_bytes) == more * unit_bytes; */
void unpacked_step(int64_t times, int64_t units, int64_t stride_units, int64_t per, int64_t unit_bytes)
{
}
