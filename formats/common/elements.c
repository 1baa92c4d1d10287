/* SPDX-License-Identifier: MIT */
/* Walks over runs as an odometer does. Short runs are gathered in a buffer, so that whoever takes them is not
 * called for each element. */
#include "elements.h"

#include <string.h>

#include "array.h"
#include "byteorder.h"
#include "fail.h"
#include "file.h"

enum { BUFFER = 1 << 14, LONG_RUN = 1 << 11 };

struct walk {
    unsigned swap;
    elements_taker *take;
    void *context;
    garner_error *error;
    size_t used;
    unsigned char buffer[BUFFER];
};

garner_status elements_bytes(const garner_tensor *tensor, const char *path, uint64_t *bytes,
                             garner_error *error)
{
    if (tensor->rank < 0 || tensor->rank > GARNER_MAX_RANK)
        return fail_at(error, GARNER_BAD_SHAPE, path, "rank %d is outside [0, %d]", (int)tensor->rank,
                       GARNER_MAX_RANK);
    int64_t count = array_count(tensor->rank, tensor->shape);
    if (count == ARRAY_NEGATIVE_EXTENT)
        return fail_at(error, GARNER_BAD_SHAPE, path, "an extent is negative");
    int64_t size = count < 0 ? -1 : garner_dtype_bytes(tensor->dtype, count, tensor->item_bytes);
    if (size < 0) return fail_at(error, GARNER_TOO_LARGE, path, "the size does not fit in 63 bits");
    *bytes = (uint64_t)size;
    return GARNER_OK;
}

unsigned char *elements_at(const garner_tensor *tensor, int64_t flat)
{
    int64_t offset = tensor->strides ? 0 : flat;
    for (int32_t i = tensor->strides ? tensor->rank : 0; i-- > 0; flat /= tensor->shape[i])
        offset += flat % tensor->shape[i] * tensor->strides[i];
    return (unsigned char *)tensor->data + tensor->byte_offset +
           offset * garner_dtype_bytes(tensor->dtype, 1, tensor->item_bytes);
}

static garner_status flush(struct walk *walk)
{
    if (!walk->used) return GARNER_OK;
    byteorder_reverse(walk->buffer, walk->used, walk->swap);
    garner_status status = walk->take(walk->context, walk->buffer, walk->used, walk->error);
    walk->used = 0;
    return status;
}

/* BUFFER is a multiple of every width that is swapped, so no number is cut in two. */
static garner_status add(struct walk *walk, const unsigned char *bytes, uint64_t size)
{
    garner_status status = GARNER_OK;
    if (size >= LONG_RUN && !walk->swap) {
        status = flush(walk);
        return status ? status : walk->take(walk->context, bytes, (size_t)size, walk->error);
    }
    while (size && !status) {
        size_t room = BUFFER - walk->used, piece = size < room ? (size_t)size : room;
        memcpy(walk->buffer + walk->used, bytes, piece);
        walk->used += piece;
        bytes += piece;
        size -= piece;
        if (walk->used == BUFFER) status = flush(walk);
    }
    return status;
}

/* Merges the last axes that lie densely into one run; returns how many axes remain before it. */
static int32_t find_run(const garner_tensor *tensor, int64_t *run)
{
    int32_t axes = tensor->rank;
    *run = 1;
    while (axes > 0) {
        int64_t extent = tensor->shape[axes - 1];
        if (tensor->strides && extent != 1 && tensor->strides[axes - 1] != *run) break;
        *run *= extent;
        axes--;
    }
    return axes;
}

/* Moves to the next run as an odometer does; returns the change of the offset, in elements. */
static int64_t step(const garner_tensor *tensor, int32_t axes, int64_t *at)
{
    int64_t move = 0;
    for (int32_t i = axes; i-- > 0;) { /* axes are left only of strided tensors */
        if (++at[i] < tensor->shape[i]) return move + tensor->strides[i];
        move -= (at[i] - 1) * tensor->strides[i]; /* a step beyond the last one might not fit */
        at[i] = 0;
    }
    return move;
}

static garner_status add_runs(struct walk *walk, const garner_tensor *tensor, int64_t count)
{
    int64_t at[GARNER_MAX_RANK] = {0}, run;
    int32_t axes = find_run(tensor, &run);
    int64_t size = garner_dtype_bytes(tensor->dtype, run, tensor->item_bytes);
    int64_t item = garner_dtype_bytes(tensor->dtype, 1, tensor->item_bytes);
    const unsigned char *element = (const unsigned char *)tensor->data + tensor->byte_offset;
    garner_status status = GARNER_OK;
    for (int64_t left = count / run; left > 0 && !status; left--) {
        status = add(walk, element, (uint64_t)size);
        if (left > 1) element += step(tensor, axes, at) * item;
    }
    return status ? status : flush(walk);
}

garner_status elements_walk(const garner_tensor *tensor, unsigned swap, elements_taker *take, void *context,
                            garner_error *error)
{
    struct walk walk;
    walk.swap = swap;
    walk.take = take;
    walk.context = context;
    walk.error = error;
    walk.used = 0;
    int64_t count = array_count(tensor->rank, tensor->shape);
    return count > 0 ? add_runs(&walk, tensor, count) : GARNER_OK;
}

static garner_status write_piece(void *context, const void *bytes, size_t size, garner_error *error)
{
    return sink_write(context, bytes, size, error);
}

garner_status elements_write(const garner_tensor *tensor, unsigned swap, struct sink *sink,
                             garner_error *error)
{
    return elements_walk(tensor, swap, write_piece, sink, error);
}
