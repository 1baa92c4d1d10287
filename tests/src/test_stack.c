/* SPDX-License-Identifier: MIT */
/*
 * The promise about the stack: whatever the way a gather goes, it needs no more of it than the header says.
 * Each one runs in a thread whose stack is painted before and searched after, by way of a second mapping:
 * valgrind holds that nobody looks at the stack of a thread that ended.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "garner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 1 << 20, PAINT = 0xA5, PROMISED = 64 << 10, ELEMENTS = 1 << 20 };

struct gather {
    const char *name;
    garner_op op;
    garner_tensor data, indices, out;
    garner_status status;
};

static unsigned char *stack, *painted; /* the same memory */
static void *elements, *indices, *picked;

static void *run_gather(void *argument)
{
    struct gather *gather = argument;
    garner_error error;
    if (gather->name)
        gather->status = garner_run(&gather->op, &gather->data, &gather->indices, &gather->out, NULL, &error);
    return NULL;
}

/* Bytes of a thread's stack that are touched while it runs a gather. */
static size_t stack_used(struct gather *gather)
{
    pthread_attr_t attributes;
    pthread_t thread;
    memset(painted, PAINT, STACK);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_gather, gather), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (untouched < STACK && painted[untouched] == PAINT)
        untouched++;
    return STACK - untouched;
}

static garner_tensor tensor_of(void *data, const int64_t *shape, int rank, garner_dtype dtype)
{
    return (garner_tensor){.data = data, .shape = shape, .rank = rank, .dtype = dtype};
}

static void expect_little(const char *name, garner_op op, garner_dtype dtype, garner_dtype index_dtype,
                          const int64_t *data_shape, int data_rank, const int64_t *indices_shape,
                          int indices_rank)
{
    struct gather nothing = {.name = NULL}, gather = {.name = name, .op = op};
    garner_shape shape;
    gather.data = tensor_of(elements, data_shape, data_rank, dtype);
    gather.indices = tensor_of(indices, indices_shape, indices_rank, index_dtype);
    assert_int_equal(garner_infer(&op, &gather.data, &gather.indices, &shape, NULL), GARNER_OK);
    gather.out = tensor_of(picked, shape.extents, shape.rank, dtype);
    const size_t idle = stack_used(&nothing), used = stack_used(&gather);
    assert_int_equal(gather.status, GARNER_OK);
    printf("%-12s %6d bytes of stack\n", name, (int)(used - idle));
    assert_true(used > idle);
    assert_true(used - idle <= PROMISED);
}

static void test_every_way(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP_LOUDLY("sanitizers take stack of their own");
#elif !defined(__OPTIMIZE__)
    SKIP_LOUDLY("the promise is for optimised code");
#endif
    const garner_op rows = {.kind = GARNER_GATHER}, columns = {.kind = GARNER_GATHER, .axis = 1};
    const garner_op first = {.kind = GARNER_GATHER_ELEMENTS},
                    last = {.kind = GARNER_GATHER_ELEMENTS, .axis = 1},
                    clamped = {.kind = GARNER_GATHER_ELEMENTS, .oob = GARNER_OOB_CLAMP};
    const int64_t table[] = {1000, 10}, many[] = {5000}, few[] = {20}, wide[] = {700, 800};
    const int64_t narrow[] = {9000, 9}, slim[] = {9000, 3}, square[] = {512, 512}, tall[] = {9000, 20},
                  scratch[] = {1024, 512};
    const garner_dtype f32 = GARNER_F32, i64 = GARNER_I64;
    expect_little("rows", rows, f32, i64, table, 2, many, 1);
    expect_little("resolved", rows, f32, GARNER_U16, table, 2, many, 1);
    expect_little("last axis", last, f32, i64, square, 2, square, 2);
    expect_little("short rows", last, f32, i64, tall, 2, narrow, 2);
    expect_little("patterns", last, GARNER_U8, i64, tall, 2, slim, 2);
    expect_little("panels", first, f32, i64, wide, 2, wide, 2);
    expect_little("scratch rows", first, f32, i64, scratch, 2, scratch, 2);
    ((int64_t *)indices)[0] = INT32_MAX;
    expect_little("that stop", clamped, f32, i64, wide, 2, wide, 2);
    ((int64_t *)indices)[0] = 0;
    expect_little("reuses", columns, f32, i64, tall, 2, few, 1);
    expect_little("bits", rows, GARNER_U3, i64, table, 2, many, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_way)};
    const int memory = memfd_create("stack", 0);
    if (memory < 0 || ftruncate(memory, STACK) != 0) return 1;
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    painted = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    elements = calloc(ELEMENTS, 8);
    indices = calloc(ELEMENTS, 8);
    picked = calloc(ELEMENTS, 8);
    if (stack == MAP_FAILED || painted == MAP_FAILED || !elements || !indices || !picked) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(elements);
    free(indices);
    free(picked);
    munmap(stack, STACK);
    munmap(painted, STACK);
    close(memory);
    return failed;
}
