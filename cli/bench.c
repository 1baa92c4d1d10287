/* SPDX-License-Identifier: MIT */
/*
 * The command bench: one gather, timed against a plain copy of as many bytes as its result has, out of the
 * same data, in the same run and on the same threads. What share of the copy's speed it has says more than
 * its speed.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fail.h"
#include "gpu_gather.h"
#include "operator.h"
#include "progress.h"
#include "stopwatch.h"
#include "tensor.h"
#include "workload.h"

enum { COPY_PIECE = 1 << 18, MOST_RUNS = 2 };

struct bench {
    const struct invocation *line;
    garner_op op;
    struct array data, indices, out, to; /* to: where the copy goes */
    garner_plan *plan;
    struct gpu_gather gpu; /* instead of plan, out and to, with --device cuda */
    int64_t bytes, data_bytes;
    int64_t window; /* where in data the copy begins: a new place each time, as a gather's sources are */
    garner_exec exec;
    struct progress progress;
    int run, runs; /* of those that one call makes */
};

static void bench_free(struct bench *b)
{
    gpu_gather_end(&b->gpu);
    garner_plan_destroy(b->plan);
    array_free(&b->to);
    array_free(&b->out);
    array_free(&b->indices);
    array_free(&b->data);
}

/* ---- The workload ---- */

static garner_status read_tensor(struct workload_tensor *tensor, const struct setting *shape,
                                 const struct setting *dtype, garner_error *error)
{
    if (shape->given && !workload_shape(tensor, shape->text))
        return fail(error, GARNER_BAD_ARGUMENT, "'%.60s' is no shape; one is 1000,64", shape->text);
    if (dtype->given) tensor->dtype = garner_dtype_from_name(dtype->text);
    if (tensor->dtype == 0)
        return fail(error, GARNER_BAD_ARGUMENT, "'%.60s' is no element type", dtype->text);
    if (tensor->dtype == GARNER_STR || tensor->dtype == GARNER_OPAQUE)
        return fail(error, GARNER_BAD_ARGUMENT, "bench makes no %s; give DATA and INDICES", dtype->text);
    return GARNER_OK;
}

/* Shapes from options, or of the operator's typical gather, with contents made up. */
static garner_status make_tensors(struct bench *b, garner_error *error)
{
    const struct setting *s = b->line->setting;
    struct workload w = *workload_of(b->op.kind);
    bool shaped = s[OPTION_DATA_SHAPE].given || s[OPTION_INDICES_SHAPE].given;
    if (shaped && !(s[OPTION_DATA_SHAPE].given && s[OPTION_INDICES_SHAPE].given))
        return fail(error, GARNER_BAD_ARGUMENT, "--data-shape and --indices-shape are given together");
    if (!shaped && !s[OPTION_AXIS].given) b->op.axis = w.op.axis;
    garner_status status = read_tensor(&w.data, &s[OPTION_DATA_SHAPE], &s[OPTION_DTYPE], error);
    if (status == GARNER_OK)
        status = read_tensor(&w.indices, &s[OPTION_INDICES_SHAPE], &s[OPTION_INDEX_DTYPE], error);
    if (status != GARNER_OK) return status;
    garner_tensor data = workload_view(&w.data), indices = workload_view(&w.indices);
    garner_shape shape; /* refuses what is wrong before anything is allocated */
    status = garner_infer(&b->op, &data, &indices, &shape, error);
    if (status == GARNER_OK)
        status = array_create(&b->data, "data", data.dtype, 0, data.rank, data.shape, error);
    if (status == GARNER_OK)
        status = array_create(&b->indices, "indices", indices.dtype, 0, indices.rank, indices.shape, error);
    if (status == GARNER_OK) workload_fill(&b->op, &b->data.tensor, &b->indices.tensor);
    return status;
}

static garner_status load_tensors(struct bench *b, garner_error *error)
{
    static const enum option_id shapes[] = {OPTION_DATA_SHAPE, OPTION_INDICES_SHAPE, OPTION_DTYPE,
                                            OPTION_INDEX_DTYPE};
    char **operands = b->line->operands + 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (b->line->setting[shapes[i]].given)
            return fail(error, GARNER_BAD_ARGUMENT, "--%s is for a bench without DATA and INDICES",
                        options[shapes[i]].name);
    garner_status status = tensor_check_inputs(operands, 2, error);
    if (status == GARNER_OK) status = tensor_load(&b->data, "DATA", operands[0], b->line, error);
    return status == GARNER_OK ? tensor_load(&b->indices, "INDICES", operands[1], b->line, error) : status;
}

static garner_status fail_empty(garner_error *error)
{
    return fail(error, GARNER_BAD_ARGUMENT, "the result is empty: there is nothing to measure");
}

static garner_status make_gpu_plan(struct bench *b, garner_error *error)
{
    garner_shape shape;
    const garner_tensor *data = &b->data.tensor, *indices = &b->indices.tensor;
    garner_status status = garner_infer(&b->op, data, indices, &shape, error);
    if (status == GARNER_OK && shape.bytes == 0) status = fail_empty(error);
    if (status == GARNER_OK) status = gpu_gather_begin(&b->gpu, b->line, &b->op, data, indices, error);
    if (status == GARNER_OK) status = gpu_gather_make_spare(&b->gpu, error);
    b->bytes = (int64_t)b->gpu.bytes;
    b->data_bytes = (int64_t)b->gpu.data_bytes;
    return status;
}

static garner_status make_plan(struct bench *b, garner_error *error)
{
    garner_status status =
        garner_plan_create(&b->plan, &b->op, &b->data.tensor, &b->indices.tensor, NULL, error);
    if (status != GARNER_OK) return status;
    const garner_shape *shape = garner_plan_output(b->plan);
    b->bytes = shape->bytes;
    if (b->bytes == 0) return fail_empty(error);
    status = array_create(&b->out, "the result", shape->dtype, shape->item_bytes, shape->rank, shape->extents,
                          error);
    b->data_bytes = garner_dtype_bytes(b->data.tensor.dtype, array_count(b->data.tensor.rank, b->data.shape),
                                       b->data.tensor.item_bytes);
    return status == GARNER_OK ? array_create(&b->to, "the copy", GARNER_U8, 0, 1, &b->bytes, error) : status;
}

static garner_status prepare(struct bench *b, garner_error *error)
{
    const struct invocation *line = b->line;
    garner_kind kind = GARNER_GATHER;
    garner_status status = gpu_wanted(line) ? gpu_check_options(line, error) : GARNER_OK;
    if (status == GARNER_OK && line->operand_count > 0) status = operator_find(&kind, line, error);
    if (status == GARNER_OK && line->operand_count == 2)
        status = fail(error, GARNER_BAD_ARGUMENT, "bench %s takes DATA and INDICES, or neither",
                      line->operands[0]);
    if (status == GARNER_OK) status = operator_make(&b->op, line, kind, error);
    if (status == GARNER_OK)
        status = line->operand_count > 2 ? load_tensors(b, error) : make_tensors(b, error);
    if (status != GARNER_OK) return status;
    return (gpu_wanted(line) ? make_gpu_plan : make_plan)(b, error);
}

/* ---- Timing ---- */

static garner_status gather(void *context, garner_error *error)
{
    struct bench *b = context;
    return garner_execute(b->plan, b->data.tensor.data, b->indices.tensor.data, b->out.tensor.data, &b->exec,
                          error);
}

/* A piece of data, which begins anew where it ends, to its place in what is copied. */
static void copy_piece(void *context, size_t i)
{
    struct bench *b = context;
    int64_t at = (int64_t)i * COPY_PIECE, end = at + COPY_PIECE < b->bytes ? at + COPY_PIECE : b->bytes;
    while (at < end) {
        int64_t from = (b->window + at) % b->data_bytes, length = b->data_bytes - from;
        if (length > end - at) length = end - at;
        memcpy((char *)b->to.tensor.data + at, (const char *)b->data.tensor.data + from, (size_t)length);
        at += length;
    }
}

static garner_status copy(void *context, garner_error *error)
{
    struct bench *b = context;
    size_t pieces = ((size_t)b->bytes + COPY_PIECE - 1) / COPY_PIECE;
    (void)error;
    if (b->data_bytes == 0) return GARNER_OK;
    b->window = (b->window + b->bytes) % b->data_bytes;
    if (pieces == 1 || !b->exec.parallel_for)
        for (size_t i = 0; i < pieces; i++)
            copy_piece(b, i);
    else
        b->exec.parallel_for(b->exec.context, copy_piece, b, pieces);
    return GARNER_OK;
}

static garner_status gather_on_gpu(void *context, garner_error *error)
{
    (void)error;
    gpu_gather_launch(&((struct bench *)context)->gpu);
    return GARNER_OK;
}

static garner_status wait_for_gathers(void *context, garner_error *error)
{
    return gpu_gather_wait(&((struct bench *)context)->gpu, error);
}

static garner_status copy_on_gpu(void *context, garner_error *error)
{
    struct bench *b = context;
    if (b->data_bytes == 0) return GARNER_OK;
    b->window = (b->window + b->bytes) % b->data_bytes;
    return gpu_gather_copy(&b->gpu, (uint64_t)b->window, error);
}

static garner_status wait_for_copies(void *context, garner_error *error)
{
    return gpu_gather_settle(&((struct bench *)context)->gpu, error);
}

static void show_progress(void *context, int thousandths)
{
    struct bench *b = context;
    progress_step(&b->progress, 1000 * (size_t)b->run + (size_t)thousandths, 1000 * (size_t)b->runs);
}

/* ---- Results ---- */

struct result {
    int threads, samples;
    struct stopwatch_times times[2]; /* of the gather and of the copy */
};

static garner_status measure(struct bench *b, struct result *result, garner_error *error)
{
    const struct setting *seconds = &b->line->setting[OPTION_SECONDS];
    const struct stopwatch_work on_cpu[2] = {{gather, NULL, b}, {copy, NULL, b}};
    const struct stopwatch_work on_gpu[2] = {{gather_on_gpu, wait_for_gathers, b},
                                             {copy_on_gpu, wait_for_copies, b}};
    const struct stopwatch_work *work = b->gpu.plan ? on_gpu : on_cpu;
    double each = (seconds->given ? (double)seconds->number : 2.0) / b->runs;
    b->exec = (garner_exec){0};
    if (result->threads != 1) b->exec = garner_threads(result->threads);
    result->samples = stopwatch_compare(work, each, result->times, show_progress, b, error);
    b->run++;
    return result->samples > 0 ? GARNER_OK : error->status;
}

static double speed(const struct bench *b, double seconds)
{
    return (double)b->bytes / (seconds > 0 ? seconds : 1e-12);
}

/* "cuda:0", or the number of threads. */
struct place_text {
    char text[16];
};
static struct place_text place_text(const struct bench *b, const struct result *result)
{
    struct place_text place;
    if (b->gpu.plan)
        snprintf(place.text, sizeof place.text, "cuda:%d", b->gpu.device);
    else
        snprintf(place.text, sizeof place.text, "%d", result->threads);
    return place;
}

static void print_text(const struct bench *b, const struct result *results)
{
    workload_print(stdout, &b->op, &b->data.tensor, &b->indices.tensor, false);
    printf("\nresult of %lld bytes; GB/s of it, the middle half of the samples in brackets\n\n",
           (long long)b->bytes);
    printf("%s  %-26s %-26s of copy  microseconds\n", b->gpu.plan ? "device " : "threads", "gather", "copy");
    for (int i = 0; i < b->runs; i++) {
        const struct stopwatch_times *t = results[i].times;
        char text[2][64];
        for (int k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k], "%.2f [%.2f, %.2f]", 1e-9 * speed(b, t[k].median),
                     1e-9 * speed(b, t[k].high), 1e-9 * speed(b, t[k].low));
        printf("%7s  %-26s %-26s %5.0f %%  %.2f\n", place_text(b, &results[i]).text, text[0], text[1],
               100 * t[1].median / t[0].median, 1e6 * t[0].median);
    }
}

static void print_times(const char *name, const struct stopwatch_times *t)
{
    printf("\"%s\": {\"seconds\": %.9g, \"low\": %.9g, \"high\": %.9g, \"calls_per_sample\": %lld}", name,
           t->median, t->low, t->high, (long long)t->calls);
}

static void print_json(const struct bench *b, const struct result *results)
{
    char plan[1024];
    if (b->gpu.plan)
        b->gpu.library->plan_describe(b->gpu.plan, plan, sizeof plan);
    else
        garner_plan_describe(b->plan, plan, sizeof plan);
    putchar('{');
    workload_print(stdout, &b->op, &b->data.tensor, &b->indices.tensor, true);
    printf(", \"bytes\": %lld, \"plan\": \"%s\", \"results\": [", (long long)b->bytes, plan);
    for (int i = 0; i < b->runs; i++) {
        const struct stopwatch_times *t = results[i].times;
        const char *quote = b->gpu.plan ? "\"" : "";
        printf("%s{\"%s\": %s%s%s, \"samples\": %d, ", i ? ", " : "", b->gpu.plan ? "device" : "threads",
               quote, place_text(b, &results[i]).text, quote, results[i].samples);
        print_times("gather", &t[0]);
        fputs(", ", stdout);
        print_times("copy", &t[1]);
        printf(", \"bytes_per_second\": %.6g, \"copy_bytes_per_second\": %.6g, \"of_copy\": %.4g}",
               speed(b, t[0].median), speed(b, t[1].median), t[1].median / t[0].median);
    }
    fputs("]}\n", stdout);
}

/* One thread and then all, or as many as were asked for. */
static garner_status measure_all(struct bench *b, struct result *results, garner_error *error)
{
    const struct setting *asked = &b->line->setting[OPTION_THREADS];
    garner_cpu cpu = {.size = sizeof cpu};
    garner_status status = GARNER_OK;
    garner_cpu_info(&cpu);
    b->runs = b->gpu.plan || (asked->given && asked->number > 0) ? 1 : cpu.threads > 1 ? 2 : 1;
    results[0].threads = asked->given && asked->number > 0 ? (int)asked->number : 1;
    results[1].threads = cpu.threads;
    (void)progress_begin(&b->progress, (garner_exec){0});
    for (int i = 0; i < b->runs && status == GARNER_OK; i++)
        status = measure(b, &results[i], error);
    progress_end(&b->progress);
    return status;
}

garner_status bench_command(const struct invocation *line, garner_error *error)
{
    struct bench b = {.line = line};
    struct result results[MOST_RUNS];
    garner_status status = prepare(&b, error);
    if (status == GARNER_OK) status = measure_all(&b, results, error);
    if (status == GARNER_OK && line->setting[OPTION_JSON].given)
        print_json(&b, results);
    else if (status == GARNER_OK)
        print_text(&b, results);
    bench_free(&b);
    return status;
}
