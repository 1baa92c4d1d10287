/* SPDX-License-Identifier: MIT */
/*
 * ONNX's TensorProto: a file of its own (.pb), or within a model. Elements stay where they are in the file
 * if they lie there as this machine has them (raw_data, packed floats, external data); otherwise they are
 * decoded into memory. What is read is described first and loaded later, so that describing costs nothing.
 */
#ifndef GARNER_FORMATS_ONNX_TENSOR_H
#define GARNER_FORMATS_ONNX_TENSOR_H

#include "array.h"
#include "wire.h"

/* A .pb as a file of one tensor (pb_store.c). */
struct store_format;
extern const struct store_format pb_format;

/* The field of a TensorProto that holds the elements. */
struct onnx_field {
    uint32_t number;        /* 0: none is there */
    uint64_t most;          /* no more numbers, strings, or bytes of raw_data than that are there */
    uint64_t pieces;        /* that it came in */
    int packed;             /* whether the last piece was packed numbers, or raw_data */
    struct wire_span piece; /* the last piece, then */
};

struct onnx_tensor {
    struct wire_span name;
    garner_dtype dtype;
    int32_t rank;
    int64_t shape[GARNER_MAX_RANK];
    int64_t count;  /* elements */
    uint64_t bytes; /* of the elements, dense; of strings 16 for each */
    int external;   /* whether the elements lie in another file */

    /* For onnx_tensor_load. */
    struct wire_span message;
    struct onnx_field field; /* not of external data */
    struct wire_span location;
    uint64_t offset, length;
    int has_length;
};

/*
 * Reads what a TensorProto says, and checks that the elements can be loaded as far as that is possible
 * without opening another file. file->bytes is the beginning of the file that the message lies in.
 */
garner_status onnx_tensor_read(struct onnx_tensor *tensor, const struct wire_file *file,
                               struct wire_span message);

/* Opens external data: gives the bytes of the file at `location`, as the tensor writes it. */
typedef garner_status onnx_opener(void *context, struct wire_span location, const unsigned char **bytes,
                                  uint64_t *size, garner_error *error);

/*
 * The elements: *data is where they lie, and *memory what malloc gave for them, or NULL if they lie in the
 * message or in what `opener` gave. Strings point into the message.
 */
garner_status onnx_tensor_load(const struct onnx_tensor *tensor, const struct wire_file *file,
                               onnx_opener *opener, void *context, const void **data, void **memory);

/*
 * The same as an array. Elements that lie in the message are not owned by it, and neither are strings. With
 * external data, which are looked for beneath the folder of file->path, the array holds their file.
 */
garner_status onnx_tensor_load_array(const struct onnx_tensor *tensor, const struct wire_file *file,
                                     int follow_links, struct array *array);

/* Finds the initializer of that name in a model, of which `model` is all; NULL means the only one. */
garner_status onnx_find_initializer(struct onnx_tensor *tensor, const struct wire_file *file,
                                    struct wire_span model, const char *name);

/* Where the elements lie as they are, byte for byte but for the order of bytes: NULL if they do not, or lie
 * in another file. */
const unsigned char *onnx_tensor_bytes(const struct onnx_tensor *tensor);

/* Whether the elements lie within external data of that size. */
garner_status onnx_tensor_check_external(const struct onnx_tensor *tensor, const struct wire_file *file,
                                         uint64_t size);

/* Writes a tensor of any strides as TensorProto, as file_save does. `name` may be NULL. Types that ONNX
 * lacks (u1, u3, u6, nf4, opaque) are GARNER_UNSUPPORTED. */
garner_status onnx_tensor_save(const char *path, const char *name, const garner_tensor *tensor,
                               garner_error *error);

#endif
