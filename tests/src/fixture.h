/* SPDX-License-Identifier: MIT */
/*
 * One small good call for each operator, in buffers of its own. A test spoils one thing, sees it
 * refused with the right words, mends it and sees the same call work.
 */
#ifndef GARNER_TESTS_FIXTURE_H
#define GARNER_TESTS_FIXTURE_H

#include "testing.h"

#include "garner.h"

#include <string.h>

/* data [2,3,5], counting up from 100 */
struct fixture {
    float elements[30];
    int64_t values[16];
    float picked[64];
    int64_t data_shape[3], indices_shape[3], out_shape[4];
    garner_op op;
    garner_tensor data, indices, out;
    garner_error error;
};

static inline void fixture_shape(struct fixture *f, int data_rank, const int64_t *data, int indices_rank,
                                 const int64_t *indices, int out_rank, const int64_t *out)
{
    memcpy(f->data_shape, data, (size_t)data_rank * sizeof *data);
    memcpy(f->indices_shape, indices, (size_t)indices_rank * sizeof *indices);
    memcpy(f->out_shape, out, (size_t)out_rank * sizeof *out);
    f->data =
        (garner_tensor){.data = f->elements, .shape = f->data_shape, .rank = data_rank, .dtype = GARNER_F32};
    f->indices = (garner_tensor){
        .data = f->values, .shape = f->indices_shape, .rank = indices_rank, .dtype = GARNER_I64};
    f->out = (garner_tensor){.data = f->picked, .shape = f->out_shape, .rank = out_rank, .dtype = GARNER_F32};
}

/* Gather: indices [4], axis 1: out [2,4,5]. GatherElements: indices [2,1,8], axis 2: out [2,1,8].
 * GatherND: indices [4,2]: out [4,5]. */
static inline void fixture_make(struct fixture *f, garner_kind kind)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < 30; i++)
        f->elements[i] = (float)(100 + i);
    f->op.kind = kind;
    const int64_t data[] = {2, 3, 5};
    if (kind == GARNER_GATHER) {
        f->op.axis = 1;
        fixture_shape(f, 3, data, 1, (int64_t[]){4}, 3, (int64_t[]){2, 4, 5});
        memcpy(f->values, (int64_t[]){0, 2, -1, 1}, 4 * sizeof(int64_t));
    } else if (kind == GARNER_GATHER_ELEMENTS) {
        f->op.axis = 2;
        fixture_shape(f, 3, data, 3, (int64_t[]){2, 1, 8}, 3, (int64_t[]){2, 1, 8});
        for (int i = 0; i < 16; i++)
            f->values[i] = i % 5;
    } else {
        fixture_shape(f, 3, data, 2, (int64_t[]){4, 2}, 2, (int64_t[]){4, 5});
        memcpy(f->values, (int64_t[]){0, 0, 1, 2, 0, -1, -2, 1}, 8 * sizeof(int64_t));
    }
}

static inline garner_status fixture_run(struct fixture *f)
{
    memset(&f->error, 0x5a, sizeof f->error);
    return garner_run(&f->op, &f->data, &f->indices, &f->out, NULL, &f->error);
}

/* The call is refused with that status, and the sentence holds each of the words. */
static inline void fixture_refused(struct fixture *f, garner_status status, const char *const *words)
{
    const garner_status got = fixture_run(f);
    if (got != status)
        fail_msg("%s, not %s: %s", garner_status_name(got), garner_status_name(status), f->error.message);
    assert_int_equal(f->error.status, status);
    assert_non_null(memchr(f->error.message, 0, sizeof f->error.message));
    assert_null(strchr(f->error.message, '\n'));
    for (; *words; words++)
        if (!strstr(f->error.message, *words)) fail_msg("'%s' is not in: %s", *words, f->error.message);
}

#define REFUSED(f, status, ...) fixture_refused(f, status, (const char *const[]){__VA_ARGS__, NULL})

/* A good call of the operator, whatever went before. */
static inline void fixture_works(garner_kind kind)
{
    struct fixture f;
    fixture_make(&f, kind);
    if (fixture_run(&f) != GARNER_OK) fail_msg("a good call fails: %s", f.error.message);
    assert_int_equal(f.error.status, GARNER_OK);
    assert_string_equal(f.error.message, "");
    const int last[] = {[GARNER_GATHER] = 39, [GARNER_GATHER_ELEMENTS] = 15, [GARNER_GATHER_ND] = 19};
    assert_true(f.picked[0] == 100);
    const float end[] = {[GARNER_GATHER] = 124, [GARNER_GATHER_ELEMENTS] = 115, [GARNER_GATHER_ND] = 109};
    assert_true(f.picked[last[kind]] == end[kind]);
}

static inline void all_work(void)
{
    for (int kind = GARNER_GATHER; kind <= GARNER_GATHER_ND; kind++)
        fixture_works((garner_kind)kind);
}

#endif
