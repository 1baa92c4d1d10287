/* SPDX-License-Identifier: MIT */
/* What tests tell the stand-in for NVIDIA's driver, and ask of it; they look these functions up in
 * libcuda.so.1, where the real driver has none of them. */
#ifndef GARNER_TESTS_FAKE_DRIVER_H
#define GARNER_TESTS_FAKE_DRIVER_H

#include <stddef.h>

/* A failure for which the driver has no text. */
enum { FAKE_NAMELESS = 999 };

/* Lets the next call of the function of this name fail with a number, or the number-th from now on; NULL:
 * none. */
typedef void fake_fail(const char *symbol, int result);
typedef void fake_fail_at(const char *symbol, int number, int result);

/* Whether that has come to pass. */
typedef int fake_failed(void);

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

/* How many blocks of memory and events there are. */
typedef int fake_uses(void);

/* Memory of a device, or of another kind; NULL if there are too many. */
enum {
    FAKE_PINNED = -1, /* memory of the host */
    FAKE_MANAGED = -2 /* of all devices */
};
typedef void *fake_new(size_t bytes, int device);
typedef void fake_delete(void *memory);

#endif
