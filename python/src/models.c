/* SPDX-License-Identifier: MIT */
/* Models: opening, what goes in and out, running without the interpreter's lock. */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "errors.h"
#include "files.h"
#include "model.h"
#include "result.h"
#include "show.h"
#include "work.h"

static const char model_capsule[] = "garner.model";

static void drop_model(PyObject *capsule)
{
    model_free(PyCapsule_GetPointer(capsule, model_capsule));
}

PyObject *model_open_file(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    struct model *model = NULL;
    PyObject *bytes = NULL;
    garner_error error;
    garner_status status;
    (void)keywords;
    if (count != 1) return PyErr_Format(PyExc_TypeError, "a path is needed");
    const char *path = file_path(arguments[0], &bytes);
    if (path == NULL) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = model_open(&model, path, 0, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (status != GARNER_OK) return raise_record(state, &error);
    const char *refusal = model_refusal(model);
    if (refusal) {
        raise_error(state, GARNER_UNSUPPORTED, "%s", refusal);
        model_free(model);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(model, model_capsule, drop_model);
    if (capsule == NULL) model_free(model);
    return capsule;
}

static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* ---- What goes in and out -------------------------------------------------------------------- */

/* An extent as Python shows it: a number, the name that the file gives it, or None. */
static PyObject *extent_of(const struct graph_extent *extent)
{
    if (extent->least == extent->most) return PyLong_FromLongLong(extent->least);
    return extent->symbol ? text_of(extent->symbol) : Py_NewRef(Py_None);
}

static PyObject *shape_of(const struct graph_value *value)
{
    if (value->rank < 0) return Py_NewRef(Py_None);
    PyObject *tuple = PyTuple_New(value->rank);
    for (int32_t i = 0; tuple && i < value->rank; i++) {
        PyObject *extent = extent_of(&value->shape[i]);
        if (extent == NULL || PyTuple_SetItem(tuple, i, extent) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

/* (name, type or None, shape or None, whether it may be left out) for each port. */
static PyObject *ports_of(const struct graph *graph, const struct graph_port *ports, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const struct graph_value *value = &graph->values[ports[i].value];
        PyObject *row = Py_BuildValue("(NzNO)", text_of(ports[i].name), garner_dtype_name(value->dtype),
                                      shape_of(value), value->constant ? Py_True : Py_False);
        if (row == NULL || PyList_SetItem(list, (Py_ssize_t)i, row) < 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *model_ports(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct model *model = arguments_capsule(arguments, count, 1, model_capsule);
    (void)module;
    (void)keywords;
    if (model == NULL) return NULL;
    const struct graph *graph = model_graph(model);
    return Py_BuildValue("(NN)", ports_of(graph, graph->inputs, graph->input_count),
                         ports_of(graph, graph->outputs, graph->output_count));
}

/* ---- Running --------------------------------------------------------------------------------- */

struct running {
    struct state *state;
    struct model *model;
    const struct graph *graph;
    struct operand *operands;     /* one for each input */
    const garner_tensor **inputs; /* NULL: left out */
    struct array *outputs;
    const struct operand *like; /* the first input that was given: whose kind the results are of */
    PyObject *given; /* names and arrays, held: code that reading them runs may change the dictionary */
};

static void free_running(struct running *running)
{
    for (size_t i = 0; running->inputs && i < running->graph->input_count; i++)
        if (running->inputs[i]) operand_release(&running->operands[i]);
    for (size_t i = 0; running->outputs && i < running->graph->output_count; i++)
        array_free(&running->outputs[i]);
    free(running->operands);
    free(running->inputs);
    free(running->outputs);
    Py_XDECREF(running->given);
}

static bool read_input(struct running *running, PyObject *name, PyObject *array)
{
    struct state *state = running->state;
    const struct graph *graph = running->graph;
    Py_ssize_t size = 0;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;
    if (text == NULL) error_forget();
    size_t port = text && strlen(text) == (size_t)size
                      ? graph_find_port(graph->inputs, graph->input_count, text)
                      : GRAPH_NONE;
    if (port == GRAPH_NONE || running->inputs[port]) {
        raise_error(state, GARNER_BAD_ARGUMENT, "run: %s %s", show(name).text,
                    port == GRAPH_NONE ? "is not the name of an input of this model" : "is given twice");
        return false;
    }
    struct operand *operand = &running->operands[port];
    if (!read_native(state, operand, array, ROLE_DATA, "run", graph->inputs[port].name)) return false;
    running->inputs[port] = &operand->tensor;
    if (running->like == NULL) running->like = operand;
    return true;
}

static bool read_inputs(struct running *running, PyObject *given)
{
    const struct graph *graph = running->graph;
    PyObject *items = PyDict_Items(given);
    running->given = items ? PyList_AsTuple(items) : NULL;
    Py_XDECREF(items);
    if (running->given == NULL) return false;
    running->operands = calloc(graph->input_count + 1, sizeof *running->operands);
    running->inputs = calloc(graph->input_count + 1, sizeof *running->inputs);
    running->outputs = calloc(graph->output_count + 1, sizeof *running->outputs);
    if (!running->operands || !running->inputs || !running->outputs) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(running->given); i++) {
        PyObject *pair = PyTuple_GetItem(running->given, i);
        if (!read_input(running, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1))) return false;
    }
    for (size_t i = 0; i < graph->input_count; i++)
        if (running->inputs[i]) operand_hold(&running->operands[i]);
    for (size_t i = 0; i < graph->input_count; i++)
        if (running->inputs[i] &&
            !operand_check_there(running->state, &running->operands[i], "run", graph->inputs[i].name))
            return false;
    return true;
}

/* An output as an object of the inputs' kind. */
static PyObject *output_object(struct running *running, struct array *array)
{
    struct state *state = running->state;
    const bool strings = array->tensor.dtype == GARNER_STR;
    PyObject *made = array_object_of_file(state, array);
    *array = (struct array){0};
    if (strings && made) { /* they point to characters of the inputs and of the model */
        PyObject *views = made;
        made = (PyObject *)array_object_copy(state, (struct array_object *)views);
        Py_DECREF(views);
    }
    if (made == NULL || running->like == NULL) return made;
    return result_like(state, running->like, made);
}

static PyObject *collect(struct running *running)
{
    const struct graph *graph = running->graph;
    PyObject *results = PyDict_New();
    for (size_t i = 0; results && i < graph->output_count; i++) {
        PyObject *name = text_of(graph->outputs[i].name);
        PyObject *array = name ? output_object(running, &running->outputs[i]) : NULL;
        if (array == NULL || PyDict_SetItem(results, name, array) < 0) Py_CLEAR(results);
        Py_XDECREF(name);
        Py_XDECREF(array);
    }
    return results;
}

PyObject *model_run_file(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct running running = {.state = PyModule_GetState(module)};
    PyObject *results = NULL;
    garner_error error;
    (void)keywords;
    running.model = arguments_capsule(arguments, count, 2, model_capsule);
    if (running.model == NULL) return NULL;
    if (!PyDict_Check(arguments[1])) return PyErr_Format(PyExc_TypeError, "inputs are a dictionary");
    running.graph = model_graph(running.model);
    if (read_inputs(&running, arguments[1])) {
        struct work work;
        work_begin(&work, 0, INT64_MAX);
        garner_status status = model_run(running.model, running.inputs, running.outputs, work.exec, &error);
        work_end(&work);
        if (status == GARNER_OK)
            results = collect(&running);
        else if (!PyErr_Occurred())
            raise_record(running.state, &error);
    }
    free_running(&running);
    return results;
}
