/* SPDX-License-Identifier: MIT */
/* Finds and reports the lowest index that the policy refuses. Runs when something was refused, and
 * when out has no elements, so that bad indices are an error there too. */
#include "scan.h"

#include <inttypes.h>
#include <stdio.h>

#include "error.h"

/* "[-5, 4]", "[0, 4]" where negatives are outside. */
static GARNER_COLD void print_range(char *text, size_t size, const struct axis *axis)
{
    snprintf(text, size, "[%" PRId64 ", %" PRId64 "]", -axis->wrap, axis->bound - 1);
}

garner_status garner_scan_report(const struct index_map *map, const struct nest *nest, const char *op,
                                 const int64_t *coordinates, int64_t index, garner_error *error)
{
    int k = map->tuples ? (int)coordinates[map->view.rank - 1] : 0;
    error->has |= GARNER_HAS_POSITION | GARNER_HAS_VALUE | GARNER_HAS_BOUND;
    if (nest->index_type.is_unsigned) error->has |= GARNER_HAS_UNSIGNED;
    error->rank = map->view.rank;
    error->position = 0;
    for (int d = 0; d < map->view.rank; d++) {
        error->coordinates[d] = coordinates[d];
        error->position = error->position * map->view.n[d] + coordinates[d];
    }
    error->value.i = index;
    error->bound = nest->axis[k].bound;

    char value[24], range[48];
    bool empty = error->bound == 0, beyond = index_is_beyond(index, nest->index_type);
    snprintf(value, sizeof value, beyond ? "%" PRIu64 : "%" PRId64, index);
    print_range(range, sizeof range, &nest->axis[k]);
    struct list_text position = garner_list_text(map->view.rank, coordinates);
    return garner_fail_at_axis(error, GARNER_OUT_OF_RANGE, map->gather + k,
                               "%s: indices%s = %s is outside %s%sdata axis %d%s", op,
                               map->view.rank == 0 ? "" : position.text, value, empty ? "" : range,
                               empty ? "" : " of ", map->gather + k, empty ? ", which is empty" : "");
}

/* Moves to the next position in C order; false after the last. Along an axis of stride 0 every position
 * is the same index, so only the first is visited, unless the axis counts the components of a tuple. */
static bool next_position(const struct index_map *map, int64_t *coordinates, int64_t *at)
{
    for (int d = map->view.rank - 1; d >= 0; d--) {
        bool component = map->tuples && d == map->view.rank - 1;
        if (map->view.stride[d] == 0 && !component) continue;
        *at += map->view.stride[d];
        if (++coordinates[d] < map->view.n[d]) return true;
        *at -= coordinates[d] * map->view.stride[d];
        coordinates[d] = 0;
    }
    return false;
}

enum {
    MOST_VISITS = 64,    /* of each index; views that overlap themselves visit some more than once, */
    FEW_VISITS = 1 << 28 /* which does no harm to so many in all: it takes a second */
};

garner_status garner_scan_check(const struct index_map *map, const char *op, garner_error *error)
{
    int64_t visits = map->view.count > 0,
            memory = (map->view.span.high - map->view.span.low) / map->view.item;
    for (int d = 0; d < map->view.rank && visits > 0; d++)
        if (map->view.stride[d] != 0) visits *= map->view.n[d];
    if (visits <= FEW_VISITS || visits / MOST_VISITS <= memory) return GARNER_OK;
    return garner_fail(
        error, GARNER_BAD_SHAPE,
        "%s: indices of shape %s and strides %s overlap themselves more than %d times, which is "
        "too often to check them for an output without elements",
        op, garner_list_text(map->view.rank, map->view.n).text,
        garner_list_text(map->view.rank, map->view.stride).text, MOST_VISITS);
}

/* Indices between two questions to the executor: about as long as a task takes. */
enum { SCANNED_AT_ONCE = 4096 };

static bool asks_to_stop(const garner_exec *exec, int64_t *left)
{
    if (exec == NULL || exec->cancelled == NULL || --*left > 0) return false;
    *left = SCANNED_AT_ONCE;
    return exec->cancelled(exec->context) != 0;
}

garner_status garner_scan(const struct index_map *map, const struct nest *nest, const char *op,
                          const void *base, const garner_exec *exec, garner_error *error)
{
    int64_t coordinates[GARNER_MAX_RANK] = {0}, picked, at = 0, left = SCANNED_AT_ONCE;
    if (map->view.count == 0 || nest->policy == GARNER_OOB_ZERO) return GARNER_OK;
    do {
        if (asks_to_stop(exec, &left))
            return garner_fail(error, GARNER_CANCELLED,
                               "%s: the executor stopped while the indices were looked through", op);
        const struct axis *axis = &nest->axis[map->tuples ? coordinates[map->view.rank - 1] : 0];
        const char *here = (const char *)base + at * nest->index_type.bytes;
        int64_t index = index_load(here, nest->index_type);
        if (index_land(index, nest->index_type, axis, nest->policy, &picked) == REFUSED)
            return garner_scan_report(map, nest, op, coordinates, index, error);
    } while (next_position(map, coordinates, &at));
    return GARNER_OK;
}
