/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files, versions 1 to 3. Types that garner names come as themselves; fixed-width text,
 * bytes, dates, void, long double and structured types come as GARNER_OPAQUE with array.descr, which
 * npy_save writes back. Python objects are refused: they are programs.
 */
#ifndef GARNER_FORMATS_NPY_H
#define GARNER_FORMATS_NPY_H

#include "store_format.h"

extern const struct store_format npy_format;

/* Loads the array at `path` ("-" is standard input, of which nothing beyond the array is consumed).
 * Elements of a regular file stay in its mapping. On failure *array is zeroed, and the message begins
 * with the path. Release with array_free. */
garner_status npy_load(struct array *array, const char *path, garner_error *error);

/* Saves a tensor of any strides to `path` ("-" is standard output), as file_save does. `descr` is the
 * type of opaque elements, as in array.descr; NULL there means plain bytes, '|V8' for item_bytes 8.
 * Types that .npy lacks (bf16, small floats, sub-byte, str) are GARNER_UNSUPPORTED. */
garner_status npy_save(const char *path, const garner_tensor *tensor, const char *descr, garner_error *error);

/* Whether `descr` is the type of opaque elements of so many bytes. */
int npy_descr_fits(const char *descr, uint64_t item_bytes);

#endif
