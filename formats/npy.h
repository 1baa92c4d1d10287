/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files, versions 1 to 3. Types that garner names come as themselves; fixed-width text,
 * bytes, dates, void, long double and structured types come as GARNER_OPAQUE with array.descr, which
 * npy_save writes back. Python objects are refused: they are programs.
 */
#ifndef GARNER_FORMATS_NPY_H
#define GARNER_FORMATS_NPY_H

#include "array.h"

/* What a reader may like to mention beside the array. */
struct npy_info {
    uint64_t trailing; /* bytes after the array, where known: NumPy allows appended arrays */
    int version;       /* 1, 2 or 3 */
    int fortran;       /* the first axis varies fastest: the array has strides, no copy was made */
    int swapped;       /* the file has the other byte order: the array is a copy */
};

/* Loads the array at `path` ("-" is standard input, of which nothing beyond the array is consumed).
 * Elements of a regular file stay in its mapping. On failure *array is zeroed, and the message begins
 * with the path. Release with array_free. */
garner_status npy_load(struct array *array, const char *path, garner_error *error);

/* The same, and fills *info. */
garner_status npy_load_info(struct array *array, const char *path, struct npy_info *info,
                            garner_error *error);

/* Saves a tensor of any strides to `path` ("-" is standard output), as file_save does. `descr` is the
 * type of opaque elements, as in array.descr; NULL there means plain bytes, '|V8' for item_bytes 8.
 * Types that .npy lacks (bf16, small floats, sub-byte, str) are GARNER_UNSUPPORTED. */
garner_status npy_save(const char *path, const garner_tensor *tensor, const char *descr, garner_error *error);

#endif
