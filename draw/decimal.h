/* SPDX-License-Identifier: MIT */
/*
 * Decimal texts of doubles, exactly. The C library rounds to nearest and may know nothing else, so what lies
 * above or below is found by comparing digits. The locale must be C.
 */
#ifndef GARNER_DRAW_DECIMAL_H
#define GARNER_DRAW_DECIMAL_H

#include <stddef.h>

/* Whether the number that begins at `text`, without a sign, lies below (-1), at (0) or above (1) a finite
 * double that is not negative. */
int decimal_compare(const char *text, double value);

/* Writes a positive, finite double with so many digits (at most 17), rounded up: "1.25e+00". */
void decimal_round_up(char *text, size_t size, int digits, double value);

#endif
