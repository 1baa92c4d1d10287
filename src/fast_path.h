/* SPDX-License-Identifier: MIT */
/* The short way of the one-call functions: small gathers of dense tensors in which nothing is wrong. */
#ifndef GARNER_FAST_PATH_H
#define GARNER_FAST_PATH_H

#include "backend.h"
#include "op.h"

/* The nest of a call, the same that the long way makes, and its buffers. False if the call is not small, is
 * unusual, or is wrong. */
bool garner_small_nest(struct nest *nest, struct buffers *buffers, const struct op *op,
                       const garner_tensor *data, const garner_tensor *indices, const garner_tensor *out);

#endif
