/* SPDX-License-Identifier: MIT */
/*
 * Packs panels of a table, one after the other, and moves what all rows choose from each. Panels of few
 * entries lie on the stack. Those of more lie in scratch space in out: its last rows, which are written when
 * no panel is needed any more. Each thread has a slot of its own there.
 */
#include "run_panels.h"

#include <string.h>

enum { ENTRIES_AHEAD = 8 /* prefetch distance while a panel is packed */ };

/* A panel that is being used: its memory, and the bytes that it holds of each entry, a line or half a line.
 */
struct panel {
    char *at;
    int64_t width;
};

/* Copies a part of each entry of a table, side by side. */
static void pack_panel(struct panel panel, const char *from, const struct axis *axis)
{
    const uintptr_t later = (uintptr_t)axis->stride * ENTRIES_AHEAD;
    for (int64_t i = 0; i < axis->bound; i++, panel.at += panel.width, from += axis->stride) {
        __builtin_prefetch((const void *)((uintptr_t)from + later));
        memcpy(panel.at, from, LINE / 2);
        if (panel.width == LINE) memcpy(panel.at + LINE / 2, from + LINE / 2, LINE / 2);
    }
}

/* The same for elements that lie `stride` bytes apart in the table. */
static void pack_strided(struct panel panel, const char *from, const struct nest *nest, int64_t stride)
{
    const struct axis *axis = &nest->axis[0];
    for (int64_t i = 0; i < axis->bound; i++, from += axis->stride)
        for (int64_t k = 0; k < panel.width / nest->run; k++, panel.at += nest->run)
            memcpy(panel.at, from + k * stride, (size_t)nest->run);
}

/* Moves the columns of a panel. A row at which the kernel stops goes as any other. */
static bool move_panel(const struct execution *e, const struct segment *like, const char *panel,
                       struct spot first, int64_t rows)
{
    const struct dim *before = &e->nest->dim[e->nest->rank - 2];
    const int64_t points = like->row_points, index_bytes = e->nest->index_type.bytes;
    for (int64_t row = 0; row < rows; row++) {
        const struct spot from = spot_along(first, before, row);
        row += e->work->panel_kernel->function(like, panel, e->buffers->indices + from.index * index_bytes,
                                               e->buffers->out + from.out, (rows - row) * points) /
               points;
        const struct spot stopped = spot_along(first, before, row);
        if (row < rows && !move_row(e, e->work->kernel, &e->work->segment, stopped, points)) return false;
    }
    return true;
}

/* Moves a strip panel by panel. The last one may reach back over columns that were moved before. */
static bool move_strip(const struct execution *e, const struct strip *strip, struct panel panel)
{
    const struct dim *inner = &e->nest->dim[e->nest->rank - 1];
    const int64_t points = panel.width / e->nest->run;
    struct segment like = e->work->segment;
    like.row_points = (uint8_t)points;
    for (int64_t done = 0; done < strip->columns; done += points) {
        const struct spot column = spot_along(strip->first, inner, at_most(done, strip->columns - points));
        const char *from = e->buffers->data + column.data;
        if (inner->data == e->nest->run)
            pack_panel(panel, from, &e->nest->axis[0]);
        else
            pack_strided(panel, from, e->nest, inner->data);
        if (!move_panel(e, &like, panel.at, column, strip->rows)) return false;
    }
    return true;
}

/* Not inlined: other strategies have other uses for the stack. */
GARNER_NOINLINE bool garner_panels_on_stack(const struct execution *e, const struct strip *strip)
{
    __attribute__((aligned(LINE))) char memory[PANEL_BYTES];
    /* analysis: pack_panel fills it before anything is read */
    return move_strip(e, strip, (struct panel){memory, e->work->segment.row_points * e->nest->run});
}

bool garner_panels_in_slot(const struct execution *e, const struct strip *strip, int64_t slot)
{
    struct cursor row;
    cursor_seek(&row, e->nest, e->nest->rank - 1, slot_row(e, slot));
    char *scratch = e->buffers->out + row.spot.out;
    return move_strip(e, strip, (struct panel){scratch + -(uintptr_t)scratch % LINE, LINE});
}
