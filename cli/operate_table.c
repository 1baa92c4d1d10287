/* SPDX-License-Identifier: MIT */
/*
 * Gathers whose DATA is a large file: read as a table, within a budget of memory, with a line on the terminal
 * that says how far it is. What is small, a literal, or no regular file is gathered as it always was.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "operate_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "garner_table.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "tensor.h"

enum { LARGE = 1 << 26 }; /* bytes; mapping less than that is as fast */

/* One gather from a table and all that it owns. */
struct work {
    const struct invocation *line;
    garner_op op;
    garner_table *table;
    struct array indices, out;
    struct progress progress;
};

static bool is_model(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".onnx") == 0;
}

static garner_status fail_options(const struct invocation *line, garner_error *error)
{
    return fail(error, GARNER_BAD_ARGUMENT, "--%s is for DATA in a file, and '%.60s' is none",
                line->setting[OPTION_HOW].given ? "how" : "memory", line->operands[0]);
}

garner_status operate_wants_table(bool *wanted, const struct invocation *line, garner_error *error)
{
    struct stat about;
    struct tensor_place place;
    bool asked = line->setting[OPTION_HOW].given || line->setting[OPTION_MEMORY].given;
    *wanted = false;
    garner_status status = tensor_locate(&place, "DATA", line->operands[0], error);
    if (status != GARNER_OK) return status;
    if (place.path && strcmp(place.path, "-") != 0)
        *wanted = asked || is_model(place.path) ||
                  (store_kind_of_path(place.path) != STORE_PB && stat(place.path, &about) == 0 &&
                   S_ISREG(about.st_mode) && about.st_size >= LARGE);
    free(place.path);
    return asked && !*wanted ? fail_options(line, error) : GARNER_OK;
}

garner_status operate_refuse_model(const struct invocation *line, garner_error *error)
{
    struct tensor_place place;
    garner_status status = tensor_locate(&place, "DATA", line->operands[0], error);
    if (status == GARNER_OK && place.path && is_model(place.path))
        status = fail(error, GARNER_BAD_ARGUMENT,
                      "--device %.20s does not take DATA from a model, and '%.60s' is one",
                      line->setting[OPTION_DEVICE].text, line->operands[0]);
    free(place.path);
    return status;
}

/* ---- Opening ---- */

static int watch(void *context, int64_t done, int64_t all)
{
    progress_rows(context, done, all);
    return 0;
}

static garner_status open_table(struct work *w, garner_error *error)
{
    const struct setting *s = w->line->setting;
    struct tensor_place place;
    garner_table_options wanted = {
        .size = sizeof wanted,
        .how = s[OPTION_HOW].given ? (garner_table_how)(s[OPTION_HOW].number + 1) : GARNER_TABLE_ANY,
        .memory = (uint64_t)s[OPTION_MEMORY].number,
        .threads = (int32_t)s[OPTION_THREADS].number,
        .follow_links = s[OPTION_FOLLOW_LINKS].given,
        .watch = watch,
        .context = &w->progress,
    };
    garner_status status = tensor_locate(&place, "DATA", w->line->operands[0], error);
    if (status == GARNER_OK) status = garner_table_open(place.path, place.member, &wanted, &w->table, error);
    free(place.path);
    return status;
}

/* ---- Gathering ---- */

static void describe(const struct work *w)
{
    char text[160];
    garner_table_stats stats = {.size = sizeof stats};
    garner_table_report(w->table, &stats);
    snprintf(text, sizeof text, "table: %s%s, %llu rows, %llu blocks read, %llu bytes",
             garner_table_how_name(stats.how), stats.direct ? " past the page cache" : "",
             (unsigned long long)stats.points, (unsigned long long)stats.reads,
             (unsigned long long)stats.bytes);
    message_print(text);
}

static garner_status save(struct work *w, const struct tensor_target *target, garner_error *error)
{
    char *stem = target->member ? NULL : tensor_stem(target->path);
    const char *name = target->member ? target->member : stem;
    if (!name) return fail_memory(error, target->path, strlen(target->path));
    garner_status status = garner_table_save(w->table, &w->op, &w->indices.tensor, target->path, name, error);
    free(stem);
    return status;
}

static garner_status gather(struct work *w, garner_error *error)
{
    garner_shape shape;
    garner_status status =
        garner_infer(&w->op, garner_table_tensor(w->table), &w->indices.tensor, &shape, error);
    if (status == GARNER_OK && !w->line->setting[OPTION_OUT].given)
        status = print_check(shape.dtype, (enum print_format)w->line->setting[OPTION_FORMAT].number, error);
    if (status == GARNER_OK)
        status = array_create(&w->out, "the result", shape.dtype, shape.item_bytes, shape.rank, shape.extents,
                              error);
    if (status == GARNER_OK)
        status = garner_table_gather(w->table, &w->op, &w->indices.tensor, &w->out.tensor, error);
    return status;
}

/* A device or a pipe has no ending that says what to write: it gets .npy, from memory. */
static garner_status deliver(struct work *w, garner_error *error)
{
    const struct setting *s = w->line->setting;
    struct tensor_target target = {0};
    garner_status status =
        s[OPTION_OUT].given ? tensor_aim(&target, "--out", s[OPTION_OUT].text, error) : GARNER_OK;
    bool named =
        target.path && (strcmp(target.path, "-") == 0 || store_kind_of_path(target.path) != STORE_UNKNOWN);
    if (status == GARNER_OK) status = named ? save(w, &target, error) : gather(w, error);
    progress_end(&w->progress);
    if (status == GARNER_OK && s[OPTION_VERBOSE].given) describe(w);
    if (status == GARNER_OK && target.path && !named)
        status = tensor_save_to(&target, NULL, &w->out.tensor, garner_table_descr(w->table), error);
    if (status == GARNER_OK && !target.path) {
        struct print_style style = output_style(w->line);
        status = output_tensor(&w->out.tensor, &style, error);
    }
    free(target.path);
    return status;
}

garner_status operate_table(const struct invocation *line, const garner_op *op, garner_error *error)
{
    struct work w = {.line = line, .op = *op};
    (void)progress_begin(&w.progress, (garner_exec){0});
    garner_status status = tensor_check_inputs(line->operands, 2, error);
    if (status == GARNER_OK) status = open_table(&w, error);
    if (status == GARNER_OK) status = tensor_load(&w.indices, "INDICES", line->operands[1], line, error);
    if (status == GARNER_OK) status = deliver(&w, error);
    progress_end(&w.progress);
    array_free(&w.out);
    array_free(&w.indices);
    garner_table_close(w.table);
    return status;
}
