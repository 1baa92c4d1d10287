/* SPDX-License-Identifier: MIT */
/* Two tensors and an operator: what goes where, and the result. */
#include <string.h>

#include "explain.h"
#include "explain_view.h"
#include "fail.h"
#include "literal.h"
#include "memory_file.h"
#include "page.h"
#include "print.h"
#include "store.h"

static struct array slots[PAGE_SLOTS];
static garner_op op;
static struct map map;
static int has_map;

/* The largest result that is computed whole. What is drawn is computed cell by cell. */
static const int64_t most_result = 1 << 24;

static void forget_map(void)
{
    if (has_map) map_free(&map);
    has_map = 0;
}

const struct map *page_map(void)
{
    return has_map ? &map : NULL;
}

struct array *page_slot(int slot)
{
    if (slot < 0 || slot >= PAGE_SLOTS) return NULL;
    forget_map();
    array_free(&slots[slot]);
    return &slots[slot];
}

void page_slot_answer(int slot, garner_status status, const garner_error *error)
{
    const garner_tensor *tensor = &slots[slot].tensor;
    FILE *answer = status ? NULL : answer_begin();
    if (status) answer_error(error);
    if (!answer) return;
    fputs("{", answer);
    answer_tensor(answer, tensor->dtype, tensor->rank, tensor->shape);
    fputs("}", answer);
}

PAGE_CALL(page_literal) void page_literal(int slot, const char *text)
{
    garner_error error;
    struct array *array = page_slot(slot);
    if (!array) return;
    garner_status status = literal_parse(array, slot == PAGE_DATA ? "data" : "indices", text, &error);
    page_slot_answer(slot, status, &error);
}

/* ---- The gather ---- */

/* Without sources: the inputs can still be looked at. */
static void outline_map(void)
{
    map = (struct map){.op = &op, .data = &slots[PAGE_DATA].tensor, .indices = &slots[PAGE_INDICES].tensor};
    map.tuple = 1;
}

static void answer_words(FILE *answer)
{
    struct words words = {0};
    view_operator(&words, &map);
    answer_member(answer, "title", words.text, 1);
    words_clear(&words);
    view_formula(&words, &map);
    answer_member(answer, "formula", words.text, 0);
    words_clear(&words);
    fputs(", \"summary\": [", answer);
    for (int i = 0, said = 0; view_summary(&words, &map, i); i++) {
        if (words.used) fputs(said++ ? ", " : "", answer);
        if (words.used) print_json_string(answer, words.text);
        words_clear(&words);
    }
    fputs("]", answer);
}

static garner_status make_op(int kind, const char *spec, double axis, double batch_dims, garner_error *error)
{
    garner_status status = garner_op_from_spec(&op, *spec ? spec : NULL, (garner_kind)kind, error);
    op.axis = (int64_t)axis;
    op.batch_dims = (int64_t)batch_dims;
    return status;
}

/* `spec` "" is no version in particular; oob below 0 is what the version says. */
PAGE_CALL(page_gather)
void page_gather(int kind, const char *spec, double axis, double batch_dims, int strict, int oob)
{
    garner_error error;
    forget_map();
    garner_status status = make_op(kind, spec, axis, batch_dims, &error);
    op.strict = strict;
    if (oob >= 0) op.oob = (garner_oob)oob;
    if (!status)
        status = map_create(&map, &op, &slots[PAGE_DATA].tensor, &slots[PAGE_INDICES].tensor, &error);
    has_map = 1;
    if (status) {
        outline_map();
        answer_error(&error);
        return;
    }
    FILE *answer = answer_begin();
    if (!answer) return;
    fputs("{", answer);
    answer_words(answer);
    fprintf(answer, ", \"tuple\": %d, \"out\": {", (int)map.tuple);
    answer_tensor(answer, map.out.dtype, map.out.rank, map.out.extents);
    fputs("}}", answer);
}

/* The name of the i-th version that an operator has; an empty answer: there are no more. */
PAGE_CALL(page_version) void page_version(int kind, int i)
{
    const char *name = garner_spec_name((garner_kind)kind, i);
    FILE *answer = answer_begin();
    if (answer && name) fputs(name, answer);
}

/* ---- The result ---- */

static garner_status run(struct array *out, garner_error *error)
{
    *out = (struct array){.memory = NULL};
    if (!has_map || !map.source) return fail(error, GARNER_BAD_ARGUMENT, "there is no result");
    if (map.out.count > most_result)
        return fail(error, GARNER_TOO_LARGE, "the result has %lld elements; the page computes at most %lld",
                    (long long)map.out.count, (long long)most_result);
    garner_status status = array_create(out, "the result", map.out.dtype, map.out.item_bytes, map.out.rank,
                                        map.out.extents, error);
    return status ? status : garner_run(&op, map.data, map.indices, &out->tensor, NULL, error);
}

/* The result as the command prints it: as text, shortened if it is long, or as JSON. Returns 0, or the status
 * of the error that is answered. */
PAGE_CALL(page_result) int page_result(int json)
{
    garner_error error;
    struct array out;
    struct print_style style = {.format = json ? PRINT_JSON : PRINT_TEXT, .shorten = !json, .bare = true};
    garner_status status = run(&out, &error);
    FILE *answer = status ? NULL : answer_begin();
    if (answer) status = print_tensor(answer, &out.tensor, &style, &error);
    if (status) answer_error(&error);
    array_free(&out);
    return (int)status;
}

/* An input as a literal that reads back to the same type and shape; an empty answer: there is none. */
PAGE_CALL(page_written) void page_written(int slot)
{
    garner_error error;
    struct array again;
    const garner_tensor *tensor = &slots[slot == PAGE_INDICES].tensor;
    struct print_style style = {.format = PRINT_TEXT, .bare = true};
    for (int typed = 0; typed < 2; typed++) {
        FILE *answer = answer_begin();
        if (!answer || print_tensor(answer, tensor, &style, &error)) break;
        if (typed) fprintf(answer, ":%s", garner_dtype_name(tensor->dtype));
        if (literal_parse(&again, "", page_answer(), &error)) break;
        int same = again.tensor.dtype == tensor->dtype && again.tensor.rank == tensor->rank &&
                   memcmp(again.shape, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape) == 0;
        array_free(&again);
        if (same) return;
    }
    answer_begin();
}

/* ---- Files ---- */

/* The picture that explain draws. Returns as page_result does. */
PAGE_CALL(page_picture) int page_picture(void)
{
    garner_error error;
    size_t size;
    garner_status status = has_map && map.source
                               ? explain_svg(&op, map.data, map.indices, "picture.svg", &error)
                               : fail(&error, GARNER_BAD_ARGUMENT, "there is no picture");
    void *bytes = memory_file_take(&size);
    answer_bytes(bytes, size);
    if (status) answer_error(&error);
    return (int)status;
}

/* The result as a .npy file. Returns as page_result does. */
PAGE_CALL(page_save) int page_save(void)
{
    garner_error error;
    struct array out;
    size_t size;
    garner_status status = run(&out, &error);
    if (!status)
        status = store_save_one("out.npy", STORE_NPY, "out", &out.tensor, slots[PAGE_DATA].descr, &error);
    array_free(&out);
    void *bytes = memory_file_take(&size);
    answer_bytes(bytes, size);
    if (status) answer_error(&error);
    return (int)status;
}

/* The bytes of an input, dense and little-endian. Returns as page_result does. */
PAGE_CALL(page_raw) int page_raw(int slot)
{
    garner_error error;
    struct print_style style = {.format = PRINT_RAW};
    FILE *answer = answer_begin();
    if (!answer) return (int)GARNER_NO_MEMORY;
    garner_status status = print_tensor(answer, &slots[slot == PAGE_INDICES].tensor, &style, &error);
    if (status) answer_error(&error);
    return (int)status;
}
