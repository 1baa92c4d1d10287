/* SPDX-License-Identifier: MIT */
/*
 * One element of any type garner knows, out of memory: as a Python object, as true or false, and held
 * against another one. Integers of 64 bits stay exact whatever they are compared with.
 */
#ifndef GARNER_PYTHON_ELEMENT_VALUE_H
#define GARNER_PYTHON_ELEMENT_VALUE_H

#include "state.h"

enum value_kind { VALUE_SIGNED, VALUE_UNSIGNED, VALUE_BOOL, VALUE_REAL, VALUE_COMPLEX, VALUE_TEXT };

struct value {
    enum value_kind kind;
    union {
        int64_t i;      /* VALUE_SIGNED */
        uint64_t u;     /* VALUE_UNSIGNED, VALUE_BOOL */
        double part[2]; /* VALUE_REAL: the first; VALUE_COMPLEX: both */
        garner_string text;
    } is;
};

/* The element that many elements from `first`; `swapped`: its bytes are in the other order. Not of opaque
 * elements. */
void value_load(struct value *value, garner_dtype dtype, const void *first, int64_t offset, bool swapped);

/* The number or the string. */
PyObject *value_object(const struct value *value);

/* Whether it is not 0, or not empty; NaN is true, as everywhere in Python. */
bool value_is_true(const struct value *value);

/* Whether both are the same number, exactly, or the same string; NaN equals nothing. */
bool value_equals(const struct value *a, const struct value *b);

#endif
