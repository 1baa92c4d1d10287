/* SPDX-License-Identifier: MIT */
/* Tables in files: opening, what they are, and gathers from them without the interpreter's lock. */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "array_object.h"
#include "errors.h"
#include "files.h"
#include "garner_table.h"
#include "huge_index.h"
#include "operand.h"
#include "work.h"

static const char table_capsule[] = "garner.table";

static void drop_table(PyObject *capsule)
{
    garner_table_close(PyCapsule_GetPointer(capsule, table_capsule));
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The gather that this thread is in: whether to stop is asked on the thread that called. */
static _Thread_local struct work *current;

static int watch(void *context, int64_t done, int64_t all)
{
    (void)context, (void)done, (void)all;
    return current && current->exec && current->exec->cancelled &&
           current->exec->cancelled(current->exec->context);
}

/* Path and member as the system wants them, and the objects that hold them. */
struct names {
    const char *path, *member;
    PyObject *holders[2];
};

static bool take_names(struct names *names, PyObject *path, PyObject *member)
{
    names->path = file_path(path, &names->holders[0]);
    if (names->path == NULL || member == Py_None) return names->path != NULL;
    names->holders[1] = PyUnicode_AsEncodedString(member, "utf-8", "surrogateescape");
    char *text;
    if (names->holders[1] == NULL || PyBytes_AsStringAndSize(names->holders[1], &text, NULL) < 0)
        return false;
    names->member = text; /* without a null byte, or that call had raised ValueError */
    return true;
}

/* table_open(path, name, how, memory, follow_links) */
PyObject *table_open(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct names names = {0};
    garner_table *table = NULL;
    garner_error error;
    garner_table_options options = {.size = sizeof options, .watch = watch};
    garner_status status = GARNER_OK;
    (void)keywords;
    if (count != 5) return PyErr_Format(PyExc_TypeError, "five arguments are needed");
    options.how = (garner_table_how)PyLong_AsLong(arguments[2]);
    options.memory = PyLong_AsUnsignedLongLong(arguments[3]);
    options.follow_links = PyObject_IsTrue(arguments[4]);
    if (!PyErr_Occurred() && take_names(&names, arguments[0], arguments[1])) {
        Py_BEGIN_ALLOW_THREADS;
        status = garner_table_open(names.path, names.member, &options, &table, &error);
        Py_END_ALLOW_THREADS;
        if (status != GARNER_OK) raise_record(PyModule_GetState(module), &error);
    }
    Py_XDECREF(names.holders[0]);
    Py_XDECREF(names.holders[1]);
    PyObject *capsule = table ? PyCapsule_New(table, table_capsule, drop_table) : NULL;
    if (!capsule) garner_table_close(table);
    return capsule;
}

/* table_about(handle) -> type, shape */
PyObject *table_about(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    garner_table *table = arguments_capsule(arguments, count, 1, table_capsule);
    (void)module, (void)keywords;
    if (table == NULL) return NULL;
    const garner_tensor *tensor = garner_table_tensor(table);
    PyObject *shape = PyTuple_New(tensor->rank);
    for (int32_t i = 0; shape && i < tensor->rank; i++) {
        PyObject *extent = PyLong_FromLongLong(tensor->shape[i]);
        if (extent == NULL || PyTuple_SetItem(shape, i, extent) < 0) Py_CLEAR(shape);
    }
    return shape ? Py_BuildValue("(sN)", garner_dtype_name(tensor->dtype), shape) : NULL;
}

/* table_report(handle) -> how the last gather read, blocks read so far, bytes read so far */
PyObject *table_report(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    garner_table *table = arguments_capsule(arguments, count, 1, table_capsule);
    garner_table_stats stats = {.size = sizeof stats};
    (void)module, (void)keywords;
    if (table == NULL) return NULL;
    garner_table_report(table, &stats);
    return Py_BuildValue("(sKK)", garner_table_how_name(stats.how), (unsigned long long)stats.reads,
                         (unsigned long long)stats.bytes);
}

/* ---- Gathering ------------------------------------------------------------------------------- */

struct gathering {
    struct state *state;
    garner_table *table;
    garner_op op;
    const char *operator;
    struct operand data, indices, out; /* of data the shape alone */
    PyObject *given;                   /* out, or None */
};

static garner_status run(struct gathering *g, const garner_tensor *out, garner_error *error)
{
    struct work work, *before = current;
    work_begin(&work, 0, INT64_MAX);
    current = &work;
    garner_status status = garner_table_gather(g->table, &g->op, &g->indices.tensor, out, error);
    current = before;
    work_end(&work);
    return status;
}

static PyObject *raise_failure(struct gathering *g, garner_error *error)
{
    return PyErr_Occurred() ? NULL : huge_index_raise(g->state, &g->indices, error);
}

static PyObject *gather_new(struct gathering *g)
{
    garner_error error;
    garner_shape shape;
    garner_status status = garner_infer(&g->op, &g->data.tensor, &g->indices.tensor, &shape, &error);
    if (status != GARNER_OK) return raise_failure(g, &error);
    struct array_object *made = array_object_allocate(g->state, &shape, NULL, garner_table_descr(g->table));
    if (made == NULL) return NULL;
    status = run(g, &made->tensor, &error);
    if (status == GARNER_OK) return (PyObject *)made;
    Py_DECREF(made);
    return raise_failure(g, &error);
}

static bool out_fits(const struct gathering *g)
{
    if (!g->out.writable)
        raise_error(g->state, GARNER_BAD_ARGUMENT, "%s: out is read-only", g->operator);
    else if (g->out.swapped)
        raise_error(g->state, GARNER_BAD_TYPE, "%s: out has another byte order than this machine",
                    g->operator);
    else if (g->out.odd)
        raise_error(g->state, GARNER_BAD_SHAPE, "%s: out has strides that are no whole elements",
                    g->operator);
    return !PyErr_Occurred();
}

static PyObject *gather_into(struct gathering *g)
{
    garner_error error;
    PyObject *result = NULL;
    if (!operand_read(g->state, &g->out, g->given, ROLE_OUT, g->operator, "out")) return NULL;
    if (out_fits(g)) {
        operand_hold(&g->out);
        operand_hold(&g->indices);
        if (operand_check_there(g->state, &g->out, g->operator, "out") &&
            operand_check_there(g->state, &g->indices, g->operator, "indices"))
            result =
                run(g, &g->out.tensor, &error) == GARNER_OK ? Py_NewRef(g->given) : raise_failure(g, &error);
    }
    operand_release(&g->out);
    return result;
}

static PyObject *gather_held(struct gathering *g)
{
    if ((g->indices.odd || g->indices.swapped) &&
        !operand_settle(g->state, &g->indices, ROLE_INDICES, g->operator))
        return NULL;
    if (g->indices.beyond && !huge_index_wrap(&g->op, &g->data, &g->indices)) return NULL;
    if (g->given != Py_None) return gather_into(g);
    operand_hold(&g->indices);
    return operand_check_there(g->state, &g->indices, g->operator, "indices") ? gather_new(g) : NULL;
}

/* table_gather(handle, indices, axis, batch_dims, spec, strict, oob, out) */
PyObject *table_gather(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct gathering g = {.state = PyModule_GetState(module), .operator= garner_kind_name(GARNER_GATHER)};
    (void)keywords;
    g.table = arguments_capsule(arguments, count, 8, table_capsule);
    if (g.table == NULL) return NULL;
    if (!option_operator(g.state, &g.op, GARNER_GATHER, arguments[4], arguments[5], arguments[6]) ||
        !option_integer(g.state, g.operator, "axis", arguments[2], &g.op.axis) ||
        !option_integer(g.state, g.operator, "batch_dims", arguments[3], &g.op.batch_dims))
        return NULL;
    g.data.tensor = *garner_table_tensor(g.table);
    memcpy(g.data.shape, g.data.tensor.shape, (size_t)g.data.tensor.rank * sizeof *g.data.shape);
    g.given = arguments[7];
    if (!operand_read(g.state, &g.indices, arguments[1], ROLE_INDICES, g.operator, "indices")) return NULL;
    PyObject *result = gather_held(&g);
    operand_release(&g.indices);
    return result;
}
