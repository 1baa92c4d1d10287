/* SPDX-License-Identifier: MIT */
/*
 * A caller's object as a tensor, without a copy wherever its memory can be used in place: NumPy's arrays
 * through NumPy's own structures, others through DLPack or the buffer protocol, lists and numbers as a
 * small array made for the call. What keeps the memory alive is held until operand_release.
 */
#ifndef GARNER_PYTHON_OPERAND_H
#define GARNER_PYTHON_OPERAND_H

#include "dlpack_abi.h"
#include "state.h"

enum role { ROLE_DATA, ROLE_INDICES, ROLE_OUT };

enum origin {
    FROM_NUMPY,     /* object is an ndarray */
    FROM_ARRAY,     /* object is a garner.Array */
    FROM_BUFFER,    /* export.buffer is held */
    FROM_DLPACK,    /* export.managed is held */
    FROM_VERSIONED, /* export.versioned is held */
    FROM_LIST       /* nothing but memory */
};

/* Where memory lies, and in which order of work it is ready. */
struct place {
    int32_t device; /* the device's number; -1: memory of the host */
    bool pooled;    /* its library frees it in the order of `stream`, so that a call need not wait */
    void *stream;   /* a CUstream on which it is ready; NULL: the default one */
};

struct operand {
    garner_tensor tensor; /* shape and strides point below */
    enum origin origin;
    bool writable;
    bool swapped;       /* elements are in the other byte order */
    bool odd;           /* strides are in bytes, since some are not whole elements: operand_settle copies */
    const char *format; /* the buffer protocol's name of an opaque or swapped element; or NULL */
    PyObject *object;   /* what was given, or what was made of it; the caller's reference */
    PyObject *owned;    /* an array that was made of it, or its elements or parts, or NULL */
    PyObject *detached; /* what stands for it: torch's tensor without its history, or NULL */
    PyObject *like;     /* the object whose library shall make its own array of the result, which comes as
                           NumPy's (FROM_NUMPY) or ours (FROM_BUFFER: pyarrow's); or NULL */
    void *memory;       /* freed by operand_release */
    struct {
        const struct numpy *numpy;
        PyObject *type;     /* of the elements; a reference of our own */
        const void *data;   /* where the array had its memory, */
        int64_t bytes;      /* and how much */
        PyObject *guard;    /* keeps it there; or NULL */
    } seen;                 /* of FROM_NUMPY, when it was read */
    DLDataType dlpack_type; /* of opaque elements that came through DLPack; lanes 0: they did not */
    PyObject *torch_type; /* what DLPack called wider than it is (torch.h), a reference of our own; or NULL */
    PyObject *beyond;     /* numbers of a list that no 64 bits hold (beyond.h); or NULL */
    union {
        Py_buffer buffer;
        DLManagedTensor *managed;
        DLManagedTensorVersioned *versioned;
    } export;
    bool anywhere; /* whether it may be on a device */
    struct place place;
    const struct operand *beside; /* data, whose stream others have to be ready on; or NULL */
    int64_t shape[GARNER_MAX_RANK], strides[GARNER_MAX_RANK];
};

/* Reads an object in its role. Messages begin with the operator and call it `name`. False, with an
 * exception set and nothing held, if it cannot be one. Strides may still be odd and elements swapped. */
bool operand_read(struct state *state, struct operand *operand, PyObject *object, enum role role,
                  const char *operator, const char * name);

/* The same, and it may be in the memory of a GPU. `beside` is the call's data if this is not, or NULL: what
 * that is ready for is what this is made ready for. */
bool operand_read_anywhere(struct state *state, struct operand *operand, PyObject *object, enum role role,
                           const char *operator, const char * name, const struct operand *beside);

/* The same for lists, tuples, ranges and single objects whose elements stay Python's: the operand has the
 * shape, and `owned` is a list of the elements in C order. */
bool operand_read_leaves(struct state *state, struct operand *operand, PyObject *object,
                         const char *operator);

/* Lets go of what operand_read holds. */
void operand_release(struct operand *operand);

/* The only element of an operand of integers; one beyond 63 bits comes as the largest that fits. */
void operand_integer(const struct operand *operand, int64_t *number);

/* Whether data and out hold elements of the same type beyond what the library compares. */
bool operand_same_type(struct state *state, const struct operand *data, const struct operand *out);

/* ---- Shape and strides (operand_view.c) ------------------------------------------------------- */

/* Bytes of one element; 1 of packed types. */
int64_t operand_item(const struct operand *operand);

/* Its strides in bytes, whatever form its own have. */
void operand_byte_strides(const struct operand *operand, int64_t *strides);

/* Takes strides in bytes, as many as the rank, of elements of `item` bytes; the shape is there before. */
void operand_take_strides(struct operand *operand, const Py_ssize_t *strides, int64_t item);

/* Leaves out strides that say no more than C order, which makes fewer different plans, and those that nobody
 * goes along. */
void operand_drop_strides(struct operand *operand);

/* Whether there can be memory where shape, strides and offset say that the elements are; false with an
 * exception. From then on the arithmetic of all these fits. */
bool operand_check_view(struct state *state, const struct operand *operand, const char *operator,
                        const char * name);

/* The addresses that the elements of a checked operand lie within; `end` is behind the last byte. */
void operand_span(const struct operand *operand, uintptr_t *first, uintptr_t *end);

/* Fills in the strides of C order for elements of `item` bytes (or 1, for strides in elements). */
void dense_strides(int32_t rank, const int64_t *shape, int64_t item, int64_t *strides);

/* The number of elements, or -1 if that does not fit. */
int64_t count_elements(int32_t rank, const int64_t *shape);

/* Whether a shape without elements has more than 2^24 lists. Numbers need memory, which bounds them; lists of
 * nothing need none. */
bool has_too_many_lists(int32_t rank, const int64_t *shape);

/* ---- Copies and other memory (operand_copy.c) ------------------------------------------------- */

/* Makes indices and data such as the library takes them: odd strides are copied away, and so are, for
 * indices, foreign byte orders. */
bool operand_settle(struct state *state, struct operand *operand, enum role role, const char *operator);

/* Replaces the view by a dense copy of its own. */
bool operand_make_dense(struct state *state, struct operand *operand, const char *operator);

/* Makes a view of rank 1: in place if the elements lie in C order, else of a copy. */
bool operand_flatten(struct state *state, struct operand *operand, const char *operator);

/* Whether the operand's memory is where it was when it was read: reading the other arguments may have run
 * Python code, which can resize an ndarray. To be asked right before the memory is used. */
bool operand_is_there(const struct operand *operand);

/* The same; false with an exception. */
bool operand_check_there(struct state *state, const struct operand *operand, const char *operator,
                         const char * name);

/* From now on NumPy does not move it (ndarray.resize), also while the interpreter's lock is given up: an
 * array that somebody refers to weakly cannot be resized. This may run Python code, so others are to be asked
 * for after it. */
void operand_hold(struct operand *operand);

/* Copies elements of `item` bytes between views whose strides are in bytes; without the interpreter's lock if
 * they are many. `owner` is the operand whose memory one of them is, or NULL. */
garner_status copy_elements(void *to, const int64_t *to_strides, const void *from,
                            const int64_t *from_strides, int32_t rank, const int64_t *shape, int64_t item,
                            struct operand *owner, garner_error *error);

/* ---- One reader for each kind of object; 1: read, 0: not such an object, -1: an exception is set  */

int read_numpy(struct state *state, struct operand *operand, PyObject *object, const char *operator,
               const char * name);
int read_array(struct state *state, struct operand *operand, PyObject *object);
int read_dlpack(struct state *state, struct operand *operand, PyObject *object, enum role role,
                const char *operator, const char * name);
int read_interface(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                   const char * name);
int read_buffer(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                const char * name);
int read_list(struct state *state, struct operand *operand, PyObject *object, enum role role,
              const char *operator, const char * name);
int read_leaves(struct state *state, struct operand *operand, PyObject *object, const char *operator,
                const char * name);

#endif
