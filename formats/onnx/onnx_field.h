/* SPDX-License-Identifier: MIT */
/*
 * Which field of a TensorProto holds the elements of which type, and what its numbers become. Shared by
 * the files that read tensors; others use onnx_tensor.h.
 */
#ifndef GARNER_FORMATS_ONNX_FIELD_H
#define GARNER_FORMATS_ONNX_FIELD_H

#include "fail.h"
#include "onnx_tensor.h"

enum { ONNX_STRINGS = 6, ONNX_RAW = 9 };

/* The field for a type, unless raw_data holds the elements. */
uint32_t onnx_field_of_type(garner_dtype dtype);

/* "float_data"; NULL if the field holds no elements. */
const char *onnx_field_name(uint32_t number);

/* How its numbers are written; WIRE_BYTES for strings and raw_data. */
enum wire_type onnx_field_type(uint32_t number);

/* Bytes of an element that one number, or string, stands for. Two numbers make a complex one; of packed
 * types a number is a byte. */
unsigned onnx_number_bytes(garner_dtype dtype);

/* Whether the field that was found can hold all elements. */
garner_status onnx_check_field(const struct onnx_tensor *tensor, const struct wire_file *file);

/* "PATH: tensor 'NAME': ..." */
garner_status onnx_tensor_fail(const struct onnx_tensor *tensor, const struct wire_file *file,
                               garner_status status, const char *format, ...) FAIL_FORMAT(4);

#endif
