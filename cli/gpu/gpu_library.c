/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "gpu_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "own_folder.h"

/* CMake says where, as words without quotes, which not every reader of its commands would understand. */
#ifndef GARNER_CUDA_INSTALLED
#define GARNER_CUDA_INSTALLED ../ lib
#endif
#define TEXT(words) #words
#define TEXT_OF(macro) TEXT(macro)

static const char name[] = "libgarner_cuda.so";

/* Loads the path that is in library->path; *there says whether there is such a file. */
static void *open_path(struct gpu_library *library, bool *there)
{
    *there = access(library->path, F_OK) == 0;
    return *there ? dlopen(library->path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Beside the command as it was built, then where it is installed, then where the system looks. */
static void *open_any(struct gpu_library *library, bool *there)
{
    static const char *const folders[] = {"", TEXT_OF(GARNER_CUDA_INSTALLED) "/"};
    char self[GPU_LIBRARY_PATH / 2];
    void *handle = NULL;
    const bool known = own_folder(self, sizeof self);
    *there = false;
    if (known)
        for (size_t i = 0; i < sizeof folders / sizeof *folders && !*there; i++) {
            snprintf(library->path, sizeof library->path, "%s/%s%s", self, folders[i], name);
            handle = open_path(library, there);
        }
    if (*there) return handle;
    *there = !known; /* then it may be beside the command, and nobody has looked */
    snprintf(library->path, sizeof library->path, "%s", name);
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static garner_status open_library(void **handle, struct gpu_library *library, bool *there,
                                  garner_error *error)
{
    const char *wanted = getenv("GARNER_CUDA_LIBRARY");
    const bool given = wanted && *wanted;
    if (given) snprintf(library->path, sizeof library->path, "%s", wanted);
    *handle = given ? open_path(library, there) : open_any(library, there);
    if (*handle) return GARNER_OK;
    const char *why = *there ? dlerror() : NULL;
    if (*there)
        return fail(error, GARNER_SYSTEM, "cuda: the library cannot be loaded: %.300s",
                    why ? why : "unknown error");
    if (given)
        return fail(error, GARNER_SYSTEM, "cuda: GARNER_CUDA_LIBRARY is '%.200s', and there is no such file",
                    wanted);
    return fail(
        error, GARNER_SYSTEM,
        "cuda: %s is neither beside the command nor where libraries are installed; make cuda builds it",
        name);
}

/* One function by its name; a pointer to data becomes one to a function by way of its bytes. */
static bool find(void *handle, const char *symbol, void *function)
{
    void *found = dlsym(handle, symbol);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static garner_status fail_version(const struct gpu_library *library, const char *symbol, garner_error *error)
{
    return fail(error, GARNER_SYSTEM, "cuda: %.200s is of another version than this command: it has no %s",
                library->path, symbol);
}

static garner_status find_all(void *handle, struct gpu_library *library, garner_error *error)
{
#define GPU_FUNCTION(name)                                   \
    if (!find(handle, "garner_cuda_" #name, &library->name)) \
        return fail_version(library, "garner_cuda_" #name, error);
#include "gpu_library.def"
    return GARNER_OK;
}

garner_status gpu_library_load(const struct gpu_library **library, garner_error *error)
{
    static struct gpu_library loaded;
    static void *handle;
    bool there = true;
    garner_status status = GARNER_OK;
    if (!handle) {
        status = open_library(&handle, &loaded, &there, error);
        if (status == GARNER_OK) status = find_all(handle, &loaded, error);
        if (status != GARNER_OK) handle = NULL; /* what was loaded stays: the process ends soon */
    }
    *library = there || handle ? &loaded : NULL;
    return status;
}
