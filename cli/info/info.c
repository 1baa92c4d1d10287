/* SPDX-License-Identifier: MIT */
/*
 * The command info: what a file holds, without loading it. Tensors are a table of name, type, shape and
 * bytes; models are in info_model.c.
 */
#define _POSIX_C_SOURCE 200809L

#include "info.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fail.h"
#include "model.h"
#include "print.h"
#include "tensor.h"

/* Names and shapes are aligned unless one of them is very long. */
enum { WIDEST = 48, SHAPE_TEXT = 24 * GARNER_MAX_RANK };

struct listing {
    const struct store *store;
    bool json, one; /* one: the tensor at `first` alone */
    size_t first;
    int name_width, type_width, shape_width;
};

/* ---- Texts ---- */

static int shape_text(char text[SHAPE_TEXT], const int64_t *shape, int32_t rank)
{
    int used = snprintf(text, SHAPE_TEXT, "[");
    for (int32_t i = 0; i < rank; i++)
        used += snprintf(text + used, (size_t)(SHAPE_TEXT - used), i ? ",%lld" : "%lld", (long long)shape[i]);
    return used + snprintf(text + used, (size_t)(SHAPE_TEXT - used), "]");
}

/* The type by our name; of what we have no name for, by the file's. */
static const char *type_text(const struct store_entry *entry)
{
    const char *name = entry->dtype ? garner_dtype_name(entry->dtype) : NULL;
    return name && entry->dtype != GARNER_OPAQUE ? name : *entry->type ? entry->type : "?";
}

/* ---- Tensors ---- */

/* What cannot be loaded is listed all the same; what is malformed ends the list. */
static garner_status describe(const struct listing *listing, size_t i, struct store_entry *entry,
                              garner_error *error)
{
    garner_status status = store_describe(listing->store, i, entry, error);
    return status == GARNER_UNSUPPORTED ? GARNER_OK : status;
}

static void widen(int *width, int columns_needed)
{
    if (columns_needed > *width && columns_needed <= WIDEST) *width = columns_needed;
}

static garner_status measure(struct listing *listing, size_t i, garner_error *error)
{
    struct store_entry entry;
    char text[SHAPE_TEXT];
    garner_status status = describe(listing, i, &entry, error);
    if (status != GARNER_OK) return status;
    widen(&listing->name_width, print_foreign(NULL, entry.name));
    widen(&listing->type_width, (int)strlen(type_text(&entry)));
    widen(&listing->shape_width, shape_text(text, entry.shape, entry.rank));
    return GARNER_OK;
}

static void pad(int used, int width)
{
    printf("%*s", used < width ? width - used + 2 : 2, "");
}

static void print_row(const struct listing *listing, const struct store_entry *entry, const char *complaint)
{
    char text[SHAPE_TEXT];
    const char *type = type_text(entry);
    fputs("  ", stdout);
    if (listing->name_width) pad(print_foreign(stdout, entry->name), listing->name_width);
    fputs(type, stdout);
    pad((int)strlen(type), listing->type_width);
    int used = shape_text(text, entry->shape, entry->rank);
    fputs(text, stdout);
    pad(used, listing->shape_width);
    printf("%llu bytes", (unsigned long long)entry->bytes);
    if (*complaint) printf("  (not readable here: %s)", complaint);
    putchar('\n');
}

static void print_json_row(const struct store_entry *entry, const char *complaint)
{
    const char *name = entry->dtype ? garner_dtype_name(entry->dtype) : NULL;
    fputs("{\"name\": ", stdout);
    print_json_string(stdout, entry->name);
    fputs(", \"dtype\": ", stdout);
    if (name)
        print_json_string(stdout, name);
    else
        fputs("null", stdout);
    if (!name || entry->dtype == GARNER_OPAQUE) {
        fputs(", \"type\": ", stdout);
        print_json_string(stdout, entry->type);
    }
    fputs(", \"shape\": ", stdout);
    print_integers(stdout, entry->shape, entry->rank, true);
    printf(", \"bytes\": %llu", (unsigned long long)entry->bytes);
    if (*complaint) {
        fputs(", \"error\": ", stdout);
        print_json_string(stdout, complaint);
    }
    putchar('}');
}

static void print_heading(const struct listing *listing, size_t count)
{
    const struct store *store = listing->store;
    if (listing->json) {
        fputs("{\"file\": ", stdout);
        print_json_string(stdout, store->path);
        printf(", \"format\": \"%s\", \"tensors\": [", store_suffix(store->kind) + 1);
        return;
    }
    print_foreign(stdout, store->path);
    printf(": %s, %zu tensor%s\n", store_suffix(store->kind), count, count == 1 ? "" : "s");
}

static garner_status print_rows(const struct listing *listing, size_t count, garner_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct store_entry entry;
        garner_status status = describe(listing, listing->first + i, &entry, error);
        if (status != GARNER_OK) return status;
        const char *complaint = error->status == GARNER_OK ? "" : error->message;
        if (listing->json && i) fputs(", ", stdout);
        if (listing->json)
            print_json_row(&entry, complaint);
        else
            print_row(listing, &entry, complaint);
    }
    return GARNER_OK;
}

static garner_status list(struct listing *listing, garner_error *error)
{
    size_t count = listing->one ? 1 : listing->store->count;
    garner_status status = GARNER_OK;
    for (size_t i = 0; i < count && status == GARNER_OK; i++) /* nothing is printed of what is malformed */
        status = measure(listing, listing->first + i, error);
    if (status != GARNER_OK) return status;
    print_heading(listing, count);
    status = print_rows(listing, count, error);
    if (listing->json && status == GARNER_OK) fputs("]}\n", stdout);
    return status;
}

static garner_status info_tensors(const struct tensor_place *place, const struct invocation *line,
                                  garner_error *error)
{
    struct store store;
    struct listing listing = {
        .store = &store, .json = line->setting[OPTION_JSON].given, .one = place->member != NULL};
    garner_status status = store_open(&store, place->path, tensor_flags(line), error);
    if (status == GARNER_OK && listing.one) status = store_find(&store, place->member, &listing.first, error);
    if (status == GARNER_OK) status = list(&listing, error);
    store_close(&store);
    return status;
}

/* ---- The command ---- */

/* A model by its name, file:PATH included; else a file of tensors. */
garner_status info_command(const struct invocation *line, garner_error *error)
{
    struct tensor_place place;
    const char *argument = line->operands[0];
    unsigned flags = (line->setting[OPTION_JSON].given ? INFO_JSON : 0u) |
                     (line->setting[OPTION_GATHERS].given ? INFO_GATHERS : 0u);
    if (model_has_path(argument))
        return info_model(tensor_model_path(argument), flags, line->setting[OPTION_FOLLOW_LINKS].given,
                          error);
    if (flags & INFO_GATHERS)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "FILE: '%.100s' is no model (.onnx, .xml), and --gathers is for models", argument);
    garner_status status = tensor_locate(&place, "FILE", argument, error);
    if (status == GARNER_OK && place.path)
        status = info_tensors(&place, line, error);
    else if (status == GARNER_OK)
        status = fail(error, GARNER_BAD_ARGUMENT, "FILE: '%.100s' is a literal, and info is about files",
                      argument);
    else if (status == GARNER_BAD_ARGUMENT && strcmp(argument, "file:") != 0)
        status =
            fail(error, GARNER_BAD_ARGUMENT,
                 "FILE: '%.100s' is no .npy, .npz, .safetensors, .pb, .onnx or .xml file; file:PATH opens "
                 "tensors of any file name",
                 argument);
    free(place.path);
    return status;
}
