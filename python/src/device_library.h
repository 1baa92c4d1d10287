/* SPDX-License-Identifier: MIT */
/*
 * libgarner_cuda.so, found when the first array on a GPU is met, or when somebody asks: the file that
 * GARNER_CUDA_LIBRARY names, else the one beside this module, else the one that the system's loader finds.
 */
#ifndef GARNER_PYTHON_DEVICE_LIBRARY_H
#define GARNER_PYTHON_DEVICE_LIBRARY_H

#include "garner_cuda.h"
#include "state.h"

struct device_library {
#define DEVICE_FUNCTION(result, name, parameters) result(*name) parameters;
#include "device_functions.def"
#undef DEVICE_FUNCTION
    int (*is_capturing)(void *stream, int *status); /* these are the driver's own */
    int (*synchronize)(void *stream);
    int (*attributes)(unsigned count, const int *attributes, void **values, uint64_t address);
};

/* The library; NULL, with the sentence (unless that is NULL), if there is none. A failure is tried again at
 * the next call. */
const struct device_library *device_library_get(garner_error *error);

/* Whether work on a stream is being recorded into a CUDA graph. */
bool device_is_capturing(const struct device_library *library, void *stream);

/* The number of the device whose memory an address is in; -1 if it is the host's, UNKNOWN_DEVICE if the
 * driver fails. */
enum { UNKNOWN_DEVICE = -2 };
int device_of(const struct device_library *library, const void *address);

#endif
