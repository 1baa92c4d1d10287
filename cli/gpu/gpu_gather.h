/* SPDX-License-Identifier: MIT */
/* One gather on a GPU, for tensors in memory of the host: buffers of the device, a plan, a ticket. */
#ifndef GARNER_CLI_GPU_GATHER_H
#define GARNER_CLI_GPU_GATHER_H

#include "gpu_library.h"
#include "options.h"

/* Zeroed: none. */
struct gpu_gather {
    const struct gpu_library *library;
    garner_cuda_plan *plan;
    garner_cuda_ticket *ticket;
    void *data, *indices, *out, *spare; /* memory of the device */
    uint64_t data_bytes, bytes;         /* of data and of out */
    int device;
};

/* Whether --device names a GPU. */
bool gpu_wanted(const struct invocation *line);

/* Whether no option was given that is for the CPU alone. */
garner_status gpu_check_options(const struct invocation *line, garner_error *error);

/* Takes the device that --device names, copies both tensors there, and plans. */
garner_status gpu_gather_begin(struct gpu_gather *g, const struct invocation *line, const garner_op *op,
                               const garner_tensor *data, const garner_tensor *indices, garner_error *error);

/* Launches it. What is wrong with an index gpu_gather_wait says. */
void gpu_gather_launch(struct gpu_gather *g);

/* Waits for all launches since the last call. */
garner_status gpu_gather_wait(struct gpu_gather *g, garner_error *error);

/* Gets the result, which is dense. */
garner_status gpu_gather_fetch(const struct gpu_gather *g, void *to, garner_error *error);

/* Memory of the device for as many bytes as the result has, in g->spare; and launches a copy of so many bytes
 * of data there, from `window` on and then from the beginning. gpu_gather_settle waits. */
garner_status gpu_gather_make_spare(struct gpu_gather *g, garner_error *error);
garner_status gpu_gather_copy(const struct gpu_gather *g, uint64_t window, garner_error *error);
garner_status gpu_gather_settle(const struct gpu_gather *g, garner_error *error);

/* Gives all of it back; zeroed is fine. */
void gpu_gather_end(struct gpu_gather *g);

#endif
