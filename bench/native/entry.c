/* SPDX-License-Identifier: MIT */
/*
 * The thin entry through which the runner calls garner: everything that a call needs lies prepared in
 * one record, so that a call passes one pointer. The same record is timed from inside C too.
 */
#include <stdlib.h>

#include "garner.h"
#include "team.h"

enum { MOST_RANK = 8 };

struct shape {
    int64_t rank;
    int64_t extent[MOST_RANK];
};

/* What the runner asks for. */
struct request {
    int32_t kind, dtype, index_dtype;
    int32_t threads; /* 1: the calling thread; 0: one for each CPU */
    int64_t axis, batch_dims;
    struct shape data_shape, index_shape, out_shape;
    void *data, *indices, *out;
};

struct call {
    struct request asked;
    garner_op op;
    garner_tensor data, indices, out;
    garner_plan *plan; /* NULL if it was refused: then the error says why */
    garner_exec threads;
    const garner_exec *exec;
    garner_error error;
};

static garner_tensor tensor_of(void *data, const struct shape *shape, garner_dtype dtype)
{
    return (garner_tensor){
        .data = data, .shape = shape->extent, .rank = (int32_t)shape->rank, .dtype = dtype};
}

/* Prepares a call; NULL if there is no memory. */
struct call *entry_open(const struct request *asked)
{
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL) return NULL;
    const struct request *own = &call->asked;
    call->asked = *asked;
    call->op = (garner_op){.kind = (garner_kind)own->kind, .axis = own->axis, .batch_dims = own->batch_dims};
    call->data = tensor_of(own->data, &own->data_shape, own->dtype);
    call->indices = tensor_of(own->indices, &own->index_shape, own->index_dtype);
    call->out = tensor_of(own->out, &own->out_shape, own->dtype);
    call->threads = garner_threads(own->threads); /* the one line to change for another executor */
    call->exec = own->threads == 1 ? NULL : &call->threads;
    if (garner_plan_create(&call->plan, &call->op, &call->data, &call->indices, &call->out, &call->error) !=
        GARNER_OK)
        call->plan = NULL;
    return call;
}

void entry_close(struct call *call)
{
    if (call) garner_plan_destroy(call->plan);
    free(call);
}

/* What went wrong last, or "". */
const char *entry_message(const struct call *call)
{
    return call->error.message;
}

const char *entry_version(void)
{
    return garner_version();
}

int entry_dtype(const char *name)
{
    return garner_dtype_from_name(name);
}

size_t entry_describe(const struct call *call, char *buffer, size_t size)
{
    return garner_plan_describe(call->plan, buffer, size);
}

static int run_planned(struct call *call)
{
    const struct request *own = &call->asked;
    return (int)garner_execute(call->plan, own->data, own->indices, own->out, call->exec, &call->error);
}

static int run_once(struct call *call)
{
    return (int)garner_run(&call->op, &call->data, &call->indices, &call->out, call->exec, &call->error);
}

/*
 * The call that is timed: the prepared plan on the three buffers, checks on. It takes and returns nothing,
 * since converting arguments costs the caller more than a small gather: the call in use is a variable
 * here, and failures are counted.
 */
static struct call *in_use;
static int64_t failures;

void entry_use(struct call *call)
{
    in_use = call;
    failures = 0;
}

int64_t entry_failures(void)
{
    return failures;
}

void entry_execute(void)
{
    if (run_planned(in_use) != 0) failures++;
}

/* Does nothing: what it costs to get here and back. */
void entry_empty(void)
{
}

static double time_loop(int (*function)(struct call *), struct call *call, int64_t loops)
{
    int failed = 0;
    int64_t begin = team_clock();
    for (int64_t i = 0; i < loops; i++)
        failed |= function(call);
    int64_t end = team_clock();
    return failed ? -1.0 : (double)(end - begin) / (double)loops;
}

/* Nanoseconds of one call, timed in C: with a plan, and all in one call. Below 0: the call failed. */
double entry_time_planned(struct call *call, int64_t loops)
{
    return time_loop(run_planned, call, loops);
}

double entry_time_one_call(struct call *call, int64_t loops)
{
    return time_loop(run_once, call, loops);
}
