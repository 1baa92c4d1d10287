/* SPDX-License-Identifier: MIT */
/*
 * Builds the buffers of a case, runs it through garner_infer, garner_run, a plan, a shuffled
 * executor and the simple call where there is one, and holds each against the reference.
 */
#include "cases.h"
#include "coverage.h"
#include "scripted_executor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANARY = 0xA5 };

static struct guard data_memory, indices_memory, out_memory;
static unsigned char *expected_memory;

void cases_begin(size_t capacity)
{
    guard_create(&data_memory, capacity);
    guard_create(&indices_memory, capacity);
    guard_create(&out_memory, capacity);
    expected_memory = malloc(out_memory.capacity);
    if (!expected_memory) abort();
}

void cases_end(void)
{
    guard_destroy(&data_memory);
    guard_destroy(&indices_memory);
    guard_destroy(&out_memory);
    free(expected_memory);
    expected_memory = NULL;
}

/* ---- Descriptions ---- */

struct ref_op case_ref_op(const struct test_case *c)
{
    return (struct ref_op){c->version, c->axis, c->batch_dims, c->oob, c->strict, c->negative_is_outside};
}

void case_garner_op(const struct test_case *c, garner_op *op)
{
    garner_error error;
    if (garner_op_from_spec(op, c->version->spec, c->version->kind, &error) != GARNER_OK) {
        case_describe(c, error.message);
        abort();
    }
    op->axis = c->axis;
    op->batch_dims = c->batch_dims;
    op->strict = c->strict;
    if (c->oob != REF_OOB_OF_VERSION) op->oob = (garner_oob)c->oob;
    if (c->negative_is_outside) op->negative = GARNER_NEGATIVE_IS_OUTSIDE;
}

struct ref_view case_ref_view(const struct case_view *view, garner_dtype dtype, size_t item_bytes,
                              unsigned char *first)
{
    struct ref_view made = {.first = first, .dtype = dtype, .item_bytes = item_bytes, .rank = view->rank};
    for (int d = 0; d < view->rank; d++) {
        made.shape[d] = view->shape[d];
        made.strides[d] = view->strides[d];
    }
    if (!view->strided) ref_dense_strides(view->rank, view->shape, made.strides);
    return made;
}

static garner_status reference_infers(const struct test_case *c, struct ref_result *result)
{
    const struct ref_op op = case_ref_op(c);
    const struct ref_view data = case_ref_view(&c->data, c->dtype, c->item_bytes, NULL);
    const struct ref_view indices = case_ref_view(&c->indices, c->index_dtype, 0, NULL);
    return ref_infer(&op, &data, &indices, result);
}

garner_status case_complete(struct test_case *c)
{
    struct ref_result result;
    if (reference_infers(c, &result) == GARNER_OK) {
        c->out.rank = result.rank;
        memcpy(c->out.shape, result.shape, sizeof c->out.shape);
    }
    return result.status;
}

static void print_view(const char *name, const struct case_view *view)
{
    fprintf(stderr, "  %s [", name);
    for (int d = 0; d < view->rank; d++)
        fprintf(stderr, "%s%" PRId64, d ? "," : "", view->shape[d]);
    fprintf(stderr, "]");
    for (int d = 0; view->strided && d < view->rank; d++)
        fprintf(stderr, "%s%" PRId64, d ? "," : " strides ", view->strides[d]);
    fprintf(stderr, " lead %zu%s%s\n", view->lead, view->use_offset ? " offset" : "",
            view->state_bytes ? " bytes" : "");
}

void case_describe(const struct test_case *c, const char *trouble)
{
    fprintf(stderr,
            "CASE FAILED: %s\n  %s %s%s, data %s (item %zu), indices %s, axis %" PRId64
            ", batch_dims %" PRId64 ", oob %d%s, seed %" PRIu64 "\n",
            trouble, c->version->spec ? c->version->spec : "lenient", garner_kind_name(c->version->kind),
            c->strict ? " strict" : "", ref_type_name(c->dtype), c->item_bytes, ref_type_name(c->index_dtype),
            c->axis, c->batch_dims, c->oob, c->negative_is_outside ? " negative outside" : "", c->seed);
    print_view("data", &c->data);
    print_view("indices", &c->indices);
    print_view("out", &c->out);
}

static bool trouble(const struct test_case *c, const char *door, const char *what)
{
    char text[640];
    snprintf(text, sizeof text, "%s: %s", door, what);
    case_describe(c, text);
    return false;
}

/* ---- Buffers ---- */

/* A view in memory: what the library gets and what the reference gets. */
struct placed {
    unsigned char *begin;
    size_t bytes;
    garner_tensor tensor;
    struct ref_view view;
};

static void reach(const struct ref_view *view, int64_t *least, int64_t *most)
{
    *least = *most = 0;
    for (int d = 0; d < view->rank; d++) {
        const int64_t far = (view->shape[d] - 1) * view->strides[d];
        *least += far < 0 ? far : 0;
        *most += far > 0 ? far : 0;
    }
}

static size_t bytes_of(const struct ref_view *view, size_t *before)
{
    int64_t least, most;
    const int64_t count = ref_count(view->rank, view->shape);
    *before = 0;
    if (count == 0) return 0;
    if (ref_is_packed(view->dtype)) return ref_bytes(view->dtype, 0, count);
    reach(view, &least, &most);
    *before = (size_t)-least * ref_item_bytes(view);
    return (size_t)(most - least + 1) * ref_item_bytes(view);
}

static void place(struct placed *placed, const struct case_view *from, garner_dtype dtype, size_t item_bytes,
                  const struct guard *memory, enum guard_side side)
{
    size_t before;
    placed->view = case_ref_view(from, dtype, item_bytes, NULL);
    placed->bytes = bytes_of(&placed->view, &before);
    const size_t lead = from->use_offset ? from->lead : 0;
    placed->begin = guard_place(memory, placed->bytes + from->lead, side);
    if (side == GUARD_BEFORE && !from->use_offset) placed->begin += from->lead;
    placed->view.first = placed->begin + lead + before;
    placed->bytes += lead;
    placed->tensor = (garner_tensor){.data = placed->begin,
                                     .shape = from->shape,
                                     .strides = from->strided ? from->strides : NULL,
                                     .rank = from->rank,
                                     .dtype = dtype,
                                     .item_bytes = dtype == GARNER_OPAQUE ? item_bytes : 0,
                                     .byte_offset = lead + before};
    if (from->state_bytes) placed->tensor.bytes = placed->bytes;
    if (!from->use_offset && !from->state_bytes) {
        placed->tensor.data = placed->view.first;
        placed->tensor.byte_offset = 0;
    }
}

static ref_int far_value(struct random *random, garner_dtype dtype, int64_t s)
{
    const ref_int least = ref_least(dtype), most = ref_most(dtype);
    switch (random_between(random, 0, 5)) {
    case 0:
        return s <= most ? s : most;
    case 1:
        return -(ref_int)s - 1 >= least ? -(ref_int)s - 1 : least;
    case 2:
        return least;
    case 3:
        return most;
    case 4:
        return most - random_between(random, 0, 100);
    default: {
        const ref_int any = (int64_t)random_bits(random);
        return any < least ? least : any > most ? most : any;
    }
    }
}

static ref_int good_value(struct random *random, garner_dtype dtype, int64_t s, bool only_positive)
{
    ref_int least = ref_least(dtype), most = ref_most(dtype);
    if (least < -(ref_int)s) least = -(ref_int)s;
    if (only_positive) least = 0;
    if (most > s - 1) most = s - 1;
    return most < least ? 0 : random_between(random, (int64_t)least, (int64_t)most);
}

static void fill_indices(const struct test_case *c, const struct placed *data, const struct placed *indices,
                         struct random *random)
{
    const struct ref_op op = case_ref_op(c);
    const struct ref_view *view = &indices->view;
    int64_t at[GARNER_MAX_RANK] = {0}, position = 0;
    if (ref_count(view->rank, view->shape) == 0) return;
    /* Components of a tuple go to axes in turn; elsewhere every index goes to the same one. */
    int64_t bounds[GARNER_MAX_RANK];
    const int64_t period = c->version->kind == GARNER_GATHER_ND ? view->shape[view->rank - 1] : 1;
    for (int64_t k = 0; k < period; k++)
        bounds[k] = data->view.shape[ref_axis_of(&op, &data->view, view, k)];
    do {
        const int64_t s = bounds[position % period];
        const bool bad = position == c->bad_position || random_between(random, 0, 999) < c->bad_per_thousand;
        const ref_int value = c->values ? c->values[position]
                              : bad     ? far_value(random, c->index_dtype, s)
                                        : good_value(random, c->index_dtype, s, c->only_positive);
        const int64_t offset = ref_offset(view, at) * (int64_t)ref_item_bytes(view);
        ref_store_index(c->index_dtype, view->first + offset, value);
        position++;
    } while (ref_next(view->rank, view->shape, at));
}

/* ---- One case ---- */

struct run {
    const struct test_case *c;
    garner_op op;
    struct placed data, indices, out;
    struct ref_result result;
    unsigned char *expected; /* what all of out's bytes should be afterwards */
    garner_error error;
};

static void coordinates_of(const struct ref_view *view, int64_t position, int64_t *at)
{
    for (int d = view->rank - 1; d >= 0; d--) {
        at[d] = position % view->shape[d];
        position /= view->shape[d];
    }
}

static const char *wrong_field(const struct run *run)
{
    const garner_error *error = &run->error;
    const struct ref_result *want = &run->result;
    const uint32_t needed = GARNER_HAS_AXIS | GARNER_HAS_POSITION | GARNER_HAS_BOUND;
    const bool is_unsigned = ref_is_unsigned(run->c->index_dtype);
    if (error->status != GARNER_OUT_OF_RANGE) return "error.status";
    if ((error->has & needed) != needed) return "error.has";
    if (is_unsigned != !!(error->has & GARNER_HAS_UNSIGNED)) return "GARNER_HAS_UNSIGNED";
    if (!(error->has & GARNER_HAS_VALUE)) return "GARNER_HAS_VALUE";
    if (error->position != want->position) return "error.position";
    if (error->axis != want->axis) return "error.axis";
    if (error->bound != want->bound) return "error.bound";
    if (is_unsigned ? error->value.u != want->value : error->value.i != want->value) return "error.value";
    if (error->rank != run->indices.view.rank) return "error.rank";
    int64_t at[GARNER_MAX_RANK];
    coordinates_of(&run->indices.view, want->position, at);
    if (memcmp(at, error->coordinates, (size_t)error->rank * sizeof *at)) return "error.coordinates";
    return strlen(error->message) > 0 ? NULL : "an empty message";
}

static bool agrees(struct run *run, const char *door, garner_status status)
{
    char text[600];
    if (status != run->result.status) {
        snprintf(text, sizeof text, "status %s, not %s: %s", garner_status_name(status),
                 garner_status_name(run->result.status), run->error.message);
        return trouble(run->c, door, text);
    }
    if (status != GARNER_OK) {
        const char *wrong = wrong_field(run);
        if (!wrong) return true;
        snprintf(text, sizeof text, "%s: %s", wrong, run->error.message);
        return trouble(run->c, door, text);
    }
    if (run->error.status != GARNER_OK || run->error.message[0])
        return trouble(run->c, door, "error not cleared");
    if (memcmp(run->out.begin, run->expected, run->out.bytes) == 0) return true;
    for (size_t i = 0; i < run->out.bytes; i++) {
        if (run->out.begin[i] == run->expected[i]) continue;
        snprintf(text, sizeof text, "byte %zu of out is %02x, not %02x", i, run->out.begin[i],
                 run->expected[i]);
        return trouble(run->c, door, text);
    }
    return true;
}

static void reset(struct run *run)
{
    memset(run->out.begin, CANARY, run->out.bytes);
    memset(&run->error, CANARY, sizeof run->error);
}

static bool run_at_once(struct run *run)
{
    struct executor shuffled = executor_make(1, ORDER_SHUFFLED, run->c->seed);
    const garner_exec hook = executor_hook(&shuffled);
    reset(run);
    if (!agrees(run, "garner_run",
                garner_run(&run->op, &run->data.tensor, &run->indices.tensor, &run->out.tensor, NULL,
                           &run->error)))
        return false;
    reset(run);
    return agrees(
        run, "shuffled",
        garner_run(&run->op, &run->data.tensor, &run->indices.tensor, &run->out.tensor, &hook, &run->error));
}

static bool run_planned(struct run *run)
{
    garner_plan *plan = NULL;
    reset(run);
    if (garner_plan_create(&plan, &run->op, &run->data.tensor, &run->indices.tensor,
                           run->c->out.strided || run->out.tensor.byte_offset ? &run->out.tensor : NULL,
                           &run->error) != GARNER_OK)
        return trouble(run->c, "garner_plan_create", run->error.message);
    const garner_status status = garner_execute(plan, run->data.tensor.data, run->indices.tensor.data,
                                                run->out.tensor.data, NULL, &run->error);
    garner_plan_destroy(plan);
    return agrees(run, "garner_execute", status);
}

static int never(void *context)
{
    (void)context;
    return 0;
}

/* On the pool, and in this thread a part at a time, because somebody may want it to stop. */
static bool run_with_executors(struct run *run)
{
    const garner_exec pool = garner_threads(run->c->threads), watched = {.cancelled = never};
    if (run->c->threads == 0) return true;
    reset(run);
    if (!agrees(run, "garner_threads",
                garner_run(&run->op, &run->data.tensor, &run->indices.tensor, &run->out.tensor, &pool,
                           &run->error)))
        return false;
    reset(run);
    return agrees(run, "cancelled",
                  garner_run(&run->op, &run->data.tensor, &run->indices.tensor, &run->out.tensor, &watched,
                             &run->error));
}

static bool run_simply(struct run *run)
{
    const struct test_case *c = run->c;
    const garner_tensor *data = &run->data.tensor, *indices = &run->indices.tensor, *out = &run->out.tensor;
    const bool plain =
        !c->version->spec && !c->strict && !c->negative_is_outside && c->oob <= GARNER_OOB_ERROR;
    if (!plain || (c->version->kind != GARNER_GATHER_ND && c->batch_dims != 0)) return true;
    reset(run);
    switch (c->version->kind) {
    case GARNER_GATHER:
        return agrees(run, "garner_gather", garner_gather(data, indices, c->axis, out, &run->error));
    case GARNER_GATHER_ELEMENTS:
        return agrees(run, "garner_gather_elements",
                      garner_gather_elements(data, indices, c->axis, out, &run->error));
    default:
        return agrees(run, "garner_gather_nd",
                      garner_gather_nd(data, indices, c->batch_dims, out, &run->error));
    }
}

/* Fills the buffers and lets the reference say what should come out. */
static void prepare(struct run *run, enum guard_side side)
{
    const struct test_case *c = run->c;
    struct random random = random_from(c->seed);
    const struct ref_op op = case_ref_op(c);
    place(&run->data, &c->data, c->dtype, c->item_bytes, &data_memory, side);
    place(&run->indices, &c->indices, c->index_dtype, 0, &indices_memory, side);
    place(&run->out, &c->out, c->dtype, c->item_bytes, &out_memory, side);
    random_fill(&random, run->data.begin, run->data.bytes);
    if (c->elements)
        memcpy(run->data.view.first, c->elements,
               ref_bytes(c->dtype, c->item_bytes, ref_count(c->data.rank, c->data.shape)));
    random_fill(&random, run->indices.begin, run->indices.bytes);
    fill_indices(c, &run->data, &run->indices, &random);
    run->expected = expected_memory;
    memset(run->expected, CANARY, run->out.bytes);
    struct ref_view out = run->out.view;
    out.first = run->expected + (run->out.view.first - run->out.begin);
    ref_run(&op, &run->data.view, &run->indices.view, &out, &run->result);
}

/* A worked example states its output: the reference itself must give it. */
static bool reference_gives(const struct run *run)
{
    const struct test_case *c = run->c;
    if (!c->expected) return true;
    const size_t bytes = ref_bytes(c->dtype, c->item_bytes, ref_count(c->out.rank, c->out.shape));
    return memcmp(run->expected, c->expected, bytes) == 0 ||
           trouble(c, "reference", "does not give the stated output");
}

static bool run_by_other_door(struct run *run)
{
    const struct case_buffer data = {run->data.begin, run->data.bytes, &run->data.tensor},
                             indices = {run->indices.begin, run->indices.bytes, &run->indices.tensor},
                             out = {run->out.begin, run->out.bytes, &run->out.tensor};
    reset(run);
    const garner_status status = case_other_door(&run->op, &data, &indices, &out, &run->error);
    if (run->c->dtype != GARNER_STR) return agrees(run, "the other door", status);
    return status == GARNER_UNSUPPORTED || trouble(run->c, "the other door", "strings were not refused");
}

static bool run_against(const struct test_case *c, enum guard_side side)
{
    struct run run = {.c = c};
    case_garner_op(c, &run.op);
    prepare(&run, side);
    if (case_other_door) return reference_gives(&run) && run_by_other_door(&run);
    return reference_gives(&run) && run_at_once(&run) && run_planned(&run) && run_with_executors(&run) &&
           run_simply(&run);
}

bool case_infer_agrees(const struct test_case *c)
{
    struct ref_result want;
    garner_op op;
    garner_shape shape;
    garner_error error;
    case_garner_op(c, &op);
    const garner_tensor data = {.shape = c->data.shape,
                                .strides = c->data.strided ? c->data.strides : NULL,
                                .rank = c->data.rank,
                                .dtype = c->dtype,
                                .item_bytes = c->dtype == GARNER_OPAQUE ? c->item_bytes : 0};
    const garner_tensor indices = {.shape = c->indices.shape,
                                   .strides = c->indices.strided ? c->indices.strides : NULL,
                                   .rank = c->indices.rank,
                                   .dtype = c->index_dtype};
    reference_infers(c, &want);
    const garner_status status = garner_infer(&op, &data, &indices, &shape, &error);
    if (status != want.status) return trouble(c, "garner_infer", error.message);
    if (status != GARNER_OK) return error.message[0] != 0 || trouble(c, "garner_infer", "no message");
    if (shape.rank != want.rank || shape.dtype != c->dtype ||
        memcmp(shape.extents, want.shape, (size_t)want.rank * sizeof *want.shape) ||
        shape.count != ref_count(want.rank, want.shape) ||
        shape.bytes != (int64_t)ref_bytes(c->dtype, c->item_bytes, shape.count))
        return trouble(c, "garner_infer", "another shape");
    return true;
}

bool case_run_on(const struct test_case *c, enum guard_side side)
{
    coverage_count(c->version, c->dtype, c->index_dtype);
    return case_infer_agrees(c) && run_against(c, side);
}

bool case_run(const struct test_case *c)
{
    return case_run_on(c, GUARD_AFTER) && run_against(c, GUARD_BEFORE);
}
