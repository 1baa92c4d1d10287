/* SPDX-License-Identifier: MIT */
/* The extension module garner._garner: its functions, its state, its beginning and its end. */
#include "array_object.h"
#include "device_call.h"
#include "device_scope.h"
#include "errors.h"
#include "file.h"
#include "files.h"
#include "functions.h"
#include "numpy.h"
#include "plan_object.h"
#include "tables.h"

#define FUNCTION(name)                                               \
    {                                                                \
#name, FAST(name), METH_FASTCALL | METH_KEYWORDS, name##_doc \
    }

static PyMethodDef functions[] = {
    FUNCTION(gather),          FUNCTION(gather_elements), FUNCTION(gather_nd),      FUNCTION(take),
    FUNCTION(take_along_axis), FUNCTION(index_select),    FUNCTION(take_along_dim), FUNCTION(get_num_threads),
    FUNCTION(set_num_threads), FUNCTION(cpu_info),        {NULL, NULL, 0, NULL},
};

/* What the package's Python files use. */
#define INTERNAL(name)                                             \
    {                                                              \
        "_" #name, FAST(name), METH_FASTCALL | METH_KEYWORDS, NULL \
    }

static PyMethodDef internal_functions[] = {
    INTERNAL(file_open_store),    INTERNAL(file_is_single),     INTERNAL(file_names),
    INTERNAL(file_load),          INTERNAL(file_save_all),      INTERNAL(model_open_file),
    INTERNAL(model_ports),        INTERNAL(model_run_file),     INTERNAL(explain_gather),
    INTERNAL(array_of_bytes),     INTERNAL(table_open),         INTERNAL(table_about),
    INTERNAL(table_report),       INTERNAL(table_gather),       INTERNAL(device_count),
    INTERNAL(device_scope_new),   INTERNAL(device_scope_enter), INTERNAL(device_scope_leave),
    INTERNAL(device_scope_check), {NULL, NULL, 0, NULL},
};

static int make_names(struct state *state)
{
    static const char *const words[NAMES] = {
#define NAME(word) #word,
#include "interned_names.def"
#undef NAME
    };
    for (int i = 0; i < NAMES; i++)
        if (!(state->name[i] = PyUnicode_InternFromString(words[i]))) return -1;
    return 0;
}

/* Functions say that they are the package's, not this module's. */
static int add_functions(PyObject *module, PyMethodDef *list)
{
    PyObject *package = PyUnicode_FromString("garner");
    int result = package ? 0 : -1;
    for (PyMethodDef *function = list; function->ml_name && result == 0; function++) {
        PyObject *made = PyCFunction_NewEx(function, module, package);
        result = made ? PyModule_AddObjectRef(module, function->ml_name, made) : -1;
        Py_XDECREF(made);
    }
    Py_XDECREF(package);
    return result;
}

static int module_exec(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    file_gives_up = file_run_handlers;
    if (make_names(state) < 0 || errors_make(state, module) < 0 ||
        array_object_make_type(state, module) < 0 || plan_object_make_type(state, module) < 0 ||
        add_functions(module, functions) < 0 || add_functions(module, internal_functions) < 0) {
        /* CPython 3.11 makes no type where memory is short, and does not always say why. */
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddStringConstant(module, "__version__", garner_version());
}

static PyObject **first_object(struct state *state)
{
    return &state->error;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = PyModule_GetState(module);
    if (state == NULL) return 0;
    for (PyObject **object = first_object(state); object <= &state->bad_file; object++)
        Py_VISIT(*object);
    Py_VISIT((PyObject *)state->array_type);
    Py_VISIT((PyObject *)state->plan_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    if (state == NULL) return 0;
    for (int i = 0; i < NAMES; i++)
        Py_CLEAR(state->name[i]);
    for (PyObject **object = first_object(state); object <= &state->bad_file; object++)
        Py_CLEAR(*object);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->plan_type);
    numpy_free(state);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, SLOT(module_exec)},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,          .m_name = "garner._garner", .m_doc = "The C part of the package garner.",
    .m_size = sizeof(struct state), .m_slots = slots,           .m_traverse = module_traverse,
    .m_clear = module_clear,        .m_free = module_free,
};

PyMODINIT_FUNC PyInit__garner(void);
PyMODINIT_FUNC PyInit__garner(void)
{
    return PyModuleDef_Init(&definition);
}
