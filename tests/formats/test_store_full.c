/* SPDX-License-Identifier: MIT */
/*
 * Saving into a place that is full, in every format: whatever piece it is that does not fit any more, the
 * answer says so and nothing is left. What is written in front of it is of every length around that of the
 * writer's buffer.
 */
#define _XOPEN_SOURCE 700

#include "stored.h"

#include <signal.h>
#include <sys/resource.h>

enum { BUFFER = 1 << 16, FILLERS = 4 };

/* The samples behind a tensor that fills the buffer; words, of which one is empty; strided numbers. */
static unsigned char filler[BUFFER];
static int64_t filler_size;
static const garner_string words[3] = {
    {.bytes = "word", .size = 4}, {.size = 0}, {.bytes = "another", .size = 7}};
static const int64_t three = 3, apart = 2;

static garner_tensor tensor_of(size_t i)
{
    if (i == 0)
        return (garner_tensor){.data = filler,
                               .shape = &filler_size,
                               .rank = 1,
                               .dtype = GARNER_U8,
                               .bytes = (uint64_t)filler_size};
    if (i < FILLERS) return samples[i - 1];
    return i == FILLERS ? (garner_tensor){.data = (void *)(uintptr_t)words,
                                          .shape = &three,
                                          .rank = 1,
                                          .dtype = GARNER_STR,
                                          .bytes = sizeof words}
                        : (garner_tensor){.data = (void *)(uintptr_t)table,
                                          .shape = &three,
                                          .strides = &apart,
                                          .rank = 1,
                                          .dtype = GARNER_F32,
                                          .bytes = sizeof table};
}

/* The i-th of those that a format takes. */
static garner_status describe(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    static const char *const names[] = {"filler", "table", "\xc3\xa9", "none", "words", "apart"};
    const size_t *chosen = context;
    const garner_tensor tensor = tensor_of(chosen[i]);
    uint64_t bytes;
    memset(entry, 0, sizeof *entry);
    entry->name = names[chosen[i]];
    entry->dtype = tensor.dtype;
    entry->rank = tensor.rank;
    for (int32_t k = 0; k < entry->rank; k++)
        entry->shape[k] = tensor.shape[k];
    garner_status status = elements_bytes(&tensor, "sample", &bytes, error);
    entry->bytes = bytes;
    return status;
}

static garner_status load(void *context, size_t i, struct array *array, garner_error *error)
{
    const size_t *chosen = context;
    (void)error;
    memset(array, 0, sizeof *array);
    array->tensor = tensor_of(chosen[i]);
    return GARNER_OK;
}

static garner_status save(enum store_kind kind, const char *to, garner_error *error)
{
    static size_t all[] = {0, 1, 2, 3, 5}, first[] = {0}, last[] = {4};
    struct store_source source = {.describe = describe, .load = load, .context = all, .count = 5};
    if (kind == STORE_NPY || kind == STORE_PB) {
        source.context = filler_size || kind == STORE_NPY ? first : last;
        source.count = 1;
    }
    return store_save(to, kind, &source, error);
}

static void expect_full(enum store_kind kind, const char *to, const char *why)
{
    garner_error error;
    if (save(kind, to, &error) != GARNER_SYSTEM)
        fail_msg("%s of %lld bytes was saved, or not for that reason: %s", to, (long long)filler_size,
                 error.message);
    if (!strstr(error.message, why)) fail_msg("'%s' does not say '%s'", error.message, why);
    assert_memory_equal(error.message, to, strlen(to));
}

/* A file as long as that and no longer. */
static void expect_limited(enum store_kind kind, rlim_t size)
{
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_full(kind, path, "File too large, at offset ");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_full(void **state)
{
    (void)state;
    static const struct {
        enum store_kind kind;
        const char *name;
    } kinds[] = {
        {STORE_NPY, "x.npy"}, {STORE_NPZ, "x.npz"}, {STORE_SAFETENSORS, "x.safetensors"}, {STORE_PB, "x.pb"}};
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        set_path(kinds[i].name);
        for (filler_size = BUFFER - 1500; filler_size <= BUFFER; filler_size += 2) {
            expect_full(kinds[i].kind, "/dev/full", "No space left on device");
            expect_limited(kinds[i].kind, filler_size % 3 ? 100 : (rlim_t)filler_size - 400);
        }
        filler_size = 0;
        expect_full(kinds[i].kind, "/dev/full", "No space left on device");
        expect_limited(kinds[i].kind, 8);
    }
}

/* The n-th tensor cannot be loaded any more, or is described as what it is not. */
static size_t broken;

static garner_status fail_to_describe(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    if (i == broken) {
        snprintf(error->message, sizeof error->message, "cannot describe it");
        return GARNER_BAD_FILE;
    }
    return describe_sample(context, i, entry, error);
}

static garner_status fail_to_load(void *context, size_t i, struct array *array, garner_error *error)
{
    if (i == broken) {
        snprintf(error->message, sizeof error->message, "cannot load it");
        return GARNER_BAD_FILE;
    }
    return load_sample(context, i, array, error);
}

static garner_status describe_larger(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    garner_status status = describe_sample(context, i, entry, error);
    if (i == broken) entry->bytes *= 2;
    return status;
}

static void test_broken_sources(void **state)
{
    (void)state;
    static const enum store_kind kinds[] = {STORE_NPY, STORE_NPZ, STORE_SAFETENSORS, STORE_PB};
    static const struct {
        garner_status (*describe)(void *, size_t, struct store_entry *, garner_error *);
        garner_status (*load)(void *, size_t, struct array *, garner_error *);
    } sources[] = {{fail_to_describe, load_sample}, {describe_sample, fail_to_load}};
    set_path("broken");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < 2; s++)
            for (broken = 0; broken < 2; broken++) {
                int single = kinds[k] == STORE_NPY || kinds[k] == STORE_PB;
                struct store_source source = {
                    .count = single ? 1 : 3, .describe = sources[s].describe, .load = sources[s].load};
                garner_error error;
                if (single && (broken || s == 0)) continue; /* one is saved, undescribed */
                assert_int_equal(store_save(path, kinds[k], &source, &error), GARNER_BAD_FILE);
                assert_string_equal(error.message, s ? "cannot load it" : "cannot describe it");
                assert_int_equal(access(path, F_OK), -1);
            }
    struct store_source lying = {.count = 3, .describe = describe_larger, .load = load_sample};
    garner_error error;
    broken = 0;
    assert_int_not_equal(store_save(path, STORE_SAFETENSORS, &lying, &error), GARNER_OK);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_kinds_that_are_not_saved(void **state)
{
    (void)state;
    struct store_source source = {.count = 3, .describe = describe_sample, .load = load_sample};
    garner_error error;
    set_path("x");
    assert_int_equal(store_save(path, STORE_UNKNOWN, &source, &error), GARNER_UNSUPPORTED);
    assert_int_equal(store_save(path, STORE_NPY, &source, &error), GARNER_UNSUPPORTED);
    assert_non_null(strstr(error.message, "a .npy file holds one tensor, and these are 3"));
    assert_int_equal(store_save(path, STORE_PB, &source, &error), GARNER_UNSUPPORTED);
    source.count = 0;
    assert_int_equal(store_save(path, STORE_NPZ, &source, &error), GARNER_OK);
    unlink(path);
    assert_int_equal(store_save(path, STORE_SAFETENSORS, &source, &error), GARNER_OK);
    unlink(path);
}

/* Names that a format cannot hold. */
static const char *odd_name;

static garner_status describe_odd(void *context, size_t i, struct store_entry *entry, garner_error *error)
{
    garner_status status = describe_sample(context, i, entry, error);
    if (i == 1) entry->name = odd_name;
    return status;
}

static void test_names_that_do_not_fit(void **state)
{
    (void)state;
    static char longest[70000];
    static const enum store_kind kinds[] = {STORE_NPZ, STORE_SAFETENSORS};
    const char *const names[] = {"\xff", "a\xed\xa0\x80", longest};
    struct store_source source = {.count = 3, .describe = describe_odd, .load = load_sample};
    garner_error error;
    memset(longest, 'n', sizeof longest - 1);
    set_path("odd");
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            odd_name = names[i];
            garner_status status = store_save(path, kinds[k], &source, &error);
            int fits = kinds[k] == STORE_SAFETENSORS && i == 2;
            assert_int_equal(status, fits ? GARNER_OK : GARNER_UNSUPPORTED);
            assert_int_equal(access(path, F_OK), fits ? 0 : -1);
            unlink(path);
        }
    odd_name = "__metadata__";
    assert_int_equal(store_save(path, STORE_SAFETENSORS, &source, &error), GARNER_UNSUPPORTED);
    assert_string_equal(store_suffix(STORE_UNKNOWN), "");
    const garner_tensor tensor = {.rank = GARNER_MAX_RANK + 1, .dtype = GARNER_F32};
    assert_int_equal(store_save_one(path, STORE_SAFETENSORS, "x", &tensor, NULL, &error), GARNER_BAD_SHAPE);
    const garner_tensor opaque = {.data = filler, .dtype = GARNER_OPAQUE, .item_bytes = 3, .bytes = 3};
    assert_int_equal(store_save_one(path, STORE_SAFETENSORS, "x", &opaque, "|V3", &error),
                     GARNER_UNSUPPORTED);
    assert_int_equal(store_save_one(path, STORE_PB, "x", &opaque, "|V3", &error), GARNER_UNSUPPORTED);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full), cmocka_unit_test(test_broken_sources),
                                       cmocka_unit_test(test_kinds_that_are_not_saved),
                                       cmocka_unit_test(test_names_that_do_not_fit)};
    return cmocka_run_group_tests_name("store full", tests, make_folder, remove_folder);
}
