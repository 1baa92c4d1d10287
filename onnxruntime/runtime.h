/* SPDX-License-Identifier: MIT */
/* The runtime that loaded the plug-in: its functions, checked once, and the statuses that it understands. */
#ifndef GARNER_ONNXRUNTIME_RUNTIME_H
#define GARNER_ONNXRUNTIME_RUNTIME_H

#include "abi.h"
#include "garner.h"

#define EP_NAME "GarnerExecutionProvider"

/* Hands a status that is not NULL, which is a failure, to the caller. */
#define RETURN_FAILURE(call)                   \
    do {                                       \
        OrtStatus *failure_ = (call);          \
        if (failure_ != NULL) return failure_; \
    } while (0)

/* Fills *ort, or says why this runtime cannot be served. */
OrtStatus *ort_open(struct ort *ort, const OrtApiBase *base);

/* A failure with garner's sentence. */
OrtStatus *ort_refuse(const struct ort *ort, const garner_error *error);

/* A failure for want of memory. */
OrtStatus *ort_no_memory(const struct ort *ort);

/* Forgets a failure. Returns whether there was one. */
bool ort_failed(const struct ort *ort, OrtStatus *status);

/* garner's name for an element type, or 0. */
garner_dtype ort_dtype(int type);

#endif
