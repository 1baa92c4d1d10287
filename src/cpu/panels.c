/* SPDX-License-Identifier: MIT */
/*
 * Whether a table is packed into panels, and where these lie: on the stack, or in the last rows of out. A
 * panel holds a few columns of all entries of a table, side by side.
 */
#include "planner.h"

enum {
    CONFLICT = 512,                    /* lines that are a multiple of this apart share few sets of a cache */
    SMALL_RUN = 4,                     /* bytes of the longest element that panels help anyway, */
    MOST_RUN = 8,                      /* where lines conflict, or panels are of whole lines */
    LEAST_ENTRIES = 32,                /* the fewest entries of a panel, */
    STRIDED_USES = 4,                  /* unless elements lie apart: then so many rows for each entry */
    LINE_ENTRIES = PANEL_BYTES / LINE, /* the most on the stack if they are whole lines, */
    HALF_ENTRIES = 2 * LINE_ENTRIES,   /* if they are half a line each, */
    MANY_ENTRIES = 1024,               /* and if, so narrow, they are to be worth it for longer elements */
    SCRATCH_ENTRIES = 128 * 1024,      /* the most in out */
    SCRATCH_PART = 4,                  /* at most one row of out in so many is taken for panels */
    MOST_SLOTS = 4                     /* more threads gain more from small tasks */
};

/* Whether elements of an entry lie apart, each on a line of its own or nearly so. */
static bool is_strided(const struct footprint *f)
{
    return f->inner->data != f->nest->run;
}

/* Whether it pays to pack the table into panels for elements that are `small`. Either it is too large for L2;
 * or only for L1, and the lines of a column, which fall into a few sets of any cache, do fit into that as a
 * panel. */
static bool is_worth_packing(const struct footprint *f, const struct profile *profile, int64_t small)
{
    const struct axis *axis = &f->nest->axis[0];
    const bool conflict = axis->stride % CONFLICT == 0 && f->nest->run <= 2 * small;
    if (is_strided(f)) return f->table >= profile->panel_l1_table;
    if (f->table >= profile->panel_table) return conflict || f->nest->run <= small;
    return f->table >= profile->panel_l1_table && conflict && axis->bound <= profile->panel_l1_entries;
}

/* How many entries a table may have for each row that chooses from it. */
static int64_t most_entries(const struct footprint *f, const struct profile *profile)
{
    if (f->table >= profile->panel_far_table) return profile->panel_entries_far;
    return f->nest->run <= SMALL_RUN ? profile->panel_entries_small : profile->panel_entries_long;
}

static bool can_be_packed(const struct cpu_work *work, const struct footprint *f)
{
    const struct nest *nest = f->nest;
    return work->strategy == ROWS && work->kernel && f->inner->out == nest->run &&
           (work->kernel->id.source == COLUMNS || work->kernel->id.source == RAMP) && nest->run <= MOST_RUN &&
           is_power_of_two(nest->run) && nest->rank > 1 && f->inner[-1].data == 0 &&
           f->inner->n >= LINE / nest->run;
}

/* Whether enough rows choose from the table. */
static bool is_used_enough(const struct footprint *f, const struct profile *profile)
{
    const int64_t bound = f->nest->axis[0].bound, rows = f->inner[-1].n;
    if (is_strided(f)) return bound <= LINE_ENTRIES && rows / STRIDED_USES >= bound;
    return bound >= LEAST_ENTRIES && rows >= bound / most_entries(f, profile);
}

/* How many bytes of each entry a panel on the stack holds; 0: there is none. */
static int64_t choose_panel_width(const struct footprint *f, const struct profile *profile)
{
    const int64_t bound = f->nest->axis[0].bound, small = bound <= MANY_ENTRIES ? SMALL_RUN : SMALL_RUN / 2;
    if (bound <= LINE_ENTRIES) return is_worth_packing(f, profile, profile->panel_run) ? LINE : 0;
    return bound <= HALF_ENTRIES && is_worth_packing(f, profile, small) ? LINE / 2 : 0;
}

/* How many rows of out hold a panel of whole lines, and what is left of a line at their end; 0 if they do not
 * lie side by side, or if that does not pay. */
static int64_t choose_scratch_rows(const struct footprint *f, const struct profile *profile)
{
    const struct dim *inner = f->inner, *before = inner - 1;
    const int64_t bound = f->nest->axis[0].bound;
    if (bound <= LINE_ENTRIES || bound > SCRATCH_ENTRIES ||
        !is_worth_packing(f, profile, profile->panel_run) || bound * f->nest->run > profile->scratch_column ||
        !continues_stride(before->out, inner->n, inner->out))
        return 0;
    return divide_up((bound + 1) * LINE, before->out);
}

void garner_plan_panels(struct cpu_work *work, const struct footprint *f, const struct cpu_target *target)
{
    const struct profile *profile = &target->profile;
    const struct nest *nest = f->nest;
    if (!can_be_packed(work, f) || !is_used_enough(f, profile)) return;
    const struct dim *before = f->inner - 1;
    const int64_t width = choose_panel_width(f, profile);
    work->scratch_rows = choose_scratch_rows(f, profile);
    work->slots = work->scratch_rows ? at_most(before->n / SCRATCH_PART / work->scratch_rows, MOST_SLOTS) : 0;
    if (width == 0 && work->slots == 0) return;
    if (width) work->strategy = PANELS;
    work->panel_kernel = target_kernel(target, PANEL, nest->index_type.bytes, nest->run);
    work->segment.row_index_stride = before->index * nest->index_type.bytes;
    work->segment.row_out_stride = before->out;
    work->segment.row_points = (uint8_t)(width / nest->run);
}
