/* SPDX-License-Identifier: MIT */
/*
 * One segment for one kernel, drawn at random within what its source allows, between guard pages: the
 * lowest and the highest byte that any point needs of data, indices, pattern and out touch a page that
 * may not be touched. The kernel is held against a model that moves point by point.
 */
#ifndef GARNER_TESTS_KERNEL_CASE_H
#define GARNER_TESTS_KERNEL_CASE_H

#include "guard.h"
#include "kernel_list.h"
#include "random.h"

enum { CASE_POINTS = 2048, CASE_AXES = 4 };

/* What a test decides; everything else is drawn. */
struct kernel_wish {
    const struct kernel_line *kernel;
    int64_t n;
    int64_t run; /* for kernels of any run */
    int64_t bad; /* the first point with an index that is not inside; negative: none */
    enum guard_side side;
};

struct kernel_case {
    struct kernel_wish wish;
    struct segment segment;
    int axes;
    struct axis axis[CASE_AXES];
    int64_t entry[CASE_POINTS][CASE_AXES]; /* which one an index selects; -1: not inside */
    int64_t value[CASE_POINTS][CASE_AXES]; /* the index itself */
    int64_t pattern[CASE_POINTS];
    int64_t offset[CASE_POINTS]; /* of BLOCK and HOLED */
    size_t data_lead, out_lead;  /* how far from the guard page, to shift alignments */
    int64_t from[CASE_POINTS],
        to[CASE_POINTS];      /* where the model finds a point in data and in out, in the first row */
    bool inside[CASE_POINTS]; /* whether it is in data at all */
};

/* Which alignments of data and of out to 64 bytes were met so far, a bit each. */
extern uint64_t kernel_data_alignments, kernel_out_alignments;

void kernel_cases_begin(void);
void kernel_cases_end(void);

void kernel_case_make(struct kernel_case *c, struct random *random, struct kernel_wish wish);

/*
 * Runs the kernel. True if it
 *   - returned n, or, where an index is not inside, at most that point's number, and not much less;
 *   - moved every point that it claims;
 *   - left every other point as it was, or as it should become;
 *   - and touched no other byte.
 * Otherwise the case is described on stderr.
 */
bool kernel_case_run(struct kernel_case *c);

#endif
