/* SPDX-License-Identifier: MIT */
/* The caller's executor, in whichever version it comes. */
#ifndef GARNER_EXECUTOR_H
#define GARNER_EXECUTOR_H

#include "base.h"

/* Bytes of the first version, which ends before `threads`. */
#define FIRST_EXEC_SIZE offsetof(garner_exec, threads)

static inline bool exec_is_known(const garner_exec *exec)
{
    return exec->size == 0 || exec->size == FIRST_EXEC_SIZE || exec->size == sizeof *exec;
}

/* How many threads it has, the caller's among them; 0: it does not say. */
static inline int exec_threads(const garner_exec *exec)
{
    if (exec->size < sizeof *exec || exec->threads == NULL) return 0;
    return exec->threads(exec->context);
}

/* Whether the executor wants the work to end now. */
static inline bool exec_cancels(const garner_exec *exec)
{
    return exec && exec->cancelled && exec->cancelled(exec->context) != 0;
}

#endif
