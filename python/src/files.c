/* SPDX-License-Identifier: MIT */
/* Loading and saving: a store in a capsule, Arrays over what it loads, operands as what it saves. */
#define _GNU_SOURCE
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "errors.h"
#include "store.h"

static const char store_capsule[] = "garner.store";

/* ---- Arrays out of files --------------------------------------------------------------------- */

static void release_loaded(struct counted_memory *block)
{
    array_free(block->context);
    free(block->context);
}

PyObject *array_object_of_file(struct state *state, struct array *loaded)
{
    struct array *kept = malloc(sizeof *kept);
    struct counted_memory *block =
        kept ? counted_memory_around(loaded->tensor.data, release_loaded, kept) : NULL;
    if (block == NULL) {
        free(kept);
        array_free(loaded);
        return PyErr_NoMemory();
    }
    *kept = *loaded;
    kept->tensor.shape = kept->shape;
    kept->tensor.strides = loaded->tensor.strides ? kept->strides : NULL;
    bool own = kept->memory != NULL && kept->region == NULL;
    return (PyObject *)array_object_new(state, block, &kept->tensor, NULL, kept->descr, own);
}

int file_run_handlers(void)
{
    const PyGILState_STATE held = PyGILState_Ensure();
    const int raised = PyErr_CheckSignals();
    PyGILState_Release(held);
    return raised;
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void drop_store(PyObject *capsule)
{
    struct store *store = PyCapsule_GetPointer(capsule, store_capsule);
    if (store) store_close(store);
    free(store);
}

const char *file_path(PyObject *given, PyObject **bytes)
{
    if (!PyUnicode_FSConverter(given, bytes)) return NULL;
    const char *path = PyBytes_AsString(*bytes);
    return strcmp(path, "-") == 0 ? "./-" : path; /* which would be standard input */
}

PyObject *file_open_store(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    PyObject *bytes = NULL;
    garner_error error;
    (void)keywords;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "a path and flags are needed");
    const char *path = file_path(arguments[0], &bytes);
    long flags = PyLong_AsLong(arguments[1]);
    struct store *store = path && !PyErr_Occurred() ? calloc(1, sizeof *store) : NULL;
    if (store == NULL) {
        Py_XDECREF(bytes);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    garner_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = store_open(store, path, (unsigned)flags, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    PyObject *capsule = status == GARNER_OK ? PyCapsule_New(store, store_capsule, drop_store) : NULL;
    if (capsule) return capsule;
    if (status == GARNER_OK) store_close(store);
    free(store);
    return status == GARNER_OK ? NULL : raise_record(state, &error);
}

PyObject *file_is_single(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct store *store = arguments_capsule(arguments, count, 1, store_capsule);
    (void)module;
    (void)keywords;
    return store ? PyBool_FromLong(store->kind == STORE_NPY || store->kind == STORE_PB) : NULL;
}

PyObject *file_names(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct store *store = arguments_capsule(arguments, count, 1, store_capsule);
    PyObject *list = store ? PyList_New((Py_ssize_t)store->count) : NULL;
    (void)module;
    (void)keywords;
    for (size_t i = 0; list && i < store->count; i++) {
        const char *name = store_name(store, i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
        if (text == NULL || PyList_SetItem(list, (Py_ssize_t)i, text) < 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *file_load(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    struct store *store = arguments_capsule(arguments, count, 2, store_capsule);
    struct array array;
    garner_error error;
    (void)keywords;
    size_t i = store ? PyLong_AsSize_t(arguments[1]) : 0;
    if (PyErr_Occurred()) return NULL;
    if (i >= store->count) return PyErr_Format(PyExc_IndexError, "there is no such tensor");
    garner_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = store_load(store, i, &array, &error);
    Py_END_ALLOW_THREADS;
    if (status != GARNER_OK) return raise_record(state, &error);
    PyObject *mapped = array_object_of_file(state, &array);
    if (mapped == NULL || !(store->flags & STORE_COPY) || ((struct array_object *)mapped)->writable)
        return mapped;
    PyObject *copy = (PyObject *)array_object_copy(state, (struct array_object *)mapped);
    Py_DECREF(mapped);
    return copy;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

bool read_native(struct state *state, struct operand *operand, PyObject *object, enum role role,
                 const char *operator, const char * name)
{
    if (!operand_read(state, operand, object, role, operator, name)) return false;
    if (operand_settle(state, operand, ROLE_INDICES, operator)) return true;
    operand_release(operand);
    return false;
}

/* What is saved: names and descrs are those of `held`. */
struct saving {
    size_t count;
    struct operand *operands;
    const char **names, **descrs;
    PyObject *held[3]; /* the lists as tuples, since code that reading them runs may find and change those */
};

static garner_status saving_describe(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    const struct saving *saving = context;
    const garner_tensor *tensor = &saving->operands[i].tensor;
    (void)error;
    *entry = (struct store_entry){.name = saving->names[i],
                                  .dtype = tensor->dtype,
                                  .item_bytes = tensor->item_bytes,
                                  .rank = tensor->rank};
    for (int32_t k = 0; k < tensor->rank; k++)
        entry->shape[k] = tensor->shape[k];
    int64_t bytes =
        garner_dtype_bytes(tensor->dtype, count_elements(tensor->rank, tensor->shape), tensor->item_bytes);
    entry->bytes = bytes < 0 ? 0 : (uint64_t)bytes;
    return GARNER_OK;
}

static garner_status saving_load(void *context, size_t i, struct array *array, garner_error *error)
{
    const struct saving *saving = context;
    const struct operand *operand = &saving->operands[i];
    memset(array, 0, sizeof *array);
    array->tensor = operand->tensor;
    memcpy(array->shape, operand->shape, sizeof array->shape);
    memcpy(array->strides, operand->strides, sizeof array->strides);
    array->tensor.shape = array->shape;
    array->tensor.strides = operand->tensor.strides ? array->strides : NULL;
    if (saving->descrs[i] == NULL) return GARNER_OK;
    array->descr = strdup(saving->descrs[i]);
    if (array->descr) return GARNER_OK;
    if (error) *error = (garner_error){.status = GARNER_NO_MEMORY, .message = "save: no memory"};
    return GARNER_NO_MEMORY;
}

static void free_saving(struct saving *saving)
{
    for (size_t i = 0; i < saving->count; i++)
        operand_release(&saving->operands[i]);
    free(saving->operands);
    free(saving->names);
    free(saving->descrs);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(saving->held[i]);
}

static const char *text_at(PyObject *tuple, size_t i)
{
    PyObject *text = PyTuple_GetItem(tuple, (Py_ssize_t)i);
    return text && text != Py_None ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
}

/* Reads names, arrays and descrs, which are three lists of one length. */
static bool read_saving(struct state *state, struct saving *saving, PyObject *const *lists)
{
    for (int i = 0; i < 3; i++)
        if (!(saving->held[i] = PyList_AsTuple(lists[i]))) return false;
    size_t count = (size_t)PyTuple_Size(saving->held[1]);
    saving->operands = calloc(count + 1, sizeof *saving->operands);
    saving->names = calloc(count + 1, sizeof *saving->names);
    saving->descrs = calloc(count + 1, sizeof *saving->descrs);
    if (!saving->operands || !saving->names || !saving->descrs) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        saving->names[i] = text_at(saving->held[0], i);
        saving->descrs[i] = text_at(saving->held[2], i);
        PyObject *array = PyTuple_GetItem(saving->held[1], (Py_ssize_t)i);
        if (PyErr_Occurred() ||
            !read_native(state, &saving->operands[i], array, ROLE_DATA, "save", saving->names[i]))
            return false;
        saving->operands[i].tensor.shape = saving->operands[i].shape;
        saving->count++;
    }
    for (size_t i = 0; i < count; i++)
        operand_hold(&saving->operands[i]);
    for (size_t i = 0; i < count; i++)
        if (!operand_check_there(state, &saving->operands[i], "save", saving->names[i])) return false;
    return true;
}

PyObject *file_save_all(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    struct saving saving = {0};
    PyObject *bytes = NULL;
    garner_error error = {.status = GARNER_OK};
    (void)keywords;
    if (count != 4 || !PyList_Check(arguments[1]) || !PyList_Check(arguments[2]) ||
        !PyList_Check(arguments[3]))
        return PyErr_Format(PyExc_TypeError, "a path and three lists are needed");
    const char *path = file_path(arguments[0], &bytes);
    if (path && read_saving(state, &saving, arguments + 1)) {
        struct store_source source = {
            .context = &saving, .count = saving.count, .describe = saving_describe, .load = saving_load};
        Py_BEGIN_ALLOW_THREADS;
        (void)store_save(path, store_kind_of_path(path), &source, &error);
        Py_END_ALLOW_THREADS;
        if (error.status != GARNER_OK) raise_record(state, &error);
    }
    free_saving(&saving);
    Py_XDECREF(bytes);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
