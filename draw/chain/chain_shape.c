/* SPDX-License-Identifier: MIT */
/* Sets the shape of a tensor in a chain. */
#include <stdlib.h>
#include <string.h>

#include "chain.h"

int chain_set_rank(struct chain_shape *shape, int32_t rank)
{
    shape->extents = calloc((size_t)rank + 1, sizeof *shape->extents);
    if (shape->extents) shape->rank = rank;
    return shape->extents != NULL;
}

int chain_set_known(struct chain_shape *shape, garner_dtype dtype, int32_t rank, const int64_t *extents)
{
    shape->dtype = dtype;
    if (!chain_set_rank(shape, rank)) return 0;
    for (int32_t i = 0; i < rank; i++)
        shape->extents[i] = (struct graph_extent){.least = extents[i], .most = extents[i]};
    return 1;
}

int chain_set_extents(struct chain_shape *shape, int32_t rank, const struct graph_extent *extents)
{
    if (rank < 0) return 1;
    if (!chain_set_rank(shape, rank)) return 0;
    if (rank) memcpy(shape->extents, extents, (size_t)rank * sizeof *extents);
    return 1;
}
