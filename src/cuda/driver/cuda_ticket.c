/* SPDX-License-Identifier: MIT */
/* Makes tickets, and waits for them: what a kernel recorded becomes the error that the CPU would give. */
#include "cuda_ticket.h"

#include <stdlib.h>

#include "../../error.h"
#include "cuda_plan.h"
#include "garner_cuda.h"

static void clear(struct garner_cuda_ticket *ticket)
{
    ticket->record->launch = NO_LAUNCH;
    ticket->failed = NO_LAUNCH;
    ticket->pending = false;
}

static garner_status allocate(struct garner_cuda_ticket *ticket, garner_error *error)
{
    const struct driver *driver = ticket->gpu->driver;
    bool pushed;
    RETURN_NOT_OK(garner_gpu_enter(ticket->gpu, &pushed, error));
    int result =
        driver->cuMemHostAlloc((void **)&ticket->record, sizeof *ticket->record, DRIVER_HOST_PORTABLE);
    if (result == 0) {
        result = driver->cuEventCreate(&ticket->event, DRIVER_EVENT_UNTIMED);
        if (result != 0) driver->cuMemFreeHost(ticket->record);
    }
    garner_gpu_leave(ticket->gpu, pushed);
    return result == 0 ? GARNER_OK : garner_driver_fail(driver, result, "a ticket", error);
}

garner_status garner_cuda_ticket_create(garner_cuda_ticket **ticket, int device, garner_error *error)
{
    garner_error spare;
    const struct gpu *gpu;
    error = error_begin(error, &spare);
    if (ticket == NULL)
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_ticket_create: ticket is NULL");
    *ticket = NULL;
    RETURN_NOT_OK(garner_gpu_get(&gpu, device, error));
    garner_cuda_ticket *made = calloc(1, sizeof *made);
    if (made == NULL)
        return garner_fail(error, GARNER_NO_MEMORY,
                           "garner_cuda_ticket_create: no memory for a ticket of %zu bytes", sizeof *made);
    made->gpu = gpu;
    const garner_status status = allocate(made, error);
    if (status != GARNER_OK) {
        free(made);
        return status;
    }
    clear(made);
    *ticket = made;
    return GARNER_OK;
}

/* What the driver answers once the last launch is done. */
static garner_status wait_for_launch(const struct garner_cuda_ticket *ticket, garner_error *error)
{
    const struct driver *driver = ticket->gpu->driver;
    bool pushed;
    int result;
    if (!ticket->pending) return GARNER_OK;
    if (needs_event(ticket->stream)) {
        result = driver->cuEventSynchronize(ticket->event);
    } else {
        RETURN_NOT_OK(garner_gpu_enter(ticket->gpu, &pushed, error));
        result = driver->cuStreamSynchronize(ticket->stream);
        garner_gpu_leave(ticket->gpu, pushed);
    }
    return result == 0 ? GARNER_OK : garner_driver_fail(driver, result, "waiting for a gather", error);
}

void garner_cuda_ticket_destroy(garner_cuda_ticket *ticket)
{
    bool pushed;
    garner_error ignored;
    if (ticket == NULL) return;
    (void)wait_for_launch(ticket, &ignored);
    if (garner_gpu_enter(ticket->gpu, &pushed, &ignored) == GARNER_OK) {
        ticket->gpu->driver->cuEventDestroy_v2(ticket->event);
        ticket->gpu->driver->cuMemFreeHost(ticket->record);
        garner_gpu_leave(ticket->gpu, pushed);
    }
    free(ticket);
}

/* What the kernels recorded, in words. */
static GARNER_COLD garner_status report_record(const struct cuda_record *record, garner_error *error)
{
    int64_t coordinates[GARNER_MAX_RANK];
    const struct garner_cuda_plan *plan = (const struct garner_cuda_plan *)(uintptr_t)record->plan;
    garner_cuda_coordinates(&plan->nest, &plan->core.index_map, record->point, record->component,
                            coordinates);
    return garner_scan_report(&plan->core.index_map, &plan->core.nest, plan->core.op, coordinates,
                              record->value, error);
}

garner_status garner_cuda_wait(garner_cuda_ticket *ticket, garner_error *error)
{
    garner_error spare;
    garner_status status;
    error = error_begin(error, &spare);
    if (ticket == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_cuda_wait: ticket is NULL");
    const garner_status waited = wait_for_launch(ticket, error);
    const struct cuda_record record = *(volatile struct cuda_record *)ticket->record;
    if (rarely(record.launch < ticket->failed)) {
        status = report_record(&record, error);
    } else if (rarely(ticket->failed != NO_LAUNCH)) {
        *error = ticket->error;
        status = error->status;
    } else {
        status = waited;
    }
    clear(ticket);
    return status;
}
