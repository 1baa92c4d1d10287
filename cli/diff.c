/* SPDX-License-Identifier: MIT */
/*
 * The command diff: whether two tensors, or all tensors of two files, are the same to the bit. What differs
 * is printed, a line for each tensor.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "difference.h"
#include "exits.h"
#include "fail.h"
#include "literal.h"
#include "tensor.h"

/* One of the two arguments. */
struct side {
    const char *role, *argument;
    struct tensor_place place;
    struct store store; /* if the argument names a file */
    struct array array; /* if it is one tensor */
};

/* Prints how two tensors differ after `title`, and counts that. */
static garner_status compare(const char *title, const struct array *a, const struct array *b,
                             size_t *different, garner_error *error)
{
    struct difference difference;
    garner_status status = difference_find(&difference, a, b, error);
    if (status != GARNER_OK || difference.kind == DIFFERENCE_NONE) return status;
    ++*different;
    fputs(title, stdout);
    difference_print(stdout, &difference, a, b);
    return GARNER_OK;
}

/* ---- Two files ---- */

static garner_status compare_stored(const struct store *a, size_t i, const struct store *b, size_t j,
                                    size_t *different, garner_error *error)
{
    char shown[200], title[210];
    struct array left, right = {0};
    snprintf(title, sizeof title, "'%s': ", printable(shown, sizeof shown, store_name(a, i)));
    garner_status status = store_load_verified(a, i, &left, error);
    if (status == GARNER_OK) status = store_load_verified(b, j, &right, error);
    if (status == GARNER_OK) status = compare(title, &left, &right, different, error);
    array_free(&left);
    array_free(&right);
    return status;
}

/* Tensors of `a` that `b` lacks are told, and, if `both`, the others compared. */
static garner_status compare_names(const struct store *a, const struct store *b, const char *who, bool both,
                                   size_t *different, garner_error *error)
{
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < a->count && status == GARNER_OK; i++) {
        size_t j;
        bool there = store_has(b, store_name(a, i), &j);
        if (there && both) status = compare_stored(a, i, b, j, different, error);
        if (there) continue;
        char shown[200];
        ++*different;
        printf("%s '%s'\n", who, printable(shown, sizeof shown, store_name(a, i)));
    }
    return status;
}

static garner_status compare_stores(const struct store *a, const struct store *b, size_t *different,
                                    garner_error *error)
{
    garner_status status = compare_names(a, b, "only A has", true, different, error);
    if (status == GARNER_OK) status = compare_names(b, a, "only B has", false, different, error);
    if (status == GARNER_OK && *different)
        printf("%zu tensor%s differ%s\n", *different, *different == 1 ? "" : "s", *different == 1 ? "s" : "");
    return status;
}

/* ---- The command ---- */

/* Opens what an argument names, once: it may be a pipe. */
static garner_status open_side(struct side *side, unsigned flags, garner_error *error)
{
    garner_status status = tensor_locate(&side->place, side->role, side->argument, error);
    if (status != GARNER_OK || !side->place.path) return status;
    return store_open(&side->store, side->place.path, flags, error);
}

/* Whether it is a file of named tensors as a whole. */
static bool is_whole(const struct side *side)
{
    return !side->place.member && (side->store.kind == STORE_NPZ || side->store.kind == STORE_SAFETENSORS);
}

static garner_status load_side(struct side *side, garner_error *error)
{
    size_t i;
    if (!side->place.path) return literal_parse(&side->array, side->role, side->argument, error);
    garner_status status = store_find(&side->store, side->place.member, &i, error);
    return status == GARNER_OK ? store_load_verified(&side->store, i, &side->array, error) : status;
}

static void close_side(struct side *side)
{
    array_free(&side->array);
    store_close(&side->store);
    free(side->place.path);
}

static garner_status compare_sides(struct side *a, struct side *b, unsigned flags, size_t *different,
                                   garner_error *error)
{
    garner_status status = open_side(a, flags, error);
    if (status == GARNER_OK) status = open_side(b, flags, error);
    if (status != GARNER_OK) return status;
    if (is_whole(a) && is_whole(b)) return compare_stores(&a->store, &b->store, different, error);
    status = load_side(a, error);
    if (status == GARNER_OK) status = load_side(b, error);
    return status == GARNER_OK ? compare("", &a->array, &b->array, different, error) : status;
}

garner_status diff_command(const struct invocation *line, garner_error *error)
{
    struct side a = {.role = "A", .argument = line->operands[0]};
    struct side b = {.role = "B", .argument = line->operands[1]};
    size_t different = 0;
    garner_status status = tensor_check_inputs(line->operands, 2, error);
    if (status == GARNER_OK) status = compare_sides(&a, &b, tensor_flags(line), &different, error);
    close_side(&a);
    close_side(&b);
    if (status != GARNER_OK || !different) return status;
    (void)succeed(error); /* leaves no message */
    return STATUS_DIFFERENT;
}
