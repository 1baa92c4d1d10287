/* SPDX-License-Identifier: MIT */
/*
 * Packed elements whose runs do not begin and end on bytes. Out is dense, so a task writes its
 * elements in order, a whole packing unit at a time, and no two tasks touch the same byte.
 */
#include "bits.h"

#include "kernels/kernel.h"
#include "walk.h"

/* Elements on their way out. */
struct writer {
    const struct dtype *type;
    unsigned char *unit; /* the next unit to write */
    int filled;
    unsigned code[MOST_PER_UNIT];
};

static void flush_unit(struct writer *w)
{
    if (w->filled == 0) return;
    while (w->filled < w->type->per_unit)
        w->code[w->filled++] = 0;
    put_unit(w->unit, w->type, w->code);
    w->unit += w->type->unit_bytes;
    w->filled = 0;
}

static void put_code(struct writer *w, unsigned code)
{
    w->code[w->filled++] = code;
    if (w->filled == w->type->per_unit) flush_unit(w);
}

/* Elements [from, end) of one run; `at` is where the run begins in data. */
static void put_run(struct writer *w, const char *data, int64_t at, int64_t from, int64_t end)
{
    for (int64_t i = from; i < end; i++)
        put_code(w, at == OFFSET_NOWHERE ? 0 : get_code((const unsigned char *)data, w->type, at + i));
}

bool garner_bits_task(const struct nest *nest, const struct buffers *buffers, int64_t first, int64_t end)
{
    const int inner = nest->rank - 1;
    int64_t skip = first % nest->run, left = end - first, offset[BLOCK_POINTS];
    struct writer w = {
        .type = nest->packed,
        .unit = (unsigned char *)buffers->out + first / nest->packed->per_unit * nest->packed->unit_bytes,
    };
    struct cursor cursor;
    cursor_seek(&cursor, nest, nest->rank, first / nest->run);
    while (left > 0) {
        int64_t n = at_most(at_most(BLOCK_POINTS, divide_up(left + skip, nest->run)),
                            nest->dim[inner].n - cursor.at[inner]);
        if (garner_resolve(nest, buffers->indices, cursor.spot.index, n, offset) == REFUSED) return false;
        for (int64_t i = 0; i < n; i++, skip = 0) {
            int64_t stop = at_most(nest->run, skip + left);
            int64_t at = offset[i] == OFFSET_NOWHERE ? OFFSET_NOWHERE : cursor.spot.data + offset[i];
            put_run(&w, buffers->data, at, skip, stop);
            left -= stop - skip;
        }
        cursor_advance(&cursor, nest, n);
    }
    flush_unit(&w);
    return true;
}
