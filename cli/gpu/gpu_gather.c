/* SPDX-License-Identifier: MIT */
#include "gpu_gather.h"

#include <string.h>

#include "array.h"
#include "fail.h"

bool gpu_wanted(const struct invocation *line)
{
    return line->setting[OPTION_DEVICE].number > 0;
}

garner_status gpu_check_options(const struct invocation *line, garner_error *error)
{
    static const enum option_id others[] = {OPTION_THREADS, OPTION_HOW, OPTION_MEMORY};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (line->setting[others[i]].given)
            return fail(error, GARNER_BAD_ARGUMENT, "--%s is for the CPU, and --device is %.20s",
                        options[others[i]].name, line->setting[OPTION_DEVICE].text);
    return GARNER_OK;
}

/* ---- To the device ---- */

/* Bytes from the first element of a tensor to the end of the last one. Those that readers make have no
 * negative strides. */
static uint64_t reached_bytes(const garner_tensor *t)
{
    const int64_t count = array_count(t->rank, t->shape);
    int64_t elements = 1;
    for (int32_t d = 0; t->strides && d < t->rank; d++)
        elements += (t->shape[d] - 1) * t->strides[d];
    return (uint64_t)garner_dtype_bytes(t->dtype, t->strides && count > 0 ? elements : count, t->item_bytes);
}

static garner_status put(const struct gpu_gather *g, void **there, const garner_tensor *tensor,
                         garner_error *error)
{
    const uint64_t bytes = reached_bytes(tensor);
    garner_status status = g->library->allocate(there, g->device, bytes, error);
    if (status == GARNER_OK) status = g->library->copy(*there, tensor->data, bytes, NULL, error);
    return status;
}

/* A type that the operator refuses is no fault of a file's. */
static garner_status make_plan(struct gpu_gather *g, const garner_op *op, garner_tensor data,
                               garner_tensor indices, garner_error *error)
{
    data.data = g->data;
    indices.data = g->indices;
    data.bytes = indices.bytes = 0;
    const garner_status status = g->library->plan_create(&g->plan, op, &data, &indices, NULL, error);
    return status == GARNER_UNSUPPORTED ? GARNER_BAD_TYPE : status;
}

garner_status gpu_gather_begin(struct gpu_gather *g, const struct invocation *line, const garner_op *op,
                               const garner_tensor *data, const garner_tensor *indices, garner_error *error)
{
    g->device = (int)line->setting[OPTION_DEVICE].number - 1;
    int count; /* that there is none at all is not the command line's fault */
    garner_status status = gpu_library_load(&g->library, error);
    if (status == GARNER_OK) status = g->library->devices(&count, error);
    if (status == GARNER_OK) status = put(g, &g->data, data, error);
    if (status == GARNER_OK) status = put(g, &g->indices, indices, error);
    if (status == GARNER_OK) status = make_plan(g, op, *data, *indices, error);
    if (status != GARNER_OK) return status;
    g->data_bytes = reached_bytes(data);
    g->bytes = (uint64_t)g->library->plan_output(g->plan)->bytes;
    status = g->library->allocate(&g->out, g->device, g->bytes, error);
    return status == GARNER_OK ? g->library->ticket_create(&g->ticket, g->device, error) : status;
}

void gpu_gather_end(struct gpu_gather *g)
{
    if (!g->library) return;
    void *const memories[] = {g->data, g->indices, g->out, g->spare};
    if (g->ticket) g->library->ticket_destroy(g->ticket);
    if (g->plan) g->library->plan_destroy(g->plan);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (memories[i]) g->library->free(memories[i]);
    memset(g, 0, sizeof *g);
}

/* ---- On the device ---- */

void gpu_gather_launch(struct gpu_gather *g)
{
    (void)g->library->execute(g->plan, g->data, g->indices, g->out, NULL, g->ticket);
}

garner_status gpu_gather_wait(struct gpu_gather *g, garner_error *error)
{
    return g->library->wait(g->ticket, error);
}

garner_status gpu_gather_fetch(const struct gpu_gather *g, void *to, garner_error *error)
{
    return g->library->copy(to, g->out, g->bytes, NULL, error);
}

/* ---- A plain copy, to compare with ---- */

garner_status gpu_gather_make_spare(struct gpu_gather *g, garner_error *error)
{
    return g->library->allocate(&g->spare, g->device, g->bytes, error);
}

garner_status gpu_gather_copy(const struct gpu_gather *g, uint64_t window, garner_error *error)
{
    garner_status status = GARNER_OK;
    for (uint64_t at = 0; at < g->bytes && g->data_bytes > 0 && status == GARNER_OK;) {
        const uint64_t from = (window + at) % g->data_bytes, room = g->data_bytes - from;
        const uint64_t length = room < g->bytes - at ? room : g->bytes - at;
        status = g->library->copy((char *)g->spare + at, (const char *)g->data + from, length, NULL, error);
        at += length;
    }
    return status;
}

/* To copy a byte to the host is to wait for what was launched before. */
garner_status gpu_gather_settle(const struct gpu_gather *g, garner_error *error)
{
    char byte;
    return g->library->copy(&byte, g->spare, 1, NULL, error);
}
