/* SPDX-License-Identifier: MIT */
/*
 * Bytes become sequences of calls from several threads: whatever they do at the same time, each result is the
 * reference's. tests/src/test_threads_calls.c is the same with random numbers, for other sanitizers.
 */
#include <stdlib.h>

#include "calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t calls = 0;
    if (!calls_run(choices_from(bytes, size, 1), &calls)) abort();
    return 0;
}
