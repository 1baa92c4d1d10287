/* SPDX-License-Identifier: MIT */
/*
 * Each line of cuda_kernels.def against the reference: a case for each source, width of elements and index
 * type, once with good indices and once with a bad one. Linked with the door of the GPU. In the stand-in for
 * the driver every kernel must have been launched at the end.
 */
#include "testing.h"

#include <string.h>

#include "cases.h"
#include "device_memory.h"
#include "fake_driver.h"

static const garner_dtype elements[] = {GARNER_U8, GARNER_F16, GARNER_F32, GARNER_F64, GARNER_C128};
static const garner_dtype index_types[] = {GARNER_U8, GARNER_I32, GARNER_I64};

/* A family of cases: operator, axis, shapes; with gaps between the axes of data if it is strided. */
struct family {
    garner_kind kind;
    int axis;
    int data_rank, indices_rank;
    int64_t data[6], indices[3];
    bool strided;
};

static const struct family families[] = {
    {GARNER_GATHER_ND, 0, 3, 2, {20, 20, 3}, {3001, 2}, false},      /* LINE */
    {GARNER_GATHER, 1, 3, 1, {5, 80, 3}, {301}, false},              /* GRID */
    {GARNER_GATHER_ND, 0, 3, 2, {5, 8, 3}, {31, 2}, false},          /* LINE_ONCE, vectors */
    {GARNER_GATHER, 0, 2, 1, {40, 3}, {3000}, false},                /* RUNS */
    {GARNER_GATHER_ELEMENTS, 1, 2, 2, {3000, 8}, {3000, 1}, false},  /* LINE_ONCE, packs of points */
    {GARNER_GATHER, 0, 2, 1, {40, 3}, {31}, false},                  /* ROWS, one vector for each thread */
    {GARNER_GATHER, 0, 2, 1, {400, 3}, {3001}, false},               /* ROWS, two */
    {GARNER_GATHER, 0, 2, 1, {40, 1}, {31}, false},                  /* ELEMENTS, one for each thread */
    {GARNER_GATHER, 0, 2, 1, {40, 1}, {3001}, false},                /* ELEMENTS, four */
    {GARNER_GATHER, 0, 2, 1, {40000, 1}, {3001}, false},             /* ELEMENTS, two */
    {GARNER_GATHER, 0, 2, 1, {40, 193}, {7}, false},                 /* LONG_ROWS, one piece */
    {GARNER_GATHER, 0, 2, 1, {40, 1031}, {5}, false},                /* LONG_ROWS, two pieces */
    {GARNER_GATHER, 1, 3, 1, {5, 40, 3}, {30}, false},               /* GRID_ONCE, vectors */
    {GARNER_GATHER_ELEMENTS, 1, 3, 3, {3, 5, 8}, {3, 4, 8}, false},  /* GRID_ONCE, packs of points */
    {GARNER_GATHER_ND, 0, 3, 2, {5, 8, 71}, {31, 2}, false},         /* LINE_LONG, a vector for each thread */
    {GARNER_GATHER_ND, 0, 3, 2, {5, 8, 1031}, {31, 2}, false},       /* LINE_LONG, several in flight */
    {GARNER_GATHER, 1, 3, 1, {3, 10, 71}, {3}, false},               /* GRID_LONG */
    {GARNER_GATHER, 1, 3, 1, {5, 10, 331}, {9}, false},              /* GRID_LONG, several in flight */
    {GARNER_GATHER, 4, 6, 1, {2, 3, 2, 3, 5, 3}, {7}, true},         /* NEST */
    {GARNER_GATHER_ELEMENTS, 1, 2, 2, {5, 2048}, {5, 1024}, false},  /* TABLE, several points at once */
    {GARNER_GATHER_ELEMENTS, 1, 2, 2, {4, 2050}, {4, 1025}, false},  /* TABLE, one at a time */
    {GARNER_GATHER_ELEMENTS, 1, 2, 2, {40, 2048}, {40, 256}, false}, /* TABLE, several rows */
    {GARNER_GATHER, 1, 2, 1, {40, 2048}, {1024}, false},             /* TABLE, rows that share indices */
    {GARNER_GATHER_ELEMENTS, 0, 2, 2, {64, 64}, {70, 64}, false},    /* PANEL */
    {GARNER_GATHER_ELEMENTS, 0, 2, 2, {64, 67}, {64, 67}, false},    /* PANEL with a narrow one at the end */
    {GARNER_GATHER_ELEMENTS, 0, 2, 2, {9000, 8}, {4600, 8}, false},  /* PANEL of which a part is staged */
};

enum { FAMILIES = sizeof families / sizeof families[0] };

static void add_gaps(struct case_view *view)
{
    int64_t stride = 1;
    view->strided = true;
    for (int d = view->rank - 1; d >= 0; d--) {
        view->strides[d] = stride;
        stride *= view->shape[d] + (d < view->rank - 1);
    }
}

static void try_case(const struct family *family, garner_dtype dtype, garner_dtype index_dtype, int64_t bad)
{
    struct test_case c = {.version = ref_find_version(family->kind, NULL),
                          .dtype = dtype,
                          .index_dtype = index_dtype,
                          .axis = family->axis,
                          .oob = REF_OOB_OF_VERSION,
                          .seed = 11,
                          .bad_position = bad};
    c.data.rank = family->data_rank;
    c.indices.rank = family->indices_rank;
    memcpy(c.data.shape, family->data, sizeof family->data);
    memcpy(c.indices.shape, family->indices, sizeof family->indices);
    if (family->strided) add_gaps(&c.data);
    assert_int_equal(case_complete(&c), GARNER_OK);
    if (!case_run_on(&c, GUARD_AFTER)) fail();
}

static void test_every_kernel(void **state)
{
    (void)state;
    for (int f = 0; f < FAMILIES; f++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            for (size_t i = 0; i < sizeof index_types / sizeof index_types[0]; i++) {
                try_case(&families[f], elements[e], index_types[i], -1);
                try_case(&families[f], elements[e], index_types[i], 5);
            }
    const struct family packed = {GARNER_GATHER, 0, 2, 1, {10, 3}, {9}, false};
    try_case(&packed, GARNER_U4, GARNER_I64, -1);
    try_case(&packed, GARNER_U3, GARNER_I64, 4);
}

static void test_every_kernel_was_launched(void **state)
{
    (void)state;
    void *found = device_symbol("fake_launch_count");
    fake_launches *launches;
    int missing = 0;
    if (found == NULL) SKIP_LOUDLY("only the stand-in for the driver counts launches");
    memcpy(&launches, &found, sizeof found);
#define CUDA_KERNEL(source, index, vector)                            \
    if (launches("garner_" #source "_" #index "_" #vector) < 1) {     \
        printf("not launched: " #source " " #index " " #vector "\n"); \
        missing++;                                                    \
    }
#include "cuda_kernels.def"
#undef CUDA_KERNEL
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel),
        cmocka_unit_test(test_every_kernel_was_launched),
    };
    cases_begin((size_t)8 << 20);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cases_end();
    return failed;
}
