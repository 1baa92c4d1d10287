/* SPDX-License-Identifier: MIT */
/*
 * Deflate by the browser. What a file has deflated is asked for and refused at first; the page inflates what
 * was asked for, hands it over, and asks again.
 */
#ifndef GARNER_WEB_BROWSER_INFLATE_H
#define GARNER_WEB_BROWSER_INFLATE_H

#include <stddef.h>

/* The i-th piece that was asked for and is not there: where it lies and how long it is; 0: no more. */
int browser_inflate_wanted(size_t i, const unsigned char **packed, size_t *size);

/* Hands over what a piece became; takes over `bytes`, which are from malloc. */
void browser_inflate_add(const unsigned char *packed, void *bytes, size_t size);

/* Forgets all pieces that lie in a file that goes. */
void browser_inflate_forget(const unsigned char *file, size_t size);

#endif
