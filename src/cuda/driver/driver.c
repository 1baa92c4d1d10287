/* SPDX-License-Identifier: MIT */
/* Finds the driver at run time: the library itself links nothing of NVIDIA's. */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../error.h"

static struct driver functions;
static char trouble[400]; /* why there is no driver; "": there is one */
static garner_status trouble_status = GARNER_SYSTEM;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* One function by its name; a pointer to data becomes one to a function by way of its bytes. */
static bool find_function(void *library, const char *symbol, void *function)
{
    void *found = dlsym(library, symbol);
    if (found == NULL)
        snprintf(trouble, sizeof trouble, "the NVIDIA driver is too old: libcuda.so.1 has no %s", symbol);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_all(void *library)
{
#define DRIVER(symbol, parameters) \
    if (!find_function(library, #symbol, &functions.symbol)) return false;
#include "driver.def"
#undef DRIVER
    return true;
}

static void load(void)
{
    const char *text = NULL;
    errno = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        if (errno == ENOMEM) trouble_status = GARNER_NO_MEMORY; /* which says nothing about drivers */
        const char *why = dlerror();
        snprintf(trouble, sizeof trouble, "there is no NVIDIA driver here: %s",
                 why ? why : "libcuda.so.1 is missing");
        return;
    }
    if (!find_all(library)) return;
    const int result = functions.cuInit(0);
    if (result == 0) return;
    functions.cuGetErrorString(result, &text);
    snprintf(trouble, sizeof trouble, "the NVIDIA driver does not start: %s", text ? text : "unknown error");
}

garner_status garner_driver_load(const struct driver **driver, garner_error *error)
{
    pthread_once(&once, load);
    *driver = &functions;
    return trouble[0] == '\0' ? GARNER_OK : garner_fail(error, trouble_status, "cuda: %s", trouble);
}

int garner_driver_device_of(const struct driver *driver, const void *pointer)
{
    int kind = 0, device = -1, attributes[] = {DRIVER_POINTER_MEMORY, DRIVER_POINTER_DEVICE};
    void *values[] = {&kind, &device};
    if (pointer == NULL || driver->cuPointerGetAttributes(2, attributes, values, (uintptr_t)pointer) != 0)
        return -1;
    return kind == DRIVER_MEMORY_DEVICE ? device : -1;
}

garner_status garner_driver_fail(const struct driver *driver, int result, const char *what,
                                 garner_error *error)
{
    const char *text = NULL;
    driver->cuGetErrorString(result, &text);
    return garner_fail(error, GARNER_SYSTEM, "cuda: %s: the driver says %s", what,
                       text ? text : "unknown error");
}
