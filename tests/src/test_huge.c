/* SPDX-License-Identifier: MIT */
/*
 * More than 2^31 elements, rows past INT32_MAX, more than 2^31 indices, more than 4 GiB of output. Inputs are
 * sparse mappings that nobody reserved memory for; long outputs and index tensors are one small file mapped
 * again and again, with an end of its own.
 */
#define _GNU_SOURCE
#include "testing.h"

#include "garner.h"
#include "random.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TWO_31 ((int64_t)1 << 31)

enum { CHUNK = 8 << 20 };

static unsigned char *reserve(int64_t bytes)
{
    void *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void release(unsigned char *memory, int64_t bytes)
{
    if (memory) munmap(memory, (size_t)bytes);
}

/* `bytes` of addresses over one chunk of memory, but for the last chunk, which is its own. */
static unsigned char *repeat(int64_t bytes)
{
    unsigned char *memory = reserve(bytes);
    const int file = memfd_create("repeat", 0);
    bool mapped = memory && file >= 0 && ftruncate(file, CHUNK) == 0;
    for (int64_t at = 0; mapped && at + 2 * (int64_t)CHUNK <= bytes; at += CHUNK)
        mapped =
            mmap(memory + at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    if (file >= 0) close(file);
    if (mapped) return memory;
    release(memory, bytes);
    return NULL;
}

#define NEEDS(memory)                                                                    \
    do {                                                                                 \
        if (test_is_short()) SKIP_LOUDLY("left out of short runs and under sanitizers"); \
        if (!(memory)) SKIP_LOUDLY("this machine refuses to map so many addresses");     \
    } while (0)

static void must_work(garner_op op, const garner_tensor *data, const garner_tensor *indices,
                      const garner_tensor *out)
{
    garner_error error;
    if (garner_run(&op, data, indices, out, NULL, &error) != GARNER_OK) fail_msg("%s", error.message);
}

/* ---- Far rows ---- */

static void test_rows_past_int32(void **state)
{
    (void)state;
    const int64_t rows = TWO_31 + 100, bytes = rows * 2;
    unsigned char *memory = test_is_short() ? NULL : reserve(bytes);
    NEEDS(memory);
    const int64_t indices[] = {0, TWO_31 - 1, TWO_31, TWO_31 + 99, -1, -TWO_31 - 100, -100, TWO_31 + 50};
    const int64_t places[] = {0, TWO_31 - 1, TWO_31, TWO_31 + 99, TWO_31 + 99, 0, TWO_31, TWO_31 + 50};
    const uint32_t narrow[] = {0, 2147483647u, 2147483648u, 2147483747u, 5, 6, 7, 2147483698u};
    const int64_t narrow_places[] = {0, TWO_31 - 1, TWO_31, TWO_31 + 99, 5, 6, 7, TWO_31 + 50};
    unsigned char out[16];
    for (int i = 0; i < 8; i++) {
        memory[places[i] * 2] = (unsigned char)(places[i] % 251);
        memory[places[i] * 2 + 1] = (unsigned char)(1 + places[i] % 241);
    }
    const garner_tensor data = {.data = memory,
                                .shape = (int64_t[]){rows, 2},
                                .rank = 2,
                                .dtype = GARNER_U8,
                                .bytes = (uint64_t)bytes};
    garner_tensor at = {.data = (void *)indices, .shape = (int64_t[]){8}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){8, 2}, .rank = 2, .dtype = GARNER_U8};
    must_work((garner_op){.kind = GARNER_GATHER}, &data, &at, &to);
    for (int i = 0; i < 8; i++)
        assert_memory_equal(out + i * 2, memory + places[i] * 2, 2);
    at.data = (void *)narrow;
    at.dtype = GARNER_U32;
    must_work((garner_op){.kind = GARNER_GATHER}, &data, &at, &to);
    for (int i = 0; i < 8; i++)
        assert_memory_equal(out + i * 2, memory + narrow_places[i] * 2, 2);
    release(memory, bytes);
}

static void test_bound_past_int32(void **state)
{
    (void)state;
    const int64_t rows = TWO_31 + 100;
    unsigned char *memory = test_is_short() ? NULL : reserve(rows), out[1];
    NEEDS(memory);
    const int64_t index = rows;
    const garner_tensor data = {.data = memory, .shape = (int64_t[]){rows}, .rank = 1, .dtype = GARNER_U8};
    const garner_tensor at = {
        .data = (void *)&index, .shape = (int64_t[]){1}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){1}, .rank = 1, .dtype = GARNER_U8};
    garner_error error;
    assert_int_equal(garner_gather(&data, &at, 0, &to, &error), GARNER_OUT_OF_RANGE);
    assert_non_null(strstr(error.message, "= 2147483748 is outside [-2147483748, 2147483747]"));
    assert_int_equal(error.bound, rows);
    release(memory, rows);
}

/* Two axes that are each small, but whose product is not. */
static void test_tuples_past_int32(void **state)
{
    (void)state;
    const int64_t side = 70000, bytes = side * side;
    unsigned char *memory = test_is_short() ? NULL : reserve(bytes), out[3];
    NEEDS(memory);
    const int32_t pairs[] = {69999, 69999, -1, 0, 40000, -2};
    memory[bytes - 1] = 11;
    memory[69999 * side] = 22;
    memory[40000 * side + 69998] = 33;
    const garner_tensor data = {
        .data = memory, .shape = (int64_t[]){side, side}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor at = {
        .data = (void *)pairs, .shape = (int64_t[]){3, 2}, .rank = 2, .dtype = GARNER_I32};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_U8};
    must_work((garner_op){.kind = GARNER_GATHER_ND}, &data, &at, &to);
    assert_int_equal(out[0], 11);
    assert_int_equal(out[1], 22);
    assert_int_equal(out[2], 33);
    release(memory, bytes);
}

static void test_elements_past_int32(void **state)
{
    (void)state;
    const int64_t rows = 3, columns = TWO_31 + 7, bytes = rows * columns;
    unsigned char *memory = test_is_short() ? NULL : reserve(bytes), out[6];
    NEEDS(memory);
    const int64_t indices[] = {TWO_31, 0, -1, TWO_31 + 6, -columns, 5};
    memory[TWO_31] = 1;
    memory[2 * columns - 1] = 3;
    memory[columns + TWO_31 + 6] = 3;
    memory[2 * columns] = 5;
    memory[2 * columns + 5] = 6;
    const garner_tensor data = {
        .data = memory, .shape = (int64_t[]){rows, columns}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor at = {
        .data = (void *)indices, .shape = (int64_t[]){rows, 2}, .rank = 2, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){rows, 2}, .rank = 2, .dtype = GARNER_U8};
    must_work((garner_op){.kind = GARNER_GATHER_ELEMENTS, .axis = 1}, &data, &at, &to);
    assert_memory_equal(out, ((unsigned char[]){1, 0, 3, 3, 5, 6}), 6);
    release(memory, bytes);
}

/* Packed: more than 2^32 elements of 4 bits, so that their number does not fit in 32 bits. */
static void test_packed_past_uint32(void **state)
{
    (void)state;
    const int64_t count = ((int64_t)1 << 32) + 9, bytes = count / 2 + 1;
    unsigned char *memory = test_is_short() ? NULL : reserve(bytes), out[2] = {0xff, 0xff};
    NEEDS(memory);
    const int64_t indices[] = {count - 1, (int64_t)1 << 32, -2};
    memory[bytes - 1] = 0x07;        /* the last element, 7; the other half is unused */
    memory[(int64_t)1 << 31] = 0x09; /* element 2^32 */
    memory[bytes - 2] = 0x40;        /* the last but one, 4 */
    const garner_tensor data = {.data = memory, .shape = (int64_t[]){count}, .rank = 1, .dtype = GARNER_U4};
    const garner_tensor at = {
        .data = (void *)indices, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){3}, .rank = 1, .dtype = GARNER_U4};
    must_work((garner_op){.kind = GARNER_GATHER}, &data, &at, &to);
    assert_int_equal(out[0], 0x97);
    assert_int_equal(out[1], 0x04);
    release(memory, bytes);
}

/* ---- Long indices and outputs ---- */

static void test_more_than_2_31_indices(void **state)
{
    (void)state;
    const int64_t count = TWO_31 + 4099, bytes = count * 4;
    unsigned char *memory = test_is_short() ? NULL : repeat(bytes), *out = memory ? repeat(count) : NULL;
    if (!out) release(memory, bytes);
    NEEDS(out);
    int32_t *indices = (int32_t *)(void *)memory;
    const unsigned char letters[] = "abcdefgh";
    indices[count - 1] = 7;
    indices[count - 2] = -5;
    indices[TWO_31] = 5;
    const garner_tensor data = {
        .data = (void *)letters, .shape = (int64_t[]){8}, .rank = 1, .dtype = GARNER_U8};
    const garner_tensor at = {.data = indices, .shape = (int64_t[]){count}, .rank = 1, .dtype = GARNER_I32};
    const garner_tensor to = {.data = out, .shape = (int64_t[]){count}, .rank = 1, .dtype = GARNER_U8};
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_exec exec = garner_threads(0);
    garner_error error;
    if (garner_run(&op, &data, &at, &to, &exec, &error) != GARNER_OK) fail_msg("%s", error.message);
    assert_int_equal(out[count - 1], 'h');
    assert_int_equal(out[count - 2], 'd');
    assert_int_equal(out[count - 3], 'a');
    assert_int_equal(out[TWO_31], 'f');
    assert_int_equal(out[0], 'a');
    release(memory, bytes);
    release(out, count);
}

/* Three indices, each standing for 2^30 of them: the third is bad, at position 2^31. */
static void test_bad_position_past_2_31(void **state)
{
    (void)state;
    uint8_t indices[] = {3, 4, 9};
    const int64_t shape[] = {3, (int64_t)1 << 30};
    const garner_tensor data = {.shape = (int64_t[]){8, 0}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor at = {
        .data = indices, .shape = shape, .strides = (int64_t[]){1, 0}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor to = {.shape = (int64_t[]){3, shape[1], 0}, .rank = 3, .dtype = GARNER_U8};
    garner_error error;
    assert_int_equal(garner_gather(&data, &at, 0, &to, &error), GARNER_OUT_OF_RANGE);
    assert_int_equal(error.position, TWO_31);
    assert_int_equal(error.coordinates[0], 2);
    assert_int_equal(error.coordinates[1], 0);
    assert_non_null(strstr(error.message, "indices[2,0] = 9 is outside [-8, 7] of data axis 0"));
    indices[2] = 7;
    assert_int_equal(garner_gather(&data, &at, 0, &to, &error), GARNER_OK);
}

static void test_more_than_4_gib_of_output(void **state)
{
    (void)state;
    const int64_t row = 1 << 20, picks = 4100, bytes = row * picks;
    unsigned char *out = test_is_short() ? NULL : repeat(bytes);
    NEEDS(out);
    static unsigned char table[4 << 20];
    static uint16_t indices[4100];
    for (int i = 0; i < 4; i++)
        memset(table + i * row, 10 + i, (size_t)row);
    for (int i = 0; i < picks; i++)
        indices[i] = (uint16_t)(i * 7 % 4);
    const garner_tensor data = {.data = table, .shape = (int64_t[]){4, row}, .rank = 2, .dtype = GARNER_U8};
    const garner_tensor at = {.data = indices, .shape = (int64_t[]){picks}, .rank = 1, .dtype = GARNER_U16};
    const garner_tensor to = {.data = out,
                              .shape = (int64_t[]){picks, row},
                              .rank = 2,
                              .dtype = GARNER_U8,
                              .bytes = (uint64_t)bytes};
    must_work((garner_op){.kind = GARNER_GATHER}, &data, &at, &to);
    for (int64_t i = picks - 7; i < picks; i++) {
        assert_int_equal(out[i * row], 10 + i * 7 % 4);
        assert_int_equal(out[(i + 1) * row - 1], 10 + i * 7 % 4);
    }
    release(out, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_past_int32),        cmocka_unit_test(test_bound_past_int32),
        cmocka_unit_test(test_tuples_past_int32),      cmocka_unit_test(test_elements_past_int32),
        cmocka_unit_test(test_packed_past_uint32),     cmocka_unit_test(test_more_than_2_31_indices),
        cmocka_unit_test(test_bad_position_past_2_31), cmocka_unit_test(test_more_than_4_gib_of_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
