/* SPDX-License-Identifier: MIT */
/*
 * Short rows of any length: two pieces each, of a constant size, which may overlap.
 */
#ifndef GARNER_CPU_PIECES_H
#define GARNER_CPU_PIECES_H

#include "points.h"

enum {
    LONGEST_PIECE = X86 ? 16 : 8, /* aligned_stores.h has what is longer */
    MOST_PIECED = 2 * LONGEST_PIECE
};

/* A run of `piece` to twice as many bytes, as two pieces that may overlap. */
GARNER_INLINE void move_pieces(char *out, const char *from, int64_t run, int piece)
{
    char first[LONGEST_PIECE], last[LONGEST_PIECE];
    memcpy(first, from, (size_t)piece), memcpy(last, from + run - piece, (size_t)piece);
    memcpy(out, first, (size_t)piece), memcpy(out + run - piece, last, (size_t)piece);
}

/* As many whole groups as are inside. Without looking ahead on x86, which by itself looks far enough. */
GARNER_INLINE int64_t gather_pieces(const struct segment *given, int width, int piece)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, UNIT, axis), *const s = &own;
    int64_t i = 0, offset[MOST_GROUP];
    for (; s->n - i >= GROUP; i += GROUP) {
        bool far = !X86 && s->prefetch_distance && s->n - i >= GROUP + s->prefetch_distance;
        char *out = s->out + i * s->out_stride;
        if (!load_offsets(s, i, GROUP, UNIT, width, 0, false, offset) &&
            !load_offsets(s, i, GROUP, UNIT, width, 0, true, offset))
            return i;
        UNROLL for (int k = 0; k < GROUP; k++, out += s->out_stride)
        {
            if (far) prefetch_run(s, i + k + s->prefetch_distance, UNIT, width, piece);
            move_pieces(out, s->data + offset[k], s->run, piece);
        }
    }
    return i;
}

GARNER_INLINE int64_t pick_piece(const struct segment *s, int width)
{
    return s->run <= 4    ? gather_pieces(s, width, 2)
           : s->run <= 8  ? gather_pieces(s, width, 4)
           : s->run <= 16 ? gather_pieces(s, width, 8)
                          : gather_pieces(s, width, LONGEST_PIECE);
}

/* Whether a row goes that way. */
GARNER_INLINE bool goes_in_pieces(const struct segment *s, enum source source, int64_t constant)
{
    return source == UNIT && constant == 0 && s->run > 1 && s->run <= MOST_PIECED;
}

/* Not inlined, so that the kernels of longer runs stay small. */
static GARNER_NOINLINE int64_t gather_short(const struct segment *s, int width)
{
    return width == 4 ? pick_piece(s, 4) : pick_piece(s, 8);
}

#endif
