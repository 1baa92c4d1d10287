/* SPDX-License-Identifier: MIT */
/*
 * The plans of one kernel, by the shapes that it met. They are only ever added to and live as long as the
 * kernel, so that finding one takes no lock; a model that meets more shapes than there is room for plans the
 * others anew each time.
 */
#ifndef GARNER_ONNXRUNTIME_PLANS_H
#define GARNER_ONNXRUNTIME_PLANS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "garner.h"

/* A plan, and the shapes and types that it is for. Of strings, what is planned is how their positions are
 * gathered. */
struct planned {
    garner_plan *plan;
    int64_t *positions; /* of strings: 0, 1, 2, ... for each element of data; otherwise NULL */
    int32_t data_rank, indices_rank;
    garner_dtype data_dtype, indices_dtype;
    int64_t extents[]; /* of data, then of indices */
};

/* For data whose elements lie `step` elements apart, in C order; NULL, with *error filled, if it cannot be
 * done. */
struct planned *planned_new(const garner_op *op, const garner_tensor *data, int64_t step,
                            const garner_tensor *indices, garner_error *error);
void planned_free(struct planned *planned);

enum { PLANS_ROOM = 32 };

struct plans {
    pthread_mutex_t adding;
    atomic_int count;
    struct planned *entry[PLANS_ROOM];
};

/* False if the system has no lock to give. */
bool plans_open(struct plans *plans);
void plans_close(struct plans *plans);

/* What was planned for tensors of these shapes and types, or NULL. */
const struct planned *plans_find(struct plans *plans, const garner_tensor *data,
                                 const garner_tensor *indices);

/* Takes a plan into its care. False if there is no room; then it stays the caller's. */
bool plans_keep(struct plans *plans, struct planned *planned);

#endif
