/* SPDX-License-Identifier: MIT */
/* Tables of later rows, which are prefetched while the points of a row are moved: a row that uses much of its
 * table reads each line of it soon, and in an order that no hardware prefetcher follows. */
#include "planner.h"

/* Which tables of later rows are worth it. What is small goes into L1, which a row and the next one's table
 * share; into L2 it keeps the points of a row waiting less. */
static const struct table_prefetch *find_tier(const struct footprint *f, const struct profile *profile)
{
    static const struct table_prefetch none;
    const struct table_prefetch *tier = profile->table;
    while (f->spanned > tier->spanned)
        tier++; /* the last one spans all */

    const bool shares_indices = f->inner[-1].index == 0; /* with the next row */
    return shares_indices || divide_up(f->table, f->inner->n) >= tier->own_least ? tier : &none;
}

static bool is_within(const struct table_limit *limit, int64_t bytes, int64_t per_point, int64_t run)
{
    return bytes <= limit->bytes && per_point <= limit->per_point &&
           (limit->per_run_byte == 0 || per_point <= limit->per_run_byte * run);
}

/* Whether elements are moved row by row along the axis on which they lie side by side. */
static bool goes_along_rows(const struct cpu_work *work, const struct nest *nest)
{
    return work->strategy == ROWS && work->kernel && work->kernel->id.source == UNIT &&
           nest->run <= MOST_ELEMENT;
}

/* How many bytes of a later row's table are prefetched with each point of a row; 0: none. And whether into
 * L1. */
static int64_t choose_bytes_per_point(const struct cpu_work *work, const struct footprint *f,
                                      const struct profile *profile, const struct table_prefetch *tier,
                                      bool *to_l1)
{
    const int64_t per_point = divide_up(f->table, f->inner->n), run = f->nest->run;
    if (f->inner[-1].data < f->table) return 0;
    if (is_joined(work)) {
        const bool pays = per_point >= profile->joined_table_least && per_point <= profile->joined_table_most;
        return pays && f->touched > profile->l2_table ? per_point : 0;
    }
    if (!goes_along_rows(work, f->nest) || per_point < profile->table_per_point) return 0;
    *to_l1 = is_within(&tier->l1, f->table, per_point, run);
    return *to_l1 || is_within(&tier->l2, f->table, per_point, run) ? per_point : 0;
}

/* How much of the next table each of several rows that choose from the same one prefetches; 0: nothing. */
static int64_t choose_share(const struct cpu_work *work, const struct footprint *f,
                            const struct profile *profile, const struct table_prefetch *tier)
{
    const struct dim *before = f->inner - 1;
    if (f->nest->rank < 3 || work->strategy != ROWS || f->nest->run > MOST_ELEMENT) return 0;
    if (before->data != 0 || before[-1].data < f->table) return 0;
    const struct table_limit *limit = profile->table_share_to_l1 ? &tier->l1 : &tier->l2;
    return is_within(limit, f->table, divide_up(f->table, before->n * f->inner->n), f->nest->run)
               ? divide_up(f->table, before->n)
               : 0;
}

void garner_plan_table_prefetch(struct cpu_work *work, const struct footprint *f,
                                const struct profile *profile)
{
    struct segment *s = &work->segment;
    if (f->nest->rank == 1) return; /* there is no later row */
    const struct table_prefetch *tier = find_tier(f, profile);
    work->table_share = choose_share(work, f, profile, tier);
    work->table_share_to_l1 = profile->table_share_to_l1;
    s->table_bytes_per_point = (int32_t)choose_bytes_per_point(work, f, profile, tier, &s->table_to_l1);
    if (!s->table_bytes_per_point) return;
    s->next_part = f->inner[-1].data; /* the first point of a row: the beginning of the table */
    if (!is_joined(work)) s->points_to_l1 = s->indices_to_l1 = s->table_to_l1;
}
