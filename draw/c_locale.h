/* SPDX-License-Identifier: MIT */
/*
 * Decimal points. A program that garner is part of may have chosen a locale that writes commas, and printf
 * and strtod follow it; what we write and read has points. Between begin and end this thread, and no other,
 * has no locale.
 */
#ifndef GARNER_DRAW_C_LOCALE_H
#define GARNER_DRAW_C_LOCALE_H

/* Returns what c_locale_end puts back. */
void *c_locale_begin(void);
void c_locale_end(void *before);

#endif
