/* SPDX-License-Identifier: MIT */
/* Asks torch's tensors by their attributes, so that nothing of torch is needed, nor imported. */
#include "torch.h"

#include <string.h>

#include "error_aside.h"
#include "errors.h"

/* Whether an attribute, called if it can be, is true. Absent ones are not. */
static bool is_set(PyObject *object, PyObject *name, bool call)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (value && call) {
        PyObject *answer = PyObject_CallNoArgs(value);
        Py_DECREF(value);
        value = answer;
    }
    bool set = value == Py_True;
    Py_XDECREF(value);
    PyErr_Clear();
    return set;
}

/* Whether torch records what is done to tensors: not within torch.no_grad(). */
static bool torch_records(void)
{
    PyObject *torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    PyObject *answer = torch ? PyObject_CallMethod(torch, "is_grad_enabled", NULL) : NULL;
    bool records = answer != Py_False;
    Py_XDECREF(answer);
    PyErr_Clear();
    return records;
}

bool torch_means_what_it_holds(struct state *state, struct operand *operand, PyObject **object,
                               const char *operator, const char * name)
{
    PyObject *grad = PyObject_GetAttr(*object, state->name[NAME_requires_grad]);
    if (grad == NULL) {
        PyErr_Clear();
        return true;
    }
    const char *why = NULL;
    if (grad == Py_True && !torch_records()) {
        operand->object = operand->detached = *object = PyObject_CallMethod(*object, "detach", NULL);
        if (*object == NULL) {
            Py_DECREF(grad);
            return false;
        }
    } else if (grad == Py_True) {
        why = "requires grad, and garner's result would be cut off from it; give it .detach()ed, or call "
              "within torch.no_grad()";
    }
    if (why == NULL && is_set(*object, state->name[NAME_is_conj], true))
        why = "is a conjugate view, whose memory holds other values; give it .resolve_conj()ed";
    else if (why == NULL && is_set(*object, state->name[NAME_is_neg], true))
        why = "is a negative view, whose memory holds other values; give it .resolve_neg()ed";
    Py_DECREF(grad);
    if (why) raise_error(state, GARNER_BAD_TYPE, "%s: %s %s", operator, name, why);
    return why == NULL;
}

/* ---- Types that DLPack lacks ----------------------------------------------------------------- */

/* Whether the name of a type is one of torch.int1 to torch.int7, torch.uint1 to torch.uint7. */
static bool is_narrow(PyObject *type)
{
    PyObject *text = PyObject_Str(type);
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    bool narrow = false;
    if (name && strncmp(name, "torch.", 6) == 0) {
        name += name[6] == 'u' ? 7 : 6;
        narrow = strncmp(name, "int", 3) == 0 && name[3] >= '1' && name[3] <= '7' && name[4] == '\0';
    }
    PyErr_Clear();
    Py_XDECREF(text);
    return narrow;
}

bool torch_note_type(struct state *state, struct operand *operand, PyObject *object, enum role role,
                     const char *operator, const char * name)
{
    if (operand->tensor.dtype != GARNER_I8 && operand->tensor.dtype != GARNER_U8) return true;
    PyObject *type = PyObject_GetAttr(object, state->name[NAME_dtype]);
    PyErr_Clear();
    bool narrow = type && is_narrow(type), refused = narrow && role == ROLE_INDICES;
    if (refused)
        raise_error(state, GARNER_BAD_TYPE,
                    "%s: %s is of %S; indices are integers of 8 to 64 bits, so convert it first, as with "
                    ".view(torch.uint8)",
                    operator, name, type);
    if (narrow && !refused)
        operand->torch_type = type;
    else
        Py_XDECREF(type);
    return !refused;
}

PyObject *torch_view(const struct operand *operand, PyObject *tensor)
{
    if (operand->torch_type == NULL || tensor == NULL) return tensor;
    PyObject *viewed = PyObject_CallMethod(tensor, "view", "O", operand->torch_type);
    Py_DECREF(tensor);
    return viewed;
}

void torch_refuse(struct state *state, PyObject *object, const char *operator, const char * name)
{
    struct aside aside;
    error_put_aside(&aside);
    bool quantized = is_set(object, state->name[NAME_is_quantized], false);
    error_take_back(&aside);
    raise_from(state, GARNER_BAD_TYPE, "%s: %s %s", operator, name,
               quantized
                   ? "is quantized, and its scale and zero point would be lost; give its .int_repr() or "
                     "its .dequantize()"
                   : "cannot be read through DLPack");
}
