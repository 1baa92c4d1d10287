/* SPDX-License-Identifier: MIT */
/*
 * Rows of any length to places side by side, written without a seam on aarch64: out is stored in whole pieces
 * of 16 bytes at addresses that are multiples of 16, and what a row leaves of its last piece is carried, in a
 * register, into the next row. A store that reaches over such an address costs two there, and rows of an odd
 * length would consist of those. Loads begin anywhere, but stay within their row.
 */
#ifndef GARNER_CPU_SEAMLESS_H
#define GARNER_CPU_SEAMLESS_H

#include "source.h"

enum {
    PIECE = 16,
    MOST_PIECES = 19, /* whole ones of a row: longer ones hardly gain */
    LEAST_SEAMS = 4   /* rows that are worth it */
};

/* Whether later rows are asked for while one is moved, and into which cache. */
enum ask { ASK_NOT, ASK_NEAR, ASK_FAR };

#if defined(__aarch64__)
#include <arm_neon.h>

GARNER_INLINE uint8x16_t load_piece(const char *from)
{
    return vld1q_u8((const uint8_t *)(const void *)from);
}

GARNER_INLINE void store_piece(char *out, uint8x16_t piece)
{
    vst1q_u8((uint8_t *)(void *)out, piece);
}

/* Bytes [from, from + 16) of a piece; zeros where it has none. */
GARNER_INLINE uint8x16_t shift_piece(uint8x16_t piece, int64_t from)
{
    enum { __ = 255 };
    static const uint8_t byte[3 * PIECE] = {
        __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, /* before it */
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, /**/
        __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, /* and after */
    };
    return vqtbl1q_u8(piece, vld1q_u8(byte + PIECE + from));
}

/* Where the next row begins: `phase` bytes into the piece at `out`. They are carried, followed by zeros. */
struct seam {
    char *out;
    int64_t phase;
    uint8x16_t carry;
};

/* The seam after a row that lies at `from` and ends at `end`. */
GARNER_INLINE struct seam seam_after(char *end, const char *from, int64_t run)
{
    const int64_t phase = (int64_t)((uintptr_t)end % PIECE);
    return (struct seam){end - phase, phase, shift_piece(load_piece(from + run - PIECE), PIECE - phase)};
}

/* Writes what is still carried of the last row. */
GARNER_INLINE void end_seam(struct seam seam, const char *from, int64_t run)
{
    store_piece(seam.out + seam.phase - PIECE, load_piece(from + run - PIECE));
}

/* A row of `pieces` whole pieces, a constant, and less than one more; if it is even, of no more, and nothing
 * is carried. The lines of a later row are asked for in between, one at a time. */
GARNER_INLINE struct seam move_seamless(struct seam seam, const char *from, int64_t run, int pieces,
                                        bool even, uintptr_t later, enum ask ask)
{
    const bool near = ask == ASK_NEAR;
    const char *rest = from + PIECE - seam.phase;
    uint8x16_t piece[MOST_PIECES];
    if (ask) prefetch_line(later, near);
    piece[0] = load_piece(from);
    if (!even) piece[0] = vorrq_u8(seam.carry, shift_piece(piece[0], -seam.phase));
    UNROLL for (int k = 1; k < pieces; k++)
    {
        piece[k] = load_piece(rest + (k - 1) * PIECE);
        if (ask && k * PIECE % LINE == 0) prefetch_line(later + (uintptr_t)(k * PIECE), near);
    }
    if (ask) prefetch_line(later + (uintptr_t)run - 1, near);
    UNROLL for (int k = 0; k < pieces; k++, seam.out += PIECE)
    {
        store_piece(seam.out, piece[k]);
        if ((k + 1) * PIECE % LINE == 0) __asm__ volatile("" ::: "memory"); /* in ascending order */
    }
    if (even) return seam;
    seam.phase += run - pieces * PIECE;
    if (seam.phase >= PIECE) {
        store_piece(seam.out, load_piece(rest + (pieces - 1) * PIECE));
        seam.out += PIECE;
        seam.phase -= PIECE;
    }
    seam.carry = shift_piece(load_piece(from + run - PIECE), PIECE - seam.phase);
    return seam;
}

/* As many points as are inside. The first is moved as it is, and begins the seam. */
GARNER_INLINE int64_t gather_seam(const struct segment *given, enum source source, int width, int pieces,
                                  enum ask ask)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    const int64_t n = s->n, run = s->run;
    int64_t i = 1, offset;
    if (!find_run(s, 0, source, width, &offset)) return 0;
    const char *from = s->data + offset;
    memcpy(s->out, from, (size_t)run);
    struct seam seam = seam_after(s->out + run, from, run);
    const bool even = seam.phase == 0 && run % PIECE == 0;
    for (; i < n && find_run(s, i, source, width, &offset); i++) {
        const int64_t point = at_most(i + s->ahead, n - 1);
        const uintptr_t later = ask ? run_address(s, point, source, width, true) : 0;
        from = s->data + offset;
        seam = move_seamless(seam, from, run, pieces, even, later, ask);
    }
    end_seam(seam, from, run);
    return i;
}

/* The same for any number of pieces: each has a loop of its own. */
GARNER_INLINE int64_t gather_seams(const struct segment *s, enum source source, int width, enum ask ask)
{
    const int pieces = (int)(s->run / PIECE);
#if defined(CHECKED_ACCESS)
    return gather_seam(s, source, width, pieces, ask);
#else
#define SEAM(k) \
    if (pieces == k) return gather_seam(s, source, width, k, ask);
    /* clang-format off */
    SEAM(1) SEAM(2) SEAM(3) SEAM(4) SEAM(5) SEAM(6) SEAM(7) SEAM(8) SEAM(9) SEAM(10)
    SEAM(11) SEAM(12) SEAM(13) SEAM(14) SEAM(15) SEAM(16) SEAM(17) SEAM(18) SEAM(19)
    return 0;
    /* clang-format on */
#undef SEAM
#endif
}

/* Whether a row goes that way. */
GARNER_INLINE bool goes_seamless(const struct segment *s, enum source source, int64_t constant)
{
    const bool has_it = source == UNIT || source == PAIR || source == BLOCK;
    return has_it && constant == 0 && s->step == s->run && s->n >= LEAST_SEAMS && s->run > PIECE &&
           s->run / PIECE <= MOST_PIECES;
}

GARNER_INLINE int64_t gather_seamless(const struct segment *s, enum source source, int width)
{
    return !s->ahead ? gather_seams(s, source, width, ASK_NOT)
           : s->near ? gather_seams(s, source, width, ASK_NEAR)
                     : gather_seams(s, source, width, ASK_FAR);
}
#else
GARNER_INLINE bool goes_seamless(const struct segment *s, enum source source, int64_t constant)
{
    (void)s, (void)source, (void)constant;
    return false;
}

GARNER_INLINE int64_t gather_seamless(const struct segment *s, enum source source, int width)
{
    (void)s, (void)source, (void)width;
    return 0;
}
#endif

#endif
