/* SPDX-License-Identifier: MIT */
/*
 * One element of a packed sub-byte type, at its place among bytes. The layouts are those that garner.h
 * describes.
 */
#ifndef GARNER_DRAW_PACK_H
#define GARNER_DRAW_PACK_H

#include "garner.h"

/* Element i of elements packed at `bytes`. */
unsigned pack_get(garner_dtype dtype, const unsigned char *bytes, int64_t i);

/* Sets element i, which must be zero before. */
void pack_put(garner_dtype dtype, unsigned char *bytes, int64_t i, unsigned code);

#endif
