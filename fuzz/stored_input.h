/* SPDX-License-Identifier: MIT */
/* Opens bytes as a file of tensors, and looks at all that it gives: every name, every element. */
#ifndef GARNER_FUZZ_STORED_INPUT_H
#define GARNER_FUZZ_STORED_INPUT_H

#include <string.h>

#include "elements.h"
#include "store.h"

static garner_status add_up(void *context, const void *bytes, size_t size, garner_error *error)
{
    uint64_t *sum = context;
    (void)error;
    for (size_t i = 0; i < size; i++)
        *sum += ((const unsigned char *)bytes)[i];
    return GARNER_OK;
}

static uint64_t look_at_tensor(const struct store *store, size_t i)
{
    garner_error error;
    struct store_entry entry;
    struct array array;
    size_t found;
    uint64_t sum = 0, bytes = 0;
    garner_status described = store_describe(store, i, &entry, &error);
    if (store_find(store, entry.name, &found, NULL) || found != i) __builtin_trap();
    garner_status loaded = store_load(store, i, &array, &error);
    if (described && loaded != described) __builtin_trap(); /* what cannot be described cannot be loaded */
    if (loaded) return 0;
    if (array.tensor.dtype != entry.dtype || array.tensor.rank != entry.rank) __builtin_trap();
    if (elements_bytes(&array.tensor, "x", &bytes, &error) || bytes != entry.bytes) __builtin_trap();
    if (elements_walk(&array.tensor, 0, add_up, &sum, &error)) __builtin_trap();
    array_free(&array);
    return sum;
}

static int look_at_store(const char *path, const unsigned char *bytes, size_t size)
{
    static volatile uint64_t kept;
    struct store store;
    garner_error error;
    if (store_open_bytes(&store, path, bytes, size, &error)) {
        if (strncmp(error.message, path, strlen(path)) != 0) __builtin_trap();
        return 0;
    }
    for (size_t i = 0; i < store.count; i++)
        kept = kept + look_at_tensor(&store, i);
    store_close(&store);
    return 0;
}

#endif
