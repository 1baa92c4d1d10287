/* SPDX-License-Identifier: MIT */
/*
 * garner on an NVIDIA GPU: the same operators, types, views and policies as garner.h, on memory of the
 * device.
 *
 * The library is libgarner_cuda.so. It has the core inside and needs no libgarner.so. It loads NVIDIA's
 * driver (libcuda.so.1) when the first of these functions is called; on a machine without one they answer
 * GARNER_SYSTEM and a sentence.
 *
 *     garner_cuda_plan *plan;
 *     garner_cuda_ticket *ticket;
 *     garner_cuda_plan_create(&plan, &op, &data, &indices, NULL, &error);     shapes, once
 *     garner_cuda_ticket_create(&ticket, garner_cuda_plan_device(plan), &error);
 *
 *     garner_cuda_execute(plan, data.data, indices.data, out, stream, ticket);  launches, and returns
 *     if (garner_cuda_wait(ticket, &error) != GARNER_OK)                        waits
 *         fprintf(stderr, "%s\n", error.message);                               "Gather: indices[3] = 9 is
 * ..."
 *
 * Every index is checked on the device. One that the policy refuses is never followed: its slice of out
 * becomes zero, the kernel goes on, and the context stays usable. The error that is reported is the CPU's:
 * status, lowest position, coordinates, value, bound and sentence.
 *
 * Strings are refused with GARNER_UNSUPPORTED: their characters lie in memory of the host. What the driver
 * refuses is GARNER_SYSTEM.
 */
#ifndef GARNER_CUDA_H
#define GARNER_CUDA_H

#include "garner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CUstream of the driver, which is also a cudaStream_t of the runtime. NULL is the default stream. */
struct CUstream_st;

/* ---- Devices ---------------------------------------------------------------------------------- */

/* How many devices the driver knows. GARNER_SYSTEM, and a sentence, if there is no driver or no device. */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_devices(int *count, garner_error *error);

/* A device, and what the library makes of it. */
typedef struct garner_cuda_device {
    uint32_t size;        /* sizeof(garner_cuda_device); set it before the call */
    int32_t driver;       /* the CUDA version of the driver: 13000 is 13.0 */
    char name[128];       /* "NVIDIA H200" */
    int32_t major, minor; /* compute capability */
    int32_t multiprocessors;
    int32_t measured;        /* whether the profile's numbers were measured on such a device, or reasoned */
    uint64_t memory;         /* bytes */
    uint64_t l2;             /* bytes */
    uint64_t shared;         /* bytes of shared memory that one block may use */
    const char *profile;     /* the kind of device that gathers are planned for: "hopper", ... */
    const char *profile_for; /* which devices these are, in words */
} garner_cuda_device;

/* Fills *info for device number 0, 1, ... */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_device_info(int device, garner_cuda_device *info,
                                                                 garner_error *error);

/* ---- Memory ----------------------------------------------------------------------------------- */

/*
 * For programs that have no other way to it. Memory that the driver, the CUDA runtime, torch, CuPy or JAX
 * allocated is as good: nothing below asks where it comes from.
 */

/* Allocates memory of a device. GARNER_NO_MEMORY if it has not so much left. */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_allocate(void **memory, int device, uint64_t bytes,
                                                              garner_error *error);

/* Frees it, after all that was launched with it is done; NULL is fine. */
GARNER_API void garner_cuda_free(void *memory);

/*
 * Copies in the order of the stream: between devices, or between a device and the host. Between devices it
 * launches the copy and returns. From or to memory of the host it returns when the copy, and all that was
 * launched on the stream before it, is done.
 */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_copy(void *to, const void *from, uint64_t bytes,
                                                          struct CUstream_st *stream, garner_error *error);

/* ---- Plans ------------------------------------------------------------------------------------ */

/* An immutable recipe for one operator on given shapes, strides and types, for one device. */
typedef struct garner_cuda_plan garner_cuda_plan;

/*
 * As garner_plan_create. The device is the one whose memory data->data is, if that is not NULL; otherwise the
 * calling thread's current one, or device 0. No other pointer is looked at. `out` may be NULL, which means
 * dense. The first plan for a device loads the kernels.
 */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_plan_create(garner_cuda_plan **plan, const garner_op *op,
                                                                 const garner_tensor *data,
                                                                 const garner_tensor *indices,
                                                                 const garner_tensor *out,
                                                                 garner_error *error);

/* The result's shape; valid as long as the plan. */
GARNER_API const garner_shape *garner_cuda_plan_output(const garner_cuda_plan *plan);

/* The number of the plan's device; -1 for NULL. */
GARNER_API int garner_cuda_plan_device(const garner_cuda_plan *plan);

/*
 * Writes one line that says what was chosen, parts separated by ", ": the loop nest as garner_plan_describe
 * says it, then
 *
 *   device PROFILE
 *   kernel SOURCE-iBITS-vBYTES       where points lie, bits of an index ("any" for other types), bytes that a
 *                                    thread moves at once
 *   stages N B                       shared memory of a block, where the kernel copies a part of data into it
 *   BLOCKS x THREADS threads
 *
 * for pointers that are aligned as the driver's allocations are. Returns the length of the whole line.
 */
GARNER_API size_t garner_cuda_plan_describe(const garner_cuda_plan *plan, char *buffer, size_t size);

/* Frees a plan; NULL is fine. Tickets of executions of it must have been waited for. */
GARNER_API void garner_cuda_plan_destroy(garner_cuda_plan *plan);

/* ---- Execution -------------------------------------------------------------------------------- */

/* Where executions report: a small record in pinned memory that the kernels write when something is wrong. */
typedef struct garner_cuda_ticket garner_cuda_ticket;

/* Makes a ticket for executions on a device. */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_ticket_create(garner_cuda_ticket **ticket, int device,
                                                                   garner_error *error);

/* Waits, and frees it; NULL is fine. */
GARNER_API void garner_cuda_ticket_destroy(garner_cuda_ticket *ticket);

/*
 * Launches the plan on three buffers of the device, in the order of the stream, and returns. Allocates
 * nothing, waits for nothing. What it answers is wrong with the call itself (a NULL, memory of the host or of
 * another device, an out that overlaps data, a launch that the driver refuses): then nothing was launched,
 * and garner_cuda_wait gives the sentence. GARNER_OK means launched; whether the indices were good is what
 * garner_cuda_wait says.
 *
 * A ticket may serve any number of executions before it is waited for, of any plans of its device; the first
 * of them that went wrong is the one reported. On several streams at once it makes the later stream wait for
 * the earlier one: use a ticket for each. One thread at a time may use a ticket; plans may be shared.
 *
 * While the stream is captured into a CUDA graph the launch becomes a node of it. The graph uses the ticket
 * each time it is launched. garner_cuda_wait does not know of these launches: wait for the graph's stream
 * first.
 */
GARNER_API garner_status garner_cuda_execute(const garner_cuda_plan *plan, const void *data,
                                             const void *indices, void *out, struct CUstream_st *stream,
                                             garner_cuda_ticket *ticket);

/*
 * Waits until the ticket's executions are done, on the default stream also for what was launched there after
 * them, and answers as garner_execute does: GARNER_OK, or the first error since the last call. After that the
 * ticket is as new.
 */
GARNER_API garner_status garner_cuda_wait(garner_cuda_ticket *ticket, garner_error *error);

/* Both: executes, waits, answers. Tickets are kept from call to call. */
GARNER_API GARNER_MUST_USE garner_status garner_cuda_run(const garner_cuda_plan *plan, const void *data,
                                                         const void *indices, void *out,
                                                         struct CUstream_st *stream, garner_error *error);

#ifdef __cplusplus
}
#endif

#endif /* GARNER_CUDA_H */
