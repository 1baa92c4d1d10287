/* SPDX-License-Identifier: MIT */
/*
 * What the planner knows of a CPU. A kind of CPU is a line of profiles.def; identify.c finds the line of the
 * one it runs on; a target is a line with the kernels that it may use. The planner decides from a nest and a
 * target alone, so any machine can plan as any other.
 *
 * A column is a number that was measured to matter and that differs from CPU to CPU, or means one of its
 * caches. What is the same everywhere is a constant beside the code that uses it. Sizes and distances are in
 * bytes where nothing else is said. A size that no tensor has is NEVER. docs/design.md explains the words:
 * row, table, entry.
 */
#ifndef GARNER_CPU_PROFILE_H
#define GARNER_CPU_PROFILE_H

#include <stdatomic.h>

#include "kernels/kernel.h"

#define NEVER INT64_MAX

/* A prefetch distance: so many bytes, but no more runs than that. 0 bytes: nothing is prefetched. */
struct distance {
    int64_t bytes, runs;
};

/* Tables of later rows that are worth prefetching into a cache: of no more than so many bytes, and no more of
 * them for each point of a row. 0 bytes: none. */
struct table_limit {
    int64_t bytes;
    int64_t per_point;    /* bytes, */
    int64_t per_run_byte; /* and for each byte of a run; 0: any number */
};

/* The same where the tables of all rows span no more than `spanned`. */
struct table_prefetch {
    int64_t spanned;
    int64_t own_least; /* bytes for each point, if rows have their own indices; NEVER: nothing */
    struct table_limit l1, l2;
};

enum { TABLE_TIERS = 4 };

struct profile {
    const char *name; /* as GARNER_CPU spells it */
    const char *cpus; /* which they are, for people */
    bool x86;         /* its kernels are those of x86-64, which prefetch other rows than those of aarch64 */
    bool measured;    /* false: reasoned from what is published, and never measured */
    enum level
        level; /* the highest level of kernels that pays: not gathers where they are slower than loads */

    /* Caches that a core has, as its makers tell them. Where a line was never measured its thresholds are
     * scaled from these to the sizes that the system tells. */
    int64_t l2, l3;

    /* Tables that stay in L2 beside all else that a gather touches, and in L3. Runs of the first are not
     * prefetched; short rows that choose from more than the second go by a pattern, whose points are. */
    int64_t l2_table, l3_table;

    /* Strategies. */
    int64_t joined_row;     /* points; longer rows along the last axis are not joined to one, */
    int64_t joined_row_far; /* points; the same where out is larger than l2_table */
    int64_t reused_row;     /* points; longer rows that share indices do not have them resolved beforehand */
    int64_t
        block_table; /* resolved indices serve as many rows as this holds tables, so that they stay in L2 */

    /* Prefetching runs. A CPU with a large out-of-order window wants them earlier, and into L2: it fills the
     * few line buffers between L1 and L2 by itself. */
    struct distance run_near; /* out of tables of up to run_l1_table */
    struct distance run_far;  /* out of larger ones */
    struct distance
        run_cached;       /* instead of both where stores are cached; longer runs are not prefetched then */
    int64_t run_l1_table; /* runs of larger tables are prefetched into L2, others into L1 */
    int64_t run_l1_non_temporal; /* longer runs, where stores are non-temporal, into L2 as well */
    int64_t run_repeats;         /* times that a row may use a long run which is prefetched all the same */
    bool window_hides_runs; /* the window reaches the next runs if one instruction moves each, and the next
                               rows if they share indices: neither is prefetched */

    /* Prefetching single elements. */
    int64_t element_table;      /* elements of smaller tables are left to the out-of-order window, */
    int64_t element_table_most; /* and of larger ones: there finding their pages twice takes longer */
    int64_t element_l1_table;   /* elements of larger tables are prefetched into L2, others into L1 */
    int64_t pair_loads_table;   /* elements that two indices lead to in a smaller table are loaded one by one,
                                   where AVX-512 would gather them */
    int64_t pair_distance;      /* points: prefetch distance where two indices lead to an element, */
    int64_t tuple_distance;     /* and where more do */
    int64_t hardware_row_least; /* rows that share indices, tables of this and more up to the next number: */
    int64_t hardware_row_most;  /* left to the hardware prefetcher, in their order; 0: none are */
    int64_t far_pattern_run;    /* bytes; runs that go by a pattern where they come from beyond L2 */
    int64_t strip_tables;       /* rows that share indices go by strips if all their tables span no more */

    /* Prefetching the table of a later row, bit by bit with each point. */
    struct table_prefetch table[TABLE_TIERS]; /* by what the tables of all rows span; the first that fits */
    int64_t table_per_point;                  /* less of a table for each point is not worth it */
    int64_t joined_table_least;               /* where short rows are joined: this and more for each point, */
    int64_t joined_table_most;                /* and no more than this; 0: never */
    bool table_share_to_l1; /* rows that choose from the same table prefetch the next one into L1, else L2 */

    /* Stores. */
    int64_t non_temporal_out; /* an out of that size and more is written by non-temporal stores, which a CPU
                                 may be slow at, */
    int64_t non_temporal_run; /* runs of that size and more; 0: of any */
    int64_t row_by_row_out; /* an out of that size and more, runs that share indices: rows of few points go as
                               others do */
    int64_t row_by_row_points; /* but not rows of so few points or fewer, unless their runs are long */
    int64_t memcpy_run;        /* runs of that size and more are moved by the C library's memcpy, */
    int64_t memcpy_table;      /* out of tables of no more, */
    int64_t memcpy_out;        /* into an out of no more */
    int overlap_vectors; /* runs of so many whole vectors are stored unaligned, the last one overlapping; */
    int64_t overlap_out; /* runs of more of them into an out of no more than this */

    /* Packed panels of a table, a cache line or half of one wide. */
    int64_t panel_table;      /* a table from this size on has panels, which stay in L2 where it does not; */
    int64_t panel_l1_table;   /* or from this one on, where its lines fall into few sets of L1, */
    int64_t panel_l1_entries; /* if it has no more entries */
    int64_t panel_run;        /* the longest element that panels of whole lines serve anyway */
    int64_t panel_entries_small; /* entries for each row that chooses from them, elements of up to 4 bytes, */
    int64_t panel_entries_long;  /* and for longer ones, */
    int64_t panel_entries_far;   /* and for all of them */
    int64_t panel_far_table;     /* out of tables of this size and more */
    int64_t scratch_column;      /* the most bytes of a column whose panel lies in the last rows of out */
};

/* Line number `i`, and that of a name; NULL if there is none. */
const struct profile *garner_profile(int i);
const struct profile *garner_profile_named(const char *name);

/* The kernel for each source, index and run. */
typedef const struct kernel *kernel_choice[SOURCES][INDEX_SLOTS][RUN_SLOTS];

/* A CPU to plan for: a profile, and the kernels of its level and those below. */
struct cpu_target {
    struct profile profile;
    kernel_choice kernels;
    const kernel_table *plain; /* those of plain C */
};

/* Makes a target of a profile, whose level is one of those that have a table; the tables are by level. */
void garner_target_make(struct cpu_target *target, const struct profile *profile,
                        const kernel_table *const tables[LEVELS]);

/* The CPU that this is, or that GARNER_CPU names: found once, then kept here. */
extern const struct cpu_target *_Atomic garner_known_target;
const struct cpu_target *garner_find_target(void);

static inline const struct cpu_target *garner_cpu_target(void)
{
    const struct cpu_target *target = atomic_load_explicit(&garner_known_target, memory_order_acquire);
    return __builtin_expect(target != NULL, 1) ? target : garner_find_target();
}

/* The kernel of the highest level for a run of that many bytes. */
static inline const struct kernel *target_kernel(const struct cpu_target *target, enum source source,
                                                 int index, int64_t run)
{
    const int64_t longest = INT64_C(1)
                            << (RUN_SLOTS - 2); /* powers of two have slots of their own, from 1 on */
    const int slot =
        run <= longest && is_power_of_two(run) ? __builtin_ctzll((unsigned long long)run) + 1 : 0;
    return target->kernels[source][INDEX_SLOT(index)][slot];
}

/* ---- Which line a CPU has ---- */

enum maker { INTEL, AMD, OTHER_MAKER };

/* The maker of an x86-64 CPU, by the 12 letters that CPUID gives. */
enum maker garner_x86_maker(const char *vendor);

/* An x86-64 CPU, as CPUID numbers it: family and model with their extensions. */
const char *garner_x86_profile(enum maker maker, int family, int model);

/* An aarch64 CPU, as its MIDR_EL1 numbers it. */
const char *garner_arm_profile(int implementer, int part);

/* The name of this machine's line. */
const char *garner_identify_cpu(void);

#endif
