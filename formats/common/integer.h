/* SPDX-License-Identifier: MIT */
/*
 * Integers as they lie in memory: anywhere, in this machine's byte order.
 */
#ifndef GARNER_FORMATS_INTEGER_H
#define GARNER_FORMATS_INTEGER_H

#include "garner.h"

/* Whether a type is one of i8, i16, i32, i64, u8, u16, u32 and u64; and whether one of those has a sign. */
int integer_is_type(garner_dtype dtype);
int integer_is_signed(garner_dtype dtype);

/* The bits that lie in 1, 2, 4 or 8 bytes, and the other way. Bits that do not fit are dropped. */
uint64_t integer_load(const void *at, int bytes);
void integer_store(void *at, int bytes, uint64_t bits);

/* The number that the lowest `width` bits are in two's complement. */
int64_t integer_from_bits(uint64_t bits, int width);

/* An element of an integer type. One above INT64_MAX becomes that: as an index or an axis it is outside
 * either way. */
int64_t integer_value(const void *at, garner_dtype dtype);

/* Converts `count` elements of one integer type to another. Bits that do not fit are dropped. */
void integer_convert(void *out, garner_dtype to, const void *in, garner_dtype from, size_t count);

#endif
