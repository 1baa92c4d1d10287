/* SPDX-License-Identifier: MIT */
/* The kernels for GPUs on the host, by name. */
#ifndef GARNER_TESTS_HOST_LOOP_H
#define GARNER_TESTS_HOST_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct host_grid {
    int64_t blocks;
    int threads;
    int64_t shared;
    bool backwards;
};

struct host_kernel {
    const char *name;
    size_t arguments; /* bytes */
    int most_threads;
    void (*run)(const void *arguments, const struct host_grid *grid, char *shared);
};

int host_kernel_count(void);
const struct host_kernel *host_kernel_at(int i);

#ifdef __cplusplus
}
#endif

#endif
