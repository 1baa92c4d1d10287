/* SPDX-License-Identifier: MIT */
/*
 * How the bytes of a run are moved, and how lines are asked for that will be needed soon.
 *
 * Memory wants out to be written in ascending order, each byte once, with nothing written in between: then
 * the CPU need not read a line before it replaces it. And it wants to be asked for what comes next a line at
 * a time: asked for many lines at once it makes the moves wait.
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
    LOOK = 2048,      /* bytes further on that a long run is asked for */
    OUT_AHEAD = 1024, /* bytes further on that out is asked for on x86, which reads what it will replace */
    STREAMED = 384    /* a run of this length streams from any address */
};

/* Into the nearest cache; or into the next one, when memory is so far that a jump does not matter. */
GARNER_INLINE void prefetch_line(uintptr_t at, bool nearest)
{
    if (__builtin_expect(nearest, 1))
        __builtin_prefetch((const void *)at, 0, 3);
    else
        __builtin_prefetch((const void *)at, 0, 2);
}

/* The lines of a run, from its first byte on. */
GARNER_INLINE void prefetch_lines(uintptr_t at, int64_t bytes, bool nearest)
{
    for (int64_t k = 0; k < bytes; k += LINE)
        prefetch_line(at + (uintptr_t)k, nearest);
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
    prefetch_line((uintptr_t)out + OUT_AHEAD, true);
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

/* One line past the caches, to a whole line of out, which is written without being read first. */
GARNER_INLINE void stream_line(char *out, const char *from)
{
#if defined(__SSE2__)
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(out + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
#else
    memcpy(out, from, LINE);
#endif
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

/* Any number of bytes. Few of them may go in two pieces that overlap. */
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

/* Past the caches but for what lies before the first whole line of out, and after the last. */
GARNER_INLINE void move_streaming(char *out, const char *from, int64_t run, enum level level)
{
    int64_t head = move_head(out, from, run, level);
    for (out += head, from += head, run -= head; run >= LINE; run -= LINE, out += LINE, from += LINE)
        stream_line(out, from);
    if (run > 0) move_any(out, from, run, level);
}

/* Streamed lines reach memory in their own time; after this, before whatever is written next. */
GARNER_INLINE void finish_streaming(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* `constant` is the run if that is known when compiling, 0 otherwise. */
GARNER_INLINE void move_run(char *out, const char *from, int64_t run, int64_t constant, bool streams,
                            enum level level)
{
    if (streams)
        move_streaming(out, from, run, level);
    else if (constant >= LINE)
        move_lines(out, from, (int)(constant / LINE), level);
    else if (constant > 0)
        memcpy(out, from, (size_t)constant);
    else
        move_any(out, from, run, level);
}

/* Whole lines, another one asked for before each. */
GARNER_INLINE void move_lines_asking(char *out, const char *from, uintptr_t ask, int64_t bytes, bool nearest,
                                     bool streams, enum level level)
{
    for (const char *end = from + bytes; from != end; from += LINE, out += LINE, ask += LINE) {
        prefetch_line(ask, nearest);
        if (streams)
            stream_line(out, from);
        else
            move_line(out, from, level);
    }
}

/* Any number of bytes, while other lines are asked for, one before each that is moved: at first those that
 * lie further on in the same run, then those of a later one. */
GARNER_INLINE void move_asking(char *out, const char *from, int64_t run, uintptr_t later, bool nearest,
                               bool streams, enum level level)
{
    if (streams) {
        int64_t head = move_head(out, from, run, level);
        out += head, from += head, run -= head;
    }
    int64_t whole = run & -LINE, own = whole > LOOK ? whole - LOOK : 0;
    move_lines_asking(out, from, (uintptr_t)from + LOOK, own, nearest, streams, level);
    move_lines_asking(out + own, from + own, later, whole - own, nearest, streams, level);
    if (whole < run) {
        prefetch_line(later + (uintptr_t)(run - own) - 1, nearest);
        move_tail(out + whole, from + whole, run - whole);
    }
}

#endif
