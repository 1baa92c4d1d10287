/* SPDX-License-Identifier: MIT */
/* What is prefetched of later points: runs and single elements, by their indices. */
#include "planner.h"

enum {
    JOINED_DISTANCE = 2048, /* prefetch distance of the tables of joined rows, in bytes, */
    ELEMENT_DISTANCE = 32,  /* and of single elements, in points */
    CONSTANT_RUN =
        32,          /* bytes; the window reaches shorter runs as it does elements, if a kernel knows them */
    MASKED_RUN = 64, /* bytes; AVX-512 moves shorter runs of any length by one instruction */
    HARDWARE_PART = 4, /* rows of which less than one byte in so many is used gain nothing by their order, */
    HARDWARE_ELEMENT = 4 /* nor do those of shorter elements */
};

/* How many points a distance comes to. */
static int64_t distance_in_points(const struct distance *distance, int64_t run)
{
    return at_most(distance->runs, divide_up(distance->bytes, run));
}

/* Whether AVX-512 moves each run by one instruction. */
static bool is_masked(const struct cpu_work *work, const struct nest *nest)
{
    const struct kernel *kernel = work->kernel;
    return kernel && kernel->id.level == AVX512 && kernel->id.source == UNIT && kernel->id.run == 0 &&
           nest->run < MASKED_RUN;
}

/* The prefetch distance of single elements; 0: none is prefetched. The out-of-order window reaches far
 * enough, unless they come from memory, or tuples lead to them. */
static int64_t choose_element_distance(const struct cpu_work *work, const struct footprint *f,
                                       const struct profile *profile)
{
    if (f->nest->axes > 1) {
        const int64_t distance = f->nest->axes == 2 ? profile->pair_distance : profile->tuple_distance;
        return f->touched > profile->l2_table ? distance : 0;
    }
    const int64_t most = work->kernel->id.source == UNIT ? profile->element_table_most : NEVER;
    return f->table > profile->element_table && f->table <= most ? ELEMENT_DISTANCE : 0;
}

/* The prefetch distance of runs, in points; 0: none is prefetched. */
static int64_t choose_run_distance(const struct cpu_work *work, const struct footprint *f,
                                   const struct profile *profile, bool non_temporal)
{
    const struct nest *nest = f->nest;
    const bool is_constant = work->kernel && work->kernel->id.run;
    const bool hidden =
        is_masked(work, nest) || (work->strategy == REUSED_INDICES && nest->run <= MOST_ELEMENT);
    if ((profile->window_hides_runs && hidden) || f->touched <= profile->l2_table || work->segment.by_memcpy)
        return 0;
    if (nest->axes > 1 && nest->run <= MOST_ELEMENT && f->touched <= profile->l2) return 0;
    if (is_constant && nest->run <= CONSTANT_RUN && f->table > profile->element_table_most) return 0;
    if (profile->run_cached.bytes && !non_temporal)
        return nest->run < profile->run_cached.bytes ? distance_in_points(&profile->run_cached, nest->run)
                                                     : 0;
    return distance_in_points(f->touched <= profile->run_l1_table ? &profile->run_near : &profile->run_far,
                              nest->run);
}

/* In points. */
static int64_t choose_distance(const struct cpu_work *work, const struct footprint *f,
                               const struct profile *profile, bool non_temporal)
{
    const bool is_constant = work->kernel && work->kernel->id.run;
    if (is_constant && f->nest->run <= MOST_ELEMENT) return choose_element_distance(work, f, profile);
    return choose_run_distance(work, f, profile, non_temporal);
}

/* Joined rows prefetch tables alone; rows of few elements that share their indices prefetch as many rows as
 * points. */
static void plan_distances(struct cpu_work *work, const struct footprint *f, const struct profile *profile,
                           bool non_temporal)
{
    struct segment *s = &work->segment;
    if (is_joined(work))
        s->prefetch_rows = (uint16_t)divide_up(JOINED_DISTANCE, f->table);
    else
        s->prefetch_distance = choose_distance(work, f, profile, non_temporal);
    if (work->strategy == REUSED_INDICES) s->prefetch_rows = (uint16_t)s->prefetch_distance;
}

/* Whether rows that share their indices come from memory one after the other, and use so much of it that they
 * are best left to the hardware prefetcher: moved in that order, not by strips. */
static bool is_left_to_hardware(const struct cpu_work *work, const struct footprint *f,
                                const struct profile *profile)
{
    return work->strategy == REUSED_INDICES && f->nest->run >= HARDWARE_ELEMENT &&
           f->inner[-1].data == f->table && f->table >= profile->hardware_row_least &&
           f->table <= profile->hardware_row_most && f->table / HARDWARE_PART <= f->inner->n * f->nest->run &&
           f->spanned > profile->l3_table;
}

/* Whether points are prefetched into L1; else into L2. */
static bool goes_to_l1(const struct cpu_work *work, const struct footprint *f, const struct profile *profile,
                       bool non_temporal)
{
    const bool is_near = f->nest->run <= MOST_ELEMENT ? f->table <= profile->element_l1_table
                                                      : f->touched <= profile->run_l1_table;
    if (non_temporal && f->nest->run >= profile->run_l1_non_temporal) return false;
    return is_near && !is_left_to_hardware(work, f, profile);
}

void garner_plan_prefetch(struct cpu_work *work, const struct footprint *f, const struct profile *profile,
                          bool non_temporal)
{
    struct segment *s = &work->segment;
    plan_distances(work, f, profile, non_temporal);
    s->points_to_l1 = s->indices_to_l1 = goes_to_l1(work, f, profile, non_temporal);
    garner_plan_table_prefetch(work, f, profile);
    const bool prefetches = s->prefetch_distance + s->prefetch_rows > 0;
    s->by_strips = f->spanned <= profile->strip_tables && (s->points_to_l1 || !prefetches);
}
