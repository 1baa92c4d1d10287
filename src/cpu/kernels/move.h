/* SPDX-License-Identifier: MIT */
/*
 * Moves the bytes of a run, and prefetches lines that will be needed soon.
 *
 * Out is written in ascending order, each byte once, with nothing written in between: then the CPU need not
 * read a line before it replaces it. Lines are prefetched one at a time: many prefetches at once make the
 * moves wait.
 */
#ifndef GARNER_CPU_MOVE_H
#define GARNER_CPU_MOVE_H

#include <string.h>

#include "kernel.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if !defined(KERNELS_ARE_INLINED) /* so that no loop has a constant length */
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 20")
#endif

enum {
    OWN_DISTANCE = 2048, /* prefetch distance within a long run, and within indices, in bytes */
    OUT_DISTANCE = 1024, /* prefetch distance of out on x86, which reads what it will replace */
    NON_TEMPORAL = 384   /* bytes; a run of this length is stored non-temporally to any address */
};

/* Into L1, or into L2. */
GARNER_INLINE void prefetch_line(uintptr_t at, bool to_l1)
{
    if (__builtin_expect(to_l1, 1))
        __builtin_prefetch((const void *)at, 0, 3);
    else
        __builtin_prefetch((const void *)at, 0, 2);
}

/* The lines of a run, from its first byte on. */
GARNER_INLINE void prefetch_lines(uintptr_t at, int64_t bytes, bool to_l1)
{
    if (__builtin_expect(to_l1, 1))
        for (int64_t k = 0; k < bytes; k += LINE)
            prefetch_line(at + (uintptr_t)k, true);
    else
        for (int64_t k = 0; k < bytes; k += LINE)
            prefetch_line(at + (uintptr_t)k, false);
}

#if defined(__aarch64__)
typedef uint8_t quarter __attribute__((vector_size(16)));

/* By one instruction, of which gcc makes two. */
GARNER_INLINE void store_two_quarters(char *out, quarter first, quarter second)
{
#if defined(CHECKED_ACCESS)
    memcpy(out, &first, 16), memcpy(out + 16, &second, 16);
#else
    __asm__ volatile("stp %q1, %q2, [%0]" ::"r"(out), "w"(first), "w"(second) : "memory");
#endif
}
#endif

/* One line. A store of all its 64 bytes at once spares the CPU from reading it first; to the compiler a
 * vector of that size is one register only where the instruction set has it. */
GARNER_INLINE void move_line(char *out, const char *from, enum level level)
{
#if defined(__x86_64__)
    prefetch_line((uintptr_t)out + OUT_DISTANCE, true);
    if (level >= AVX512) {
        typedef uint8_t line __attribute__((vector_size(LINE)));
        line bytes;
        memcpy(&bytes, from, LINE);
        memcpy(out, &bytes, LINE);
        return;
    }
#endif
    (void)level;
#if defined(__aarch64__)
    /* Loaded as a whole before any of it is stored; in turns it is slower. */
    quarter a, b, c, d;
    memcpy(&a, from, 16), memcpy(&b, from + 16, 16), memcpy(&c, from + 32, 16), memcpy(&d, from + 48, 16);
    __asm__("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d));
    store_two_quarters(out, a, b), store_two_quarters(out + 32, c, d);
#else
    memcpy(out, from, LINE);
#endif
}

/* One line by non-temporal stores, to a whole line of out, which the CPU does not read first. */
GARNER_INLINE void stream_line(char *out, const char *from)
{
#if defined(__SSE2__)
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(out + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
#else
    /* uncovered: nothing is non-temporal there */
    memcpy(out, from, LINE);
#endif /* uncovered: the same */
}

/* Several lines; `lines` is a constant, at most 4. */
GARNER_INLINE void move_lines(char *out, const char *from, int lines, enum level level)
{
    UNROLL for (int i = 0; i < lines; i++) move_line(out + i * LINE, from + i * LINE, level);
}

/* Fewer bytes than a line; none is written twice. */
GARNER_INLINE void move_tail(char *out, const char *from, int64_t bytes)
{
    for (; bytes >= 16; bytes -= 16, out += 16, from += 16)
        memcpy(out, from, 16);
    if (bytes & 8) memcpy(out, from, 8), out += 8, from += 8;
    if (bytes & 4) memcpy(out, from, 4), out += 4, from += 4;
    if (bytes & 2) memcpy(out, from, 2), out += 2, from += 2;
    if (bytes & 1) *out = *from;
}

/* Any number of bytes. Few of them go by two moves that may overlap. */
GARNER_INLINE void move_any(char *out, const char *from, int64_t run, enum level level)
{
    if (run >= LINE) {
        for (; run >= LINE; run -= LINE, out += LINE, from += LINE)
            move_line(out, from, level);
        move_tail(out, from, run);
    } else if (run >= 16) {
        char *last_out = out + run - 16;
        const char *last_from = from + run - 16;
        for (; run >= 16; run -= 16, out += 16, from += 16)
            memcpy(out, from, 16);
        if (run > 0) memcpy(last_out, last_from, 16);
    } else if (run >= 8) {
        uint64_t a, b;
        memcpy(&a, from, 8), memcpy(&b, from + run - 8, 8);
        memcpy(out, &a, 8), memcpy(out + run - 8, &b, 8);
    } else if (run >= 4) {
        uint32_t a, b;
        memcpy(&a, from, 4), memcpy(&b, from + run - 4, 4);
        memcpy(out, &a, 4), memcpy(out + run - 4, &b, 4);
    } else {
        for (int64_t i = 0; i < run; i++)
            out[i] = from[i];
    }
}

/* What lies before the first whole line of out. How many bytes that is. */
GARNER_INLINE int64_t move_head(char *out, const char *from, int64_t run, enum level level)
{
    int64_t head = at_most(-(int64_t)(uintptr_t)out & (LINE - 1), run);
    if (head > 0) move_any(out, from, head, level);
    return head;
}

/* Waits until what was stored non-temporally is in memory, before whatever is written next. */
GARNER_INLINE void finish_non_temporal(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* `constant` is the run if that is known when compiling, ANY otherwise. */
GARNER_INLINE void move_run(char *out, const char *from, int64_t run, int64_t constant, enum level level)
{
    if (constant >= LINE)
        move_lines(out, from, (int)(constant / LINE), level);
    else if (constant > 0)
        memcpy(out, from, (size_t)constant);
    else
        move_any(out, from, run, level);
}

/* Whole lines, with a prefetch of another line before each. */
GARNER_INLINE void move_lines_prefetching(char *out, const char *from, int64_t bytes, uintptr_t other,
                                          bool to_l1, enum level level)
{
    for (const char *end = from + bytes; from != end; from += LINE, out += LINE, other += LINE) {
        prefetch_line(other, to_l1);
        move_line(out, from, level);
    }
}

/* Any number of bytes, with a prefetch of another line before each that is moved: at first of those that lie
 * further on in the same run, then of those of a later one. */
GARNER_INLINE void move_prefetching(char *out, const char *from, int64_t run, uintptr_t later, bool to_l1,
                                    enum level level)
{
    const int64_t whole = run & -LINE, own = whole > OWN_DISTANCE ? whole - OWN_DISTANCE : 0;
    move_lines_prefetching(out, from, own, (uintptr_t)from + OWN_DISTANCE, to_l1, level);
    move_lines_prefetching(out + own, from + own, whole - own, later, to_l1, level);
    if (whole < run) {
        prefetch_line(later + (uintptr_t)(run - own) - 1, to_l1);
        move_tail(out + whole, from + whole, run - whole);
    }
}

/* The same by non-temporal stores but for what lies before the first whole line of out, and after the last;
 * `later` is 0 where nothing is to be prefetched. A function of its own: memory is slower than any call. */
static GARNER_NOINLINE __attribute__((unused)) void
move_non_temporal(char *out, const char *from, int64_t run, uintptr_t later, bool to_l1)
{
    const int64_t head = move_head(out, from, run, SCALAR);
    out += head, from += head, run -= head;
    const int64_t whole = run & -LINE, own = whole > OWN_DISTANCE ? whole - OWN_DISTANCE : 0;
    for (int64_t k = 0; k < whole; k += LINE) {
        if (later)
            prefetch_line(k < own ? (uintptr_t)from + OWN_DISTANCE + (uintptr_t)k
                                  : later + (uintptr_t)(k - own),
                          to_l1);
        stream_line(out + k, from + k);
    }
    if (whole < run) {
        if (later) prefetch_line(later + (uintptr_t)(run - own) - 1, to_l1);
        move_any(out + whole, from + whole, run - whole, SCALAR);
    }
}

#endif
