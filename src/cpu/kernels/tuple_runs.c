/* SPDX-License-Identifier: MIT */
/*
 * Short runs that tuples of indices lead to. To find one takes many instructions, and to move one of a length
 * that is no constant takes branches. So the offsets of a block of points are found and checked, and their
 * runs prefetched, before the previous block is moved. The code for resolved offsets moves it.
 */
#include "tuple_runs.h"

#include "overlap_copy.h"
#include "points.h"

#if defined(__aarch64__)
enum { FOUND_POINTS = 64, FOUND_GROUP = 4 };

/* The offsets of some points. */
struct found {
    int64_t n, offset[FOUND_POINTS];
};

/* The runs of a group; a few at a time, or the moves wait. */
static GARNER_NOINLINE void prefetch_found(const struct segment *s, const int64_t *offset)
{
    __asm__ volatile(""); /* or gcc takes this for a function without effect, and leaves out its calls */
    for (int i = 0; i < FOUND_GROUP; i++) {
        const uintptr_t at = (uintptr_t)s->data + (uintptr_t)offset[i];
        prefetch_lines(at, s->run, s->points_to_l1);
        if (s->unaligned) prefetch_line(at + (uintptr_t)s->run - 1, s->points_to_l1);
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
        if (!load_offsets(s, (struct group){first + i, FOUND_GROUP, false}, offset + i, id)) break;
        if (s->prefetch_distance) prefetch_found(s, offset + i);
    }
    while (i < n && find_run(s, first + i, offset + i, id))
        i++;
    found->n = i;
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
FIND_BLOCK(QUAD, 4)
FIND_BLOCK(QUAD, 8)

typedef void find_function(const struct segment *s, int64_t first, struct found *found);

static find_function *finder_of(enum source source, int index)
{
    if (source == PAIR) return index == 4 ? find_PAIR_4 : find_PAIR_8;
    if (source == TRIPLE) return index == 4 ? find_TRIPLE_4 : find_TRIPLE_8;
    return index == 4 ? find_QUAD_4 : find_QUAD_8;
}

/* Runs of `half`, a constant, to twice as many bytes. */
GARNER_INLINE void move_block_by_halves(const struct segment *s, char *out, const struct found *found,
                                        int half)
{
    const int64_t run = s->run, n = found->n;
    for (int64_t i = 0; i < n; i++, out += run)
        move_halves(out, s->data + found->offset[i], run, half);
}

static void move_block(const struct segment *s, char *out, const struct found *found)
{
    if (s->run > VECTOR) {
        struct segment block = *s;
        block.index = (const char *)found->offset;
        block.out = out;
        block.n = found->n;
        block.prefetch_distance = 0;
        garner_gather_aligned(&block, BLOCK, sizeof *found->offset);
    } else if (s->run > 8) {
        move_block_by_halves(s, out, found, 8);
    } else if (s->run > 4) {
        move_block_by_halves(s, out, found, 4);
    } else {
        move_block_by_halves(s, out, found, 2);
    }
}

int64_t garner_gather_tuple_runs(const struct segment *given, enum source source, int index)
{
    struct axis axis[MOST_AXES];
    const struct segment s = own_segment(given, axis, (struct kernel_id){SCALAR, source, index, ANY});
    find_function *const find = finder_of(source, index);
    struct found found[2];
    int64_t done = 0;
    find(&s, 0, &found[0]);
    for (int k = 0;; k = !k) {
        const int64_t n = found[k].n;
        const bool last = n < FOUND_POINTS || done + n == s.n;
        if (!last) find(&s, done + n, &found[!k]);
        if (n > 0) move_block(&s, s.out + done * s.run, &found[k]);
        done += n;
        if (last) return done;
    }
}
#else
typedef int garner_tuple_runs_are_for_aarch64; /* a file may not be empty */
#endif
