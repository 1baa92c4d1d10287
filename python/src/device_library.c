/* SPDX-License-Identifier: MIT */
/* Loads libgarner_cuda.so once for the process. */
#define _GNU_SOURCE
#include "device_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "libgarner_cuda.so"

enum { CAPTURING = 1, MEMORY_KIND = 2, DEVICE_NUMBER = 9, OF_DEVICE = 2 }; /* the driver's */

static struct device_library functions;
static _Atomic(const struct device_library *) loaded;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool fail(garner_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    error->status = GARNER_SYSTEM;
    error->has = 0;
    PyOS_vsnprintf(error->message, sizeof error->message, format, values);
    va_end(values);
    return false;
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* Writes the path of a file in this module's own folder; false if that is not known or too long. */
static bool path_beside(char *path, size_t size)
{
    Dl_info info;
    if (dladdr(&functions, &info) == 0 || info.dli_fname == NULL) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash - info.dli_fname) : 0;
    return slash && (size_t)PyOS_snprintf(path, size, "%.*s/%s", folder, info.dli_fname, FILE_NAME) < size;
}

static void *open_library(garner_error *error)
{
    char beside[4096];
    const char *named = getenv("GARNER_CUDA_LIBRARY");
    void *library = NULL;
    if (named && named[0]) {
        library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) fail(error, "cuda: GARNER_CUDA_LIBRARY does not load: %s", dlerror());
        return library;
    }
    if (path_beside(beside, sizeof beside)) library = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen(FILE_NAME ".0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail(error, "cuda: " FILE_NAME
                    " is not installed; `make cuda` in garner's sources builds it, and the environment "
                    "variable GARNER_CUDA_LIBRARY says where it is");
    return library;
}

/* A pointer to data becomes one to a function by way of its bytes. */
static bool find(void *library, const char *file, const char *name, void *function, garner_error *error)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found || fail(error, "cuda: %s has no %s; it is of another version", file, name);
}

static bool find_all(void *library, garner_error *error)
{
#define DEVICE_FUNCTION(result, name, parameters) \
    if (!find(library, FILE_NAME, "garner_cuda_" #name, &functions.name, error)) return false;
#include "device_functions.def"
#undef DEVICE_FUNCTION
    return true;
}

/* The library has a driver loaded once it has counted devices. */
static bool find_driver(garner_error *error)
{
    int count;
    if (functions.devices(&count, error) != GARNER_OK) return false;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) return fail(error, "cuda: there is no NVIDIA driver here: %s", dlerror());
    return find(driver, "libcuda.so.1", "cuStreamIsCapturing", &functions.is_capturing, error) &&
           find(driver, "libcuda.so.1", "cuStreamSynchronize", &functions.synchronize, error) &&
           find(driver, "libcuda.so.1", "cuPointerGetAttributes", &functions.attributes, error);
}

static void load(garner_error *error)
{
    void *library = open_library(error);
    if (library == NULL) return;
    if (find_all(library, error) && find_driver(error))
        atomic_store_explicit(&loaded, &functions, memory_order_release);
    else
        dlclose(library);
}

const struct device_library *device_library_get(garner_error *error)
{
    garner_error spare;
    const struct device_library *found = atomic_load_explicit(&loaded, memory_order_acquire);
    if (found) return found;
    if (error == NULL) error = &spare;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&mutex);
    /* uncovered at times: seldom does another thread load it meanwhile */
    if (atomic_load_explicit(&loaded, memory_order_acquire) == NULL) load(error);
    pthread_mutex_unlock(&mutex);
    Py_END_ALLOW_THREADS;
    return atomic_load_explicit(&loaded, memory_order_acquire);
}

bool device_is_capturing(const struct device_library *library, void *stream)
{
    int status = 0;
    return library->is_capturing(stream, &status) == 0 && status == CAPTURING;
}

int device_of(const struct device_library *library, const void *address)
{
    static const int asked[] = {MEMORY_KIND, DEVICE_NUMBER};
    int kind = 0, device = -1;
    void *values[] = {&kind, &device};
    if (library->attributes(2, asked, values, (uint64_t)(uintptr_t)address) != 0) return UNKNOWN_DEVICE;
    return kind == OF_DEVICE ? device : -1;
}
