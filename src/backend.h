/* SPDX-License-Identifier: MIT */
/*
 * Stage 4: what a backend is. Above it are operators, shapes, plans and messages; below it is one kind of
 * machine. What passes between them is a nest, three buffers and the caller's executor, nothing else: a
 * backend includes this header and what it includes, and nothing above it includes a header of a backend.
 * Packed elements and the system's answers about the machine are included for backends, not for this header.
 *
 * A backend is three functions. Each has a type here, so that the compiler holds every backend to it. They
 * are called by their names and not through a table: a gather of a few elements takes tens of nanoseconds.
 */
#ifndef GARNER_BACKEND_H
#define GARNER_BACKEND_H

#include "executor.h"
#include "line.h"
#include "nest.h"
#include "packing.h"
#include "system.h"

/* The three buffers, each at its element 0. They were compared with the shapes: whatever the nest reaches,
 * with every index in its range, lies within them; out shares no byte with the others. */
struct buffers {
    const char *data;
    const char *indices;
    char *out;
};

/* What a backend decided about a nest. Its contents are the backend's own; its size is known, because plans
 * of one-call functions lie on the stack. It may point into itself and into the nest: both stay where they
 * are. Whoever has it frees it without a call. */
enum { BACKEND_WORK_BYTES = 1024 };
struct backend_work {
    _Alignas(int64_t) unsigned char bytes[BACKEND_WORK_BYTES];
};

/* Decides, once, how a nest is run; from the nest and the machine alone. Cannot fail and allocates nothing. A
 * nest without points is planned too: it is never executed. */
typedef void backend_plan(struct backend_work *work, const struct nest *nest);

enum outcome {
    OUTCOME_DONE,    /* every point was moved */
    OUTCOME_REFUSED, /* some index is one that the policy refuses; out holds anything */
    OUTCOME_STOPPED  /* the executor cancelled the work or left a part of it out; out holds anything */
};

/* How far an execution came that was stopped, for the message. */
struct progress {
    size_t done, tasks;
};

/*
 * Moves all points of a nest. Any number of threads may execute the same work at once: it is not changed. It
 * allocates nothing.
 *
 * Indices may change meanwhile: each is loaded once, checked, and then used. One that the policy refuses ends
 * the execution; which one is reported is found afterwards, by a walk of the core's own in C order, so it
 * does not matter which one was found first.
 *
 * `exec` may be NULL: the calling thread does it all. Otherwise its parallel_for, if there is one, runs what
 * there is to do in parallel; it may be called several times. exec_threads() says how many threads it has, if
 * it says so, and exec_cancels() is asked before each task. `progress` is filled where the outcome is
 * OUTCOME_STOPPED; it may be NULL if exec is.
 */
typedef enum outcome backend_execute(const struct backend_work *work, const struct nest *nest,
                                     const struct buffers *buffers, const garner_exec *exec,
                                     struct progress *progress);

/* Appends what was decided, in words: ", kernel scalar unit-i64-4, 1 task". */
typedef void backend_describe(const struct backend_work *work, const struct nest *nest, struct line *line);

/* The CPU: memory of the host, threads of the executor. */
backend_plan garner_cpu_plan;
backend_execute garner_cpu_execute;
backend_describe garner_cpu_describe;

/* Fills in what garner_cpu_info says of its levels of kernels and of its profile. */
void garner_cpu_tell(garner_cpu *cpu);

#endif
