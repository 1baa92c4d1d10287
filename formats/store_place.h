/* SPDX-License-Identifier: MIT */
/*
 * Where one tensor's elements lie in a file, for whoever reads parts of them: a tensor may be larger than
 * memory. Of .npy and .safetensors the header alone is read. Of .npz, .pb and .onnx the file is mapped while
 * it is looked through, which takes addresses, not memory.
 */
#ifndef GARNER_FORMATS_STORE_PLACE_H
#define GARNER_FORMATS_STORE_PLACE_H

#include "array.h"

struct store_place {
    struct array array; /* type, shape and strides; its elements, too, where they lie in no file as they are:
                           deflated members, strings, numbers written as varints */
    int descriptor;     /* of the file that they lie in, open for reading; -1: they are in memory */
    uint64_t offset;    /* of element 0, in bytes */
    uint64_t file_size; /* when it was opened */
    unsigned swap;      /* bytes of each number to be reversed; 0: none */
};

/* Finds the tensor `member` (NULL: the only one) of the regular file at `path`: .npy, .npz, .safetensors,
 * .pb, or an initializer of an .onnx model, whose data may lie in a file beside it. `flags` as for
 * store_open. On failure *place is zeroed but for the descriptor, which is -1. */
garner_status store_place_find(struct store_place *place, const char *path, const char *member,
                               unsigned flags, garner_error *error);

/* Closes and frees; a place that could not be found is fine. */
void store_place_close(struct store_place *place);

#endif
