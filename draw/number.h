/* SPDX-License-Identifier: MIT */
/*
 * Floating-point numbers of every width as bits and as decimal text. Reading rounds to nearest even
 * from the decimal digits themselves; writing gives the fewest digits that read back to the same bits.
 */
#ifndef GARNER_DRAW_NUMBER_H
#define GARNER_DRAW_NUMBER_H

#include <stddef.h>

#include "garner.h"

struct number_format;

/* Room for any number as text. */
enum { NUMBER_TEXT_SIZE = 32 };

/* The layout of a floating-point type, or NULL for any other type. */
const struct number_format *number_format(garner_dtype dtype);

/* The value of some bits, exactly. */
double number_value(const struct number_format *format, uint64_t bits);

/*
 * Writes bits as text: 1.5, 1e-05, inf, nan; another NaN than the usual one as nan(0x...) with all its
 * bits. Types of 8 bits and less are written as the value they hold (448.0, where 450.0 would do).
 */
int number_text(char buffer[NUMBER_TEXT_SIZE], const struct number_format *format, uint64_t bits);

/* How far the text of one number reaches, sign included, and whether it is an integer. NULL: none. */
const char *number_scan(const char *text, const char *end, int *integer);

/* Reads a number that number_scan has seen end at `end`. NULL, or what is wrong as a phrase. */
const char *number_parse(const struct number_format *format, const char *text, const char *end,
                         uint64_t *bits);

/* The same for a whole number of at most 53 bits. */
const char *number_count(const struct number_format *f, uint64_t number, uint64_t *bits);

#endif
