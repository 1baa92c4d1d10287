/* SPDX-License-Identifier: MIT */
/*
 * Short runs that tuples of indices lead to. To find one takes many instructions, and to move one of a length
 * that is no constant takes branches. So the offsets of a block of points are found and checked, and their
 * runs prefetched, before the previous block is moved. The code for resolved offsets moves it.
 */
#include "tuple_runs.h"

#include "overlap_copy.h"
#include "points.h"

enum { FOUND_POINTS = 64, FOUND_GROUP = X86 ? 2 : 4 };

/* The offsets of some points. */
struct found {
    int64_t n, offset[FOUND_POINTS];
};

/* The runs of `count` points; a few at a time, or the moves wait. */
static GARNER_NOINLINE void prefetch_found(const struct segment *s, const int64_t *offset, int count)
{
    __asm__ volatile(""); /* or gcc takes this for a function without effect, and leaves out its calls */
    for (int i = 0; i < count; i++) {
        const uintptr_t at = (uintptr_t)s->data + (uintptr_t)offset[i];
        prefetch_lines(at, s->run, s->points_to_l1);
        if (s->unaligned) prefetch_line(at + (uintptr_t)s->run - 1, s->points_to_l1);
    }
}

/* What is left of a block of n points, one by one, until an index is not inside. */
static GARNER_NOINLINE void find_rest(const struct segment *s, int64_t first, int64_t n, struct found *found,
                                      const struct kernel_id id)
{
    for (; found->n < n; found->n++) {
        int64_t *const offset = found->offset + found->n;
        if (!find_run(s, first + found->n, offset, id)) return;
        if (s->prefetch_distance) prefetch_found(s, offset, 1);
    }
}

/* The points from number `first` on, until the block is full or an index is not inside. */
GARNER_INLINE void find_block(const struct segment *s, int64_t first, struct found *found,
                              const struct kernel_id id)
{
    const int64_t n = at_most(FOUND_POINTS, s->n - first), pitch = source_axes(id.source) * (int64_t)id.index;
    int64_t i = 0, *const offset = found->offset;
    for (; n - i >= FOUND_GROUP; i += FOUND_GROUP) {
        prefetch_indices(s, first + i, FOUND_GROUP * pitch, pitch, true);
        if (!load_offsets(s, (struct group){first + i, FOUND_GROUP, X86}, offset + i, id)) break;
        if (s->prefetch_distance) prefetch_found(s, offset + i, FOUND_GROUP);
    }
    found->n = i;
    if (i < n) find_rest(s, first, n, found, id);
}

#define FIND_BLOCK(source, index)                                                               \
    static GARNER_NOINLINE void find_##source##_##index(const struct segment *s, int64_t first, \
                                                        struct found *found)                    \
    {                                                                                           \
        find_block(s, first, found, (struct kernel_id){SCALAR, source, index, ANY});            \
    }
FIND_BLOCK(PAIR, 4)
FIND_BLOCK(PAIR, 8)
FIND_BLOCK(TRIPLE, 4)
FIND_BLOCK(TRIPLE, 8)
#if defined(__aarch64__)
FIND_BLOCK(QUAD, 4)
FIND_BLOCK(QUAD, 8)
#else
/* Rare: a smaller function will do. */
static void find_quads(const struct segment *s, int64_t first, struct found *found, int index)
{
    found->n = 0;
    find_rest(s, first, at_most(FOUND_POINTS, s->n - first), found,
              (struct kernel_id){SCALAR, QUAD, index, ANY});
}

static void find_QUAD_4(const struct segment *s, int64_t first, struct found *found)
{
    find_quads(s, first, found, 4);
}

static void find_QUAD_8(const struct segment *s, int64_t first, struct found *found)
{
    find_quads(s, first, found, 8);
}
#endif

typedef void find_function(const struct segment *s, int64_t first, struct found *found);

static find_function *finder_of(enum source source, int index)
{
    if (source == PAIR) return index == 4 ? find_PAIR_4 : find_PAIR_8;
    if (source == TRIPLE) return index == 4 ? find_TRIPLE_4 : find_TRIPLE_8;
    return index == 4 ? find_QUAD_4 : find_QUAD_8;
}

#if defined(__aarch64__)
/* Runs of `half`, a constant, to twice as many bytes. */
GARNER_INLINE void move_block_by_halves(const struct segment *s, char *out, const struct found *found,
                                        int half)
{
    const int64_t run = s->run, n = found->n;
    for (int64_t i = 0; i < n; i++, out += run)
        move_halves(out, s->data + found->offset[i], run, half);
}

static void move_found(const struct segment *s, char *out, const struct found *found,
                       kernel_function *move_block)
{
    if (s->run > VECTOR)
        move_block(s, s->data, (const char *)found->offset, out, found->n);
    else if (s->run > 8)
        move_block_by_halves(s, out, found, 8);
    else if (s->run > 4)
        move_block_by_halves(s, out, found, 4);
    else
        move_block_by_halves(s, out, found, 2);
}
#else
static void move_found(const struct segment *s, char *out, const struct found *found,
                       kernel_function *move_block)
{
    move_block(s, s->data, (const char *)found->offset, out, found->n);
}
#endif

int64_t garner_gather_tuple_runs(const struct segment *given, enum source source, int index,
                                 kernel_function *move_block)
{
    struct axis axis[MOST_AXES];
    const struct segment s = own_segment(given, axis, (struct kernel_id){SCALAR, source, index, ANY});
    struct segment block = s; /* whose runs were prefetched when they were found */
    find_function *const find = finder_of(source, index);
    struct found found[2];
    int64_t done = 0;
    block.prefetch_distance = 0;
    find(&s, 0, &found[0]);
    for (int k = 0;; k = !k) {
        const int64_t n = found[k].n;
        const bool last = n < FOUND_POINTS || done + n == s.n;
        if (!last) find(&s, done + n, &found[!k]);
        if (n > 0) move_found(&block, s.out + done * s.run, &found[k], move_block);
        done += n;
        if (last) return done;
    }
}
