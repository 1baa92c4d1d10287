/* SPDX-License-Identifier: MIT */
/*
 * Walks the nodes in their order, with tensors or with declared shapes alone. Each gather keeps its plan
 * together with a key, the numbers that the plan was made for; another key makes another plan.
 */
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "fail.h"
#include "model_internal.h"

/* Numbers of a key: of two tensors rank, type, sizes and two for each axis; and the axis. */
enum { KEY_FIXED = 6, KEY_MOST = 2 * (KEY_FIXED + 2 * GARNER_MAX_RANK) + 1 };

struct run {
    struct model *model;
    const garner_tensor *const *inputs; /* NULL: none is given */
    struct array *outputs;
    const garner_exec *exec;
    garner_error *error;
    int planning; /* shapes alone: no elements are looked at or made */
};

static struct state *state_of(const struct run *run, size_t value)
{
    return &run->model->states[run->model->source[value]];
}

/* ---- What values are ---- */

static garner_status set_state(const struct run *run, size_t value, const garner_tensor *view)
{
    struct model *model = run->model;
    struct state *state = &model->states[value];
    uint64_t bytes;
    garner_status status = elements_bytes(view, model->graph.path, &bytes, run->error);
    if (status) return status;
    if (!state->shape) state->shape = malloc(sizeof *state->shape);
    if (!state->shape) return fail_memory(run->error, model->graph.path, sizeof *state->shape);
    garner_shape *shape = state->shape;
    shape->rank = view->rank;
    shape->dtype = view->dtype;
    shape->item_bytes = view->item_bytes;
    shape->count = array_count(view->rank, view->shape);
    shape->bytes = (int64_t)bytes;
    if (view->rank) memmove(shape->extents, view->shape, (size_t)view->rank * sizeof *view->shape);
    state->view = *view;
    state->view.shape = shape->extents;
    state->known = 1;
    return GARNER_OK;
}

/* The declared shape of an input, if that leaves nothing open. */
static garner_status set_declared(const struct run *run, size_t id)
{
    const struct graph_value *value = &run->model->graph.values[id];
    int64_t shape[GARNER_MAX_RANK];
    if (!value->dtype || value->rank < 0) return GARNER_OK;
    for (int32_t i = 0; i < value->rank; i++) {
        if (value->shape[i].least != value->shape[i].most) return GARNER_OK;
        shape[i] = value->shape[i].least;
    }
    return set_state(run, id, &(garner_tensor){.shape = shape, .rank = value->rank, .dtype = value->dtype});
}

static garner_status set_input(const struct run *run, size_t i)
{
    struct model *model = run->model;
    const struct graph_port *port = &model->graph.inputs[i];
    const garner_tensor *fallback = model->graph.values[port->value].constant;
    char shown[96];
    if (run->inputs && run->inputs[i]) {
        garner_status status = set_state(run, port->value, run->inputs[i]);
        return status ? status : model_check_input(model, i, run->inputs[i], run->error);
    }
    if (fallback) return set_state(run, port->value, fallback);
    if (run->planning) return set_declared(run, port->value);
    return fail_at(run->error, GARNER_BAD_ARGUMENT, model->graph.path, "input '%s' is not given",
                   printable(shown, sizeof shown, port->name));
}

static void forget(struct model *model)
{
    for (size_t i = 0; i < model->note_count; i++)
        free(model->notes[i]);
    model->note_count = 0;
    for (size_t i = 0; i < model->graph.value_count; i++)
        model->states[i].known = 0;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        free(model->steps[i].refusal);
        model->steps[i].refusal = NULL;
    }
}

/* Constants first: an input that is given takes the place of its default. */
static garner_status begin(const struct run *run)
{
    struct model *model = run->model;
    const struct graph *graph = &model->graph;
    garner_status status = GARNER_OK;
    forget(model);
    if (model->refusal && !run->planning) return fail(run->error, GARNER_UNSUPPORTED, "%s", model->refusal);
    for (size_t i = 0; i < graph->input_count && !status; i++)
        status = set_input(run, i);
    for (size_t i = 0; i < graph->value_count && !status; i++) {
        const garner_tensor *constant = graph->values[i].constant;
        if (!constant || model->states[i].known) continue;
        status = set_state(run, i, constant);
        if (!status) status = model_compare(model, i, constant, run->error);
    }
    return status;
}

/* ---- Plans ---- */

static size_t put_key(int64_t *key, const garner_tensor *tensor)
{
    int64_t *at = key;
    *at++ = tensor->rank;
    *at++ = tensor->dtype;
    *at++ = (int64_t)tensor->bytes;
    *at++ = (int64_t)tensor->item_bytes;
    *at++ = (int64_t)tensor->byte_offset;
    *at++ = tensor->strides != NULL;
    for (int32_t i = 0; i < tensor->rank; i++) {
        *at++ = tensor->shape[i];
        if (tensor->strides) *at++ = tensor->strides[i];
    }
    return (size_t)(at - key);
}

/* Makes sure that the step's plan is for these tensors. */
static garner_status refresh_plan(const struct run *run, struct step *step, const garner_op *op,
                                  const garner_tensor *data, const garner_tensor *indices)
{
    int64_t key[KEY_MOST];
    size_t count = put_key(key, data);
    count += put_key(key + count, indices);
    key[count++] = op->axis;
    size_t size = count * sizeof *key;
    if (step->plan && step->key_size == size && memcmp(step->key, key, size) == 0) return GARNER_OK;
    int64_t *kept = malloc(size);
    if (!kept) return fail_memory(run->error, run->model->graph.path, size);
    memcpy(kept, key, size);
    garner_plan_destroy(step->plan);
    free(step->key);
    step->key = kept;
    step->key_size = size;
    return garner_plan_create(&step->plan, op, data, indices, NULL, run->error);
}

/* ---- Memory for results ---- */

static garner_status fill_slot(const struct run *run, struct slot *slot, size_t size, void **memory)
{
    if (slot->size < size || !slot->memory) {
        free(slot->memory);
        *slot = (struct slot){malloc(size ? size : 1), size};
        if (!slot->memory) {
            slot->size = 0;
            return fail_memory(run->error, run->model->graph.path, size);
        }
    }
    *memory = slot->memory;
    return GARNER_OK;
}

/* Where the elements of a value go: into an output of the model, or into a slot. */
static garner_status make_room(const struct run *run, size_t value, const garner_tensor *like, void **memory)
{
    struct model *model = run->model;
    size_t port = model->port[value];
    if (port == GRAPH_NONE)
        return fill_slot(run, &model->slots[model->slot[value]], (size_t)like->bytes, memory);
    struct array *array = &run->outputs[port];
    garner_status status = array_create(array, model->graph.path, like->dtype, like->item_bytes, like->rank,
                                        like->shape, run->error);
    *memory = array->memory;
    return status;
}

/* ---- Nodes ---- */

static garner_status run_gather(const struct run *run, size_t id)
{
    struct model *model = run->model;
    const struct graph_node *node = &model->graph.nodes[id];
    struct step *step = &model->steps[id];
    const struct state *data = state_of(run, node->inputs[0]), *indices = state_of(run, node->inputs[1]);
    garner_op op = node->op;
    garner_status status = GARNER_OK;
    if (node->input_count > 2) {
        const struct state *axis = state_of(run, node->inputs[2]);
        if (run->planning && (!axis->known || !axis->view.data)) return GARNER_OK;
        status = model_axis(&axis->view, &op.axis, run->error);
    }
    if (!status) status = refresh_plan(run, step, &op, &data->view, &indices->view);
    if (status) return status;
    const garner_shape *shape = garner_plan_output(step->plan);
    garner_tensor out = {.shape = shape->extents,
                         .rank = shape->rank,
                         .dtype = shape->dtype,
                         .bytes = (uint64_t)shape->bytes,
                         .item_bytes = shape->item_bytes};
    if (!run->planning) status = make_room(run, node->outputs[0], &out, &out.data);
    if (!status && !run->planning)
        status =
            garner_execute(step->plan, data->view.data, indices->view.data, out.data, run->exec, run->error);
    return status ? status : set_state(run, node->outputs[0], &out);
}

static garner_status run_convert(const struct run *run, size_t id)
{
    const struct graph_node *node = &run->model->graph.nodes[id];
    const struct state *from = state_of(run, node->inputs[0]);
    garner_tensor out = {.shape = from->shape->extents, .rank = from->shape->rank, .dtype = node->to};
    int64_t bytes = garner_dtype_bytes(node->to, from->shape->count, 0);
    if (bytes < 0)
        return fail_at(run->error, GARNER_TOO_LARGE, run->model->graph.path,
                       "the size does not fit in 63 bits");
    out.bytes = (uint64_t)bytes;
    garner_status status = GARNER_OK;
    if (!run->planning) status = make_room(run, node->outputs[0], &out, &out.data);
    if (!status && !run->planning) status = model_convert(&from->view, node->to, out.data, run->error);
    return status ? status : set_state(run, node->outputs[0], &out);
}

/* Whether Identity or Constant of this version has the type. */
static garner_status check_type(const struct run *run, const struct graph_node *node)
{
    garner_dtype dtype = state_of(run, node->outputs[0])->view.dtype;
    if (!node->types || (dtype < 64 && (node->types >> dtype & 1))) return GARNER_OK;
    return fail(run->error, GARNER_BAD_TYPE, "%s: type %s is not in its list in opset %s", node->type,
                garner_dtype_name(dtype), node->version);
}

/* For a gather whose shapes are not known yet: whether its version has the types that the file declares, and
 * batch_dims if the file gives any. Everything else holds for one element picked from one. */
static garner_status check_declared(const struct run *run, const struct graph_node *node)
{
    static const int64_t ones[] = {1, 1};
    const struct graph_value *values = run->model->graph.values;
    if (!node->spec || node->input_count < 2) return GARNER_OK;
    garner_dtype declared[] = {values[node->inputs[0]].dtype, values[node->inputs[1]].dtype};
    garner_tensor data = {.shape = ones, .rank = 2, .dtype = declared[0] ? declared[0] : GARNER_F32};
    garner_tensor indices = {.shape = ones, .rank = 2, .dtype = declared[1] ? declared[1] : GARNER_I64};
    garner_op op = node->op;
    garner_shape shape;
    op.axis = node->kind != GRAPH_GATHER_ND; /* after the batch, where there is an axis */
    op.batch_dims = node->op.batch_dims != 0;
    garner_status status = garner_infer(&op, &data, &indices, &shape, run->error);
    if (status != GARNER_BAD_TYPE && status != GARNER_BAD_SHAPE) return GARNER_OK;
    op.batch_dims = node->op.batch_dims; /* for the sentence */
    return garner_infer(&op, &data, &indices, &shape, run->error);
}

static garner_status run_any(const struct run *run, size_t id)
{
    const struct graph_node *node = &run->model->graph.nodes[id];
    size_t needed = node->input_count < 2 ? node->input_count : 2;
    for (size_t i = 0; i < needed; i++)
        if (!state_of(run, node->inputs[i])->known) /* planning, and not enough is declared */
            return check_declared(run, node);
    if (node->kind == GRAPH_CONVERT) return run_convert(run, id);
    if (node->kind == GRAPH_CONSTANT || node->kind == GRAPH_IDENTITY) return check_type(run, node);
    return run_gather(run, id);
}

/* Keeps what a node said, for those who ask about this one. */
static garner_status keep_refusal(const struct run *run, size_t id)
{
    const char *said = run->error->message;
    char *copy = malloc(strlen(said) + 1);
    if (!copy) return fail_memory(run->error, run->model->graph.path, strlen(said) + 1);
    run->model->steps[id].refusal = strcpy(copy, said);
    return run->error->status;
}

static garner_status run_node(const struct run *run, size_t id)
{
    garner_status status = run_any(run, id);
    if (status && run->planning && status != GARNER_NO_MEMORY) status = keep_refusal(run, id);
    if (status) return model_blame(run->model, id, run->error);
    size_t made = run->model->graph.nodes[id].outputs[0];
    const struct state *out = state_of(run, made);
    if (out->known) status = model_compare(run->model, made, &out->view, run->error);
    if (status && run->planning && status != GARNER_NO_MEMORY) status = keep_refusal(run, id);
    return status;
}

static garner_status walk(const struct run *run)
{
    garner_status status = begin(run);
    for (size_t i = 0; i < run->model->graph.node_count && !status; i++)
        status = run_node(run, run->model->order[i]);
    return status;
}

/* Goes on after a node that refuses: what it makes is not known then. */
static garner_status walk_all(const struct run *run)
{
    const struct model *model = run->model;
    garner_error first = {.status = GARNER_OK};
    garner_status status = begin(run);
    if (status) return status;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        if (model->graph.nodes[model->order[i]].kind == GRAPH_UNSUPPORTED) continue;
        status = run_node(run, model->order[i]);
        if (status == GARNER_NO_MEMORY) return status;
        if (status && !first.status) first = *run->error;
    }
    if (first.status) *run->error = first;
    return first.status;
}

/* ---- Outputs that no node writes: inputs, constants, and outputs that are there twice ---- */

static garner_status copy_piece(void *context, const void *bytes, size_t size, garner_error *error)
{
    unsigned char **to = context;
    (void)error;
    memcpy(*to, bytes, size);
    *to += size;
    return GARNER_OK;
}

static garner_status copy_output(const struct run *run, size_t i)
{
    const garner_tensor *view = &state_of(run, run->model->graph.outputs[i].value)->view;
    struct array *array = &run->outputs[i];
    if (array->memory) return GARNER_OK;
    garner_status status = array_create(array, run->model->graph.path, view->dtype, view->item_bytes,
                                        view->rank, view->shape, run->error);
    unsigned char *to = array->memory;
    return status ? status : elements_walk(view, 0, copy_piece, &to, run->error);
}

garner_status model_run(struct model *model, const garner_tensor *const *inputs, struct array *outputs,
                        const garner_exec *exec, garner_error *error)
{
    garner_error spare;
    struct run run = {model, inputs, outputs, exec, error ? error : &spare, 0};
    size_t count = model->graph.output_count;
    for (size_t i = 0; i < count; i++)
        memset(&outputs[i], 0, sizeof outputs[i]);
    garner_status status = walk(&run);
    for (size_t i = 0; i < count && !status; i++)
        status = copy_output(&run, i);
    for (size_t i = 0; i < count && status; i++)
        array_free(&outputs[i]);
    return status ? status : succeed(run.error);
}

garner_status model_plan(struct model *model, garner_error *error)
{
    garner_error spare;
    struct run run = {.model = model, .error = error ? error : &spare, .planning = 1};
    garner_status status = walk_all(&run);
    if (model->refusal && status != GARNER_NO_MEMORY)
        return fail(run.error, GARNER_UNSUPPORTED, "%s", model->refusal);
    return status ? status : succeed(run.error);
}
