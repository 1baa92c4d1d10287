/* SPDX-License-Identifier: MIT */
/*
 * Tensors typed in as text: '[[1,2],[3,4]]', '[1,2]:u8', '["a","b"]', '7', 'iota(2,3):f32'. The text
 * that the shell prints is such a literal once :type is added.
 */
#ifndef GARNER_DRAW_LITERAL_H
#define GARNER_DRAW_LITERAL_H

#include "array.h"

/* Whether an argument begins as a literal does. */
int literal_begins(const char *text);

/* Whether a text is a literal of one integer, without spaces around it. Looks at the text alone: nothing is
 * built of what turns out to be more than that. */
int literal_is_integer(const char *text);

/*
 * Makes the array that `text` describes. A malformed literal is GARNER_BAD_ARGUMENT with a message that
 * gives the position, counted in characters from 1, and begins with `role` ("DATA"). Release with
 * array_free.
 */
garner_status literal_parse(struct array *array, const char *role, const char *text, garner_error *error);

#endif
