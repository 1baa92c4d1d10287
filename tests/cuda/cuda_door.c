/* SPDX-License-Identifier: MIT */
/*
 * The door of the GPU: linked into a program of cases, it runs every case there instead of on the CPU. A
 * buffer is put into memory of the device at the same alignment. In the stand-in for the driver that is a
 * block of exactly its size, which AddressSanitizer guards; on a real device there are guard regions around
 * it, compared afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "device_memory.h"
#include "garner_cuda.h"

enum { GUARD = 256, CANARY = 0x5C };

struct room {
    unsigned char *memory; /* of the device */
    unsigned char *begin;  /* where the buffer begins in it */
    size_t before, bytes;
};

/* Rooms of a real device are kept from case to case, and so is what they hold, in memory of the host. */
static unsigned char *kept[3], *image;
static size_t kept_bytes[3], image_bytes;

static void make_room(int number, size_t bytes)
{
    if (bytes > image_bytes) {
        image_bytes = 2 * bytes;
        image = realloc(image, image_bytes);
        if (image == NULL) abort();
    }
    if (bytes <= kept_bytes[number]) return;
    if (kept[number]) device_free(kept[number]);
    kept_bytes[number] = 2 * bytes;
    kept[number] = device_allocate(kept_bytes[number]);
}

static struct room enter_room(int number, const struct case_buffer *buffer)
{
    const size_t shift = (uintptr_t)buffer->begin % 16, before = device_is_fake() ? shift : GUARD + shift;
    struct room room = {.before = before, .bytes = buffer->bytes};
    if (device_is_fake()) {
        room.memory = device_allocate(before + buffer->bytes);
    } else {
        make_room(number, before + buffer->bytes + GUARD);
        room.memory = kept[number];
        memset(image, CANARY, before);
        memset(image + before + buffer->bytes, CANARY, GUARD);
        memcpy(image + before, buffer->begin, buffer->bytes);
        device_put(room.memory, image, before + buffer->bytes + GUARD);
    }
    room.begin = room.memory + before;
    if (device_is_fake()) device_put(room.begin, buffer->begin, buffer->bytes);
    return room;
}

/* Gets the buffer back; whether the guard regions are as they were. */
static bool leave_room(const struct room *room, const struct case_buffer *buffer)
{
    bool untouched = true;
    if (device_is_fake()) {
        device_get(buffer->begin, room->begin, room->bytes);
        device_free(room->memory);
        return true;
    }
    device_get(image, room->memory, room->before + room->bytes + GUARD);
    for (size_t i = 0; i < room->before; i++)
        untouched = untouched && image[i] == CANARY;
    for (size_t i = 0; i < GUARD; i++)
        untouched = untouched && image[room->before + room->bytes + i] == CANARY;
    memcpy(buffer->begin, image + room->before, room->bytes);
    return untouched;
}

static garner_tensor there(const struct case_buffer *buffer, const struct room *room)
{
    garner_tensor tensor = *buffer->tensor;
    tensor.data = room->begin + ((unsigned char *)tensor.data - buffer->begin);
    return tensor;
}

garner_status case_other_door(const garner_op *op, const struct case_buffer *data,
                              const struct case_buffer *indices, const struct case_buffer *out,
                              garner_error *error)
{
    static bool begun;
    garner_cuda_plan *plan = NULL;
    if (!begun && !device_begin(0)) abort();
    begun = true;
    const struct room rooms[] = {enter_room(0, data), enter_room(1, indices), enter_room(2, out)};
    const garner_tensor from = there(data, &rooms[0]), at = there(indices, &rooms[1]),
                        to = there(out, &rooms[2]);
    garner_status status = garner_cuda_plan_create(&plan, op, &from, &at, &to, error);
    if (status == GARNER_OK) status = garner_cuda_run(plan, from.data, at.data, to.data, NULL, error);
    garner_cuda_plan_destroy(plan);
    const bool untouched[] = {leave_room(&rooms[0], data), leave_room(&rooms[1], indices),
                              leave_room(&rooms[2], out)};
    if (untouched[0] && untouched[1] && untouched[2]) return status;
    fprintf(stderr, "a byte beside a buffer was written\n");
    abort();
}
