/* SPDX-License-Identifier: MIT */
/*
 * Draws segments and holds kernels against the model. The model knows the four lines of the nest's
 * definition and shares no code with the kernels; it reads indices from the case, not from memory.
 */
#include "kernel_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANARY = 0xA5,
    CAPACITY = 4 << 20,
    FAR = 300 * 1000, /* about how far data may reach */
    ALIGNMENTS = 64,
    MOST_EARLY = 64 /* a kernel may stop this many points before a bad one */
};

uint64_t kernel_data_alignments, kernel_out_alignments;

static struct guard data_memory, index_memory, pattern_memory, out_memory;
static unsigned char *expected_memory;

void kernel_cases_begin(void)
{
    guard_create(&data_memory, CAPACITY);
    guard_create(&index_memory, CAPACITY);
    guard_create(&pattern_memory, CAPACITY);
    guard_create(&out_memory, CAPACITY);
    expected_memory = malloc(CAPACITY);
    if (!expected_memory) abort();
    struct random random = random_from(7);
    random_fill(&random, data_memory.first, data_memory.capacity);
}

void kernel_cases_end(void)
{
    guard_destroy(&data_memory);
    guard_destroy(&index_memory);
    guard_destroy(&pattern_memory);
    guard_destroy(&out_memory);
    free(expected_memory);
}

static bool is_block(const struct kernel_case *c)
{
    return source_is_resolved(c->wish.kernel->source);
}

/* A kernel of source UNIT, SHORT_UNIT or TINY whose run is a constant knows all distances from it. */
static bool is_tight(const struct kernel_case *c)
{
    const enum source source = c->wish.kernel->source;
    return (source == UNIT || source == SHORT_UNIT || source == TINY) && c->wish.kernel->run > 0;
}

/* Points that lie side by side in data as well, but for their indices. */
static bool has_columns(enum source source)
{
    return source == COLUMNS || source == SHORT_COLUMNS || source == PANEL;
}

/* How many points make a row, after which data begins anew: all, but for panels and joined rows. */
static int64_t row_points(const struct kernel_case *c)
{
    const enum source source = c->wish.kernel->source;
    return source == PANEL || kernel_is_joined(source) ? c->segment.row_points : c->segment.n;
}

/* Of a panel a line or half of one, of joined rows anything. */
static uint8_t draw_row_points(struct random *random, const struct kernel_line *kernel)
{
    if (kernel->source == PANEL) return (uint8_t)((random_chance(random, 70) ? 64 : 32) / kernel->run);
    return (uint8_t)random_between(random, 1, random_chance(random, 70) ? 20 : 255);
}

/* ---- Drawing ---- */

static int64_t pick(struct random *random, const int64_t *list, int count)
{
    return list[random_between(random, 0, count - 1)];
}

static void draw_axis(struct kernel_case *c, struct random *random, struct axis *axis)
{
    const int64_t run = c->segment.run;
    const int64_t strides[] = {run, run, 0, 1, run + 3, 2 * run, random_between(random, 0, 3 * run)};
    const bool panel = c->wish.kernel->source == PANEL;
    axis->stride = panel ? row_points(c) * run : is_tight(c) ? run : pick(random, strides, 7);
    const int64_t most = 1 + FAR / (axis->stride + run) / 8;
    const int64_t bounds[] = {1, 2, most > 3 ? 3 : most, most, most};
    axis->bound = axis->stride == 0 && random_chance(random, 50) ? INT32_MAX : pick(random, bounds, 5);
    if (c->wish.kernel->source == TINY) axis->bound = random_between(random, 1, TINY_ENTRIES);
    axis->wrap = random_chance(random, 70) ? axis->bound : 0;
}

/* An index that is not inside, as far as the width can hold. */
static int64_t bad_value(struct random *random, const struct axis *axis, int width)
{
    const int64_t least = width == 4 ? INT32_MIN : INT64_MIN, most = width == 4 ? INT32_MAX : INT64_MAX;
    switch (random_between(random, 0, 5)) {
    case 0:
        return axis->bound;
    case 1:
        return -axis->wrap - 1;
    case 2:
        return least;
    case 3:
        return most;
    case 4:
        return random_between(random, axis->bound, most);
    default:
        return random_between(random, least, -axis->wrap - 1);
    }
}

/* Points before the bad one are inside; those after it now and then not. */
static void draw_index(struct kernel_case *c, struct random *random, int64_t i, int k, int negative)
{
    const struct axis *axis = &c->axis[k];
    const int64_t bad = c->wish.bad;
    const bool chosen = i == bad && k == (int)(bad % c->axes);
    if (chosen || (bad >= 0 && i > bad && random_chance(random, 10))) {
        c->entry[i][k] = -1;
        c->value[i][k] = bad_value(random, axis, c->wish.kernel->index);
        return;
    }
    const int64_t entry = random_between(random, 0, axis->bound - 1);
    c->entry[i][k] = entry;
    c->value[i][k] = axis->wrap && random_chance(random, negative) ? entry - axis->bound : entry;
}

static void draw_points(struct kernel_case *c, struct random *random)
{
    const int64_t run = c->segment.run;
    const int negative = (int[]){0, 0, 10, 100}[random_between(random, 0, 3)];
    const int64_t spread = 4 * run + 100 < FAR ? 4 * run + 100 : FAR;
    for (int64_t i = 0; i < c->wish.n; i++) {
        for (int k = 0; k < c->axes; k++)
            draw_index(c, random, i, k, negative);
        if (c->wish.kernel->source == PATTERN) c->pattern[i] = random_between(random, -spread, spread);
        if (is_block(c)) c->offset[i] = random_between(random, -spread, spread);
        if (c->wish.kernel->source == HOLED && random_chance(random, 30)) c->offset[i] = OFFSET_NOWHERE;
    }
}

/* Where the points of out lie: side by side, with gaps, backwards, or rows woven into each other. */
static void draw_out(struct kernel_case *c, struct random *random)
{
    struct segment *s = &c->segment;
    const bool joined = kernel_is_joined(c->wish.kernel->source);
    const bool dense = joined || (!is_block(c) && c->wish.kernel->run > 0);
    const int64_t gap = random_chance(random, 50) ? 0 : random_between(random, 1, 70);
    s->out_stride = dense || random_chance(random, 40) ? s->run : s->run + gap;
    s->row_out_stride = row_points(c) * s->out_stride + (joined ? 0 : gap);
    if (is_block(c) && random_chance(random, 30)) {
        s->row_out_stride = s->run + gap;
        s->out_stride = s->rows * s->row_out_stride;
    }
    if (!dense && random_chance(random, 20)) s->out_stride = -s->out_stride;
    if (!joined && random_chance(random, 20)) s->row_out_stride = -s->row_out_stride;
}

void kernel_case_make(struct kernel_case *c, struct random *random, struct kernel_wish wish)
{
    const struct kernel_line *kernel = wish.kernel;
    const bool rows =
        kernel->source == PANEL || kernel_is_joined(kernel->source); /* then there are whole ones */
    const uint8_t points = rows ? draw_row_points(random, kernel) : 0;
    if (rows) wish.n = (wish.n + points - 1) / points * points;
    c->wish = wish;
    c->axes = source_axes(kernel->source);
    c->segment = (struct segment){
        .n = wish.n,
        .run = kernel->run ? kernel->run : wish.run,
        .axis = c->axis,
        .prefetch_distance = (int64_t[]){0, 1, 16, 99}[random_between(random, 0, 3)],
        .points_to_l1 = random_chance(random, 50),
        .indices_to_l1 = random_chance(random, 50),
        .table_to_l1 = random_chance(random, 50),
        .by_strips = random_chance(random, 50),
        .row_by_row = random_chance(random, 50),
        .non_temporal = random_chance(random, 50),
        .overlap_vectors = (uint8_t)(random_chance(random, 30) ? 4 : random_between(random, 0, 1)),
        .by_memcpy = random_chance(random, 10),
        .rows = 1,
        .row_points = points,
        .prefetch_rows = (uint16_t[]){0, 1, 16}[random_between(random, 0, 2)],
        .table_bytes_per_point = (int32_t)random_between(random, 0, 2) * 9,
    };
    struct segment *s = &c->segment;
    for (int k = 0; k < c->axes; k++)
        draw_axis(c, random, &c->axis[k]);
    const int64_t ramps[] = {0, s->run, -s->run, random_between(random, -s->run - 9, s->run + 9)};
    if (kernel->source == RAMP) s->data_stride = pick(random, ramps, 4);
    if (has_columns(kernel->source)) s->data_stride = s->run;
    if (kernel_is_joined(kernel->source)) s->row_data_stride = random_between(random, -99, 999);
    if (is_block(c)) {
        const bool is_small = s->n * s->run <= 512; /* many rows of such go in strips */
        s->rows = random_between(random, 1, is_small ? 70 : 5);
        s->row_data_stride = random_between(random, -2 * s->run, 2 * s->run);
    }
    s->row_index_stride = row_points(c) * kernel->index;
    if (kernel->source == PANEL) s->row_index_stride += random_between(random, 0, 70);
    draw_out(c, random);
    draw_points(c, random);
    c->data_lead = random_chance(random, 40) ? 0 : (size_t)random_between(random, 0, ALIGNMENTS - 1);
    c->out_lead = random_chance(random, 40) ? 0 : (size_t)random_between(random, 0, ALIGNMENTS - 1);
}

/* ---- The model ---- */

/* Where a point of the first row lies in data; false if one of its indices is not inside. */
static bool find_point(const struct kernel_case *c, int64_t i, int64_t *from)
{
    *from = 0;
    if (is_block(c)) {
        *from = c->offset[i];
        return c->offset[i] != OFFSET_NOWHERE || c->wish.kernel->source != HOLED;
    }
    for (int k = 0; k < c->axes; k++) {
        if (c->entry[i][k] < 0) return false;
        *from += c->entry[i][k] * c->axis[k].stride;
    }
    const enum source source = c->wish.kernel->source;
    if (kernel_is_joined(source)) *from += i / row_points(c) * c->segment.row_data_stride;
    *from += source == PATTERN ? c->pattern[i] : i % row_points(c) * c->segment.data_stride;
    return true;
}

static bool lies_nowhere(const struct kernel_case *c, int64_t i)
{
    return c->wish.kernel->source == HOLED && c->offset[i] == OFFSET_NOWHERE;
}

/* Once for all rows, in each of which a point lies a stride further. */
static void find_points(struct kernel_case *c)
{
    const int64_t points = row_points(c);
    for (int64_t i = 0; i < c->segment.n; i++) {
        c->inside[i] = find_point(c, i, &c->from[i]);
        c->to[i] = i / points * c->segment.row_out_stride + i % points * c->segment.out_stride;
    }
}

/* ---- Placing ---- */

struct extent {
    int64_t least, end;
};

static void widen(struct extent *extent, bool first, int64_t from, int64_t run)
{
    if (first || from < extent->least) extent->least = from;
    if (first || from + run > extent->end) extent->end = from + run;
}

/* All of the last axis that a point of a tuple chooses from, if elements lie side by side on it. */
static void widen_last_axis(const struct kernel_case *c, int64_t i, struct extent *data)
{
    const struct axis *last = &c->axis[c->axes - 1];
    if (last->stride != c->segment.run || !c->inside[i]) return;
    const int64_t from = c->from[i] - c->entry[i][c->axes - 1] * last->stride;
    widen(data, false, from, last->bound * last->stride);
}

/* AVX-512 has no gather of less than 4 bytes: of small elements it may read others of the same table. */
static void widen_table(const struct kernel_case *c, struct extent *data)
{
    const struct kernel_line *kernel = c->wish.kernel;
    const struct segment *s = &c->segment;
    if (kernel->level < AVX512 || kernel->run < 1 || kernel->run > 2) return;
    if (kernel->source == UNIT || kernel->source == PANEL)
        widen(data, false, 0, c->axis[0].bound * c->axis[0].stride);
    for (int64_t i = 0; c->axes > 1 && i < s->n; i++)
        widen_last_axis(c, i, data);
    for (int64_t i = 0; kernel->source == COLUMNS && i < s->n; i++)
        if (c->entry[i][0] >= 0) widen(data, false, c->entry[i][0] * c->axis[0].stride, s->n * s->run);
}

static void measure(const struct kernel_case *c, struct extent *data, struct extent *out)
{
    const struct segment *s = &c->segment;
    bool first_data = true;
    *data = *out = (struct extent){0};
    for (int end = 0; end < 2; end++) { /* the first row and the last one: all others lie between them */
        const int64_t row = end * (s->rows - 1);
        for (int64_t i = 0; i < s->n; i++) {
            widen(out, end == 0 && i == 0, c->to[i] + row * s->row_out_stride, s->run);
            if (!c->inside[i]) continue;
            widen(data, first_data, c->from[i] + row * s->row_data_stride, s->run);
            first_data = false;
        }
    }
    if (!first_data) widen_table(c, data);
    if (c->wish.kernel->source == TINY) /* all of it is read, whatever the indices are */
        widen(data, first_data, 0, c->axis[0].bound * s->run);
}

/* The begin of a buffer that touches the guard, or lies `lead` bytes from it. */
static unsigned char *place_buffer(const struct guard *memory, size_t bytes, size_t lead,
                                   enum guard_side side)
{
    return guard_place(memory, bytes + lead, side) + (side == GUARD_BEFORE ? lead : 0);
}

static void place_indices(struct kernel_case *c)
{
    const size_t width = (size_t)c->wish.kernel->index, n = (size_t)c->segment.n;
    const size_t axes = (size_t)c->axes, points = (size_t)row_points(c),
                 gap = (size_t)c->segment.row_index_stride;
    const size_t rows = n > points ? n / points : 1, bytes = (rows - 1) * gap + n / rows * axes * width;
    unsigned char *begin = place_buffer(&index_memory, bytes, 0, c->wish.side);
    c->segment.index = (const char *)begin;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < axes; k++) {
            const int64_t value = is_block(c) ? c->offset[i] : c->value[i][k];
            const int32_t narrow = (int32_t)value;
            memcpy(begin + i / points * gap + (i % points * axes + k) * width,
                   width == 4 ? (const void *)&narrow : (const void *)&value, width);
        }
    if (c->wish.kernel->source != PATTERN) return;
    unsigned char *pattern = place_buffer(&pattern_memory, n * sizeof(int64_t), 0, c->wish.side);
    memcpy(pattern, c->pattern, n * sizeof(int64_t));
    c->segment.pattern = (const int64_t *)(const void *)pattern;
}

/* All bytes of out, with what lies between it and the guards. */
struct image {
    unsigned char *begin;
    size_t size, before; /* before: where the extent begins in it */
    int64_t least;
};

static struct image place_case(struct kernel_case *c)
{
    struct extent data, out;
    find_points(c);
    measure(c, &data, &out);
    const size_t data_bytes = (size_t)(data.end - data.least), out_bytes = (size_t)(out.end - out.least);
    unsigned char *from = place_buffer(&data_memory, data_bytes, c->data_lead, c->wish.side);
    unsigned char *to = place_buffer(&out_memory, out_bytes, c->out_lead, c->wish.side);
    c->segment.data = (const char *)from - data.least;
    c->segment.out = (char *)to - out.least;
    kernel_data_alignments |= (uint64_t)1 << ((uintptr_t)from % ALIGNMENTS);
    kernel_out_alignments |= (uint64_t)1 << ((uintptr_t)to % ALIGNMENTS);
    place_indices(c);
    const size_t before = c->wish.side == GUARD_BEFORE ? c->out_lead : ALIGNMENTS;
    const size_t after = c->wish.side == GUARD_BEFORE ? ALIGNMENTS : c->out_lead;
    return (struct image){to - before, before + out_bytes + after, before, out.least};
}

/* ---- Comparing ---- */

static bool complain(const struct kernel_case *c, const char *what, int64_t number)
{
    const struct kernel_line *kernel = c->wish.kernel;
    const struct segment *s = &c->segment;
    fprintf(stderr,
            "KERNEL FAILED: %s %s: %s %" PRId64 "\n  n %" PRId64 " run %" PRId64 " ramp %" PRId64
            " step %" PRId64 " prefetch distance %" PRId64 " non-temporal %d axes %d rows %" PRId64
            " (%" PRId64 ",%" PRId64 ") first bad %" PRId64 " guard %s, data at %d, out at %d of a line\n",
            garner_level_name(kernel->level), kernel->name, what, number, s->n, s->run, s->data_stride,
            s->out_stride, s->prefetch_distance, s->non_temporal, c->axes, s->rows, s->row_data_stride,
            s->row_out_stride, c->wish.bad, c->wish.side == GUARD_AFTER ? "after" : "before",
            (int)((uintptr_t)s->data % ALIGNMENTS), (int)((uintptr_t)s->out % ALIGNMENTS));
    for (int k = 0; k < c->axes; k++)
        fprintf(stderr, "  axis bound %" PRId64 " stride %" PRId64 " wrap %" PRId64 "\n", c->axis[k].bound,
                c->axis[k].stride, c->axis[k].wrap);
    return false;
}

/* Fills in what `expected` says of one row, given that the kernel claims so many points. */
static void expect_row(const struct kernel_case *c, const struct image *image, int64_t row, int64_t claimed)
{
    static const unsigned char zeros[CAPACITY / 64];
    const struct segment *s = &c->segment;
    const size_t run = (size_t)s->run;
    for (int64_t i = 0; i < s->n; i++) {
        const bool nowhere = lies_nowhere(c, i);
        if (!nowhere && !c->inside[i]) continue;
        const void *point = nowhere ? (const void *)zeros : s->data + c->from[i] + row * s->row_data_stride;
        const int64_t to = (int64_t)image->before + c->to[i] + row * s->row_out_stride - image->least;
        const bool moved = memcmp(image->begin + to, point, run) == 0;
        if (i < claimed || moved) memcpy(expected_memory + to, point, run);
    }
}

static bool same_image(const struct kernel_case *c, const struct image *image, int64_t claimed)
{
    memset(expected_memory, CANARY, image->size);
    for (int64_t row = 0; row < c->segment.rows; row++)
        expect_row(c, image, row, claimed);
    if (memcmp(image->begin, expected_memory, image->size) == 0) return true;
    size_t i = 0;
    while (image->begin[i] == expected_memory[i])
        i++;
    return complain(c, "another byte of out, number", (int64_t)i - (int64_t)image->before);
}

bool kernel_case_run(struct kernel_case *c)
{
    const struct image image = place_case(c);
    const int64_t stop = c->wish.bad >= 0 && !is_block(c) ? c->wish.bad : c->segment.n;
    memset(image.begin, CANARY, image.size);
    const struct segment *s = &c->segment;
    const int64_t claimed = kernel_of_line(c->wish.kernel)->function(s, s->data, s->index, s->out, s->n);
    if (claimed < 0 || claimed > stop) return complain(c, "too many points claimed:", claimed);
    if (stop == c->segment.n && claimed < stop) return complain(c, "too few points claimed:", claimed);
    if (claimed <= stop - MOST_EARLY) return complain(c, "stops long before the bad point:", claimed);
    return same_image(c, &image, claimed);
}
