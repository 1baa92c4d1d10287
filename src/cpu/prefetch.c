/* SPDX-License-Identifier: MIT */
/* What is asked for before it is needed: later runs and single elements; tables are in prefetch_table.c. */
#include "cpu_work.h"

enum {
    AHEAD_BYTES = 2048,   /* how far ahead runs and the tables of joined rows are asked for, */
    AHEAD_POINTS = 16,    /* and how many runs at most */
    AHEAD_CACHED = 8192,  /* how far ahead on x86 where out is not streamed; longer runs are not asked for */
    AHEAD_ELEMENTS = 32,  /* how many single elements ahead */
    CONSTANT_RUN = 32,    /* bytes; shorter runs the CPU sees as it sees elements, if a kernel knows them */
    LONG_RUN = 192,       /* bytes; longer runs are worth asking for even if they may be near */
    MASKED_RUN = 64,      /* bytes; AVX-512 moves shorter runs of any length at once */
    STREAMED_FAR = 512,   /* bytes; longer runs that are streamed pass the nearest cache by */
    LEAST_FORESEEN = 192, /* bytes of the shortest row that is foreseen best if all go in their order, */
    MOST_FORESEEN = 1024, /* of the longest, */
    USED_FORESEEN = 4,    /* one byte of so many being used, */
    FORESEEN_ELEMENT = 4  /* and of the shortest element */
};

/* How far a CPU is asked ahead. One that sees far by itself wants to be asked earlier, and for the second
 * cache: it fills the nearest one's few ways to memory on its own. */
struct sight {
    int64_t near_runs;        /* the largest table of which no run is asked for: it stays near enough */
    int64_t nearest_runs;     /* the largest of which they are asked into the nearest cache, */
    int64_t nearest_elements; /* and the largest of which single elements are */
    int64_t bytes, points;    /* how far ahead runs of larger tables are asked for: the less of both */
    int64_t pairs, tuples;    /* how many pairs of indices, or longer tuples, ahead elements are asked for */
    int64_t times;            /* how often at most a long run is met that is asked for */
    int64_t seen;             /* the largest table of which no single element is asked for, */
    int64_t found;            /* and the largest of which one is: to find its page twice takes longer */
};

static struct sight cpu_sight(void)
{
    if (X86 || is_short_sighted())
        return (struct sight){.near_runs = NEAR,
                              .nearest_runs = SHARED,
                              .nearest_elements = SHARED,
                              .bytes = AHEAD_BYTES,
                              .points = AHEAD_POINTS,
                              .pairs = 32,
                              .tuples = X86 ? 32 : 16,
                              .times = 1,
                              .seen = X86 && is_short_sighted() ? 8 * 1024 * 1024 : SHARED,
                              .found = INT64_MAX};
    return (struct sight){.near_runs = 128 * 1024,
                          .nearest_runs = 4 * 1024 * 1024,
                          .nearest_elements = 1536 * 1024,
                          .bytes = 2 * AHEAD_BYTES,
                          .points = 24,
                          .pairs = 64,
                          .tuples = 32,
                          .times = 2,
                          .seen = SHARED,
                          .found = 192 * 1024 * 1024};
}

/* How many bytes the points choose from: the table of their row; and where a row takes little of its table,
 * so that nothing is met again, or long runs no more than a few times, the tables of all rows. */
static int64_t touched_bytes(const struct nest *nest, const struct sight *sight)
{
    const int64_t times = nest->run >= LONG_RUN ? sight->times : 1;
    const int64_t bytes = table_bytes(nest);
    return nest->dim[nest->rank - 1].n / times > bytes / nest->run ? bytes : spanned_bytes(nest);
}

/* Whether rows are so short that AVX-512 moves each of them by one instruction. */
static bool goes_masked(const struct cpu_work *work, const struct nest *nest)
{
    const struct kernel *fused = work->kernel;
    return fused && fused->level == AVX512 && fused->source == UNIT && fused->run == 0 &&
           nest->run < MASKED_RUN;
}

/* How many single elements ahead are asked for; 0: none. They are found by the CPU itself, which looks far
 * enough, unless they come from memory, or tuples lead to them. */
static int64_t choose_elements_ahead(const struct cpu_work *work, const struct nest *nest,
                                     const struct sight *sight, int64_t touched)
{
    if (nest->axes > 1)
        return touched <= sight->near_runs ? 0 : nest->axes == 2 ? sight->pairs : sight->tuples;
    const int64_t bytes = table_bytes(nest), most = work->kernel->source == UNIT ? sight->found : INT64_MAX;
    return bytes > sight->seen && bytes <= most ? AHEAD_ELEMENTS : 0;
}

/* How many points, or short rows, ahead runs are asked for; 0: not at all. */
static int64_t choose_ahead(const struct cpu_work *work, const struct nest *nest, const struct sight *sight,
                            int64_t touched, bool stream)
{
    if (is_joined(work)) return divide_up(AHEAD_BYTES, table_bytes(nest));
    const bool is_constant = work->kernel && work->kernel->run;
    if (is_constant && nest->run <= MOST_ELEMENT) return choose_elements_ahead(work, nest, sight, touched);
    const bool seen_by_itself =
        goes_masked(work, nest) || (work->strategy == REUSED_INDICES && nest->run <= MOST_ELEMENT);
    if (X86 && seen_by_itself && !is_short_sighted()) return 0;
    if (touched <= sight->near_runs ||
        (is_constant && nest->run <= CONSTANT_RUN && table_bytes(nest) > sight->found))
        return 0;
    if (work->segment.by_memcpy) return 0;
    if (X86 && !stream)
        return nest->run < AHEAD_CACHED ? at_most(AHEAD_POINTS, divide_up(AHEAD_CACHED, nest->run)) : 0;
    if (touched <= sight->nearest_runs) return at_most(AHEAD_POINTS, divide_up(AHEAD_BYTES, nest->run));
    return at_most(sight->points, divide_up(sight->bytes, nest->run));
}

/* Whether rows that share their indices come from memory one after the other, and use so much of it that an
 * aarch64 CPU that sees far foresees them best if they are moved in that order, not by strips. */
static bool is_foreseen(const struct cpu_work *work, const struct nest *nest)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    const int64_t bytes = table_bytes(nest);
    return !X86 && !is_short_sighted() && work->strategy == REUSED_INDICES && nest->run >= FORESEEN_ELEMENT &&
           inner[-1].data == bytes && bytes >= LEAST_FORESEEN && bytes <= MOST_FORESEEN &&
           bytes / USED_FORESEEN <= inner->n * nest->run && spanned_bytes(nest) > SHARED;
}

void garner_cpu_look_ahead(struct cpu_work *work, const struct nest *nest, bool stream)
{
    const struct sight sight = cpu_sight();
    const int64_t touched = touched_bytes(nest, &sight);
    const bool nearest = nest->run <= MOST_ELEMENT ? table_bytes(nest) <= sight.nearest_elements
                                                   : touched <= sight.nearest_runs;
    work->segment.prefetch_distance = choose_ahead(work, nest, &sight, touched, stream);
    work->segment.points_to_l1 = work->segment.indices_to_l1 =
        X86 ? !stream || nest->run < STREAMED_FAR : nearest && !is_foreseen(work, nest);
    garner_cpu_look_onward(work, nest, touched);
    work->segment.by_strips = work->segment.points_to_l1 || work->segment.prefetch_distance == 0;
}
