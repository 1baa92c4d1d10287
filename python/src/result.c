/* SPDX-License-Identifier: MIT */
/* Results: made where NumPy would make them, or in a garner.Array that the data's own library then imports.
 */
#include "result.h"

#include <string.h>

#include "array_object.h"
#include "arrow.h"
#include "errors.h"
#include "numpy.h"
#include "read_dlpack.h"
#include "torch.h"

PyObject *result_new(struct state *state, const struct operand *data, const garner_shape *shape, void **to)
{
    if (data->origin == FROM_NUMPY) return numpy_new(numpy_get(state), data->seen.type, shape, to);
    const char *descr = data->origin == FROM_ARRAY ? ((struct array_object *)data->object)->descr : NULL;
    struct array_object *made = array_object_allocate(state, shape, data->format, descr);
    if (made == NULL) return NULL;
    made->dlpack_type = data->dlpack_type;
    *to = made->tensor.data;
    return (PyObject *)made;
}

/* ---- Importing into the data's library ------------------------------------------------------- */

static PyObject *import_by_functions(const DLPackExchangeAPI *functions, PyObject *made)
{
    void *object = NULL;
    DLManagedTensorVersioned *managed = dlpack_share((struct array_object *)made);
    if (managed == NULL) return NULL;
    if (functions->managed_tensor_to_py_object_no_sync(managed, &object) == 0) return object;
    managed->deleter(managed);
    return NULL;
}

/* from_dlpack of the package that a class of the object's comes from, if it has been imported. */
static PyObject *importer_of_class(struct state *state, PyObject *class)
{
    PyObject *module = PyObject_GetAttr(class, state->name[NAME___module__]), *found = NULL;
    Py_ssize_t size = 0;
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, &size) : NULL;
    const char *dot = text ? strchr(text, '.') : NULL;
    PyObject *root = text ? PyUnicode_FromStringAndSize(text, dot ? dot - text : size) : NULL;
    PyObject *package = Py_XNewRef(root ? PyDict_GetItemWithError(PyImport_GetModuleDict(), root) : NULL);
    if (package) found = PyObject_GetAttr(package, state->name[NAME_from_dlpack]);
    if (found == NULL) error_forget();
    Py_XDECREF(package);
    Py_XDECREF(root);
    Py_XDECREF(module);
    return found;
}

/* from_dlpack of the object's own library; NULL, without an exception but for one that passes, if there is
 * none. */
static PyObject *importer_of(struct state *state, PyObject *object)
{
    PyObject *ask = PyObject_GetAttr(object, state->name[NAME___array_namespace__]);
    PyObject *namespace = ask ? PyObject_CallNoArgs(ask) : NULL;
    PyObject *found = namespace ? PyObject_GetAttr(namespace, state->name[NAME_from_dlpack]) : NULL;
    if (found == NULL) error_forget();
    Py_XDECREF(ask);
    Py_XDECREF(namespace);
    PyObject *classes =
        found || PyErr_Occurred() ? NULL : PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__mro__");
    Py_ssize_t count = classes && PyTuple_Check(classes) ? PyTuple_Size(classes) : 0;
    for (Py_ssize_t i = 0; i < count && !found && !PyErr_Occurred(); i++)
        found = importer_of_class(state, PyTuple_GetItem(classes, i));
    if (found == NULL) error_forget();
    Py_XDECREF(classes);
    return found;
}

static PyObject *import_result(struct state *state, PyObject *like, PyObject *made)
{
    const DLPackExchangeAPI *functions = dlpack_functions(state, Py_TYPE(like));
    if (functions && functions->managed_tensor_to_py_object_no_sync)
        return import_by_functions(functions, made);
    PyObject *importer = PyCapsule_CheckExact(like) ? NULL : importer_of(state, like);
    if (importer == NULL) return PyErr_Occurred() ? NULL : Py_NewRef(made);
    PyObject *imported = PyObject_CallFunctionObjArgs(importer, made, NULL);
    Py_DECREF(importer);
    return imported;
}

/* asarray of the library of `like`. */
static PyObject *convert_result(struct state *state, PyObject *like, PyObject *made)
{
    PyObject *ask = PyObject_GetAttr(like, state->name[NAME___array_namespace__]);
    PyObject *namespace = ask ? PyObject_CallNoArgs(ask) : NULL;
    PyObject *convert = namespace ? PyObject_GetAttr(namespace, state->name[NAME_asarray]) : NULL;
    PyObject *converted = convert ? PyObject_CallFunctionObjArgs(convert, made, NULL) : NULL;
    Py_XDECREF(ask);
    Py_XDECREF(namespace);
    Py_XDECREF(convert);
    Py_DECREF(made);
    return converted;
}

PyObject *result_finish(struct state *state, const struct operand *data, PyObject *made, bool scalar)
{
    if (data->origin == FROM_NUMPY && data->like) return convert_result(state, data->like, made);
    if (data->origin == FROM_NUMPY) return scalar ? numpy_return(numpy_get(state), made) : made;
    if (data->origin == FROM_BUFFER && data->like) return arrow_result(data->like, made);
    if (data->origin != FROM_DLPACK && data->origin != FROM_VERSIONED) return made;
    PyObject *imported = torch_view(data, import_result(state, data->object, made));
    Py_DECREF(made);
    return imported;
}

PyObject *result_like(struct state *state, const struct operand *like, PyObject *made)
{
    PyObject *converted = NULL;
    if (like->origin == FROM_BUFFER && like->like)
        converted = arrow_result(like->like, Py_NewRef(made));
    else if (like->origin == FROM_NUMPY)
        converted = numpy_convert(numpy_get(state), made);
    else if (like->origin == FROM_DLPACK || like->origin == FROM_VERSIONED)
        converted = torch_view(like, import_result(state, like->object, made));
    if (converted == NULL && !error_passes()) {
        PyErr_Clear(); /* a type that the other library does not have stays ours */
        return made;
    }
    Py_DECREF(made);
    return converted;
}
