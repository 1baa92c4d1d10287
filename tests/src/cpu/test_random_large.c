/* SPDX-License-Identifier: MIT */
/*
 * Random cases of middle size, drawn so that the backend's every strategy is taken with several tasks: rows,
 * short rows, panels, reused indices, packed elements; long runs in slices, prefetches, non-temporal stores;
 * bad indices under each policy. Each case runs in the calling thread, shuffled, on the thread pool, and in
 * parts. What the plans chose is counted, and a strategy that was not met fails the test. Which ones a short
 * run meets is not left to luck: it goes on to draw shapes, and runs those whose plans take what is missing.
 */
#include "testing.h"

#include "arrange.h"
#include "cpu/cpu_work.h"
#include "cpu/profile.h"
#include "kernel_list.h"
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 40 << 20, POINTS = 60000, BYTES = 4 << 20, NON_TEMPORAL_OUT = 34 << 20 };

static uint64_t seed;

/* ---- What was met ---- */

enum feature {
    ROW_TASKS,
    COLUMN_TASKS,
    SLICES,
    SEVERAL_BLOCKS,
    MANY_SHORT,
    SEVERAL_SWEEPS,
    PREFETCH,
    SCRATCH_ROWS,
    NON_TEMPORAL,
    FEATURES
};
static const char *const feature_names[FEATURES] = {
    "tasks of rows",      "tasks of columns", "slices of a run", "several blocks", "many short",
    "several block rows", "prefetch",         "scratch rows",    "non-temporal"};
static const char *const strategy_names[] = {[ROWS] = "rows",
                                             [SHORT_ROWS] = "short rows",
                                             [PANELS] = "panels",
                                             [REUSED_INDICES] = "reused indices",
                                             [BITS] = "bits"};
static const char *const policy_names[] = {"error", "zero", "clamp", "wrap"};

enum { STRATEGIES = BITS + 1, POLICIES = GARNER_OOB_WRAP + 1 };

static struct met {
    int64_t features[FEATURES];
    int64_t parallel[STRATEGIES];           /* cases of several tasks */
    int64_t policies[STRATEGIES][POLICIES]; /* cases with bad indices; under "error", without */
    int64_t sources[SOURCES];               /* by the kernel that reads the indices */
    int64_t no_source[STRATEGIES];          /* cases where indices are always resolved first */
} met;

static void note_features(const struct cpu_work *work, const struct nest *nest)
{
    const int64_t inner = nest->dim[nest->rank - 1].n;
    const bool resolved = work->strategy == REUSED_INDICES || (work->strategy == ROWS && !work->kernel);
    met.features[ROW_TASKS] += work->strategy != BITS && work->row_share < work->rows;
    met.features[COLUMN_TASKS] += work->column_tasks > 1;
    met.features[SLICES] += work->slices > 1;
    met.features[SEVERAL_BLOCKS] += resolved && inner > BLOCK_POINTS;
    met.features[MANY_SHORT] += work->strategy == SHORT_ROWS && work->column_share * inner > 1024;
    met.features[SEVERAL_SWEEPS] += work->strategy == REUSED_INDICES && work->row_share > work->block_rows;
    met.features[PREFETCH] += work->strategy != BITS && work->segment.prefetch_distance > 0;
    met.features[SCRATCH_ROWS] += work->slots > 0;
    met.features[NON_TEMPORAL] += work->strategy != BITS && work->segment.non_temporal;
}

static void note(const struct test_case *c, const garner_plan *plan)
{
    const struct cpu_work *work = cpu_work_of(&plan->work);
    const enum strategy strategy = work->strategy == ONE_BLOCK ? REUSED_INDICES : work->strategy;
    const bool bad = c->bad_per_thousand > 0;
    met.parallel[strategy] += work->tasks > 1;
    if (bad == (c->oob != GARNER_OOB_ERROR)) met.policies[strategy][c->oob]++;
    if (strategy == PANELS)
        met.sources[work->panel_kernel->id.source]++;
    else if (work->kernel)
        met.sources[work->kernel->id.source]++;
    else
        met.no_source[strategy]++;
    note_features(work, &plan->nest);
}

static garner_tensor tensor_of(const struct case_view *view, garner_dtype dtype, size_t item_bytes)
{
    return (garner_tensor){.shape = view->shape,
                           .strides = view->strided ? view->strides : NULL,
                           .rank = view->rank,
                           .dtype = dtype,
                           .item_bytes = dtype == GARNER_OPAQUE ? item_bytes : 0};
}

static void note_plan(const struct test_case *c)
{
    const garner_tensor data = tensor_of(&c->data, c->dtype, c->item_bytes);
    const garner_tensor indices = tensor_of(&c->indices, c->index_dtype, 0);
    const garner_tensor out = tensor_of(&c->out, c->dtype, c->item_bytes);
    garner_op op;
    garner_plan *plan = NULL;
    garner_error error;
    case_garner_op(c, &op);
    if (garner_plan_create(&plan, &op, &data, &indices, &out, &error) != GARNER_OK)
        fail_msg("%s", error.message);
    note(c, plan);
    garner_plan_destroy(plan);
}

static bool quiet; /* count what is missing, print nothing */

/* One line of the report; a count of 0 is a failure. */
static int report(const char *what, const char *of, int64_t count)
{
    if (quiet) return count == 0;
    printf("  %-10s %-16s %6" PRId64 "%s\n", what, of, count, count ? "" : "   NOT MET");
    return count == 0;
}

static int report_strategies(void)
{
    int missing = 0;
    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        missing += report(strategy_names[strategy], "several tasks", met.parallel[strategy]);
        for (int policy = 0; policy < POLICIES; policy++)
            missing += report(strategy_names[strategy], policy_names[policy], met.policies[strategy][policy]);
    }
    return missing + report("rows", "resolved first", met.no_source[ROWS]);
}

static int report_all(void)
{
    int missing = report_strategies();
    for (int i = 0; i < kernel_line_count; i++) { /* each source once, by the name of its first line */
        const struct kernel_line *line = &kernel_lines[i];
        if (source_is_resolved(line->source) || (i > 0 && line->source == line[-1].source)) continue;
        if (line->level == SCALAR) missing += report("kernel", line->name, met.sources[line->source]);
    }
    for (int feature = 0; feature < FEATURES; feature++)
        if (feature != NON_TEMPORAL) missing += report("", feature_names[feature], met.features[feature]);
    return missing;
}

/* ---- Shapes ---- */

static void set_shape(struct case_view *view, int rank, int64_t a, int64_t b, int64_t c)
{
    view->rank = rank;
    view->shape[0] = a;
    view->shape[1] = b;
    view->shape[2] = c;
}

/* Elements of any size; opaque ones cost the reference least. */
static size_t pick_item(struct random *random, struct test_case *c, size_t least, size_t most)
{
    static const size_t sizes[] = {1,  2,  3,  4,  4,  4,   7,   8,   8,    16,  24,
                                   32, 33, 48, 64, 65, 100, 128, 300, 1000, 4100};
    size_t size;
    do
        size = sizes[random_between(random, 0, sizeof sizes / sizeof sizes[0] - 1)];
    while (size < least || size > most);
    c->dtype = size == 4 && random_chance(random, 50) ? GARNER_F32 : GARNER_OPAQUE;
    c->item_bytes = size;
    return size;
}

/* So many points that out is a few MB. */
static int64_t pick_points(struct random *random, size_t item)
{
    const int64_t most = BYTES / (int64_t)item < POINTS ? BYTES / (int64_t)item : POINTS;
    return random_between(random, most / 2, most);
}

/* An extent whose table is a few KB, or a few MB. */
static int64_t pick_extent(struct random *random, size_t item, int64_t others)
{
    const int64_t bytes = random_chance(random, 40) ? BYTES : 20000;
    return 1 + bytes / ((int64_t)item * others);
}

static void draw_rows(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, SIZE_MAX);
    set_shape(&c->data, 1, pick_extent(random, item, 1), 0, 0);
    set_shape(&c->indices, 1, pick_points(random, item), 0, 0);
}

static void draw_rows_of_elements(struct random *random, struct test_case *c)
{
    const int64_t width = random_between(random, 2, 40);
    c->dtype = GARNER_F32;
    set_shape(&c->data, 2, pick_extent(random, 4, width), width, 0);
    set_shape(&c->indices, 1, pick_points(random, 4) / width, 0, 0);
}

static void draw_batches(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, 300);
    const int64_t points = pick_points(random, item), batches = random_between(random, 2, 50);
    set_shape(&c->data, 2, batches, pick_extent(random, item, batches), 0);
    set_shape(&c->indices, 2, batches, points / batches, 0);
    c->axis = c->batch_dims = 1;
}

static void draw_along_last(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, 64);
    const int64_t n = random_between(random, 64, 3000), rows = 1 + pick_points(random, item) / n;
    set_shape(&c->data, 2, rows, pick_extent(random, item, rows), 0);
    set_shape(&c->indices, 2, rows, n, 0);
    c->axis = 1;
}

static void draw_along_first(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, 100);
    const int64_t n = random_between(random, 64, 3000), rows = 1 + pick_points(random, item) / n;
    set_shape(&c->data, 2, pick_extent(random, item, n), n, 0);
    set_shape(&c->indices, 2, rows, n, 0);
}

/* A table that is larger than a core's caches; or smaller, with columns whose lines meet in a few sets. */
static void draw_panels(struct random *random, struct test_case *c)
{
    const int64_t item = (int64_t)1 << random_between(random, 0, 3), blocks = random_between(random, 1, 3);
    const bool large = random_chance(random, 30);
    const int64_t bound = random_between(random, 32, large ? 2048 : 200);
    const int64_t rows = random_between(random, bound / 2, 2 * bound);
    int64_t columns = 1 + (large ? 6 * BYTES / 10 : BYTES / 32) / (bound * item);
    if (!large) columns += -columns & (512 / item - 1);
    const int64_t most = at_most(columns, 64 + POINTS / rows / blocks);
    c->dtype = GARNER_OPAQUE;
    c->item_bytes = (size_t)item;
    set_shape(&c->data, 3, blocks, bound, columns);
    set_shape(&c->indices, 3, blocks, rows, random_between(random, most / 2, most));
    c->axis = 1;
}

/* A table of more entries than a panel on the stack, and an out that has room for one. */
static void draw_scratch_panels(struct random *random, struct test_case *c)
{
    const int64_t item = (int64_t)1 << random_between(random, 1, 2), blocks = random_between(random, 1, 2);
    const int64_t bound = random_between(random, 769, 1200), rows = random_between(random, bound, 2 * bound);
    const int64_t columns =
        random_between(random, 1, 4) * 260 * bound / rows / item + random_between(random, 1, 40);
    c->dtype = GARNER_OPAQUE;
    c->item_bytes = (size_t)item;
    set_shape(&c->data, 3, blocks, bound, columns + 6 * BYTES / 10 / (bound * item));
    set_shape(&c->indices, 3, blocks, rows, columns);
    c->axis = 1;
}

/* The same, indices expanded along the columns: each row has one, but for a few points, some of which are
 * outside where others may be. */
static void draw_expanded_panels(struct random *random, struct test_case *c)
{
    static int64_t values[1 << 21];
    if (random_chance(random, 50))
        draw_panels(random, c);
    else
        draw_scratch_panels(random, c);
    const int64_t bound = c->data.shape[1], least = c->only_positive ? 0 : -bound;
    const int64_t columns = c->indices.shape[2], rows = c->indices.shape[0] * c->indices.shape[1];
    assert_true(rows * columns <= (int64_t)(sizeof values / sizeof values[0]));
    for (int64_t row = 0, i = 0; row < rows; row++) {
        const int64_t value = random_between(random, least, bound - 1);
        for (const int64_t end = i + columns; i < end; i++) {
            const bool other = random_between(random, 0, 9999) == 0;
            values[i] = !other                ? value
                        : c->bad_per_thousand ? 2 * bound
                                              : random_between(random, least, bound - 1);
        }
    }
    c->values = values;
    c->index_dtype = random_chance(random, 50) ? GARNER_I64 : GARNER_I32;
}

/* A table of which rows use one element in so many, all of them often. */
static void draw_strided_panels(struct random *random, struct test_case *c)
{
    const int64_t item = (int64_t)1 << random_between(random, 0, 3), apart = random_between(random, 2, 70);
    const int64_t bound = random_between(random, 2, 300), rows = random_between(random, 4 * bound, 6 * bound);
    const int64_t least = 1 + 128 * 1024 / (bound * apart * item);
    const int64_t columns = at_most(random_between(random, least, least + 200), 64 + POINTS / rows);
    c->dtype = GARNER_OPAQUE;
    c->item_bytes = (size_t)item;
    set_shape(&c->data, 3, bound, columns, apart);
    set_shape(&c->indices, 3, rows, columns, 1);
    c->axis = 0;
}

static void draw_short_rows(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, 64);
    const int64_t n = random_between(random, 2, random_chance(random, 70) ? 63 : 300);
    const int64_t points = pick_points(random, item);
    const int64_t blocks = random_chance(random, 50) ? 1 : random_between(random, 2, 9);
    const int64_t extent = pick_extent(random, item, n * blocks);
    if (random_chance(random, 50)) {
        set_shape(&c->data, 3, blocks, extent, n);
        set_shape(&c->indices, 3, blocks, points / n / blocks, n);
    } else {
        const int64_t rows = points / n, widest = 2 * BYTES / (rows * (int64_t)item);
        set_shape(&c->data, 2, rows, 1 + extent % at_least(1, at_most(widest, 100)), 0);
        set_shape(&c->indices, 2, rows, n, 0);
    }
    c->axis = 1;
}

/* More points than a block has, of a type that is always resolved, for more rows than one block serves. */
static void draw_swept(struct random *random, struct test_case *c)
{
    c->dtype = GARNER_F32;
    c->index_dtype = GARNER_I16;
    set_shape(&c->data, 2, random_between(random, 40, 60), random_between(random, 20000, 30000), 0);
    set_shape(&c->indices, 1, random_between(random, BLOCK_POINTS + 1, 2 * BLOCK_POINTS), 0, 0);
    c->axis = 1;
}

static void draw_reused(struct random *random, struct test_case *c)
{
    if (random_chance(random, 25)) {
        draw_swept(random, c);
        return;
    }
    const size_t item = pick_item(random, c, 1, 32);
    const int64_t n = random_between(random, 2, 5000), rows = 1 + pick_points(random, item) / n;
    set_shape(&c->data, 2, rows, pick_extent(random, item, rows), 0);
    set_shape(&c->indices, 1, n, 0, 0);
    c->axis = 1;
}

/* Longer runs: few points are resolved once, more are read again for each row. */
static void draw_reused_long(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 33, 300);
    const int64_t n = random_between(random, 1, 200), rows = 1 + pick_points(random, item) / n;
    set_shape(&c->data, 2, rows, 1 + pick_extent(random, item, rows), 0);
    set_shape(&c->indices, 1, n, 0, 0);
    c->axis = 1;
}

static void draw_tuples(struct random *random, struct test_case *c)
{
    const size_t item = pick_item(random, c, 1, 300);
    const int axes = (int)random_between(random, 1, 6);
    int64_t left = pick_extent(random, item, 1);
    set_shape(&c->indices, 2, pick_points(random, item) / 2, axes, 0);
    c->data.rank = axes;
    for (int k = axes - 1; k >= 0; k--) {
        c->data.shape[k] = k == 0 ? left : random_between(random, 1, left < 12 ? left : 12);
        left /= c->data.shape[k];
    }
}

static void draw_packed(struct random *random, struct test_case *c)
{
    static const garner_dtype types[] = {GARNER_U1, GARNER_U2, GARNER_U3, GARNER_U4, GARNER_U6, GARNER_NF4};
    const int64_t width = random_between(random, 1, 60);
    c->dtype = types[random_between(random, 0, 5)];
    set_shape(&c->data, 2, random_between(random, 1, 500), width, 0);
    set_shape(&c->indices, 1, 1 + POINTS / width, 0, 0);
}

static void draw_slices(struct random *random, struct test_case *c)
{
    c->dtype = GARNER_C128;
    set_shape(&c->data, 2, random_between(random, 2, 4), random_between(random, 35000, 70000), 0);
    set_shape(&c->indices, 1, random_between(random, 1, 3), 0, 0);
}

struct family {
    garner_kind kind;
    void (*draw)(struct random *random, struct test_case *c);
    int64_t repeats;
};

static const struct family families[] = {
    {GARNER_GATHER, draw_rows, 8},
    {GARNER_GATHER, draw_rows_of_elements, 3},
    {GARNER_GATHER, draw_batches, 5},
    {GARNER_GATHER_ELEMENTS, draw_along_last, 5},
    {GARNER_GATHER_ELEMENTS, draw_along_first, 6},
    {GARNER_GATHER_ELEMENTS, draw_panels, 12},
    {GARNER_GATHER_ELEMENTS, draw_strided_panels, 4},
    {GARNER_GATHER_ELEMENTS, draw_scratch_panels, 4},
    {GARNER_GATHER_ELEMENTS, draw_expanded_panels, 6},
    {GARNER_GATHER_ELEMENTS, draw_short_rows, 18},
    {GARNER_GATHER, draw_reused, 14},
    {GARNER_GATHER, draw_reused_long, 5},
    {GARNER_GATHER_ND, draw_tuples, 24},
    {GARNER_GATHER, draw_packed, 14},
    {GARNER_GATHER, draw_slices, 4},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* ---- Running ---- */

/* Policies in turn, another one for a family each time that it comes. Bad indices under the policy error are
 * rare, since they leave nothing to compare. */
static void draw_policy(struct random *random, struct test_case *c, int64_t number)
{
    c->oob = (int)((number % FAMILIES + number / FAMILIES) % POLICIES);
    c->bad_per_thousand = random_chance(random, 90) ? (int)random_between(random, 1, 40) : 0;
    if (c->oob == GARNER_OOB_ERROR && random_chance(random, 90)) c->bad_per_thousand = 0;
    c->only_positive = random_chance(random, 50);
    c->negative_is_outside = c->only_positive && random_chance(random, 20);
}

static garner_dtype draw_index_type(struct random *random)
{
    if (random_chance(random, 45)) return GARNER_I64;
    if (random_chance(random, 75)) return GARNER_I32;
    return ref_index_types[random_between(random, 0, REF_INDEX_TYPES - 1)];
}

static void lead_only(struct random *random, struct case_view *view)
{
    view->lead = random_chance(random, 50) ? 0 : (size_t)random_between(random, 1, 63);
}

static void complete(struct random *random, struct test_case *c, bool strided)
{
    if (case_complete(c) != GARNER_OK) fail_msg("an illegal case was drawn");
    if (strided && random_chance(random, 50)) arrange(random, &c->out, ref_is_packed(c->dtype), false);
}

static void run_case(const struct test_case *c)
{
    if (!case_run(c)) fail_msg("GARNER_TEST_SEED=%" PRIu64, seed);
}

static struct test_case draw_case(const struct family *family, int64_t number)
{
    struct random random = random_from(seed + (uint64_t)number * 0x10001);
    struct test_case c = {.version = ref_find_version(family->kind, NULL), .bad_position = -1};
    c.index_dtype = draw_index_type(&random);
    c.seed = random_bits(&random);
    c.threads = (int)random_between(&random, 2, 4);
    draw_policy(&random, &c, number);
    family->draw(&random, &c);
    const bool strided = random_chance(&random, 30);
    if (strided && random_chance(&random, 50)) {
        arrange(&random, &c.data, ref_is_packed(c.dtype), true);
        arrange(&random, &c.indices, false, true);
    }
    if (!c.data.strided) lead_only(&random, &c.data);
    lead_only(&random, &c.out);
    complete(&random, &c, strided);
    return c;
}

static int count_missing(void)
{
    quiet = true;
    const int missing = report_all();
    quiet = false;
    return missing;
}

/* Draws case after case, each from the next family, until one would meet what is missing; only that is run.
 * Returns the number of the case after it; `end` if none of those before it does. */
static int64_t run_missing(int64_t number, int64_t end)
{
    const struct met before = met;
    const int missing = count_missing();
    for (; number < end; number++) {
        const struct test_case c = draw_case(&families[number % FAMILIES], number);
        note_plan(&c);
        if (count_missing() < missing) {
            run_case(&c);
            return number + 1;
        }
        met = before;
    }
    return end;
}

/* A plan takes microseconds, so that many are looked at before a strategy counts as one that is never taken.
 */
static void test_every_way(void **state)
{
    (void)state;
    enum { PATIENCE = 100000 };
    int64_t number = 0;
    for (int f = 0; f < FAMILIES; f++)
        for (int64_t i = at_least(test_scaled(2 * families[f].repeats), families[f].repeats); i > 0; i--) {
            const struct test_case c = draw_case(&families[f], number++);
            note_plan(&c);
            run_case(&c);
        }
    int64_t at = number;
    while (at < number + PATIENCE && count_missing() > 0)
        at = run_missing(at, number + PATIENCE);
    printf("seed %" PRIu64 ": %" PRId64 " cases of middle size, level %s; %" PRId64
           " more drawn for what was missing\n",
           seed, number, garner_level_name(garner_cpu_target()->profile.level), at - number);
    const int missing = report_all();
    fflush(stdout);
    assert_int_equal(missing, 0);
}

/* Outputs beyond the caches: whole lines, whole lines that are unaligned, long and odd runs. */
static void test_streamed(void **state)
{
    (void)state;
    static const struct {
        size_t item, lead;
    } rows[] = {{64, 0}, {128, 16}, {1000, 0}, {4096, 5}};
    if (test_is_short()) SKIP_LOUDLY("outputs of 34 MB take long here");
    if (garner_cpu_target()->profile.non_temporal_out == NEVER)
        SKIP_LOUDLY("this CPU has no non-temporal stores, or is slow at them");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct random random = random_from(seed + i);
        struct test_case c = {.version = ref_find_version(GARNER_GATHER, NULL), .bad_position = -1};
        c.dtype = GARNER_OPAQUE;
        c.item_bytes = rows[i].item;
        c.index_dtype = i % 2 ? GARNER_I32 : GARNER_I64;
        c.oob = GARNER_OOB_ZERO;
        c.bad_per_thousand = 2;
        c.threads = 3;
        c.out.lead = rows[i].lead;
        set_shape(&c.data, 1, BYTES / (int64_t)rows[i].item, 0, 0);
        set_shape(&c.indices, 1, NON_TEMPORAL_OUT / (int64_t)rows[i].item, 0, 0);
        complete(&random, &c, false);
        note_plan(&c);
        run_case(&c);
    }
    assert_int_equal(report("", feature_names[NON_TEMPORAL], met.features[NON_TEMPORAL]), 0);
}

/* GARNER_CPU, where it is given, names the level or the profile that each case below was meant for. */
static void test_level_is_obeyed(void **state)
{
    (void)state;
    const char *wish = getenv("GARNER_CPU");
    const char *level = garner_level_name(garner_cpu_target()->profile.level);
    printf("GARNER_CPU=%s: level %s\n", wish ? wish : "", level);
    if (!wish) return;
    if (garner_profile_named(wish)) {
        assert_string_equal(garner_cpu_target()->profile.name, wish);
        return;
    }
    int wished = SCALAR;
    while (wished < LEVELS && strcmp(wish, garner_level_name((enum level)wished)) != 0)
        wished++;
    if (wished == LEVELS) fail_msg("GARNER_CPU=%s is neither a level nor a profile", wish);
    if (wished > (int)garner_cpu_detected())
        SKIP_LOUDLY("this machine does not have the level of GARNER_CPU");
    assert_string_equal(level, wish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_is_obeyed),
        cmocka_unit_test(test_every_way),
        cmocka_unit_test(test_streamed),
    };
    seed = test_seed(20240901);
    cases_begin(CAPACITY);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cases_end();
    return failed;
}
