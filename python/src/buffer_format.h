/* SPDX-License-Identifier: MIT */
/*
 * The buffer protocol's names of element types: those of the struct module, and longer ones for records. One
 * comes from whoever exports a buffer, or from a pickle, and goes along with a result, whose readers believe
 * it: so nothing may go along that it does not fit.
 */
#ifndef GARNER_PYTHON_BUFFER_FORMAT_H
#define GARNER_PYTHON_BUFFER_FORMAT_H

#include "state.h"

/* The name of a type, or NULL if it has none. */
const char *format_of_type(garner_dtype dtype);

/* The type of elements of that name and size; GARNER_OPAQUE if it is no plain number. */
garner_dtype format_type(const char *format, int64_t item);

/* Whether the name (NULL: none) says that elements are in the other byte order. */
bool format_is_swapped(const char *format);

/* Whether elements of that name hold Python objects, or may do so. */
bool format_holds_objects(const char *format);

/* Whether elements of the type, of so many bytes, may go by that name. */
bool format_fits(const char *format, garner_dtype dtype, int64_t item);

#endif
