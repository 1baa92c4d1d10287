/* SPDX-License-Identifier: MIT */
/* What only shows where much is moved: looking ahead, serving more rows, writing past the caches. */
#include "cpu_work.h"

enum {
    CACHED = 1024 * 1024,            /* bytes of a table that stays in a core's own caches */
    STREAMED_OUT = 32 * 1024 * 1024, /* bytes from which on out is better written past the caches */
    STREAMED_ROW = 8192,             /* bytes of a row of single elements for which that holds */
    NEAR_OUT = 2 * 1024 * 1024,      /* bytes of an out that stays near a core, */
    NEARER_OUT = 512 * 1024,         /* so near that stores across a line are no loss, */
    OVERLAP_VECTORS = 4,             /* where runs of so many whole vectors are stored unaligned */
    PLAIN_RUN = 32 * 1024            /* bytes of a run that on x86 is better left to the C library */
};

/* Whether runs go by the C library's copy. On x86 it has instructions of its own for long ones, by which CPUs
 * that see far gain as long as out is not streamed, others as long as it stays near. On aarch64 CPUs that see
 * far it is best at runs out of the second cache, for which nothing need be asked for. */
static bool goes_plain(const struct nest *nest)
{
    if (!X86) return !is_short_sighted() && nest->run >= PLAIN_RUN / 2 && table_bytes(nest) <= CACHED / 2;
    const int64_t most = is_short_sighted() ? NEAR_OUT : STREAMED_OUT - 1;
    return nest->run >= PLAIN_RUN && nest->points <= most / nest->run;
}

void garner_cpu_tune(struct cpu_work *work, const struct nest *nest)
{
    const bool stream = nest->points >= STREAMED_OUT / nest->run && !(garner_cpu_quirks() & SLOW_STREAMS);
    work->segment.by_memcpy = goes_plain(nest);
    garner_cpu_look_ahead(work, nest, stream);
    work->segment.non_temporal =
        stream && (nest->run > MOST_ELEMENT || nest->dim[nest->rank - 1].n >= STREAMED_ROW / nest->run);
    if (!X86 && !is_short_sighted() && nest->points <= NEARER_OUT / nest->run)
        work->segment.overlap_vectors = OVERLAP_VECTORS;
    bool one_block = work->columns <= BLOCK_POINTS; /* which can serve all rows: none is met again */
    if (work->strategy == REUSED_INDICES)
        work->block_rows = one_block ? INT64_MAX : at_least(LEAST_SWEEP, CACHED / 2 / table_bytes(nest));
}
