/* SPDX-License-Identifier: MIT */
/* What tests tell the stand-in for NVIDIA's driver, and ask of it; they look these functions up in
 * libcuda.so.1, where the real driver has none of them. */
#ifndef GARNER_TESTS_FAKE_DRIVER_H
#define GARNER_TESTS_FAKE_DRIVER_H

#include <stddef.h>

/* Lets the next call of the function of this name fail with a number; NULL: none. */
typedef void fake_fail(const char *symbol, int result);

/* How often the kernel of this name was launched. */
typedef int fake_launches(const char *kernel);

/* Whether blocks run from the last to the first. */
typedef void fake_backwards(int backwards);

/* Whether streams say that they are captured. */
typedef void fake_capture(int capturing);

/* The stream of the last launch. */
typedef void *fake_stream(void);

/* How often the host waited for a stream or an event. */
typedef int fake_waits(void);

/* Memory of a device, or with -1 pinned memory of the host; NULL if there are too many. */
typedef void *fake_new(size_t bytes, int device);
typedef void fake_delete(void *memory);

#endif
