/* SPDX-License-Identifier: MIT */
/* Files that were dropped on the page: their tensors, and the gathers of models. */
#include <stdlib.h>
#include <string.h>

#include "browser_inflate.h"
#include "fail.h"
#include "ir.h"
#include "memory_file.h"
#include "onnx_model.h"
#include "page.h"
#include "page_model.h"
#include "print.h"
#include "store.h"

enum { MOST_FILES = 16 };

/* An open file; without bytes: none. */
struct opened {
    void *bytes;
    size_t size;
    struct store store;
    struct model *model;
};

static struct opened files[MOST_FILES];

static struct opened *find(int file)
{
    return file >= 0 && file < MOST_FILES && files[file].bytes ? &files[file] : NULL;
}

/* What lies in the slots may lie in the file: both are emptied. */
PAGE_CALL(page_close) void page_close(int file)
{
    struct opened *opened = find(file);
    if (!opened) return;
    for (int slot = 0; slot < PAGE_SLOTS; slot++)
        (void)page_slot(slot);
    store_close(&opened->store);
    model_free(opened->model);
    browser_inflate_forget(opened->bytes, opened->size);
    free(opened->bytes);
    *opened = (struct opened){.bytes = NULL};
}

/* ---- Opening ---- */

static int ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/* The .bin of an IR has its name, but for the ending. */
static const void *find_bin(const char *name, size_t *size)
{
    char beside[FAIL_LABEL];
    int length = snprintf(beside, sizeof beside, "%.*s.bin", (int)(strlen(name) - strlen(".xml")), name);
    *size = 0;
    return length > 0 && (size_t)length < sizeof beside ? memory_file_find(beside, (size_t)length, size)
                                                        : NULL;
}

static garner_status open_model(struct opened *opened, const char *name, garner_error *error)
{
    struct graph graph;
    size_t bin_size;
    const void *bin;
    garner_status status;
    if (ends_with(name, ".onnx")) {
        status = onnx_model_load_bytes(&graph, name, opened->bytes, opened->size, 0, error);
    } else {
        bin = find_bin(name, &bin_size);
        status = ir_read_bytes(&graph, name, opened->bytes, opened->size, bin, bin_size, error);
    }
    return status ? status : model_from_graph(&opened->model, &graph, error);
}

static garner_status open_bytes(struct opened *opened, const char *name, garner_error *error)
{
    if (ends_with(name, ".onnx") || ends_with(name, ".xml")) return open_model(opened, name, error);
    return store_open_bytes(&opened->store, name, opened->bytes, opened->size, error);
}

static int free_place(void)
{
    int file = 0;
    while (file < MOST_FILES && files[file].bytes)
        file++;
    return file;
}

/* Opens a file, and takes over its bytes, which are from page_alloc; an .xml comes as browser_xml.c reads it.
 * The number that it goes by, or -1 with an error as the answer. */
PAGE_CALL(page_open) int page_open(const char *name, void *bytes, size_t size)
{
    garner_error error;
    int file = free_place();
    if (file == MOST_FILES) {
        free(bytes);
        (void)fail_at(&error, GARNER_UNSUPPORTED, name, "%d files are open already, which is the limit",
                      MOST_FILES);
        answer_error(&error);
        return -1;
    }
    files[file] = (struct opened){.bytes = bytes, .size = size};
    if (!open_bytes(&files[file], name, &error)) return file;
    page_close(file);
    answer_error(&error);
    return -1;
}

/* A file that models may name, such as an IR's .bin; takes over its bytes. */
PAGE_CALL(page_beside) int page_beside(const char *name, void *bytes, size_t size)
{
    return memory_file_add(name, bytes, size);
}

/* ---- What is in them ---- */

static void answer_entry(FILE *answer, const struct store *store, size_t i)
{
    garner_error error;
    struct store_entry entry;
    garner_status status = store_describe(store, i, &entry, &error);
    fputs(i ? ",\n{" : "{", answer);
    answer_member(answer, "name", store_name(store, i), 1);
    if (status) {
        answer_member(answer, "error", error.message, 0);
    } else {
        fputs(", ", answer);
        answer_tensor(answer, entry.dtype, entry.rank, entry.shape);
    }
    fputs("}", answer);
}

static void answer_wanted(FILE *answer, const struct opened *opened)
{
    const unsigned char *packed, *begin = opened->bytes;
    size_t size, said = 0;
    fputs("], \"wanted\": [", answer);
    for (size_t i = 0; browser_inflate_wanted(i, &packed, &size); i++)
        if (packed >= begin && packed < begin + opened->size)
            fprintf(answer, "%s[%zu, %zu]", said++ ? ", " : "", (size_t)(packed - begin), size);
}

/* Lists the tensors of a file, or a model. `wanted` are places in the file that the page must inflate first:
 * each where it begins and how long it is. */
PAGE_CALL(page_list) void page_list(int file)
{
    const struct opened *opened = find(file);
    if (!opened) return;
    if (opened->model) {
        page_model_answer(opened->model);
        return;
    }
    FILE *answer = answer_begin();
    if (!answer) return;
    fputs("{\"tensors\": [", answer);
    for (size_t i = 0; i < opened->store.count; i++)
        answer_entry(answer, &opened->store, i);
    answer_wanted(answer, opened);
    fputs("]}", answer);
}

/* What the bytes at `offset` of a file became; takes over `bytes`. */
PAGE_CALL(page_inflated) void page_inflated(int file, size_t offset, void *bytes, size_t size)
{
    const struct opened *opened = find(file);
    if (opened && offset <= opened->size)
        browser_inflate_add((const unsigned char *)opened->bytes + offset, bytes, size);
    else
        free(bytes);
}

/* ---- Into a slot ---- */

/* Puts tensor `member` of a file into a slot. */
PAGE_CALL(page_member) void page_member(int slot, int file, int member)
{
    garner_error error;
    const struct opened *opened = find(file);
    if (!opened || member < 0 || (size_t)member >= opened->store.count) return;
    struct array *array = page_slot(slot);
    if (array) page_slot_answer(slot, store_load(&opened->store, (size_t)member, array, &error), &error);
}

/* Puts a constant of a model there: what a node has as data or indices. */
PAGE_CALL(page_constant) void page_constant(int slot, int file, int node)
{
    const struct opened *opened = find(file);
    const garner_tensor *constant =
        opened && opened->model ? page_model_constant(opened->model, node, slot) : NULL;
    struct array *array = constant ? page_slot(slot) : NULL;
    if (!array) return;
    memcpy(array->shape, constant->shape, (size_t)constant->rank * sizeof *array->shape);
    array->tensor = *constant;
    array->tensor.shape = array->shape;
    page_slot_answer(slot, GARNER_OK, NULL);
}

/* The picture of a model: all of it, or its gathers alone. Returns 0, or the status of the error answered. */
PAGE_CALL(page_model_picture) int page_model_picture(int file, int gathers)
{
    garner_error error;
    size_t size;
    const struct opened *opened = find(file);
    if (!opened || !opened->model) return (int)GARNER_BAD_ARGUMENT;
    garner_status status = page_model_draw(opened->model, gathers, &error);
    void *bytes = memory_file_take(&size);
    answer_bytes(bytes, size);
    if (status) answer_error(&error);
    return (int)status;
}
