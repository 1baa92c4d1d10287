/* SPDX-License-Identifier: MIT */
/* .npz: a zip archive of .npy files. */
#ifndef GARNER_FORMATS_NPZ_H
#define GARNER_FORMATS_NPZ_H

#include "store_format.h"

extern const struct store_format npz_format;

/* Writes all tensors as stored members NAME.npy, in their order, zip64 where one is needed, elements on
 * multiples of 64 bytes. Nothing in the file depends on when or where it was written. */
garner_status npz_save(const char *path, const struct store_source *source, garner_error *error);

#endif
