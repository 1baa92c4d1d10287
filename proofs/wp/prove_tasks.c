/* SPDX-License-Identifier: MIT */
/* Tasks are rectangles of the grid that cover it, and no two of them share a place: no byte of out is written
 * by two. */
#define _Alignas(...)
#define _Alignof(...) 1 /* which only says that a plan has room */
#include "builtins.h"
#include "planner.h"

#ifdef PARTS_ARE_QUOTIENTS
/*@ logic integer up(integer a, integer b) = a / b + (a % b != 0 ? 1 : 0); */
#else
/*@ axiomatic Parts {
      logic integer up(integer a, integer b); } // how many parts of b cover a */
#endif

/*@ assigns \nothing;
    ensures \result == up(a, b); */
static inline int64_t divide_up(int64_t a, int64_t b);

/*@ assigns \nothing;
    ensures \result == (a < b ? a : b); */
static inline int64_t at_most(int64_t a, int64_t b);

/*@ assigns \nothing;
    ensures \result == (a > b ? a : b); */
static inline int64_t at_least(int64_t a, int64_t b);

/*@ requires \valid(result);
    assigns *result; */
static inline bool add_fits(int64_t a, int64_t b, int64_t *result);

/*@ assigns \nothing; */
static int64_t round_up(int64_t a, int64_t multiple);

/*@ assigns \nothing;
    ensures \result >= 1; */
static int64_t worth(int64_t count, int64_t cost);

/*@ predicate is_whole(struct cpu_work *work) = work->tasks == 1 && work->column_tasks == 1 && work->slices == 1; */

/*@ requires \valid(work) && \valid_read(nest) && \separated(work, nest) && is_whole(work);
    assigns work->row_share, work->column_share, work->column_tasks, work->slice, work->slices, work->tasks;
    ensures is_whole(work) || work->column_tasks == up(work->columns, work->column_share);
    ensures is_whole(work) || work->slices == up(nest->run, work->slice);
    ensures is_whole(work) ||
      work->tasks == up(work->rows, work->row_share) * work->column_tasks * work->slices; */
void garner_plan_tasks(struct cpu_work *work, const struct nest *nest);

#include "../../src/cpu/partition.c"

/* What the numbers mean. Not of the product. Parts of a share each lie apart, and each place is in one. */
/*@ requires 0 <= i < j && share >= 1;
    assigns \nothing;
    ensures (i + 1) * share <= j * share; */
void parts_lie_apart(int64_t i, int64_t j, int64_t share)
{
}

/*@ requires 0 <= place < count && share >= 1 && 0 <= rest < share && count == whole * share + rest;
    requires parts == whole + (rest != 0 ? 1 : 0);
    requires part * share <= place < (part + 1) * share;
    assigns \nothing;
    ensures 0 <= part < parts; */
void part_is_dealt_out(int64_t place, int64_t part, int64_t count, int64_t share, int64_t whole, int64_t rest,
                       int64_t parts)
{
    /*@ assert part < 0 ==> (part + 1) * share <= 0; */
    /*@ assert part >= whole + 1 ==> part * share >= (whole + 1) * share; */
}

/* A task's number is that of one pair, so that of one triple. */
/*@ requires 0 <= x < n && 0 <= y < n && a * n + x == b * n + y;
    assigns \nothing;
    ensures a == b && x == y; */
void pair_is_one(int64_t a, int64_t x, int64_t b, int64_t y, int64_t n)
{
    /*@ assert a > b ==> (a - b) * n >= n; */
    /*@ assert b > a ==> (b - a) * n >= n; */
}
