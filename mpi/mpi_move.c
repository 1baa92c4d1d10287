/* SPDX-License-Identifier: MIT */
#include "mpi_move.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* Whole lines alone gain by it: shorter rows have too many edges within lines. Caches of a core are smaller.
 */
enum { LEAST_ROW = 1 << 10, LEAST_ALL = 8 << 20 };

int move_is_non_temporal(size_t bytes, size_t all)
{
    return bytes >= LEAST_ROW && all >= LEAST_ALL;
}

static void stream(unsigned char *to, const unsigned char *from, size_t bytes)
{
    enum { WIDTH = sizeof(__m128i) };
    size_t at = -(uintptr_t)to % WIDTH;
    memcpy(to, from, at);
    for (; at + WIDTH <= bytes; at += WIDTH)
        _mm_stream_si128((void *)(to + at), _mm_loadu_si128((const void *)(from + at)));
    memcpy(to + at, from + at, bytes - at);
}

void move_row(unsigned char *to, const unsigned char *from, size_t bytes, int non_temporal)
{
    if (non_temporal)
        stream(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

void move_finish(void)
{
    _mm_sfence();
}
#else
int move_is_non_temporal(size_t bytes, size_t all)
{
    (void)bytes, (void)all;
    return 0;
}

void move_row(unsigned char *to, const unsigned char *from, size_t bytes, int non_temporal)
{
    (void)non_temporal;
    memcpy(to, from, bytes);
}

void move_finish(void)
{
}
#endif
