/* SPDX-License-Identifier: MIT */
/*
 * The elements of a tensor of any strides, one after the other in C order: what every writer puts down,
 * every checksum is taken of, and every comparison compares.
 */
#ifndef GARNER_FORMATS_ELEMENTS_H
#define GARNER_FORMATS_ELEMENTS_H

#include "garner.h"

struct sink;

typedef garner_status elements_taker(void *context, const void *bytes, size_t size, garner_error *error);

/* Bytes of a tensor's elements as a dense tensor, after rank, extents and type were looked at. Messages
 * begin with `path`. */
garner_status elements_bytes(const garner_tensor *tensor, const char *path, uint64_t *bytes,
                             garner_error *error);

/* Passes the elements to `take` in pieces, until it fails. Each run of `swap` bytes is reversed (0: none).
 * The tensor has passed elements_bytes. */
garner_status elements_walk(const garner_tensor *tensor, unsigned swap, elements_taker *take, void *context,
                            garner_error *error);

/* Writes them. */
garner_status elements_write(const garner_tensor *tensor, unsigned swap, struct sink *sink,
                             garner_error *error);

/* Where element `flat` of a tensor lies, counted in C order; its type is none that packs. */
unsigned char *elements_at(const garner_tensor *tensor, int64_t flat);

#endif
