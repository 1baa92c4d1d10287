/* SPDX-License-Identifier: MIT */
/*
 * Rows without a seam: out is stored in whole pieces of 16 bytes at addresses that are multiples of 16, and
 * what a row leaves of its last piece is carried, in a register, into the next row. A store that reaches over
 * such an address costs two on aarch64, and rows of an odd length would consist of those. Loads begin
 * anywhere, but stay within their row.
 */
#include "aligned_stores.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "source.h"

enum { MOST_OVERLAPPING = 4 /* whole pieces of a row that may go with a seam */ };

/* Whether later rows are asked for while one is moved, and into which cache. */
enum ask { ASK_NOT, ASK_NEAR, ASK_FAR, ASKS };

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
    enum { NO = 255 };
    static const uint8_t byte[3 * PIECE] = {
        NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* before it */
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, /* of it */
        NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* and after */
    };
    return vqtbl1q_u8(piece, vld1q_u8(byte + PIECE + from));
}

/* Where the next row begins: `phase` bytes into the piece at `out`. They are carried, followed by zeros. */
struct seam {
    char *out;
    int64_t phase;
    uint8x16_t carry;
};

/* The last `phase` bytes of a row, then zeros. */
GARNER_INLINE uint8x16_t leave_over(const char *from, int64_t run, int64_t phase)
{
    return shift_piece(load_piece(from + run - PIECE), PIECE - phase);
}

/* The seam after a row that lies at `from` and ends at `end`. */
GARNER_INLINE struct seam seam_after(char *end, const char *from, int64_t run)
{
    const int64_t phase = (int64_t)((uintptr_t)end % PIECE);
    return (struct seam){end - phase, phase, leave_over(from, run, phase)};
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
    const bool nearest = ask == ASK_NEAR;
    const char *rest = from + PIECE - seam.phase;
    uint8x16_t piece[MOST_PIECES];
    if (ask) prefetch_line(later, nearest);
    piece[0] = load_piece(from);
    if (!even) piece[0] = vorrq_u8(seam.carry, shift_piece(piece[0], -seam.phase));
    UNROLL for (int k = 1; k < pieces; k++)
    {
        piece[k] = load_piece(rest + (k - 1) * PIECE);
        if (ask && k * PIECE % LINE == 0) prefetch_line(later + (uintptr_t)(k * PIECE), nearest);
    }
    UNROLL for (int k = 0; k < pieces; k++, seam.out += PIECE)
    {
        store_piece(seam.out, piece[k]);
        if ((k + 1) * PIECE % LINE == 0 || k + 1 == pieces)
            __asm__ volatile("" ::: "memory"); /* in ascending order */
    }
    if (ask) prefetch_line(later + (uintptr_t)run - 1, nearest);
    if (even) return seam;
    seam.phase += run - pieces * PIECE;
    if (seam.phase >= PIECE) {
        store_piece(seam.out, load_piece(rest + (pieces - 1) * PIECE));
        seam.out += PIECE;
        seam.phase -= PIECE;
    }
    seam.carry = leave_over(from, run, seam.phase);
    return seam;
}

/* The points after the first, as many as are inside. Whether the row is even is a constant too. */
GARNER_INLINE int64_t go_on(const struct segment *s, struct seam seam, const char *from, enum source source,
                            int width, int pieces, bool even, enum ask ask)
{
    const int64_t n = s->n, run = s->run;
    int64_t i = 1, offset;
    for (; i < n && find_run(s, i, source, width, &offset); i++) {
        const int64_t point = at_most(i + s->prefetch_distance, n - 1);
        const uintptr_t later = ask ? run_address(s, point, source, width, true) : 0;
        from = s->data + offset;
        if (ask && __builtin_expect(later == (uintptr_t)from, 0)) /* it is there */
            seam = move_seamless(seam, from, run, pieces, even, 0, ASK_NOT);
        else
            seam = move_seamless(seam, from, run, pieces, even, later, ask);
    }
    end_seam(seam, from, run);
    return i;
}

/* A row with a seam: whole pieces, and the last one, which overlaps the one before. */
GARNER_INLINE void move_overlapping(char *out, const char *from, int64_t run, int pieces, uintptr_t later,
                                    enum ask ask)
{
    const bool nearest = ask == ASK_NEAR;
    uint8x16_t piece[MOST_PIECES];
    if (ask) prefetch_line(later, nearest), prefetch_line(later + (uintptr_t)run - 1, nearest);
    UNROLL for (int k = 0; k < pieces; k++) piece[k] = load_piece(from + k * PIECE);
    const uint8x16_t last = load_piece(from + run - PIECE);
    UNROLL for (int k = 0; k + 1 < pieces; k += 2)
        store_two_quarters(out + k * PIECE, piece[k], piece[k + 1]);
    if (pieces % 2 != 0) store_piece(out + (pieces - 1) * PIECE, piece[pieces - 1]);
    store_piece(out + run - PIECE, last);
}

/* The points after the first, as many as are inside. */
GARNER_INLINE int64_t go_on_overlapping(const struct segment *s, enum source source, int width, int pieces,
                                        enum ask ask)
{
    const int64_t n = s->n, run = s->run;
    char *out = s->out + run;
    int64_t i = 1, offset;
    for (; i < n && find_run(s, i, source, width, &offset); i++, out += run) {
        const uintptr_t later =
            ask ? run_address(s, at_most(i + s->prefetch_distance, n - 1), source, width, true) : 0;
        move_overlapping(out, s->data + offset, run, pieces, later, ask);
    }
    return i;
}

/* Whether that is faster. */
GARNER_INLINE bool goes_overlapping(const struct segment *s, enum source source, int pieces)
{
    return source != BLOCK && pieces <= MOST_OVERLAPPING && pieces <= s->overlap_vectors;
}

/* As many points as are inside. The first is moved as it is, and begins the seam. */
GARNER_INLINE int64_t gather_seam(const struct segment *given, enum source source, int width, int pieces,
                                  enum ask ask)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, source, axis), *const s = &own;
    int64_t offset;
    if (!find_run(s, 0, source, width, &offset)) return 0;
    const char *from = s->data + offset;
    memcpy(s->out, from, (size_t)s->run);
    const struct seam seam = seam_after(s->out + s->run, from, s->run);
    if (seam.phase == 0 && s->run % PIECE == 0) return go_on(s, seam, from, source, width, pieces, true, ask);
    if (goes_overlapping(s, source, pieces)) return go_on_overlapping(s, source, width, pieces, ask);
    return go_on(s, seam, from, source, width, pieces, false, ask);
}

/* ---- A function for each number of pieces ------------------------------------------------------------ */

/* clang-format off */
#define EACH_LENGTH(what, ...)                                                                          \
    what(__VA_ARGS__, 1) what(__VA_ARGS__, 2) what(__VA_ARGS__, 3) what(__VA_ARGS__, 4)                 \
    what(__VA_ARGS__, 5) what(__VA_ARGS__, 6) what(__VA_ARGS__, 7) what(__VA_ARGS__, 8)                 \
    what(__VA_ARGS__, 9) what(__VA_ARGS__, 10) what(__VA_ARGS__, 11) what(__VA_ARGS__, 12)              \
    what(__VA_ARGS__, 13) what(__VA_ARGS__, 14) what(__VA_ARGS__, 15) what(__VA_ARGS__, 16)             \
    what(__VA_ARGS__, 17) what(__VA_ARGS__, 18) what(__VA_ARGS__, 19)
/* clang-format on */

typedef int64_t seam_function(const struct segment *s);

#define SEAM_NAME(source, width, ask, pieces) seam_##source##_##width##_##ask##_##pieces
#define SEAM_ENTRY(source, width, ask, pieces) SEAM_NAME(source, width, ask, pieces),
#define SEAM_BODY(source, width, ask, pieces)                                     \
    static int64_t SEAM_NAME(source, width, ask, pieces)(const struct segment *s) \
    {                                                                             \
        return gather_seam(s, source, width, pieces, ask);                        \
    }
#define EACH_SEAM(source, width)                                                \
    EACH_LENGTH(SEAM_BODY, source, width, ASK_NOT)                              \
    EACH_LENGTH(SEAM_BODY, source, width, ASK_NEAR)                             \
    EACH_LENGTH(SEAM_BODY, source, width, ASK_FAR)                              \
    static seam_function *const seams_##source##_##width[ASKS][MOST_PIECES] = { \
        {EACH_LENGTH(SEAM_ENTRY, source, width, ASK_NOT)},                      \
        {EACH_LENGTH(SEAM_ENTRY, source, width, ASK_NEAR)},                     \
        {EACH_LENGTH(SEAM_ENTRY, source, width, ASK_FAR)},                      \
    };
EACH_SEAM(UNIT, 4)
EACH_SEAM(UNIT, 8)
EACH_SEAM(PAIR, 4)
EACH_SEAM(PAIR, 8)
EACH_SEAM(BLOCK, 8)

int64_t garner_gather_seamless(const struct segment *s, enum source source, int width)
{
    const enum ask ask = !s->prefetch_distance ? ASK_NOT : s->points_to_l1 ? ASK_NEAR : ASK_FAR;
    const int64_t which = s->run / PIECE - 1;
    if (source == BLOCK) return seams_BLOCK_8[ask][which](s);
    if (source == PAIR) return (width == 4 ? seams_PAIR_4 : seams_PAIR_8)[ask][which](s);
    return (width == 4 ? seams_UNIT_4 : seams_UNIT_8)[ask][which](s);
}
#else
int64_t garner_gather_seamless(const struct segment *s, enum source source, int width) /* never elsewhere */
{
    (void)s, (void)source, (void)width;
    return 0;
}
#endif
