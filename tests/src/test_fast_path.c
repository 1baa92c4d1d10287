/* SPDX-License-Identifier: MIT */
/*
 * The short way of the one-call functions against the long one: for thousands of random calls, many of them
 * spoiled in one place, it makes the very same nest, or says that the call is not its business.
 */
#include "testing.h"

#include "fast_path.h"
#include "plan.h"
#include "random.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_RANK = 6, ROOM = 1 << 20, OUT_BYTES = 1024 };

static char data_room[ROOM], indices_room[ROOM], out_room[ROOM];

struct call {
    garner_op op;
    garner_tensor data, indices, out;
    int64_t data_shape[MOST_RANK], indices_shape[MOST_RANK];
    garner_shape out_shape;
};

static const garner_dtype types[] = {GARNER_U8, GARNER_F16, GARNER_F32, GARNER_F64, GARNER_C128, GARNER_STR};
static const garner_dtype index_types[] = {GARNER_I32, GARNER_I64, GARNER_U8, GARNER_U64};

static void draw_shape(struct random *random, int64_t *shape, int rank)
{
    for (int i = 0; i < rank; i++)
        shape[i] = random_chance(random, 30) ? 1 : random_between(random, 1, 5);
}

/* Indices that fit data, whose shape is drawn already. */
static int draw_indices(struct random *random, struct call *c)
{
    const int rank = c->data.rank, axis = (int)random_between(random, 0, rank - 1);
    draw_shape(random, c->indices_shape, MOST_RANK);
    if (c->op.kind == GARNER_GATHER_ND) {
        const int last = (int)random_between(random, 0, 2);
        c->indices_shape[last] = random_between(random, 1, rank);
        return last + 1;
    }
    c->op.axis = random_chance(random, 30) ? axis - rank : axis;
    if (c->op.kind == GARNER_GATHER) return (int)random_between(random, 0, 3);
    for (int i = 0; i < rank; i++)
        if (i != axis) c->indices_shape[i] = c->data_shape[i];
    return rank;
}

/* A call in which nothing is wrong. */
static void draw_call(struct random *random, struct call *c)
{
    garner_error error;
    const int rank = (int)random_between(random, 1, 4);
    memset(c, 0, sizeof *c);
    c->op = (garner_op){.kind = (garner_kind)random_between(random, GARNER_GATHER, GARNER_GATHER_ND),
                        .oob = (garner_oob)random_between(random, 0, GARNER_OOB_WRAP),
                        .negative = (garner_negative)random_between(random, 0, 1)};
    draw_shape(random, c->data_shape, rank);
    c->data = (garner_tensor){.data = data_room, .shape = c->data_shape, .rank = rank};
    c->data.dtype = types[random_between(random, 0, sizeof types / sizeof *types - 1)];
    c->indices = (garner_tensor){.data = indices_room, .shape = c->indices_shape};
    c->indices.dtype = index_types[random_between(random, 0, sizeof index_types / sizeof *index_types - 1)];
    c->indices.rank = draw_indices(random, c);
    if (garner_infer(&c->op, &c->data, &c->indices, &c->out_shape, &error) != GARNER_OK)
        fail_msg("%s", error.message);
    c->out = (garner_tensor){.data = out_room, .shape = c->out_shape.extents, .rank = c->out_shape.rank};
    c->out.dtype = c->data.dtype;
}

/* The tensor, one of the three, and its shape. */
static garner_tensor *pick_tensor(struct random *random, struct call *c, int64_t **shape)
{
    switch (random_between(random, 0, 2)) {
    case 0:
        *shape = c->data_shape;
        return &c->data;
    case 1:
        *shape = c->indices_shape;
        return &c->indices;
    default:
        *shape = c->out_shape.extents;
        return &c->out;
    }
}

/* Changes one thing, for the worse or into something unusual. */
static void spoil(struct random *random, struct call *c)
{
    static const int64_t extents[] = {0, -1, 2, 7, 300, INT64_C(1) << 31, INT64_C(1) << 62, INT64_MIN};
    static const int64_t strides[MOST_RANK + 4] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t *shape;
    garner_tensor *tensor = pick_tensor(random, c, &shape);
    switch (random_between(random, 0, 11)) {
    case 0:
    case 1:
    case 2:
        if (tensor->rank > 0)
            shape[random_between(random, 0, tensor->rank - 1)] = extents[random_bits(random) % 8];
        break;
    case 3:
        tensor->rank += random_chance(random, 50) ? 1 : -1;
        break;
    case 4:
        tensor->dtype = (garner_dtype)random_between(random, -1, 70);
        break;
    case 5:
        tensor->strides = strides;
        break;
    case 6:
        tensor->data = random_chance(random, 50) ? NULL : out_room + random_between(random, 0, 64);
        break;
    case 7:
        tensor->bytes = (uint64_t)random_between(random, 1, 300);
        break;
    case 8:
        tensor->byte_offset = (uint64_t)random_between(random, 1, 16);
        break;
    case 9:
        tensor->shape = NULL;
        break;
    case 10:
        c->op.axis = random_between(random, -6, 6);
        break;
    default:
        c->op.batch_dims = random_between(random, -2, 2);
    }
}

static void nests_equal(const struct nest *a, const struct nest *b)
{
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->axes, b->axes);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->points, b->points);
    assert_int_equal(a->run, b->run);
    assert_int_equal(a->axes > 1 ? a->step : 0, b->axes > 1 ? b->step : 0);
    assert_true(a->packed == b->packed);
    assert_int_equal(a->index_type.bytes, b->index_type.bytes);
    assert_int_equal(a->index_type.is_unsigned, b->index_type.is_unsigned);
    assert_int_equal(a->policy, b->policy);
    assert_memory_equal(a->axis, b->axis, (size_t)a->axes * sizeof *a->axis);
    assert_memory_equal(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* Whether the short way takes a call; if it does the long way takes it too, and makes the same of it. All
 * indices are 0. */
static bool is_taken(const struct call *c)
{
    struct op op;
    struct nest nest;
    struct buffers buffers;
    garner_plan *plan;
    garner_error error;
    assert_int_equal(garner_op_resolve(&op, &c->op, &error), GARNER_OK);
    if (!garner_small_nest(&nest, &buffers, &op, &c->data, &c->indices, &c->out)) return false;
    assert_true(buffers.data == c->data.data);
    assert_true(buffers.indices == c->indices.data);
    assert_true(buffers.out == c->out.data);
    if (garner_plan_create(&plan, &c->op, &c->data, &c->indices, &c->out, &error) != GARNER_OK ||
        garner_execute(plan, c->data.data, c->indices.data, c->out.data, NULL, &error) != GARNER_OK)
        fail_msg("the short way takes what the long way refuses: %s", error.message);
    nests_equal(&nest, &plan->nest);
    assert_true(nest.points * nest.run >= 1 && nest.points * nest.run <= OUT_BYTES);
    garner_plan_destroy(plan);
    return true;
}

static void test_small_calls_are_taken(void **state)
{
    (void)state;
    struct random random = random_from(test_seed(7));
    struct call c;
    for (int64_t i = test_scaled(20000); i > 0; i--) {
        draw_call(&random, &c);
        assert_int_equal(is_taken(&c), c.out_shape.bytes <= OUT_BYTES);
    }
}

static void test_spoiled_calls_are_left_to_the_long_way(void **state)
{
    (void)state;
    struct random random = random_from(test_seed(8));
    struct call c;
    int64_t calls = test_scaled(100000), refused = 0;
    for (int64_t i = 0; i < calls; i++) {
        draw_call(&random, &c);
        spoil(&random, &c);
        refused += !is_taken(&c);
    }
    printf("%" PRId64 " of %" PRId64 " spoiled calls left to the long way\n", refused, calls);
    assert_true(refused > calls / 2 && refused < calls);
}

/* A one-call whose index is refused, or that has nothing where it needs something, says so as ever. */
static void test_what_is_wrong_is_said(void **state)
{
    (void)state;
    float elements[3] = {1, 2, 3}, picked = 0;
    int64_t index = 3;
    const garner_tensor data = {.data = elements, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_F32};
    const garner_tensor indices = {.data = &index, .dtype = GARNER_I64};
    garner_tensor out = {.data = &picked, .dtype = GARNER_F32};
    garner_error error;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OUT_OF_RANGE);
    assert_non_null(strstr(error.message, "3"));
    assert_int_equal(garner_gather(&data, &indices, 0, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_gather(NULL, &indices, 0, &out, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_gather(&data, NULL, 0, &out, &error), GARNER_BAD_ARGUMENT);
    out.data = &elements[2];
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_BAD_SHAPE);
    out.data = &picked;
    index = -1;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_OK);
    assert_true(picked == 3);
}

/* A table of five times 2^62 bytes, which as a 64-bit number are 2^62. */
static void test_sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    uint8_t elements[5] = {0}, picked[5];
    int64_t index = 0;
    garner_tensor data = {.data = elements, .shape = (int64_t[]){INT64_C(1) << 62, 5}, .rank = 2};
    const garner_tensor indices = {.data = &index, .dtype = GARNER_I64};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){5}, .rank = 1};
    data.dtype = out.dtype = GARNER_U8;
    garner_error error;
    assert_int_equal(garner_gather(&data, &indices, 0, &out, &error), GARNER_TOO_LARGE);
}

/* Buffers that touch do not share memory; those that have one byte in common do. */
static void test_neighbours(void **state)
{
    (void)state;
    enum { BYTES = 8 };
    static char room[6 * BYTES];
    static int64_t first;
    const int64_t shape[] = {1, BYTES}, one[] = {1};
    struct nest nest;
    struct buffers buffers;
    struct op op;
    garner_op_default(&op, GARNER_GATHER, 0, 0);
    garner_tensor data = {.shape = shape, .rank = 2, .dtype = GARNER_U8};
    garner_tensor out = {.data = room + 2 * BYTES, .shape = shape, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor indices = {.data = &first, .shape = one, .rank = 1, .dtype = GARNER_I64};
    for (int at = 0; at <= 4 * BYTES; at++) {
        data.data = room + at;
        const bool apart = at <= BYTES || at >= 3 * BYTES;
        assert_int_equal(garner_small_nest(&nest, &buffers, &op, &data, &indices, &out), apart);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_calls_are_taken),
        cmocka_unit_test(test_spoiled_calls_are_left_to_the_long_way),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
