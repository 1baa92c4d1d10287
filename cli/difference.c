/* SPDX-License-Identifier: MIT */
/*
 * Compares blocks of bytes, and looks at single elements only where blocks differ. Tensors that are not
 * dense are made so first.
 */
#include "difference.h"

#include <stdbool.h>
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "pack.h"
#include "print.h"
#include "progress.h"
#include "value.h"

enum { BLOCK = 1 << 14 }; /* elements; whole units of every packed type */

/* ---- Dense tensors ---- */

static garner_status append(void *context, const void *bytes, size_t size, garner_error *error)
{
    unsigned char **at = context;
    (void)error;
    memcpy(*at, bytes, size);
    *at += size;
    return GARNER_OK;
}

/* The elements of a tensor, densely: where they are, or in `copy`. */
static garner_status densify(const garner_tensor *t, struct array *copy, const unsigned char **bytes,
                             garner_error *error)
{
    memset(copy, 0, sizeof *copy);
    *bytes = (const unsigned char *)t->data + t->byte_offset;
    if (!t->strides) return GARNER_OK;
    garner_status status =
        array_create(copy, "a dense copy", t->dtype, t->item_bytes, t->rank, t->shape, error);
    if (status != GARNER_OK) return status;
    unsigned char *at = copy->memory;
    *bytes = copy->memory;
    return elements_walk(t, 0, append, &at, error);
}

/* ---- Elements ---- */

static bool same_string(const unsigned char *a, const unsigned char *b)
{
    garner_string left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left.size == right.size && (left.size == 0 || memcmp(left.bytes, right.bytes, left.size) == 0);
}

static bool same_element(const garner_tensor *t, const unsigned char *a, const unsigned char *b, int64_t i)
{
    int bits = garner_dtype_bits(t->dtype);
    if (t->dtype != GARNER_OPAQUE && bits < 8) return pack_get(t->dtype, a, i) == pack_get(t->dtype, b, i);
    size_t size = (size_t)garner_dtype_bytes(t->dtype, 1, t->item_bytes);
    size_t at = (size_t)i * size;
    if (t->dtype == GARNER_STR) return same_string(a + at, b + at);
    return memcmp(a + at, b + at, size) == 0;
}

/* Elements [begin, end), which begin at whole bytes. */
static void compare_block(struct difference *difference, const garner_tensor *t, const unsigned char *a,
                          const unsigned char *b, int64_t begin, int64_t end)
{
    size_t from = (size_t)garner_dtype_bytes(t->dtype, begin, t->item_bytes);
    size_t to = (size_t)garner_dtype_bytes(t->dtype, end, t->item_bytes);
    if (t->dtype != GARNER_STR && memcmp(a + from, b + from, to - from) == 0) return;
    for (int64_t i = begin; i < end; i++) {
        if (same_element(t, a, b, i)) continue;
        if (difference->count++ == 0) difference->first = i;
    }
}

static void compare_all(struct difference *difference, const garner_tensor *t, const unsigned char *a,
                        const unsigned char *b)
{
    struct progress progress;
    (void)progress_begin(&progress, (garner_exec){0});
    for (int64_t i = 0; i < difference->total; i += BLOCK) {
        int64_t end = difference->total - i < BLOCK ? difference->total : i + BLOCK;
        compare_block(difference, t, a, b, i, end);
        progress_step(&progress, (size_t)(i / BLOCK), (size_t)(difference->total / BLOCK) + 1);
    }
    progress_end(&progress);
}

static bool same_type(const struct array *a, const struct array *b)
{
    if (a->tensor.dtype != b->tensor.dtype) return false;
    if (a->tensor.dtype != GARNER_OPAQUE) return true;
    return a->tensor.item_bytes == b->tensor.item_bytes &&
           strcmp(a->descr ? a->descr : "", b->descr ? b->descr : "") == 0;
}

static bool same_shape(const garner_tensor *a, const garner_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

garner_status difference_find(struct difference *difference, const struct array *a, const struct array *b,
                              garner_error *error)
{
    const garner_tensor *t = &a->tensor;
    struct array copy_a, copy_b = {0};
    const unsigned char *left, *right;
    *difference = (struct difference){.kind = DIFFERENCE_NONE};
    difference->kind = !same_type(a, b)             ? DIFFERENCE_TYPE
                       : !same_shape(t, &b->tensor) ? DIFFERENCE_SHAPE
                                                    : DIFFERENCE_NONE;
    difference->total = array_count(t->rank, t->shape);
    if (difference->kind != DIFFERENCE_NONE || difference->total <= 0) return GARNER_OK;
    garner_status status = densify(t, &copy_a, &left, error);
    if (status == GARNER_OK) status = densify(&b->tensor, &copy_b, &right, error);
    if (status == GARNER_OK) compare_all(difference, t, left, right);
    if (difference->count) difference->kind = DIFFERENCE_ELEMENTS;
    array_free(&copy_a);
    array_free(&copy_b);
    return status;
}

/* ---- Words ---- */

static void print_type(FILE *out, const struct array *array)
{
    char shown[100];
    fputs(garner_dtype_name(array->tensor.dtype), out);
    if (array->descr) fprintf(out, " %s", printable(shown, sizeof shown, array->descr));
}

static void print_coordinates(FILE *out, const garner_tensor *t, int64_t flat)
{
    int64_t at[GARNER_MAX_RANK];
    for (int32_t i = t->rank; i-- > 0; flat /= t->shape[i])
        at[i] = flat % t->shape[i];
    print_integers(out, at, t->rank, false);
}

/* The bytes as they lie, for elements that have no form as text or the same one. */
static void print_bytes(FILE *out, const garner_tensor *t, int64_t flat)
{
    enum { MOST = 16 };
    const unsigned char *bytes = elements_at(t, flat);
    int64_t size = garner_dtype_bytes(t->dtype, 1, t->item_bytes);
    fputs("bytes", out);
    for (int64_t i = 0; i < size && i < MOST; i++)
        fprintf(out, " %02x", bytes[i]);
    if (size > MOST) fputs(" ...", out);
}

static void print_values(FILE *out, const struct difference *difference, const garner_tensor *a,
                         const garner_tensor *b)
{
    char left[120], right[120];
    int sizes[2] = {value_text(left, sizeof left, a, difference->first),
                    value_text(right, sizeof right, b, difference->first)};
    if (strcmp(left, right) == 0 && a->dtype != GARNER_STR) {
        print_bytes(out, a, difference->first);
        fputs(" and ", out);
        print_bytes(out, b, difference->first);
        return;
    }
    fprintf(out, "%s%s and %s%s", left, (size_t)sizes[0] >= sizeof left ? "..." : "", right,
            (size_t)sizes[1] >= sizeof right ? "..." : "");
}

void difference_print(FILE *out, const struct difference *difference, const struct array *a,
                      const struct array *b)
{
    switch (difference->kind) {
    case DIFFERENCE_TYPE:
        fputs("types differ: ", out);
        print_type(out, a);
        fputs(" and ", out);
        print_type(out, b);
        break;
    case DIFFERENCE_SHAPE:
        fputs("shapes differ: ", out);
        print_integers(out, a->tensor.shape, a->tensor.rank, false);
        fputs(" and ", out);
        print_integers(out, b->tensor.shape, b->tensor.rank, false);
        break;
    case DIFFERENCE_ELEMENTS:
        fputs("first difference at ", out);
        print_coordinates(out, &a->tensor, difference->first);
        fputs(": ", out);
        print_values(out, difference, &a->tensor, &b->tensor);
        fprintf(out, "; %lld of %lld element%s differ%s", (long long)difference->count,
                (long long)difference->total, difference->total == 1 ? "" : "s",
                difference->count == 1 ? "s" : "");
        break;
    default:
        fputs("no difference", out);
    }
    putc('\n', out);
}
