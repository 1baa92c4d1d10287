/* SPDX-License-Identifier: MIT */
/* A ticket: the record in pinned memory, the event after the last launch, and the first error that no kernel
 * found. */
#ifndef GARNER_CUDA_TICKET_H
#define GARNER_CUDA_TICKET_H

#include "gpu.h"

struct garner_cuda_ticket {
    const struct gpu *gpu;
    struct cuda_record *record;
    void *event;                /* behind the last launch, unless that is of the default stream */
    struct CUstream_st *stream; /* of the last launch, */
    bool pending;               /* which was not waited for */
    int64_t launches;           /* so far */
    int64_t failed;     /* the number that the first call which failed would have had; NO_LAUNCH: none */
    garner_error error; /* its */
    struct garner_cuda_ticket *next; /* of those that garner_cuda_run keeps */
};

/* The default stream is never destroyed, so it can be waited for later on, and each call does without an
 * event. */
static inline bool needs_event(const struct CUstream_st *stream)
{
    return stream != NULL;
}

#endif
