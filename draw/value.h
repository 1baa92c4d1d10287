/* SPDX-License-Identifier: MIT */
/*
 * One element of a tensor as text and as bits, for every element type. Elements are counted in C
 * order, strides are honoured, and packed types are read and written in place.
 */
#ifndef GARNER_DRAW_VALUE_H
#define GARNER_DRAW_VALUE_H

#include <stddef.h>

#include "garner.h"

/* How the elements of a type are written. */
enum value_class {
    VALUE_NONE, /* no such type */
    VALUE_SIGNED,
    VALUE_UNSIGNED, /* and codes: u1 to u6, nf4 */
    VALUE_FLOAT,
    VALUE_COMPLEX,
    VALUE_BOOL,
    VALUE_STRING,
    VALUE_OPAQUE
};

/* Room that any element but a string takes as text, the terminator included. */
enum { VALUE_TEXT_SIZE = 80 };

enum value_class value_class(garner_dtype dtype);

/*
 * Writes element `flat` as text: 7, 1.5, nan, 1.0+2.0j, true, "text". Always terminates `buffer` if
 * size > 0. Returns the length of the whole text, as snprintf does.
 */
int value_text(char *buffer, size_t size, const garner_tensor *t, int64_t flat);

/* The string that element `flat` of a tensor of strings is. */
garner_string value_string(const garner_tensor *t, int64_t flat);

/*
 * Reads the word [begin, end) as element `flat`. Returns NULL, or what is wrong with it as a phrase
 * that follows the word ("does not fit"). The word must be followed by something that no number
 * contains; strings are not words.
 */
const char *value_parse(const garner_tensor *t, int64_t flat, const char *begin, const char *end);

/* Sets element `flat` to a number, rounded where the type is a float. As value_parse otherwise. */
const char *value_count(const garner_tensor *t, int64_t flat, uint64_t number);

#endif
