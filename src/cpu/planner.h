/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the planner share. strategy.c decides how the points are walked and by which kernel; for
 * more than little work prefetch.c, prefetch_table.c, stores.c and panels.c follow, and partition.c
 * cuts tasks. None of them asks anything of the machine: what differs from CPU to CPU is a column of the
 * profile.
 */
#ifndef GARNER_CPU_PLANNER_H
#define GARNER_CPU_PLANNER_H

#include "cpu_work.h"
#include "profile.h"

enum {
    PATTERN_RUN = 32,  /* bytes; no longer runs go by a pattern, but for those of far_pattern_run */
    MOST_ELEMENT = 16, /* bytes of what counts as a single element */
    LITTLE = 1024,     /* bytes of out for which nothing but the strategy and the kernel matters */
    LEAST_BLOCK = 8    /* rows that a block of resolved indices serves at least */
};

/* What a nest touches, computed once. */
struct footprint {
    const struct nest *nest;
    const struct dim *inner; /* the innermost dim: a row of points */
    int64_t table;           /* bytes of data that the gathered axes span: what one row chooses from */
    bool little;             /* out has no more than LITTLE bytes */
    bool adjacent;           /* kernels can read the indices: signed ones of 4 or 8 bytes, side by side */

    /* Where it is not little: */
    int64_t spanned; /* bytes that the tables of all rows reach over */
    int64_t
        touched; /* bytes that points select from before a run is used again: those of one table or of all */
};

/* Whether out has at least, or at most, so many bytes: without a product that could overflow. */
static inline bool out_reaches(const struct footprint *f, int64_t bytes)
{
    return f->nest->points >= bytes / f->nest->run;
}

static inline bool out_fits(const struct footprint *f, int64_t bytes)
{
    return f->nest->points <= bytes / f->nest->run;
}

/* Whether the kernel joins short rows. */
static inline bool is_joined(const struct cpu_work *work)
{
    return work->strategy == SHORT_ROWS && work->kernel->id.source != PATTERN;
}

/* What is prefetched of later points; `non_temporal`: out is large enough for such stores. */
void garner_plan_prefetch(struct cpu_work *work, const struct footprint *f, const struct profile *profile,
                          bool non_temporal);

/* And of the tables of later rows. */
void garner_plan_table_prefetch(struct cpu_work *work, const struct footprint *f,
                                const struct profile *profile);

/* How out is written, and, since it depends on that, what is prefetched. */
void garner_plan_stores(struct cpu_work *work, const struct footprint *f, const struct profile *profile);

/* Makes the strategy PANELS, if that pays. */
void garner_plan_panels(struct cpu_work *work, const struct footprint *f, const struct cpu_target *target);

/* Cuts the work into tasks; packed data otherwise. */
void garner_plan_tasks(struct cpu_work *work, const struct nest *nest);
void garner_plan_packed_tasks(struct cpu_work *work, const struct nest *nest);

#endif
