/* SPDX-License-Identifier: MIT */
/* Memory of a device for tests, by the real driver or by its stand-in, whichever libcuda.so.1 is found. */
#ifndef GARNER_TESTS_DEVICE_MEMORY_H
#define GARNER_TESTS_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a device's context current; false, with a line on stderr, if there is no device. */
bool device_begin(int device);

/* Whether the driver is the stand-in. */
bool device_is_fake(void);

/* A function of libcuda.so.1; NULL if it has none of that name. */
void *device_symbol(const char *name);

void *device_allocate(size_t bytes);
void device_free(void *memory);
void device_put(void *to, const void *from, size_t bytes);
void device_get(void *to, const void *from, size_t bytes);

#endif
