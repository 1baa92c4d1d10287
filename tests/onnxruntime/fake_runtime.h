/* SPDX-License-Identifier: MIT */
/*
 * A runtime of a few lines that stands in for ONNX Runtime: enough to load the plug-in, make its kernels and
 * run them, with none of its own allocations. Its strings are laid out in a way of its own.
 */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

#include "abi.h"

enum { FAKE_RANK = 4, FAKE_STRINGS = 64, FAKE_STRING = 40 };

#define FAKE_FAILURE "the stand-in fails"

/* How the strings of tensors that it makes look: like those of no library, or at first sight like those of
 * GNU's C++ library, but with another letter in one of them, or without a zero at its end. */
enum fake_layout { FAKE_OWN, FAKE_LETTER, FAKE_END };

struct fake_string {
    size_t size;
    char bytes[FAKE_STRING];
};

struct OrtStatus {
    int code;
    bool used;
    char message[600];
};

struct OrtTypeInfo {
    int type;
    size_t rank;
    int64_t extents[FAKE_RANK];
};

struct OrtValue {
    struct OrtTypeInfo is;
    void *data; /* of strings: fake_string */
};

struct OrtKernelInfo {
    const char *attribute; /* the one that the node has, and its value */
    int64_t value;
    struct OrtTypeInfo input[2];
};

struct OrtKernelContext {
    OrtValue *input[2], *out; /* the shape of out is filled in */
};

/* What the plug-in registered. */
struct OrtKernelDef {
    char type[32];
    int first, last;
    size_t types[2]; /* how many T and index constraints allow */
    OrtKernelCreateFunc create;
    void *state;
};

extern struct fake_runtime {
    uint32_t version; /* of its interface */
    bool lies;        /* its statuses come back with another code, */
    bool garbles;     /* or with another message */
    enum fake_layout layout;
    const char *option[2]; /* an entry of the session's options: key and value */
    struct OrtKernelDef kernel[16];
    size_t kernels;
    size_t parallel; /* the most tasks that were asked for at once */
    size_t claimed;  /* nodes */
    size_t
        columns; /* Gathers of one column each, 0 to this, of data [2, extent]; 0: one Gather by an input */
    int64_t extent;
    int data_type;                 /* of the data, if not 0; f32 */
    bool ends_in_slice;            /* the last of the columns is a Slice, to the end */
    bool ends_in_nd;               /* or a GatherND */
    const char *producer, *reader; /* the operators that make the data and read every out, or NULL */
    const char *second_reader;     /* of every out */
    struct OrtTypeInfo node_output;
    int statuses; /* alive */
    int objects;  /* alive: tensors, registries, what describes kernels */

    /* What is unusual about the graph. */
    bool is_empty;             /* it has no nodes */
    bool unread;               /* outs are neither read nor outputs */
    bool reads_as_indices;     /* nodes read the data as their second input */
    int since_version;         /* of the nodes, if not 13 */
    size_t inputs;             /* how many they have, if not 2, and Slices, if not 4 */
    size_t data_rank;          /* if not 2 */
    int64_t axis, step;        /* of nodes with columns, if not 1, and of a Slice with 5 inputs */
    struct OrtTypeInfo number; /* of constants, if not one i64 */

    /* The calls of functions that may fail: which fails, or gives NULL, counted from 1 on; and how many there
     * were. With a name only that function's count; and all from there on if `forever`. */
    const char *failing;
    size_t fail_at, calls, nothing_at, gifts;
    bool forever;
} fake;

/* As new: everything zero but the version. */
void fake_reset(void);

const OrtApiBase *fake_base(void);

#endif
