/* SPDX-License-Identifier: MIT */
/* How out is written: by cached or non-temporal stores, by memcpy, unaligned; and how many rows one block of
 * resolved indices serves. */
#include "planner.h"

enum {
    ROW_BY_ROW_RUN = 128,    /* bytes; rows of longer runs are worth beginning one by one */
    NON_TEMPORAL_ROW = 8192, /* bytes; shorter rows of single elements are not worth non-temporal stores */
    OVERLAP_VECTORS = 4      /* runs of so many vectors are stored unaligned into an out that stays in L2 */
};

/* Whether runs are moved by memcpy, which has instructions of its own for long ones on x86-64, and on aarch64
 * is best at those that come from L2. */
static bool goes_by_memcpy(const struct footprint *f, const struct profile *profile)
{
    return f->nest->run >= profile->memcpy_run && f->table <= profile->memcpy_table &&
           out_fits(f, profile->memcpy_out);
}

/* Whether rows that share indices are moved one by one into a large out. Rows of few short runs would take
 * longer to begin than to move. */
static bool goes_row_by_row(const struct footprint *f, const struct profile *profile)
{
    const int64_t run = f->nest->run;
    return run > MOST_ELEMENT && out_reaches(f, profile->row_by_row_out) &&
           (run > ROW_BY_ROW_RUN || f->inner->n > profile->row_by_row_points);
}

void garner_plan_stores(struct cpu_work *work, const struct footprint *f, const struct profile *profile)
{
    const int64_t run = f->nest->run;
    const bool large = run >= profile->non_temporal_run && out_reaches(f, profile->non_temporal_out);
    work->segment.by_memcpy = goes_by_memcpy(f, profile);
    garner_plan_prefetch(work, f, profile, large);
    work->segment.non_temporal = large && (run > MOST_ELEMENT || f->inner->n >= NON_TEMPORAL_ROW / run);
    work->segment.row_by_row = goes_row_by_row(f, profile);
    if (out_fits(f, profile->overlap_out)) work->segment.overlap_vectors = OVERLAP_VECTORS;
    const bool one_block = work->columns <= BLOCK_POINTS; /* it can serve all rows at once */
    if (work->strategy == REUSED_INDICES)
        work->block_rows = one_block ? INT64_MAX : at_least(LEAST_BLOCK, profile->block_table / f->table);
}
