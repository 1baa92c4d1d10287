/* SPDX-License-Identifier: MIT */
#include "device_memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void find(const char *name, void *function)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(function, &found, sizeof found);
}

void *device_symbol(const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

static void must(int result, const char *what)
{
    if (result == 0) return;
    fprintf(stderr, "%s: the driver answers %d\n", what, result);
    abort();
}

bool device_begin(int device)
{
    int (*start)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*push)(void *), number;
    void *context;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    find("cuInit", &start);
    find("cuDeviceGet", &get);
    find("cuDevicePrimaryCtxRetain", &retain);
    find("cuCtxPushCurrent_v2", &push);
    if (library == NULL || start(0) != 0 || get(&number, device) != 0) {
        fprintf(stderr, "there is no device %d\n", device);
        return false;
    }
    must(retain(&context, number), "cuDevicePrimaryCtxRetain");
    must(push(context), "cuCtxPushCurrent_v2");
    return true;
}

bool device_is_fake(void)
{
    return device_symbol("fake_launch_count") != NULL;
}

void *device_allocate(size_t bytes)
{
    int (*allocate)(uint64_t *, size_t);
    uint64_t address;
    find("cuMemAlloc_v2", &allocate);
    must(allocate(&address, bytes ? bytes : 1), "cuMemAlloc");
    return (void *)(uintptr_t)address;
}

void device_free(void *memory)
{
    int (*release)(uint64_t);
    find("cuMemFree_v2", &release);
    must(release((uint64_t)(uintptr_t)memory), "cuMemFree");
}

void device_put(void *to, const void *from, size_t bytes)
{
    int (*copy)(uint64_t, const void *, size_t);
    find("cuMemcpyHtoD_v2", &copy);
    if (bytes) must(copy((uint64_t)(uintptr_t)to, from, bytes), "cuMemcpyHtoD");
}

void device_get(void *to, const void *from, size_t bytes)
{
    int (*copy)(void *, uint64_t, size_t);
    find("cuMemcpyDtoH_v2", &copy);
    if (bytes) must(copy(to, (uint64_t)(uintptr_t)from, bytes), "cuMemcpyDtoH");
}
