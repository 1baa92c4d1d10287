/* SPDX-License-Identifier: MIT */
/*
 * Runs by aligned stores: out is stored in whole vectors of 16 bytes at addresses that are multiples of 16,
 * and what a run leaves of its last vector is carried, in a register, into the next run. A store across such
 * an address costs two on aarch64, and runs of an odd length would consist of those. Loads are unaligned, but
 * stay within their run.
 */
#include "aligned_stores.h"

#include "source.h"

#if defined(__aarch64__)
#include <arm_neon.h>

enum { MOST_OVERLAPPING = 4 /* whole vectors of a run that may go by unaligned stores */ };

GARNER_INLINE uint8x16_t load_vector(const char *from)
{
    return vld1q_u8((const uint8_t *)(const void *)from);
}

GARNER_INLINE void store_vector(char *out, uint8x16_t vector)
{
    vst1q_u8((uint8_t *)(void *)out, vector);
}

/* Bytes [from, from + 16) of a vector; zeros where it has none. */
GARNER_INLINE uint8x16_t shift_vector(uint8x16_t vector, int64_t from)
{
    enum { NO = 255 };
    static const uint8_t byte[3 * VECTOR] = {
        NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* before it */
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, /* of it */
        NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* and after */
    };
    return vqtbl1q_u8(vector, vld1q_u8(byte + VECTOR + from));
}

/* Where the next run begins: `phase` bytes into the vector at `out`. They are carried, followed by zeros. */
struct carried {
    char *out;
    int64_t phase;
    uint8x16_t bytes;
};

/* The last `phase` bytes of a run, then zeros. */
GARNER_INLINE uint8x16_t leave_over(const char *from, int64_t run, int64_t phase)
{
    return shift_vector(load_vector(from + run - VECTOR), VECTOR - phase);
}

/* What is carried after a run that lies at `from` and ends at `end`. */
GARNER_INLINE struct carried carry_after(char *end, const char *from, int64_t run)
{
    const int64_t phase = (int64_t)((uintptr_t)end % VECTOR);
    return (struct carried){end - phase, phase, leave_over(from, run, phase)};
}

/* Writes what is still carried of the last run. */
GARNER_INLINE void store_carried(struct carried carried, const char *from, int64_t run)
{
    store_vector(carried.out + carried.phase - VECTOR, load_vector(from + run - VECTOR));
}

/* A later run to prefetch, at address `at`; a constant 0: none. */
struct later {
    uintptr_t at;
    bool prefetches; /* a constant */
    int64_t to_l1;
};

/* The compiler must not see that the cache level is the same all along a loop: it would make two loops of it,
 * and the branch costs little next to a prefetch. */
GARNER_INLINE void prefetch_later(struct later later, int64_t byte)
{
    int64_t to_l1 = later.to_l1;
    if (!later.prefetches) return;
    __asm__("" : "+r"(to_l1));
    prefetch_line(later.at + (uintptr_t)byte, to_l1);
}

/* Moves a run of `vectors` whole vectors, a constant, and less than one more; if it is even, of no more, and
 * nothing is carried. The lines of a later run are prefetched in between, one at a time. */
GARNER_INLINE struct carried move_aligned(struct carried carried, const char *from, int64_t run, int vectors,
                                          bool even, struct later later)
{
    const char *rest = from + VECTOR - carried.phase;
    uint8x16_t vector[MOST_VECTORS];
    prefetch_later(later, 0);
    vector[0] = load_vector(from);
    if (!even) vector[0] = vorrq_u8(carried.bytes, shift_vector(vector[0], -carried.phase));
    UNROLL for (int k = 1; k < vectors; k++)
    {
        vector[k] = load_vector(rest + (k - 1) * VECTOR);
        if (k * VECTOR % LINE == 0) prefetch_later(later, k * VECTOR);
    }
    UNROLL for (int k = 0; k < vectors; k++, carried.out += VECTOR)
    {
        store_vector(carried.out, vector[k]);
        if ((k + 1) * VECTOR % LINE == 0 || k + 1 == vectors)
            __asm__ volatile("" ::: "memory"); /* in ascending order */
    }
    prefetch_later(later, run - 1);
    if (even) return carried;
    carried.phase += run - vectors * VECTOR;
    if (carried.phase >= VECTOR) {
        store_vector(carried.out, load_vector(rest + (vectors - 1) * VECTOR));
        carried.out += VECTOR;
        carried.phase -= VECTOR;
    }
    carried.bytes = leave_over(from, run, carried.phase);
    return carried;
}

/* The run to prefetch while point number `i` is moved. */
GARNER_INLINE struct later later_run(const struct segment *s, int64_t i, bool prefetches,
                                     const struct kernel_id id)
{
    if (!prefetches) return (struct later){0, false, false};
    return (struct later){run_address(s, at_most(i + s->prefetch_distance, s->n - 1), true, id), true,
                          s->points_to_l1};
}

/* The offset of one point; false if an index is not inside. */
GARNER_INLINE bool find_one(const struct segment *s, int64_t point, int64_t *offset,
                            const struct kernel_id id)
{
    return id.source == BLOCK ? find_run(s, point, offset, id)
                              : load_offsets(s, (struct group){point, 1, true}, offset, id);
}

/* What a function is made for, all constants. */
struct aligned {
    int vectors; /* whole ones of a run */
    bool prefetches;
    struct kernel_id id;
};

/* The points after the first, as many as are inside. Whether the run is even is a constant too. */
GARNER_INLINE int64_t go_on(const struct segment *s, struct carried carried, const char *from, bool even,
                            const struct aligned how)
{
    const int64_t n = s->n, run = s->run;
    int64_t i = 1, offset;
    for (; i < n && find_one(s, i, &offset, how.id); i++) {
        const struct later later = later_run(s, i, how.prefetches, how.id);
        from = s->data + offset;
        carried = move_aligned(carried, from, run, how.vectors, even, later);
    }
    store_carried(carried, from, run);
    return i;
}

/* A run by unaligned stores: whole vectors, and the last one, which overlaps the one before. */
GARNER_INLINE void move_overlapping(char *out, const char *from, int64_t run, int vectors, struct later later)
{
    uint8x16_t vector[MOST_OVERLAPPING];
    prefetch_later(later, 0), prefetch_later(later, run - 1);
    UNROLL for (int k = 0; k < vectors; k++) vector[k] = load_vector(from + k * VECTOR);
    const uint8x16_t last = load_vector(from + run - VECTOR);
    UNROLL for (int k = 0; k + 1 < vectors; k += 2)
        store_two_quarters(out + k * VECTOR, vector[k], vector[k + 1]);
    if (vectors % 2 != 0) store_vector(out + (vectors - 1) * VECTOR, vector[vectors - 1]);
    store_vector(out + run - VECTOR, last);
}

/* The points after the first, as many as are inside. */
GARNER_INLINE int64_t go_on_overlapping(const struct segment *s, const struct aligned how)
{
    const int64_t n = s->n, run = s->run;
    char *out = s->out + run;
    int64_t i = 1, offset;
    for (; i < n && find_one(s, i, &offset, how.id); i++, out += run) {
        const struct later later = later_run(s, i, how.prefetches, how.id);
        move_overlapping(out, s->data + offset, run, how.vectors, later);
    }
    return i;
}

/* Whether that is faster. */
GARNER_INLINE bool goes_overlapping(const struct segment *s, const struct aligned how)
{
    return how.id.source != BLOCK && how.vectors <= MOST_OVERLAPPING && how.vectors <= s->overlap_vectors;
}

/* As many points as are inside. The first is moved as it is, and what it leaves over is carried. */
GARNER_INLINE int64_t gather_aligned(const struct segment *given, const struct aligned how)
{
    struct axis axis[MOST_AXES];
    const struct segment own = own_segment(given, axis, how.id), *const s = &own;
    int64_t offset;
    if (!find_one(s, 0, &offset, how.id)) return 0;
    const char *from = s->data + offset;
    memcpy(s->out, from, (size_t)s->run);
    const struct carried carried = carry_after(s->out + s->run, from, s->run);
    if (carried.phase == 0 && s->run % VECTOR == 0) return go_on(s, carried, from, true, how);
    if (goes_overlapping(s, how)) return go_on_overlapping(s, how);
    return go_on(s, carried, from, false, how);
}

/* ---- A function for each source and number of vectors ---------------------------------------------------
 */

typedef int64_t aligned_function(const struct segment *s, int any);

/* clang-format off */
#define EACH_LENGTH(what, ...)                                                                          \
    what(__VA_ARGS__, 1) what(__VA_ARGS__, 2) what(__VA_ARGS__, 3) what(__VA_ARGS__, 4)                 \
    what(__VA_ARGS__, 5) what(__VA_ARGS__, 6) what(__VA_ARGS__, 7) what(__VA_ARGS__, 8)                 \
    what(__VA_ARGS__, 9) what(__VA_ARGS__, 10) what(__VA_ARGS__, 11) what(__VA_ARGS__, 12)              \
    what(__VA_ARGS__, 13) what(__VA_ARGS__, 14) what(__VA_ARGS__, 15) what(__VA_ARGS__, 16)             \
    what(__VA_ARGS__, 17) what(__VA_ARGS__, 18) what(__VA_ARGS__, 19)
/* clang-format on */

#define ALIGNED_NAME(source, index, prefetches, vectors) aligned_##source##_##index##_##prefetches##_##vectors
#define ALIGNED_ENTRY(source, index, prefetches, vectors) ALIGNED_NAME(source, index, prefetches, vectors),
#define ALIGNED_BODY(source, index, prefetches, vectors)                                               \
    static int64_t ALIGNED_NAME(source, index, prefetches, vectors)(const struct segment *s, int any)  \
    {                                                                                                  \
        (void)any;                                                                                     \
        return gather_aligned(s, (struct aligned){vectors, prefetches, {SCALAR, source, index, ANY}}); \
    }
#define EACH_ALIGNED(source, index)                                                \
    EACH_LENGTH(ALIGNED_BODY, source, index, 0)                                    \
    EACH_LENGTH(ALIGNED_BODY, source, index, 1)                                    \
    static aligned_function *const aligned_##source##_##index[2][MOST_VECTORS] = { \
        {EACH_LENGTH(ALIGNED_ENTRY, source, index, 0)}, {EACH_LENGTH(ALIGNED_ENTRY, source, index, 1)}};
EACH_ALIGNED(UNIT, 4)
EACH_ALIGNED(UNIT, 8)
EACH_ALIGNED(PAIR, any)
EACH_ALIGNED(BLOCK, 8)

int64_t garner_gather_aligned(const struct segment *s, enum source source, int index)
{
    const int64_t which = s->run / VECTOR - 1;
    const int prefetches = s->prefetch_distance != 0;
    if (source == BLOCK) return aligned_BLOCK_8[prefetches][which](s, index);
    if (source == PAIR) return aligned_PAIR_any[prefetches][which](s, index);
    return (index == 4 ? aligned_UNIT_4 : aligned_UNIT_8)[prefetches][which](s, index);
}
#else
typedef int garner_aligned_stores_are_for_aarch64; /* a file may not be empty */
#endif
