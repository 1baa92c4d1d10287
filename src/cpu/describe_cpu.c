/* SPDX-License-Identifier: MIT */
/* Says in words what was decided for a nest on the CPU. garner.h has the grammar. */
#include <inttypes.h>

#include "cpu_work.h"

static void say_kernel(struct line *line, const struct kernel *kernel)
{
    static const char *const source_names[] = {
#define SOURCE(source, name, axes) [source] = name,
#include "kernels/sources.def"
#undef SOURCE
    };
    const struct kernel_id id = kernel->id;
    garner_line_add(line, " %s %s-i%d-", garner_level_name(id.level), source_names[id.source], id.index * 8);
    if (id.run != ANY)
        garner_line_add(line, "%d", id.run);
    else
        garner_line_add(line, "any");
}

/* The kernel that moves the points, but for panels. */
static const struct kernel *point_kernel(const struct cpu_work *work, const struct nest *nest,
                                         const struct cpu_target *target)
{
    return work->kernel ? work->kernel : target_kernel(target, BLOCK, sizeof(int64_t), nest->run);
}

/* The strategy, and the kernel's name. */
static void say_strategy(struct line *line, const struct cpu_work *work, const struct nest *nest,
                         const struct cpu_target *target)
{
    static const char *const strategy_names[] = {
        [ROWS] = "rows",     [SHORT_ROWS] = "short-rows",
        [PANELS] = "panels", [REUSED_INDICES] = "reused-indices",
        [BITS] = "bits",     [ONE_BLOCK] = "one-block",
    };
    garner_line_add(line, ", strategy %s, kernel", strategy_names[work->strategy]);
    if (work->strategy == BITS)
        garner_line_add(line, " scalar bits");
    else if (work->strategy == PANELS)
        say_kernel(line, work->panel_kernel);
    else
        say_kernel(line, point_kernel(work, nest, target));
}

/* Into which cache. */
static const char *cache(bool l1)
{
    return l1 ? "L1" : "L2";
}

/* A prefetch distance, and what it counts. */
struct prefetched {
    int64_t count;
    const char *what; /* one of them */
    bool to_l1;
};

/* Rows that share their indices: on x86-64 strips of rows prefetch later rows, on aarch64 rows of few points
 * do, and longer rows prefetch their later points on both. */
static struct prefetched find_prefetched(const struct cpu_work *work, const struct nest *nest,
                                         const struct cpu_target *target)
{
    const struct segment *s = &work->segment;
    const bool x86 = target->profile.x86,
               is_shared = work->strategy == REUSED_INDICES || work->strategy == ONE_BLOCK;
    const int64_t n = at_most(work->column_share, BLOCK_POINTS);
    if (is_shared && goes_by_strips(s, n, point_kernel(work, nest, target)->id))
        return (struct prefetched){x86 ? s->prefetch_rows : 0, "row", true};
    if (!is_shared || n > FEW_POINTS || s->row_by_row)
        return (struct prefetched){s->prefetch_distance, "point", s->points_to_l1};
    const bool prefetches = !x86 && s->prefetch_distance && nest->run <= FEW_BYTES;
    return (struct prefetched){prefetches ? ROW_DISTANCE : 0, "row", s->points_to_l1};
}

/* Joined rows prefetch the tables of later rows alone, all others that of the next row. */
static void say_prefetch(struct line *line, const struct cpu_work *work, struct prefetched prefetched)
{
    const struct segment *s = &work->segment;
    const bool joined = work->strategy == SHORT_ROWS && work->kernel->id.source != PATTERN;
    const int64_t distance = prefetched.count, per_point = s->table_bytes_per_point;
    garner_line_add(line, ", prefetch");
    if (distance)
        garner_line_add(line, " %" PRId64 " %s%s to %s", distance, prefetched.what, distance == 1 ? "" : "s",
                        cache(prefetched.to_l1));
    if (per_point)
        garner_line_add(line, "%s table+%d %" PRId64 " B/point to %s", distance ? " and" : "",
                        joined ? s->prefetch_rows : 1, per_point, cache(joined || s->table_to_l1));
    if (work->table_share)
        garner_line_add(line, "%s next table %" PRId64 " B/row to %s", distance || per_point ? " and" : "",
                        work->table_share, cache(work->table_share_to_l1));
    if (!distance && !per_point && !work->table_share) garner_line_add(line, " none");
}

/* How large the panels are on the stack, or those that a few threads keep in out. */
static void say_panels(struct line *line, const struct cpu_work *work, const struct nest *nest)
{
    const int64_t entries = nest->axis[0].bound;
    if (work->strategy == PANELS)
        garner_line_add(line, ", panels %" PRId64 "x%" PRId64 " B", entries,
                        work->segment.row_points * nest->run);
    if (work->slots == 0) return;
    garner_line_add(line, ", up to %" PRId64 " threads panels %" PRId64 "x%d B in out by", work->slots,
                    entries, (int)LINE);
    say_kernel(line, work->panel_kernel);
}

void garner_cpu_describe_for(const struct cpu_work *work, const struct nest *nest,
                             const struct cpu_target *target, struct line *line)
{
    if (work->tasks > 0) say_strategy(line, work, nest, target);
    if (work->tasks > 0 && work->strategy != BITS) {
        say_prefetch(line, work, find_prefetched(work, nest, target));
        garner_line_add(line, ", stores %s",
                        work->segment.by_memcpy      ? "by memcpy"
                        : work->segment.non_temporal ? "non-temporal"
                                                     : "cached");
        say_panels(line, work, nest);
    }
    garner_line_add(line, ", %" PRId64 " task%s", work->tasks, work->tasks == 1 ? "" : "s");
}

void garner_cpu_describe(const struct backend_work *given, const struct nest *nest, struct line *line)
{
    garner_cpu_describe_for(cpu_work_of(given), nest, garner_cpu_target(), line);
}
