/* SPDX-License-Identifier: MIT */
/*
 * Every worked example and every layer of the specification texts, through every door of the
 * library, as the text means it and as the lenient reading of it does. Prints how many each text had.
 */
#include "testing.h"

#include "coverage.h"
#include "examples.h"

#include <string.h>

static int run_of_text[TEXTS];

static void count(const struct example *example)
{
    for (int t = 0; t < TEXTS; t++)
        if (strcmp(texts[t], example->text) == 0) run_of_text[t]++;
}

static void must_run(const struct example *example, struct test_case *c)
{
    if (case_complete(c) != GARNER_OK) fail_msg("%s example %s is refused", example->text, example->number);
    if (!example_shape_stated(example, c)) fail_msg("%s example %s: shape", example->text, example->number);
    if (!case_run(c)) fail_msg("%s example %s", example->text, example->number);
}

/* The stated values, in every index type that can hold them. */
static void run_example(const struct example *example)
{
    const int64_t count_of_values = ref_count(example->indices.rank, example->indices.extents);
    for (int t = 0; t < REF_INDEX_TYPES; t++) {
        const garner_dtype index_dtype = ref_index_types[t];
        struct test_case c = example_case(example, index_dtype);
        bool fits = coverage_allowed(c.version, c.dtype, index_dtype);
        for (int64_t i = 0; i < count_of_values; i++)
            fits = fits && (example->values[i] >= 0 || !ref_is_unsigned(index_dtype));
        for (int strict = 0; fits && strict < 2; strict++) {
            c.strict = strict;
            must_run(example, &c);
        }
    }
}

/* The stated shapes, with generated contents; bytes, because one layer's output has 48 million. */
static void run_layer(const struct example *example)
{
    const int64_t size = ref_count(example->out.rank, example->out.extents);
    if (test_is_short() && size > 10000000) {
        fprintf(stderr, "SKIP %s %s: 48 million elements, in a short run\n", example->text, example->number);
        return;
    }
    struct test_case c = example_case(example, GARNER_I64);
    c.dtype = GARNER_U8;
    for (int strict = 0; strict < (size > 10000000 ? 1 : 2); strict++) {
        c.strict = strict;
        c.only_positive = strict;
        must_run(example, &c);
    }
}

static void test_examples(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        if (examples[i].elements)
            run_example(&examples[i]);
        else
            run_layer(&examples[i]);
        count(&examples[i]);
    }
}

static void test_every_text_has_examples(void **state)
{
    (void)state;
    int total = 0;
    for (int t = 0; t < TEXTS; t++) {
        printf("%-28s %2d examples and layers\n", texts[t], run_of_text[t]);
        total += run_of_text[t];
    }
    for (int t = 0; t < TEXTS; t++)
        assert_int_not_equal(run_of_text[t], 0);
    assert_int_equal(total, EXAMPLES); /* no example names a text that is not listed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_every_text_has_examples),
    };
    cases_begin((size_t)64 << 20);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cases_end();
    return failed;
}
