/* SPDX-License-Identifier: MIT */
/* Four elements of 4 or 8 bytes from anywhere to places side by side, by fewer stores than there are of them.
 */
#ifndef GARNER_CPU_FOURS_H
#define GARNER_CPU_FOURS_H

#include "move.h"

/* Whether elements of that many bytes are better moved four at a time, which compilers do not see. */
GARNER_INLINE bool moves_fours(int64_t bytes)
{
#if (defined(__aarch64__) || defined(__SSE2__)) && !defined(CHECKED_ACCESS)
    return bytes == 4 || bytes == 8;
#else
    (void)bytes;
    return false;
#endif
}

#if defined(__aarch64__)
GARNER_INLINE void move_four_words(char *out, const char *const *from)
{
    uint32_t element[4];
    UNROLL for (int i = 0; i < 4; i++) memcpy(&element[i], from[i], 4);
    __asm__ volatile("stp %w1, %w2, [%0]\n\tstp %w3, %w4, [%0, #8]" ::"r"(out), "r"(element[0]),
                     "r"(element[1]), "r"(element[2]), "r"(element[3])
                     : "memory");
}

GARNER_INLINE void move_four_longs(char *out, const char *const *from)
{
    uint64_t element[4];
    UNROLL for (int i = 0; i < 4; i++) memcpy(&element[i], from[i], 8);
    __asm__ volatile("stp %1, %2, [%0]\n\tstp %3, %4, [%0, #16]" ::"r"(out), "r"(element[0]), "r"(element[1]),
                     "r"(element[2]), "r"(element[3])
                     : "memory");
}
#elif defined(__SSE2__)
GARNER_INLINE __m128i load_word(const char *from)
{
    int32_t word;
    memcpy(&word, from, 4);
    return _mm_cvtsi32_si128(word);
}

GARNER_INLINE __m128i load_two_longs(const char *const *from)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)from[0]),
                              _mm_loadl_epi64((const __m128i *)(const void *)from[1]));
}

GARNER_INLINE void move_four_words(char *out, const char *const *from)
{
    const __m128i low = _mm_unpacklo_epi32(load_word(from[0]), load_word(from[1]));
    const __m128i high = _mm_unpacklo_epi32(load_word(from[2]), load_word(from[3]));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi64(low, high));
}

GARNER_INLINE void move_four_longs(char *out, const char *const *from)
{
    _mm_storeu_si128((__m128i *)(void *)out, load_two_longs(from));
    _mm_storeu_si128((__m128i *)(void *)(out + 16), load_two_longs(from + 2));
}
#else
GARNER_INLINE void move_four_words(char *out, const char *const *from)
{
    UNROLL for (int i = 0; i < 4; i++) memcpy(out + 4 * i, from[i], 4);
}

GARNER_INLINE void move_four_longs(char *out, const char *const *from)
{
    UNROLL for (int i = 0; i < 4; i++) memcpy(out + 8 * i, from[i], 8);
}
#endif

/* Four elements of 4 or 8 bytes, a constant, from anywhere. */
GARNER_INLINE void move_four(char *out, const char *const *from, int64_t bytes)
{
    if (bytes == 4)
        move_four_words(out, from);
    else
        move_four_longs(out, from);
}

#endif
