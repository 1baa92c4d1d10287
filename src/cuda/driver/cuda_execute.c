/* SPDX-License-Identifier: MIT */
/* Launches plans on the caller's stream: checks the pointers, fills the arguments in, records an event. */
#include <pthread.h>

#include "../../operands.h"
#include "cuda_plan.h"
#include "cuda_ticket.h"
#include "garner_cuda.h"

static GARNER_COLD garner_status fail_memory(const struct garner_cuda_plan *plan, const char *role, int kind,
                                             int device, garner_error *error)
{
    const char *op = plan->core.op;
    if (kind == DRIVER_MEMORY_DEVICE)
        return garner_fail(
            error, GARNER_BAD_ARGUMENT,
            "%s: %s is memory of device %d; it must be of device %d, for which the plan was made", op, role,
            device, plan->gpu->number);
    return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: %s is memory of the host; it must be of device %d",
                       op, role, plan->gpu->number);
}

/* Whether a pointer is memory of the plan's device, as far as the driver knows. */
static garner_status check_memory(const struct garner_cuda_plan *plan, const struct operand *operand,
                                  const void *pointer, const char *role, garner_error *error)
{
    int kind = 0, device = -1, managed = 0;
    int attributes[] = {DRIVER_POINTER_MEMORY, DRIVER_POINTER_DEVICE, DRIVER_POINTER_MANAGED};
    void *values[] = {&kind, &device, &managed};
    if (operand->count == 0) return GARNER_OK;
    const int result =
        plan->gpu->driver->cuPointerGetAttributes(3, attributes, values, (uint64_t)(uintptr_t)pointer);
    if (rarely(result != 0)) return garner_driver_fail(plan->gpu->driver, result, role, error);
    if (managed || (kind == DRIVER_MEMORY_DEVICE && device == plan->gpu->number)) return GARNER_OK;
    return fail_memory(plan, role, kind, device, error);
}

/* What an address is a multiple of, at most 16. */
static int alignment_of(const void *pointer)
{
    const uintptr_t limited = (uintptr_t)pointer | 16;
    return (int)(limited & (~limited + 1));
}

static void set_pointers(struct cuda_task *task, const struct garner_cuda_plan *plan,
                         const struct buffers *buffers, struct garner_cuda_ticket *ticket)
{
    task->data = buffers->data;
    task->indices = buffers->indices;
    task->out = buffers->out;
    task->record = ticket->record;
    task->launch = ticket->launches;
    task->plan = (uint64_t)(uintptr_t)plan;
}

static garner_status launch(const struct garner_cuda_plan *plan, const struct cuda_work *work, void *function,
                            void *arguments, void *stream, garner_error *error)
{
    void *list[] = {arguments};
    const int result =
        plan->gpu->driver->cuLaunchKernel(function, (unsigned)work->blocks, 1, 1, (unsigned)work->threads, 1,
                                          1, (unsigned)work->shared, stream, list, NULL);
    return result == 0 ? GARNER_OK
                       : garner_driver_fail(plan->gpu->driver, result, "launching a gather", error);
}

static garner_status launch_work(const struct garner_cuda_plan *plan, const struct buffers *buffers,
                                 void *stream, struct garner_cuda_ticket *ticket, garner_error *error)
{
    const struct cuda_alignment alignment = {alignment_of(buffers->data), alignment_of(buffers->indices),
                                             alignment_of(buffers->out)};
    const struct cuda_work *work = &plan->work;
    struct cuda_work other;
    void *function = plan->function;
    if (rarely((alignment.data & alignment.indices & alignment.out) != 16)) {
        garner_cuda_plan_for(&other, &plan->nest, &plan->gpu->profile, alignment);
        work = &other;
        function = garner_gpu_function(plan->gpu, work);
    }
    if (garner_cuda_takes_any(work->source)) {
        struct cuda_any any;
        garner_cuda_any(&any, work, &plan->nest);
        set_pointers(&any.task, plan, buffers, ticket);
        return launch(plan, work, function, &any, stream, error);
    }
    struct cuda_task task = work->task;
    set_pointers(&task, plan, buffers, ticket);
    return launch(plan, work, function, &task, stream, error);
}

/* Lets a stream wait for the ticket's last launch, which is of another one. */
static int follow(const struct driver *driver, const struct garner_cuda_ticket *ticket,
                  struct CUstream_st *stream)
{
    if (!ticket->pending || ticket->stream == stream) return 0;
    const int result = needs_event(ticket->stream) ? 0 : driver->cuEventRecord(ticket->event, ticket->stream);
    return result == 0 ? driver->cuStreamWaitEvent(stream, ticket->event, 0) : result;
}

/* Launches, and records the event behind it, unless the stream is captured: then nobody can wait for it. */
static garner_status enqueue(const struct garner_cuda_plan *plan, const struct buffers *buffers,
                             struct CUstream_st *stream, struct garner_cuda_ticket *ticket,
                             garner_error *error)
{
    const struct driver *driver = plan->gpu->driver;
    int capture = 0;
    int result = driver->cuStreamIsCapturing(stream, &capture);
    if (result == 0 && capture != DRIVER_CAPTURING) result = follow(driver, ticket, stream);
    if (rarely(result != 0)) return garner_driver_fail(driver, result, "the stream", error);
    RETURN_NOT_OK(launch_work(plan, buffers, stream, ticket, error));
    if (capture == DRIVER_CAPTURING) return GARNER_OK;
    if (needs_event(stream)) result = driver->cuEventRecord(ticket->event, stream);
    if (rarely(result != 0)) return garner_driver_fail(driver, result, "the stream", error);
    ticket->pending = true;
    ticket->stream = stream;
    return GARNER_OK;
}

static garner_status check_device(const struct garner_cuda_plan *plan,
                                  const struct garner_cuda_ticket *ticket, garner_error *error)
{
    if (plan->gpu == ticket->gpu) return GARNER_OK;
    return garner_fail(error, GARNER_BAD_ARGUMENT,
                       "%s: the ticket is of device %d; it must be of device %d, as the plan", plan->core.op,
                       ticket->gpu->number, plan->gpu->number);
}

static garner_status execute(const struct garner_cuda_plan *plan, struct buffers given,
                             struct CUstream_st *stream, struct garner_cuda_ticket *ticket,
                             garner_error *error)
{
    struct buffers buffers = {0};
    bool pushed;
    if (plan == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_execute: plan is NULL");
    RETURN_NOT_OK(check_device(plan, ticket, error));
    RETURN_NOT_OK(operands_take(&buffers, &plan->core, given.data, given.indices, given.out, error));
    RETURN_NOT_OK(garner_gpu_enter(plan->gpu, &pushed, error));
    garner_status status = check_memory(plan, &plan->core.data, given.data, "data", error);
    if (status == GARNER_OK)
        status = check_memory(plan, &plan->core.indices, given.indices, "indices", error);
    if (status == GARNER_OK) status = check_memory(plan, &plan->core.out, given.out, "out", error);
    if (status == GARNER_OK && plan->work.blocks > 0) status = enqueue(plan, &buffers, stream, ticket, error);
    garner_gpu_leave(plan->gpu, pushed);
    return status;
}

garner_status garner_cuda_execute(const garner_cuda_plan *plan, const void *data, const void *indices,
                                  void *out, struct CUstream_st *stream, garner_cuda_ticket *ticket)
{
    garner_error error;
    if (ticket == NULL) return GARNER_BAD_ARGUMENT;
    error_begin(&error, &error);
    const garner_status status = execute(plan, (struct buffers){data, indices, out}, stream, ticket, &error);
    if (rarely(status != GARNER_OK) && ticket->failed == NO_LAUNCH) {
        ticket->failed = ticket->launches;
        ticket->error = error;
    }
    ticket->launches++;
    return status;
}

/* ---- With tickets of our own ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct garner_cuda_ticket *idle; /* a list */

/* Takes an idle ticket of a device out of the list; NULL if there is none. */
static struct garner_cuda_ticket *take_idle(const struct gpu *gpu)
{
    pthread_mutex_lock(&mutex);
    struct garner_cuda_ticket **at = &idle;
    while (*at && (*at)->gpu != gpu)
        at = &(*at)->next;
    struct garner_cuda_ticket *ticket = *at;
    if (ticket) *at = ticket->next;
    pthread_mutex_unlock(&mutex);
    return ticket;
}

static void give_back(struct garner_cuda_ticket *ticket)
{
    pthread_mutex_lock(&mutex);
    ticket->next = idle;
    idle = ticket;
    pthread_mutex_unlock(&mutex);
}

garner_status garner_cuda_run(const garner_cuda_plan *plan, const void *data, const void *indices, void *out,
                              struct CUstream_st *stream, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (plan == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_run: plan is NULL");
    garner_cuda_ticket *ticket = take_idle(plan->gpu);
    if (ticket == NULL) RETURN_NOT_OK(garner_cuda_ticket_create(&ticket, plan->gpu->number, error));
    garner_cuda_execute(plan, data, indices, out, stream, ticket);
    const garner_status status = garner_cuda_wait(ticket, error);
    give_back(ticket);
    return status;
}
