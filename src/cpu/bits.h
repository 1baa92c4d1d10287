/* SPDX-License-Identifier: MIT */
#ifndef GARNER_CPU_BITS_H
#define GARNER_CPU_BITS_H

#include "../backend.h"

/* Moves packed elements [first, end) of out, both at a packing unit or at the end; false if the policy
 * refuses an index. */
bool garner_bits_task(const struct nest *nest, const struct buffers *buffers, int64_t first, int64_t end);

#endif
