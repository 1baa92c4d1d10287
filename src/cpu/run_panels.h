/* SPDX-License-Identifier: MIT */
/* Runs the strategy PANELS, which panels.c chooses. */
#ifndef GARNER_CPU_RUN_PANELS_H
#define GARNER_CPU_RUN_PANELS_H

#include "move_points.h"

/* Columns of rows that choose from the same table, from a spot on; at least as many columns as a
 * panel has. */
struct strip {
    struct spot first;
    int64_t rows, columns;
};

/* Moves a strip by panels on the stack; false if the policy refuses an index. */
bool garner_panels_on_stack(const struct execution *e, const struct strip *strip);

/* The same by panels of whole lines in a slot: the thread's own share of the last rows of out. */
bool garner_panels_in_slot(const struct execution *e, const struct strip *strip, int64_t slot);

/* The first row of a slot. */
static inline int64_t slot_row(const struct execution *e, int64_t slot)
{
    return e->nest->rows - (slot + 1) * e->work->scratch_rows;
}

#endif
