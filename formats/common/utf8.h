/* SPDX-License-Identifier: MIT */
/*
 * UTF-8, and which characters may go to a terminal as they are. One table for paths in messages and for
 * strings in results, so that neither lets through what the other stops.
 */
#ifndef GARNER_FORMATS_UTF8_H
#define GARNER_FORMATS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the first character of `bytes`, of which there are `left`, at least 1. Returns its length, or 0
 * if it is not well formed. Never looks beyond a zero byte. */
size_t utf8_decode(const char *bytes, size_t left, uint32_t *code);

/* Writes the bytes of a code point; returns how many. */
int utf8_encode(char out[4], uint32_t code);

/* Whether a text that ends in a zero byte is well formed. */
int utf8_is_valid(const char *text);

/* Whether a code point shows itself and does nothing else: no control character, nothing that reverses,
 * joins or hides what stands around it. */
int utf8_is_printable(uint32_t code);

#endif
