/* SPDX-License-Identifier: MIT */
/* Drawings of gathers: the text for a terminal and the picture for a notebook, both as strings. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "errors.h"
#include "explain.h"
#include "files.h"
#include "huge_index.h"
#include "plan_object.h"

struct drawing {
    struct state *state;
    garner_op op;
    struct operand data, indices;
};

/* The drawing as it would stand in a terminal of that width. */
static PyObject *draw_text(const struct drawing *drawing, int width, int colour)
{
    char *text = NULL;
    size_t size = 0;
    garner_error error;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return PyErr_NoMemory();
    garner_status status = explain_draw(&drawing->op, &drawing->data.tensor, &drawing->indices.tensor, memory,
                                        width, colour, &error);
    /* A stream that finds no memory, at the latest for its text as a whole, closes as if nothing were
     * missing. */
    bool whole = !ferror(memory);
    whole = fclose(memory) == 0 && whole && text != NULL;
    PyObject *made = NULL;
    if (status != GARNER_OK)
        huge_index_raise(drawing->state, &drawing->indices, &error);
    else if (drawing->indices.beyond)
        raise_error(drawing->state, GARNER_BAD_TYPE,
                    "%s: indices has a number that does not fit in 64 bits, and cannot be drawn",
                    garner_kind_name(drawing->op.kind));
    else
        made = whole ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "backslashreplace") : PyErr_NoMemory();
    free(text);
    return made;
}

static PyObject *read_descriptor(int descriptor)
{
    off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0) return PyErr_SetFromErrno(PyExc_OSError);
    char *bytes = malloc((size_t)size + 1);
    if (bytes == NULL) return PyErr_NoMemory();
    PyObject *text = pread(descriptor, bytes, (size_t)size, 0) == size
                         ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, "backslashreplace")
                         : PyErr_SetFromErrno(PyExc_OSError);
    free(bytes);
    return text;
}

/* The same as a picture, through a file that has no name. */
static PyObject *draw_picture(const struct drawing *drawing)
{
    char path[64];
    garner_error error;
    int descriptor = memfd_create("garner-explain", MFD_CLOEXEC);
    if (descriptor < 0) return PyErr_SetFromErrno(PyExc_OSError);
    PyOS_snprintf(path, sizeof path, "/dev/fd/%d", descriptor);
    garner_status status =
        explain_svg(&drawing->op, &drawing->data.tensor, &drawing->indices.tensor, path, &error);
    PyObject *picture =
        status == GARNER_OK ? read_descriptor(descriptor) : raise_record(drawing->state, &error);
    close(descriptor);
    return picture;
}

static bool read_operator(struct drawing *drawing, PyObject *const *arguments)
{
    struct state *state = drawing->state;
    garner_kind kind = kind_of_name(state, arguments[0]);
    const char *operator= garner_kind_name(kind);
    return kind && option_operator(state, &drawing->op, kind, arguments[5], arguments[6], arguments[7]) &&
           option_integer(state, operator, "axis", arguments[3], &drawing->op.axis) &&
           option_integer(state, operator, "batch_dims", arguments[4], &drawing->op.batch_dims);
}

PyObject *explain_gather(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    struct drawing drawing = {.state = PyModule_GetState(module)};
    (void)keywords;
    if (count != 10) return PyErr_Format(PyExc_TypeError, "ten arguments are needed");
    long width = PyLong_AsLong(arguments[8]), colour = PyLong_AsLong(arguments[9]);
    if (PyErr_Occurred() || !read_operator(&drawing, arguments)) return NULL;
    const char *operator= garner_kind_name(drawing.op.kind);
    if (!read_native(drawing.state, &drawing.data, arguments[1], ROLE_DATA, operator, "data")) return NULL;
    if (!read_native(drawing.state, &drawing.indices, arguments[2], ROLE_INDICES, operator, "indices")) {
        operand_release(&drawing.data);
        return NULL;
    }
    operand_hold(&drawing.data);
    operand_hold(&drawing.indices);
    const bool there = operand_check_there(drawing.state, &drawing.data, operator, "data") &&
                       operand_check_there(drawing.state, &drawing.indices, operator, "indices");
    PyObject *text = there ? draw_text(&drawing, (int)width, (int)colour) : NULL;
    PyObject *picture = text ? draw_picture(&drawing) : NULL;
    operand_release(&drawing.data);
    operand_release(&drawing.indices);
    if (picture == NULL) Py_XDECREF(text);
    return picture ? Py_BuildValue("(NN)", text, picture) : NULL;
}
