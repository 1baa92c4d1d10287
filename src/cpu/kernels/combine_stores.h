/* SPDX-License-Identifier: MIT */
/* Four elements, each from an address of its own, written side by side by fewer than four stores. */
#ifndef GARNER_CPU_COMBINE_STORES_H
#define GARNER_CPU_COMBINE_STORES_H

#include "move.h"

/* Whether elements of that many bytes are better moved four at a time, which compilers do not see. */
GARNER_INLINE bool moves_fours(int64_t bytes)
{
#if defined(CHECKED_ACCESS)
    (void)bytes;
    return false;
#elif defined(__aarch64__)
    return bytes <= 16;
#elif defined(__SSE2__)
    return bytes == 4 || bytes == 8;
#else
    (void)bytes;
    return false;
#endif
}

#if defined(__aarch64__)
GARNER_INLINE void move_four_bytes(char *out, const char *const *from)
{
    uint8_t element[4];
    UNROLL for (int i = 0; i < 4; i++) memcpy(&element[i], from[i], 1);
    const uint32_t low = element[0] | (uint32_t)element[1] << 8,
                   high = element[2] | (uint32_t)element[3] << 8;
    __asm__ volatile("str %w1, [%0]" ::"r"(out), "r"(low | high << 16) : "memory");
}

GARNER_INLINE void move_four_halves(char *out, const char *const *from)
{
    uint16_t element[4];
    UNROLL for (int i = 0; i < 4; i++) memcpy(&element[i], from[i], 2);
    const uint32_t low = element[0] | (uint32_t)element[1] << 16,
                   high = element[2] | (uint32_t)element[3] << 16;
    __asm__ volatile("stp %w1, %w2, [%0]" ::"r"(out), "r"(low), "r"(high) : "memory");
}

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

GARNER_INLINE void move_four_quarters(char *out, const char *const *from)
{
    quarter element[4];
    UNROLL for (int i = 0; i < 4; i++) memcpy(&element[i], from[i], 16);
    store_two_quarters(out, element[0], element[1]);
    store_two_quarters(out + 32, element[2], element[3]);
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
#endif

/* Four elements of a number of bytes, a constant, that moves_fours(). */
GARNER_INLINE void move_four(char *out, const char *const *from, int64_t bytes)
{
    (void)out, (void)from, (void)bytes; /* which other machines do not use */
#if defined(__aarch64__)
    if (bytes == 1) move_four_bytes(out, from);
    if (bytes == 2) move_four_halves(out, from);
    if (bytes == 16) move_four_quarters(out, from);
#endif
#if defined(__aarch64__) || defined(__SSE2__)
    if (bytes == 4) move_four_words(out, from);
    if (bytes == 8) move_four_longs(out, from);
#endif
}

#endif
