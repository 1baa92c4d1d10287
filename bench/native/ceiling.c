/* SPDX-License-Identifier: MIT */
/*
 * The ceiling loop: the access pattern of a gather with no check of any index, on any number of
 * threads. It is what garner's gain from more cores is held against.
 */
#include <string.h>

#include "team.h"

enum { MOST_DIMS = 8, MOST_AXES = 8, LINE = 64, PREFETCH_BYTES = 4096, PREFETCH_RUNS = 16 };

struct dim {
    int64_t n, data, index, out; /* strides: data and out in bytes, index in elements */
};

/* A loop nest: dims outermost first, the innermost one walked by a tight loop. The runner fills it. */
struct ceiling {
    const char *data;
    const char *indices;
    char *out;
    int64_t width;      /* bytes of an index: 4 or 8 */
    int64_t run;        /* bytes moved per point */
    int64_t prefetches; /* whether later runs are prefetched: they come from beyond L2 */
    int64_t axes;
    int64_t stride[MOST_AXES];
    int64_t rank;
    struct dim dim[MOST_DIMS];
};

/* Points of the innermost dim that lie side by side. */
struct segment {
    const char *data;
    const char *indices;
    char *out;
    int64_t n;
};

static inline __attribute__((always_inline)) int64_t load(const char *at, int64_t width)
{
    int32_t narrow;
    int64_t wide;
    if (width == 4) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static inline __attribute__((always_inline)) int64_t find_offset(const int64_t *stride, const char *at,
                                                                 int64_t width, int64_t axes)
{
    int64_t offset = 0;
    for (int64_t k = 0; k < axes; k++)
        offset += load(at + k * width, width) * stride[k];
    return offset;
}

static void prefetch(const char *from, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch(from + i, 0, 2);
}

/*
 * Called with constants, so that each triple of width, axes and run becomes a loop of its own; what the
 * loop needs is copied out of memory that its own stores might change. Four points at a time.
 */
static inline __attribute__((always_inline)) void move(const struct ceiling *c, const struct segment *s,
                                                       int64_t width, int64_t axes, int64_t run)
{
    const struct dim d = c->dim[c->rank - 1];
    const int64_t step = d.index * width;
    const char *from = s->data, *at = s->indices;
    char *to = s->out;
    int64_t stride[MOST_AXES], i = 0;
    memcpy(stride, c->stride, sizeof stride);
    for (; i + 4 <= s->n; i += 4) {
        int64_t p0 = find_offset(stride, at, width, axes), p1 = find_offset(stride, at + step, width, axes);
        int64_t p2 = find_offset(stride, at + 2 * step, width, axes),
                p3 = find_offset(stride, at + 3 * step, width, axes);
        memcpy(to, from + p0, (size_t)run);
        memcpy(to + d.out, from + d.data + p1, (size_t)run);
        memcpy(to + 2 * d.out, from + 2 * d.data + p2, (size_t)run);
        memcpy(to + 3 * d.out, from + 3 * d.data + p3, (size_t)run);
        from += 4 * d.data, at += 4 * step, to += 4 * d.out;
    }
    for (; i < s->n; i++) {
        memcpy(to, from + find_offset(stride, at, width, axes), (size_t)run);
        from += d.data, at += step, to += d.out;
    }
}

/* The same for runs out of memory, which are prefetched. */
static inline __attribute__((always_inline)) void move_prefetching(const struct ceiling *c,
                                                                   const struct segment *s, int64_t run)
{
    const struct ceiling own = *c;
    const struct dim d = own.dim[own.rank - 1];
    const int64_t step = d.index * own.width;
    int64_t distance = PREFETCH_BYTES / run < PREFETCH_RUNS ? PREFETCH_BYTES / run : PREFETCH_RUNS;
    for (int64_t i = 0; i < s->n; i++) {
        const char *at = s->indices + i * step, *later = at + distance * step;
        if (distance > 0 && i + distance < s->n)
            prefetch(s->data + (i + distance) * d.data + find_offset(own.stride, later, own.width, own.axes),
                     run);
        const char *from = s->data + i * d.data + find_offset(own.stride, at, own.width, own.axes);
        memcpy(s->out + i * d.out, from, (size_t)run);
    }
}

/* Runs that are worth a constant to the compiler. */
static inline __attribute__((always_inline)) void move_any(const struct ceiling *c, const struct segment *s,
                                                           int64_t width, int64_t axes)
{
    switch (c->run) {
    case 1:
        move(c, s, width, axes, 1);
        break;
    case 2:
        move(c, s, width, axes, 2);
        break;
    case 4:
        move(c, s, width, axes, 4);
        break;
    case 8:
        move(c, s, width, axes, 8);
        break;
    case 16:
        move(c, s, width, axes, 16);
        break;
    case 64:
        move(c, s, width, axes, 64);
        break;
    case 256:
        move(c, s, width, axes, 256);
        break;
    default:
        move(c, s, width, axes, c->run);
        break;
    }
}

static void move_any_prefetching(const struct ceiling *c, const struct segment *s)
{
    switch (c->run) {
    case 64:
        move_prefetching(c, s, 64);
        break;
    case 128:
        move_prefetching(c, s, 128);
        break;
    case 256:
        move_prefetching(c, s, 256);
        break;
    case 512:
        move_prefetching(c, s, 512);
        break;
    default:
        move_prefetching(c, s, c->run);
        break;
    }
}

static void move_segment(const struct ceiling *c, const struct segment *s)
{
    if (c->prefetches)
        move_any_prefetching(c, s);
    else if (c->axes == 1 && c->width == 8)
        move_any(c, s, 8, 1);
    else if (c->axes == 1)
        move_any(c, s, 4, 1);
    else if (c->width == 8)
        move_any(c, s, 8, c->axes);
    else
        move_any(c, s, 4, c->axes);
}

/* The segment that begins at a point, at most `most` points long. */
static struct segment segment_at(const struct ceiling *c, int64_t point, int64_t most)
{
    struct segment s = {.data = c->data, .indices = c->indices, .out = c->out};
    for (int64_t d = c->rank - 1; d >= 0; d--) {
        int64_t i = point % c->dim[d].n;
        point /= c->dim[d].n;
        if (d == c->rank - 1) s.n = c->dim[d].n - i < most ? c->dim[d].n - i : most;
        s.data += i * c->dim[d].data;
        s.indices += i * c->dim[d].index * c->width;
        s.out += i * c->dim[d].out;
    }
    return s;
}

static void gather_share(void *argument, int member, int members)
{
    const struct ceiling *c = argument;
    int64_t points = 1;
    for (int64_t d = 0; d < c->rank; d++)
        points *= c->dim[d].n;
    int64_t point = share_begin(points, member, members);
    int64_t end = share_begin(points, member + 1, members);
    while (point < end) {
        struct segment s = segment_at(c, point, end - point);
        move_segment(c, &s);
        point += s.n;
    }
}

int bench_ceiling(struct ceiling *ceiling, int members, int repeats, int64_t *nanoseconds)
{
    return team_run(gather_share, ceiling, members, repeats, nanoseconds);
}
