/* SPDX-License-Identifier: MIT */
/* Tables in every kind of file that has them, in files that are not what they seem, and calls with arguments
 * that cannot be. */
#define _GNU_SOURCE

#include "store.h"
#include "table_scene.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- Files ---- */

static char other_path[80];

static const char *named(const char *name)
{
    snprintf(other_path, sizeof other_path, "%s/%s", folder, name);
    return other_path;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(named(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static garner_table *open_other(const char *name, const char *member, garner_table_how how)
{
    garner_table *table;
    garner_error error;
    garner_table_options options = {.how = how, .follow_links = 1};
    if (garner_table_open(named(name), member, &options, &table, &error)) fail_msg("%s", error.message);
    return table;
}

/* A table whose numbers are to be turned round, by the way that cannot. */
static void expect_unmapped(garner_table *table, struct scene *s)
{
    const char *words = IS_LITTLE_ENDIAN ? "highest byte comes first" : "lowest byte comes first";
    assert_int_equal(garner_table_gather(table, &s->op, &s->indices, &s->out, &s->error), GARNER_UNSUPPORTED);
    assert_non_null(strstr(s->error.message, words));
    assert_int_equal(garner_table_save(table, &s->op, &s->indices, result_path, NULL, &s->error),
                     GARNER_UNSUPPORTED);
}

/* The same rows from a copy of the scene's data in another kind of file, by every way. */
static void compare_copy(struct scene *s, const char *name, const char *member, int turned)
{
    for (size_t h = 0; h < HOWS; h++) {
        garner_table *table = open_other(name, member, hows[h]);
        assert_int_equal(garner_table_tensor(table)->dtype, s->data.dtype);
        assert_null(garner_table_descr(table));
        if (turned && hows[h] == GARNER_TABLE_MAPPED) {
            expect_unmapped(table, s);
        } else {
            compare(s, table);
            assert_int_equal(garner_table_save(table, &s->op, &s->indices, result_path, NULL, &s->error),
                             GARNER_OK);
        }
        unsigned char part[64];
        assert_int_equal(garner_table_read(table, 8, sizeof part, part, &s->error), GARNER_OK);
        assert_memory_equal(part, s->bytes + 8, sizeof part);
        garner_table_close(table);
    }
    unlink(result_path);
    unlink(named(name));
}

static void small_scene(struct scene *s, garner_dtype dtype)
{
    scene_make(s, (garner_op){.kind = GARNER_GATHER, .oob = GARNER_OOB_ZERO}, dtype, 2, (int64_t[]){200, 40},
               1, (int64_t[]){300});
    for (int64_t i = 0; i < 300; i++)
        s->values[i] = below(210);
}

static void kinds_of_files(void **state)
{
    static const struct {
        enum store_kind kind;
        const char *name, *member;
        int little; /* in the file, whatever the machine */
    } kinds[] = {{STORE_NPZ, "x.npz", "rows", 0},
                 {STORE_NPZ, "like_npz", NULL, 0},
                 {STORE_SAFETENSORS, "x.safetensors", "rows", 1},
                 {STORE_SAFETENSORS, "like_safetensors", "rows", 1},
                 {STORE_PB, "x.pb", NULL, 0}, /* which is turned round when it is opened */
                 {STORE_NPY, "like_npy", NULL, 0}};
    struct scene s;
    (void)state;
    small_scene(&s, GARNER_I32);
    garner_tensor data = s.data;
    data.bytes = 200 * 40 * 4;
    const int before = open_descriptors();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (store_save_one(named(kinds[i].name), kinds[i].kind, "rows", &data, NULL, &s.error))
            fail_msg("%s", s.error.message);
        compare_copy(&s, kinds[i].name, kinds[i].member, kinds[i].little && !IS_LITTLE_ENDIAN);
    }
    assert_int_equal(open_descriptors(), before);
    scene_free(&s);
}

/* Numbers whose highest byte comes first: turned round where they are read, and not mapped. */
static void big_endian(void **state)
{
    static const char head[] =
        "\x93NUMPY\1\0v\0{'descr': '>i4', 'fortran_order': False, 'shape': (200, 40), }";
    unsigned char *file = calloc(1, 128 + 32000), part[64];
    garner_table_stats stats = {.size = sizeof stats}, wrong = {.size = 1, .gathers = 99};
    struct scene s;
    (void)state;
    assert_non_null(file);
    small_scene(&s, GARNER_I32);
    memset(file, ' ', 128);
    memcpy(file, head, sizeof head - 1);
    file[127] = '\n';
    for (size_t i = 0; i < 32000; i++)
        file[128 + i] = s.bytes[IS_LITTLE_ENDIAN ? i ^ 3 : i];
    write_file("big.npy", file, 128 + 32000);
    for (size_t h = 0; h < HOWS; h++) {
        garner_table *table = open_other("big.npy", NULL, hows[h]);
        if (hows[h] == GARNER_TABLE_MAPPED && IS_LITTLE_ENDIAN) {
            expect_unmapped(table, &s);
        } else {
            compare(&s, table);
        }
        assert_int_equal(garner_table_read(table, 4, sizeof part, part, &s.error), GARNER_OK);
        assert_memory_equal(part, s.bytes + 4, sizeof part);
        if (IS_LITTLE_ENDIAN) {
            assert_int_equal(garner_table_read(table, 1, 4, part, &s.error), GARNER_BAD_ARGUMENT);
            assert_int_equal(garner_table_read(table, 4, 3, part, &s.error), GARNER_BAD_ARGUMENT);
        }
        garner_table_report(table, &stats);
        garner_table_report(table, &wrong);
        assert_int_equal(wrong.gathers, 99);
        garner_table_close(table);
    }
    unlink(named("big.npy"));
    free(file);
    scene_free(&s);
}

/* Elements that lie on no whole bytes are mapped, or nothing. */
static void half_bytes(void **state)
{
    static const int64_t shape[2] = {6, 3}, three = 3, out_shape[2] = {3, 3}, zero = 0,
                         empty_shape[2] = {0, 3};
    static unsigned char bytes[9] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x10}, out[5];
    static int64_t values[3] = {5, 0, 1};
    const garner_tensor data = {.data = bytes, .shape = shape, .rank = 2, .dtype = GARNER_U4, .bytes = 9};
    const garner_tensor indices = {.data = values, .shape = &three, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor result = {.data = out, .shape = out_shape, .rank = 2, .dtype = GARNER_U4};
    const garner_op op = {.kind = GARNER_GATHER};
    garner_error error;
    (void)state;
    assert_int_equal(store_save_one(named("x.pb"), STORE_PB, "x", &data, NULL, &error), GARNER_OK);
    for (size_t h = 0; h < HOWS; h++) {
        garner_table *table = open_other("x.pb", NULL, hows[h]);
        int fine =
            hows[h] == GARNER_TABLE_ANY || hows[h] == GARNER_TABLE_MAPPED || table->place.descriptor < 0;
        memset(out, 0, sizeof out);
        assert_int_equal(garner_table_gather(table, &op, &indices, &result, &error),
                         fine ? GARNER_OK : GARNER_UNSUPPORTED);
        if (fine)
            assert_memory_equal(out, ((const unsigned char[]){0x0f, 0x01, 0x21, 0x43, 0x05}), 5);
        else
            assert_non_null(strstr(error.message, "do not lie on whole bytes"));
        assert_int_equal(garner_table_save(table, &op, &indices, result_path, NULL, &error) != GARNER_OK,
                         1); /* .npy has no such type */
        garner_table_close(table);
    }
    garner_table *table = open_other("x.pb", NULL, GARNER_TABLE_ANY);
    const garner_tensor none = {.data = values, .shape = &zero, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor empty = {.data = out, .shape = empty_shape, .rank = 2, .dtype = GARNER_U4};
    assert_int_equal(garner_table_gather(table, &op, &none, &empty, &error), GARNER_OK);
    garner_table_close(table);
    unlink(named("x.pb"));
}

/* ---- Models ---- */

enum { EXTERNAL_AT = 16 };

/* A ModelProto of one initializer called t, of that type and with those fields behind it. */
static void write_model(const char *name, unsigned char dtype, unsigned char extent, const char *fields,
                        size_t size)
{
    unsigned char tensor[200] = {0x08, extent, 0x10, dtype, 0x42, 1, 't'}, model[220];
    memcpy(tensor + 7, fields, size);
    size += 7;
    unsigned char head[] = {0x3a, (unsigned char)(size + 2), 0x2a, (unsigned char)size};
    memcpy(model, head, sizeof head);
    memcpy(model + sizeof head, tensor, size);
    write_file(name, model, sizeof head + size);
}

#define RAW_FIELD "\x4a\4\1\0\2\0"                  /* raw_data of two numbers of 16 bits */
#define INT32_FIELD "\x2a\2\1\2"                    /* the same as int32_data */
#define WORDS_FIELD "\x32\1a\x32\1b"                /* string_data */
#define LOCATION "\x6a\x11\x0a\x08location\x12\x05" /* external_data: where */
#define OFFSET(number) "\x6a\x0c\x0a\x06offset\x12\x02" number
#define OUTSIDE "\x70\1" /* data_location */

static void expect_values(const char *name)
{
    static const int64_t one = 1;
    static int64_t value = 1;
    int16_t out = 0;
    const garner_tensor indices = {.data = &value, .shape = &one, .rank = 1, .dtype = GARNER_I64};
    const garner_tensor result = {.data = &out, .shape = &one, .rank = 1, .dtype = GARNER_I16};
    for (size_t h = 0; h < HOWS; h++) {
        garner_error error;
        garner_table *table = open_other(name, h % 2 ? "t" : NULL, hows[h]);
        const int refused =
            !IS_LITTLE_ENDIAN && hows[h] == GARNER_TABLE_MAPPED && table->place.descriptor >= 0;
        const garner_status status =
            garner_table_gather(table, &(garner_op){.kind = GARNER_GATHER}, &indices, &result, &error);
        if (status != (refused ? GARNER_UNSUPPORTED : GARNER_OK)) fail_msg("%s", error.message);
        if (!refused) assert_int_equal(out, 2);
        assert_int_equal(garner_table_read(table, 0, 2, &out, &error), GARNER_OK);
        assert_int_equal(out, 1);
        assert_int_equal(garner_table_read(table, 4, 0, NULL, &error), GARNER_OK);
        garner_table_close(table);
    }
}

static void expect_refused(const char *name, const char *member, garner_status status, const char *words)
{
    garner_table *table;
    garner_error error;
    garner_status got = garner_table_open(named(name), member, NULL, &table, &error);
    if (got != status || !strstr(error.message, words)) fail_msg("%s: %d, '%s'", name, got, error.message);
    assert_null(table);
    assert_int_equal(garner_table_open(named(name), member, NULL, &table, NULL), status);
}

static void initializers(void **state)
{
    static const char raw[] = RAW_FIELD, ints[] = INT32_FIELD, words[] = WORDS_FIELD;
    static const char outside[] = LOCATION "x.bin" OFFSET("16") OUTSIDE, missing[] = LOCATION "y.bin" OUTSIDE,
                      far[] = LOCATION "x.bin" OFFSET("99") OUTSIDE,
                      link[] = LOCATION "l.bin" OFFSET("16") OUTSIDE;
    unsigned char bin[EXTERNAL_AT + 4] = {0};
    (void)state;
    memcpy(bin + EXTERNAL_AT, "\1\0\2\0", 4);
    write_file("x.bin", bin, sizeof bin);
    write_model("m.onnx", GARNER_I16, 2, raw, sizeof raw - 1);
    expect_values("m.onnx");
    expect_refused("m.onnx", "other", GARNER_BAD_FILE, "has no initializer 'other'");
    write_model("m.onnx", GARNER_I16, 2, ints, sizeof ints - 1);
    expect_values("m.onnx");
    write_model("m.onnx", GARNER_I16, 2, outside, sizeof outside - 1);
    expect_values("m.onnx");
    assert_int_equal(truncate(named("x.bin"), EXTERNAL_AT + 3), 0);
    expect_refused("m.onnx", NULL, GARNER_BAD_FILE, "its 4 bytes at offset ");
    write_model("m.onnx", GARNER_I16, 2, far, sizeof far - 1);
    expect_refused("m.onnx", NULL, GARNER_BAD_FILE, "reach past the end of external data of");
    write_model("m.onnx", GARNER_I16, 2, missing, sizeof missing - 1);
    expect_refused("m.onnx", NULL, GARNER_SYSTEM, "y.bin");
    write_file("x.bin", bin, sizeof bin);
    write_model("m.onnx", GARNER_I16, 2, link, sizeof link - 1);
    char target[80];
    snprintf(target, sizeof target, "%s/l.bin", folder);
    assert_int_equal(symlink("x.bin", target), 0);
    expect_values("m.onnx"); /* with follow_links */
    expect_refused("m.onnx", NULL, GARNER_BAD_FILE, "l.bin");
    write_model("m.onnx", GARNER_STR, 2, words, sizeof words - 1);
    expect_refused("m.onnx", NULL, GARNER_UNSUPPORTED, "a table of strings is not supported");
    write_file("m.onnx", "", 0);
    expect_refused("m.onnx", NULL, GARNER_BAD_FILE, "is empty");
    unlink(target);
    unlink(named("x.bin"));
    unlink(named("m.onnx"));
}

/* ---- What is no table ---- */

static void no_tables(void **state)
{
    static const garner_string words[2] = {{.bytes = "a", .size = 1}, {.bytes = "b", .size = 1}};
    static const int64_t two = 2;
    const garner_tensor strings = {.data = (void *)(uintptr_t)words,
                                   .shape = &two,
                                   .rank = 1,
                                   .dtype = GARNER_STR,
                                   .bytes = sizeof words};
    static const char npy[] = "\x93NUMPY\1\0v\0{'descr': '<i4', 'fortran_order': False, 'shape': (9,), }";
    static const char tensors[] =
        "\x38\0\0\0\0\0\0\0{\"t\":{\"dtype\":\"I32\",\"shape\":[9],\"data_offsets\":[0,36]}}   ";
    char file[160];
    garner_error error;
    (void)state;
    assert_int_equal(store_save_one(named("x.pb"), STORE_PB, "x", &strings, NULL, &error), GARNER_OK);
    expect_refused("x.pb", NULL, GARNER_UNSUPPORTED, "a table of strings is not supported");
    unlink(named("x.pb"));
    memset(file, ' ', sizeof file);
    memcpy(file, npy, sizeof npy - 1);
    file[127] = '\n';
    write_file("x.npy", file, 130);
    expect_refused("x.npy", NULL, GARNER_BAD_FILE, "truncated");
    write_file("x.npy", file, 90);
    expect_refused("x.npy", NULL, GARNER_BAD_FILE, "x.npy");
    unlink(named("x.npy"));
    for (size_t size = 0; size < sizeof tensors - 1; size++) {
        write_file("x.safetensors", tensors, size);
        expect_refused("x.safetensors", "t", GARNER_BAD_FILE, "x.safetensors: ");
    }
    write_file("x.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
    expect_refused("x.safetensors", "t", GARNER_BAD_FILE, "x.safetensors: ");
    unlink(named("x.safetensors"));
    write_file("x.npz", "", 0);
    expect_refused("x.npz", NULL, GARNER_BAD_FILE, "is empty");
    write_file("x.npz", "PK\3\4 and no more", 16);
    expect_refused("x.npz", NULL, GARNER_BAD_FILE, "x.npz: ");
    unlink(named("x.npz"));
    write_file("x.odd", "?", 1);
    expect_refused("x.odd", NULL, GARNER_BAD_FILE, "begins with the bytes 3f");
    unlink(named("x.odd"));
    expect_refused("absent.npy", NULL, GARNER_SYSTEM, "cannot open");
    assert_int_equal(mkfifo(named("x.npy"), 0600), 0);
    unlink(named("x.npy"));
}

/* ---- Arguments ---- */

static void arguments_that_cannot_be(void **state)
{
    struct scene s;
    garner_error error;
    garner_table_stats stats = {.gathers = 99};
    unsigned char part[4];
    (void)state;
    small_scene(&s, GARNER_I32);
    garner_table *table = open_table(GARNER_TABLE_PREAD, 0);
    assert_null(garner_table_how_name((garner_table_how)4));
    assert_null(garner_table_how_name((garner_table_how)-1));
    assert_null(garner_table_tensor(NULL));
    assert_null(garner_table_descr(NULL));
    garner_table_report(NULL, &stats);
    garner_table_report(table, NULL);
    assert_int_equal(stats.gathers, 99);
    stats.size = 0; /* the first version */
    garner_table_report(table, &stats);
    assert_int_equal(stats.gathers, 0);
    assert_int_equal(garner_table_open(path, NULL, NULL, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_open: table is NULL");
    assert_int_equal(garner_table_open(NULL, NULL, NULL, NULL, NULL), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_gather(NULL, &s.op, &s.indices, &s.out, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_gather: table is NULL");
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, NULL, NULL), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_save(NULL, &s.op, &s.indices, result_path, NULL, &error),
                     GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_save: table is NULL");
    assert_int_equal(garner_table_save(table, &s.op, &s.indices, NULL, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_save: path is NULL");
    assert_int_equal(garner_table_save(table, &s.op, &s.indices, NULL, NULL, NULL), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_read(NULL, 0, 4, part, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_read: table is NULL");
    assert_int_equal(garner_table_read(table, 0, 4, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_table_read: into is NULL");
    assert_int_equal(garner_table_read(table, 32001, 0, part, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_table_read(table, UINT64_MAX, 2, part, &error), GARNER_BAD_ARGUMENT);
    garner_table_close(table);
    scene_free(&s);
}

/* Results with strides, forwards and backwards, that overlap the indices or do not; indices with none of
 * their own. */
static void strides(void **state)
{
    static const int64_t shape[2] = {3, 2}, three = 3, back = -1;
    static const struct {
        int64_t strides[2], offset;
    } results[] = {{{2, 1}, 0}, {{4, 1}, 0}, {{-2, 1}, 16}, {{1, -8}, 32}, {{0, 1}, 0}};
    int64_t values[3] = {0, 1, 2};
    int32_t out[64];
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_I32, 2, (int64_t[]){9, 2}, 1, (int64_t[]){3});
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        for (size_t h = 0; h < HOWS; h++) {
            garner_table *table = open_table(hows[h], 0);
            garner_tensor indices = {.data = values, .shape = &three, .rank = 1, .dtype = GARNER_I64},
                          result = {.data = out,
                                    .shape = shape,
                                    .strides = results[i].strides,
                                    .rank = 2,
                                    .dtype = GARNER_I32,
                                    .byte_offset = (uint64_t)results[i].offset};
            garner_status status = garner_table_gather(table, &s.op, &indices, &result, &s.error);
            if (!status)
                assert_memory_equal((char *)out + results[i].offset + 4 * results[i].strides[0], s.bytes + 8,
                                    4);
            indices.strides = &back; /* from the last to the first */
            indices.byte_offset = 16;
            assert_int_equal(garner_table_gather(table, &s.op, &indices, &result, &s.error), status);
            if (!status) assert_memory_equal((char *)out + results[i].offset, s.bytes + 16, 4);
            garner_table_close(table);
        }
    scene_free(&s);
}

/* Every index lies outside and gives zeroes: nothing is read. */
static void nothing_but_zeroes(void **state)
{
    struct scene s;
    (void)state;
    small_scene(&s, GARNER_I32);
    for (int64_t i = 0; i < 300; i++)
        s.values[i] = 1000 + i;
    for (size_t h = 0; h < HOWS; h++) {
        garner_table_stats stats = {.size = sizeof stats};
        garner_table *table = open_table(hows[h], 0);
        compare(&s, table);
        garner_table_report(table, &stats);
        assert_int_equal(stats.reads, 0);
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error), GARNER_OK);
        garner_table_close(table);
    }
    unlink(result_path);
    scene_free(&s);
}

/* An index that is not there, in every way and with every kind of result; and a place that takes no result.
 */
static void saves_that_fail(void **state)
{
    struct scene s;
    (void)state;
    scattered(&s);
    for (size_t h = 0; h < HOWS; h++) {
        garner_table *table = open_table(hows[h], 1 << 20);
        s.values[700] = 5000;
        assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error),
                         GARNER_OUT_OF_RANGE);
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error),
                         GARNER_OUT_OF_RANGE);
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, named("x.npz"), "x", &s.error),
                         GARNER_OUT_OF_RANGE);
        s.values[700] = 0;
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, named("no/x.npy"), NULL, &s.error),
                         GARNER_SYSTEM);
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, named("no/x.npz"), "x", &s.error),
                         GARNER_SYSTEM);
        garner_table_close(table);
    }
    assert_int_not_equal(access(result_path, F_OK), 0);
    scene_free(&s);
}

/* Indices that are all wrong, or wrong late, where the first look at them is to find out what is in the page
 * cache. */
static void wrong_indices(void **state)
{
    enum { POINTS = 5000 };
    static const int64_t first_wrong[] = {0, POINTS - 1};
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER}, GARNER_U8, 2, (int64_t[]){3000, 64}, 1,
               (int64_t[]){POINTS});
    for (size_t w = 0; w < 2; w++)
        for (size_t h = 0; h < HOWS; h++)
            for (int hot = 0; hot < 2; hot++) {
                garner_table *table = open_table(hows[h], 1 << 20);
                for (int64_t i = 0; i < POINTS; i++)
                    s.values[i] = below(3000);
                if (hot) compare(&s, table);
                table->was_hot = hot;
                for (int64_t i = first_wrong[w]; i < POINTS; i++)
                    s.values[i] = 3000;
                compare(&s, table);
                assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error),
                                 GARNER_OUT_OF_RANGE);
                garner_table_close(table);
            }
    scene_free(&s);
}

/* A ring that was refused once is not asked for again. */
static void remembers_a_refused_ring(void **state)
{
    static const garner_table_how ways[] = {GARNER_TABLE_RING, GARNER_TABLE_ANY};
    struct scene s;
    (void)state;
    scattered(&s);
    for (size_t i = 0; i < 2; i++) {
        garner_table_stats stats = {.size = sizeof stats};
        garner_table *table = open_table(ways[i], 0);
        table->no_ring = 1;
        table->residency = TABLE_UNKNOWN;
        compare(&s, table);
        garner_table_report(table, &stats);
        assert_int_equal(stats.how, GARNER_TABLE_PREAD);
        garner_table_close(table);
    }
    scene_free(&s);
}

/* Tuples of no index, each of which picks all of data. */
static void empty_tuples(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER_ND}, GARNER_I32, 2, (int64_t[]){4, 3}, 2,
               (int64_t[]){5, 1});
    s.indices_shape[1] = 0;
    garner_table *table = open_table(GARNER_TABLE_MAPPED, 0);
    garner_error error;
    const garner_status wanted = garner_run(&s.op, &s.data, &s.indices, &s.expected, NULL, &s.error);
    assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &error), wanted);
    assert_string_equal(error.message, s.error.message);
    garner_table_close(table);
    scene_free(&s);
}

/* ---- While it runs ---- */

static int calls_until_stop;

static int stop(void *context, int64_t done, int64_t all)
{
    (void)context, (void)done, (void)all;
    return --calls_until_stop <= 0;
}

/* Another process sets the time of the last write. */
static int set_time(void *context, int64_t done, int64_t all)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    (void)done, (void)all;
    assert_int_equal(utimensat(AT_FDCWD, context, times, 0), 0);
    return 0;
}

/* Rows longer than the memory for one part of a file: stopped between them, into a full disk, from a changed
 * file. */
static void long_rows_into_a_file(void **state)
{
    struct scene s;
    garner_table *table;
    (void)state;
    scene_make(&s, (garner_op){.kind = GARNER_GATHER, .oob = GARNER_OOB_ZERO}, GARNER_U8, 2,
               (int64_t[]){3, 700000}, 1, (int64_t[]){4});
    for (int64_t i = 0; i < 4; i++)
        s.values[i] = 3 - i;
    for (size_t h = 0; h < HOWS; h++) {
        garner_table_options options = {.how = hows[h], .memory = 1 << 20, .watch = stop};
        assert_int_equal(garner_table_open(path, NULL, &options, &table, &s.error), GARNER_OK);
        calls_until_stop = 2;
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, result_path, NULL, &s.error),
                         GARNER_CANCELLED);
        garner_table_close(table);
        table = open_table(hows[h], 1 << 20);
        assert_int_equal(symlink("/dev/full", named("full.npy")), 0);
        assert_int_equal(garner_table_save(table, &s.op, &s.indices, other_path, NULL, &s.error),
                         GARNER_SYSTEM);
        unlink(other_path);
        garner_table_close(table);
        options = (garner_table_options){.how = hows[h], .watch = set_time, .context = path};
        assert_int_equal(garner_table_open(path, NULL, &options, &table, &s.error), GARNER_OK);
        assert_int_equal(garner_table_gather(table, &s.op, &s.indices, &s.out, &s.error), GARNER_SYSTEM);
        assert_non_null(strstr(s.error.message, "written to while it was read"));
        garner_table_close(table);
        save_data(&s);
    }
    assert_int_not_equal(access(result_path, F_OK), 0);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_indices),
        cmocka_unit_test(remembers_a_refused_ring),
        cmocka_unit_test(empty_tuples),
        cmocka_unit_test(long_rows_into_a_file),
        cmocka_unit_test(kinds_of_files),
        cmocka_unit_test(big_endian),
        cmocka_unit_test(half_bytes),
        cmocka_unit_test(initializers),
        cmocka_unit_test(no_tables),
        cmocka_unit_test(arguments_that_cannot_be),
        cmocka_unit_test(strides),
        cmocka_unit_test(saves_that_fail),
        cmocka_unit_test(nothing_but_zeroes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
