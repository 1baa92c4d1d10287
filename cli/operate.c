/* SPDX-License-Identifier: MIT */
/*
 * The commands gather, gather-elements, gather-nd and explain: load two tensors, make the operator that
 * the options describe, run or draw it, and put the result where it was asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "environment.h"
#include "explain.h"
#include "explain_model.h"
#include "fail.h"
#include "gpu_gather.h"
#include "message.h"
#include "model.h"
#include "operate_table.h"
#include "operator.h"
#include "output.h"
#include "progress.h"
#include "tensor.h"

/* One gather and all that it owns. */
struct work {
    const struct invocation *line;
    garner_op op;
    struct array data, indices, out;
    garner_plan *plan;
    struct gpu_gather gpu; /* instead of the plan, with --device cuda */
};

static void work_free(struct work *w)
{
    gpu_gather_end(&w->gpu);
    garner_plan_destroy(w->plan);
    array_free(&w->out);
    array_free(&w->indices);
    array_free(&w->data);
}

/* ---- Input ---- */

static garner_status load_inputs(struct work *w, char **operands, garner_error *error)
{
    garner_status status = tensor_check_inputs(operands, 2, error);
    if (status == GARNER_OK) status = tensor_load(&w->data, "DATA", operands[0], w->line, error);
    return status == GARNER_OK ? tensor_load(&w->indices, "INDICES", operands[1], w->line, error) : status;
}

static garner_status prepare(struct work *w, garner_kind kind, char **operands, garner_error *error)
{
    garner_status status = operator_make(&w->op, w->line, kind, error);
    return status == GARNER_OK ? load_inputs(w, operands, error) : status;
}

/* ---- gather, gather-elements, gather-nd ---- */

static size_t describe_plan(const struct work *w, char *line, size_t size)
{
    return w->plan ? garner_plan_describe(w->plan, line, size)
                   : w->gpu.library->plan_describe(w->gpu.plan, line, size);
}

static garner_status describe(const struct work *w, garner_error *error)
{
    static const char title[] = "plan: ";
    size_t used = sizeof title - 1, room = describe_plan(w, NULL, 0) + 1;
    char *line = malloc(used + room);
    if (!line) return fail_memory(error, "the plan", used + room);
    memcpy(line, title, used);
    describe_plan(w, line + used, room);
    message_print(line);
    free(line);
    return GARNER_OK;
}

static garner_status make_output(struct work *w, const garner_shape *shape, garner_error *error)
{
    const struct setting *s = w->line->setting;
    garner_status status = GARNER_OK;
    if (!s[OPTION_OUT].given)
        status = print_check(shape->dtype, (enum print_format)s[OPTION_FORMAT].number, error);
    if (status != GARNER_OK) return status;
    return array_create(&w->out, "the result", shape->dtype, shape->item_bytes, shape->rank, shape->extents,
                        error);
}

static garner_status gather_on_cpu(struct work *w, garner_error *error)
{
    garner_status status =
        garner_plan_create(&w->plan, &w->op, &w->data.tensor, &w->indices.tensor, NULL, error);
    if (status == GARNER_OK && w->line->setting[OPTION_VERBOSE].given) status = describe(w, error);
    if (status == GARNER_OK) status = make_output(w, garner_plan_output(w->plan), error);
    if (status != GARNER_OK) return status;
    struct progress progress;
    int threads = (int)w->line->setting[OPTION_THREADS].number; /* 0: not given */
    garner_exec exec = progress_begin(&progress, garner_threads(threads));
    status = garner_execute(w->plan, w->data.tensor.data, w->indices.tensor.data, w->out.tensor.data, &exec,
                            error);
    progress_end(&progress);
    return status;
}

/* What is wrong with shapes and types is said before anything is copied. */
static garner_status gather_on_gpu(struct work *w, garner_error *error)
{
    garner_shape shape;
    const garner_tensor *data = &w->data.tensor, *indices = &w->indices.tensor;
    garner_status status = garner_infer(&w->op, data, indices, &shape, error);
    if (status == GARNER_OK) status = make_output(w, &shape, error);
    if (status == GARNER_OK) status = gpu_gather_begin(&w->gpu, w->line, &w->op, data, indices, error);
    if (status == GARNER_OK && w->line->setting[OPTION_VERBOSE].given) status = describe(w, error);
    if (status != GARNER_OK) return status;
    gpu_gather_launch(&w->gpu);
    status = gpu_gather_wait(&w->gpu, error);
    return status == GARNER_OK ? gpu_gather_fetch(&w->gpu, w->out.tensor.data, error) : status;
}

static garner_status deliver(const struct work *w, garner_error *error)
{
    const struct setting *s = w->line->setting;
    if (s[OPTION_OUT].given) return tensor_save(s[OPTION_OUT].text, &w->out.tensor, w->data.descr, error);
    struct print_style style = output_style(w->line);
    return output_tensor(&w->out.tensor, &style, error);
}

static garner_status check_output(const struct invocation *line, garner_error *error)
{
    const struct setting *out = &line->setting[OPTION_OUT];
    if (!out->given) return GARNER_OK;
    if (line->setting[OPTION_FORMAT].given)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "--format says how to print, and --out that nothing is printed");
    return tensor_check_output(out->text, error);
}

garner_status operate_command(const struct invocation *line, garner_error *error)
{
    struct work w = {.line = line};
    bool large = false, gpu = gpu_wanted(line);
    garner_status status = check_output(line, error);
    if (status == GARNER_OK && gpu) status = gpu_check_options(line, error);
    if (status == GARNER_OK) status = operator_make(&w.op, line, operator_kind(line->command), error);
    if (status == GARNER_OK)
        status = gpu ? operate_refuse_model(line, error) : operate_wants_table(&large, line, error);
    if (status == GARNER_OK && large) return operate_table(line, &w.op, error);
    if (status == GARNER_OK) status = load_inputs(&w, line->operands, error);
    if (status == GARNER_OK) status = (gpu ? gather_on_gpu : gather_on_cpu)(&w, error);
    if (status == GARNER_OK) status = deliver(&w, error);
    work_free(&w);
    return status;
}

/* ---- explain ---- */

static garner_status draw(const struct work *w, garner_error *error)
{
    const struct setting *svg = &w->line->setting[OPTION_SVG];
    if (svg->given) return explain_svg(&w->op, &w->data.tensor, &w->indices.tensor, svg->text, error);
    return explain_draw(&w->op, &w->data.tensor, &w->indices.tensor, stdout, environment_width(),
                        environment_wants_colour(), error);
}

/* A model has its own axes and versions. */
static garner_status draw_model(const struct invocation *line, garner_error *error)
{
    static const enum option_id others[] = {OPTION_AXIS, OPTION_BATCH_DIMS, OPTION_SPEC, OPTION_STRICT,
                                            OPTION_OOB};
    const struct setting *s = line->setting;
    struct explain_paper paper = {s[OPTION_SVG].text, stdout, environment_width(), environment_wants_colour(),
                                  s[OPTION_GATHERS].given};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s[others[i]].given)
            return fail(error, GARNER_BAD_ARGUMENT, "explain MODEL does not take --%s",
                        options[others[i]].name);
    return explain_model(tensor_model_path(line->operands[0]), s[OPTION_FOLLOW_LINKS].given, &paper, error);
}

garner_status explain_command(const struct invocation *line, garner_error *error)
{
    garner_kind kind;
    struct work w = {.line = line};
    if (line->operand_count == 1 && model_has_path(line->operands[0])) return draw_model(line, error);
    if (line->operand_count > 1 && model_has_path(line->operands[0]))
        return fail(error, GARNER_BAD_ARGUMENT, "explain MODEL takes no more arguments, and '%.60s' is one",
                    line->operands[1]);
    garner_status status = operator_find(&kind, line, error);
    if (status == GARNER_OK && line->setting[OPTION_GATHERS].given)
        status = fail(error, GARNER_BAD_ARGUMENT, "--gathers is for models, and %s is an operator",
                      line->operands[0]);
    if (status == GARNER_OK && line->operand_count < 3)
        status = fail(error, GARNER_BAD_ARGUMENT, "explain %s takes DATA INDICES, and %d %s given",
                      line->operands[0], line->operand_count - 1, line->operand_count == 2 ? "is" : "are");
    if (status == GARNER_OK) status = prepare(&w, kind, line->operands + 1, error);
    if (status == GARNER_OK) status = draw(&w, error);
    work_free(&w);
    return status;
}
