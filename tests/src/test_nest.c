/* SPDX-License-Identifier: MIT */
/*
 * Stage 2 alone: the loop nest that problems compress to, by its numbers, and the worked examples of
 * the specifications run through the nest's own definition, one point after the other.
 */
#include "testing.h"

#include "examples.h"
#include "nest.h"
#include "shape.h"

#include <string.h>

struct built {
    struct nest nest;
    garner_shape shape;
};

static void build(struct built *built, const garner_op *given, garner_dtype dtype, int r,
                  const int64_t *data_shape, garner_dtype index_dtype, int q, const int64_t *indices_shape)
{
    const garner_tensor data = {.shape = data_shape, .rank = r, .dtype = dtype};
    const garner_tensor indices = {.shape = indices_shape, .rank = q, .dtype = index_dtype};
    garner_error error;
    struct op op;
    struct view from, at, to;
    struct map map;
    assert_int_equal(garner_op_resolve(&op, given, &error), GARNER_OK);
    assert_int_equal(garner_view_make(&from, &data), VIEW_FINE);
    assert_int_equal(garner_view_make(&at, &indices), VIEW_FINE);
    assert_int_equal(garner_shape_map(&map, &op, &from, &at, &error), GARNER_OK);
    assert_int_equal(garner_shape_infer(&built->shape, &map, &op, &from, &at, &error), GARNER_OK);
    garner_view_dense(&to, &built->shape);
    assert_true(garner_nest_build(&built->nest, &map, &op, &from, &at, &to));
}

static void dim_is(const struct nest *nest, int d, int64_t n, int64_t data, int64_t index, int64_t out)
{
    assert_true(d < nest->rank);
    assert_int_equal(nest->dim[d].n, n);
    assert_int_equal(nest->dim[d].data, data);
    assert_int_equal(nest->dim[d].index, index);
    assert_int_equal(nest->dim[d].out, out);
}

static void axis_is(const struct nest *nest, int k, int64_t bound, int64_t stride)
{
    assert_true(k < nest->axes);
    assert_int_equal(nest->axis[k].bound, bound);
    assert_int_equal(nest->axis[k].stride, stride);
}

/* ---- The table of the design ---- */

static void test_gather(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER, .axis = 1};
    build(&b, &op, GARNER_F32, 3, (int64_t[]){8, 1000, 64}, GARNER_I64, 2, (int64_t[]){4, 128});
    assert_int_equal(b.nest.rank, 2);
    dim_is(&b.nest, 0, 8, 256000, 0, 131072);
    dim_is(&b.nest, 1, 512, 0, 1, 256);
    assert_int_equal(b.nest.axes, 1);
    axis_is(&b.nest, 0, 1000, 256);
    assert_int_equal(b.nest.run, 256);
    assert_int_equal(b.nest.points, 8 * 512);
    assert_null(b.nest.packed);
}

static void test_gather_in_batches(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER, .axis = 1, .batch_dims = 1};
    build(&b, &op, GARNER_F32, 3, (int64_t[]){8, 1000, 64}, GARNER_I64, 2, (int64_t[]){8, 128});
    assert_int_equal(b.nest.rank, 2);
    dim_is(&b.nest, 0, 8, 256000, 128, 32768);
    dim_is(&b.nest, 1, 128, 0, 1, 256);
    axis_is(&b.nest, 0, 1000, 256);
    assert_int_equal(b.nest.run, 256);
}

static void test_elements_along_the_last_axis(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS, .axis = 1};
    build(&b, &op, GARNER_F32, 2, (int64_t[]){8, 1000}, GARNER_I64, 2, (int64_t[]){8, 32});
    assert_int_equal(b.nest.rank, 2);
    dim_is(&b.nest, 0, 8, 4000, 32, 128);
    dim_is(&b.nest, 1, 32, 0, 1, 4);
    axis_is(&b.nest, 0, 1000, 4);
    assert_int_equal(b.nest.run, 4);
}

static void test_elements_along_the_first_axis(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER_ELEMENTS};
    build(&b, &op, GARNER_F32, 2, (int64_t[]){1000, 64}, GARNER_I64, 2, (int64_t[]){32, 64});
    assert_int_equal(b.nest.rank, 2);
    dim_is(&b.nest, 0, 32, 0, 64, 256);
    dim_is(&b.nest, 1, 64, 4, 1, 4);
    axis_is(&b.nest, 0, 1000, 256);
    assert_int_equal(b.nest.run, 4);
}

static void test_tuples(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER_ND};
    build(&b, &op, GARNER_F32, 3, (int64_t[]){16, 32, 64}, GARNER_I64, 2, (int64_t[]){100, 2});
    assert_int_equal(b.nest.rank, 1);
    dim_is(&b.nest, 0, 100, 0, 2, 256);
    assert_int_equal(b.nest.axes, 2);
    axis_is(&b.nest, 0, 16, 8192);
    axis_is(&b.nest, 1, 32, 256);
    assert_int_equal(b.nest.step, 1);
    assert_int_equal(b.nest.run, 256);
}

/* ---- Compression ---- */

static void test_ones_vanish(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER, .axis = 3};
    build(&b, &op, GARNER_U8, 6, (int64_t[]){1, 1, 1, 9, 1, 1}, GARNER_I32, 3, (int64_t[]){1, 5, 1});
    assert_int_equal(b.shape.rank, 8);
    assert_int_equal(b.nest.rank, 1);
    dim_is(&b.nest, 0, 5, 0, 1, 1);
    assert_int_equal(b.nest.run, 1);
}

static void test_scalar_index_is_one_point(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER};
    build(&b, &op, GARNER_F64, 3, (int64_t[]){7, 5, 3}, GARNER_I8, 0, NULL);
    assert_int_equal(b.nest.points, 1);
    assert_int_equal(b.nest.run, 120);
    axis_is(&b.nest, 0, 7, 120);
}

/* Packed rows that fill whole units become bytes; others stay elements. */
static void test_packed(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER};
    build(&b, &op, GARNER_U4, 2, (int64_t[]){10, 6}, GARNER_I64, 1, (int64_t[]){4});
    assert_null(b.nest.packed);
    assert_int_equal(b.nest.run, 3);
    axis_is(&b.nest, 0, 10, 3);
    build(&b, &op, GARNER_U4, 2, (int64_t[]){10, 5}, GARNER_I64, 1, (int64_t[]){4});
    assert_non_null(b.nest.packed);
    assert_int_equal(b.nest.run, 5);
    axis_is(&b.nest, 0, 10, 5);
    build(&b, &op, GARNER_U3, 2, (int64_t[]){10, 16}, GARNER_I64, 1, (int64_t[]){4});
    assert_null(b.nest.packed);
    assert_int_equal(b.nest.run, 6);
    build(&b, &op, GARNER_U6, 2, (int64_t[]){10, 6}, GARNER_I64, 1, (int64_t[]){4});
    assert_non_null(b.nest.packed);
}

static void test_nothing_to_move(void **state)
{
    (void)state;
    struct built b;
    const garner_op op = {.kind = GARNER_GATHER};
    build(&b, &op, GARNER_F32, 2, (int64_t[]){10, 0}, GARNER_I64, 1, (int64_t[]){4});
    assert_int_equal(b.nest.points, 0);
    axis_is(&b.nest, 0, 10, 0);
}

/* ---- The nest's definition, executed ---- */

static int64_t placed(const struct nest *nest, int k, int64_t index)
{
    if (index < 0) index += nest->axis[k].wrap;
    return index >= 0 && index < nest->axis[k].bound ? index * nest->axis[k].stride : -1;
}

static void walk(const struct nest *nest, const char *data, const int64_t *indices, char *out)
{
    for (int64_t point = 0; point < nest->points; point++) {
        int64_t from = 0, at = 0, to = 0, rest = point;
        for (int d = nest->rank - 1; d >= 0; rest /= nest->dim[d--].n) {
            from += rest % nest->dim[d].n * nest->dim[d].data;
            at += rest % nest->dim[d].n * nest->dim[d].index;
            to += rest % nest->dim[d].n * nest->dim[d].out;
        }
        bool inside = true;
        for (int k = 0; k < nest->axes; k++) {
            const int64_t offset = placed(nest, k, indices[at + k * nest->step]);
            inside = inside && offset >= 0;
            from += offset;
        }
        if (inside)
            memcpy(out + to, data + from, (size_t)nest->run);
        else
            memset(out + to, 0, (size_t)nest->run);
    }
}

static void test_examples_by_definition(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        const struct example *example = &examples[i];
        if (!example->elements) continue;
        struct built b;
        garner_op op;
        float out[64];
        assert_int_equal(garner_op_from_spec(&op, example->spec, example->kind, NULL), GARNER_OK);
        op.axis = example->axis;
        op.batch_dims = example->batch_dims;
        build(&b, &op, GARNER_F32, example->data.rank, example->data.extents, GARNER_I64,
              example->indices.rank, example->indices.extents);
        const struct dim *last = &b.nest.dim[b.nest.rank - 1]; /* what an executor may rely on */
        assert_true(b.nest.rank > 0 && (last->index != 0 || last->n == 1));
        walk(&b.nest, (const char *)example->elements, example->values, (char *)out);
        if (memcmp(out, example->expected, (size_t)b.shape.bytes))
            fail_msg("%s %s", example->text, example->number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_gather_in_batches),
        cmocka_unit_test(test_elements_along_the_last_axis),
        cmocka_unit_test(test_elements_along_the_first_axis),
        cmocka_unit_test(test_tuples),
        cmocka_unit_test(test_ones_vanish),
        cmocka_unit_test(test_scalar_index_is_one_point),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_nothing_to_move),
        cmocka_unit_test(test_examples_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
