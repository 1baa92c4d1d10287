/* SPDX-License-Identifier: MIT */
/* NVIDIA's driver, loaded when it is first needed: the table of its functions, and its failures in words. */
#ifndef GARNER_CUDA_DRIVER_H
#define GARNER_CUDA_DRIVER_H

#include "../../base.h"

struct driver {
#define DRIVER(symbol, parameters) int(*symbol) parameters;
#include "driver.def"
#undef DRIVER
};

/* Numbers of the driver's interface. */
enum {
    DRIVER_NO_MEMORY = 2,        /* a failure */
    DRIVER_MULTIPROCESSORS = 16, /* attributes of a device */
    DRIVER_L2 = 38,
    DRIVER_RESIDENT = 39, /* threads of a multiprocessor */
    DRIVER_CAPABILITY_MAJOR = 75,
    DRIVER_CAPABILITY_MINOR = 76,
    DRIVER_SHARED = 97,
    DRIVER_POINTER_MEMORY = 2, /* attributes of a pointer */
    DRIVER_POINTER_MANAGED = 8,
    DRIVER_POINTER_DEVICE = 9,
    DRIVER_MEMORY_DEVICE = 2,     /* kind of memory */
    DRIVER_FUNCTION_SHARED = 8,   /* attribute of a kernel */
    DRIVER_EVENT_UNTIMED = 2,     /* flags */
    DRIVER_HOST_PORTABLE = 1 | 2, /* pinned for all devices, and mapped */
    DRIVER_CAPTURING = 1
};

/* Loads and initialises it once; whoever comes later gets the same table, or the same sentence. */
garner_status garner_driver_load(const struct driver **driver, garner_error *error);

/* The device that a pointer is memory of; -1 if it is of none, or the driver does not know it. */
int garner_driver_device_of(const struct driver *driver, const void *pointer);

/* A failure of the driver's: "WHAT: the driver says TEXT". */
garner_status garner_driver_fail(const struct driver *driver, int result, const char *what,
                                 garner_error *error) GARNER_COLD;

#endif
