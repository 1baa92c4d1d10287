/* SPDX-License-Identifier: MIT */
/* The table of names, against a list that is searched from front to end. */
#include "names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

enum { NAMES = 3000 };

static void test_random_names(void **state)
{
    (void)state;
    static char texts[NAMES][8];
    struct names names = {0};
    size_t numbers[NAMES], present;
    uint32_t random = 1;
    for (size_t i = 0; i < NAMES; i++) {
        size_t length = (random >> 16) % 7, expected = NAMES_NONE;
        for (size_t j = 0; j < length; j++) {
            random = random * 1664525u + 1013904223u;
            texts[i][j] = "ab\x80\xff"[random >> 30]; /* few letters: many share beginnings */
        }
        random = random * 1664525u + 1013904223u;
        for (size_t j = 0; j < i && expected == NAMES_NONE; j++)
            if (strcmp(texts[i], texts[j]) == 0) expected = numbers[j];
        assert_true(names_find(&names, texts[i], strlen(texts[i])) == expected);
        assert_int_equal(names_add(&names, texts[i], strlen(texts[i]), i, &present), 1);
        assert_true(present == expected);
        numbers[i] = expected == NAMES_NONE ? i : expected;
    }
    for (size_t i = 0; i < NAMES; i++)
        assert_true(names_find(&names, texts[i], strlen(texts[i])) == numbers[i]);
    assert_true(names_find(&names, "absent!", 7) == NAMES_NONE);
    names_free(&names);
}

/* Each name is the beginning of the next: the deepest tree there is. */
static void test_nested_names(void **state)
{
    (void)state;
    enum { LONGEST = 4000 };
    static char text[LONGEST];
    struct names names = {0};
    size_t present;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < LONGEST; i++)
        assert_int_equal(names_add(&names, text, LONGEST - i, i, &present), 1);
    for (size_t i = 0; i < LONGEST; i++)
        assert_true(names_find(&names, text, LONGEST - i) == i);
    assert_true(names_find(&names, "", 0) == NAMES_NONE);
    assert_true(names_find(&names, "b", 1) == NAMES_NONE);
    names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_names),
        cmocka_unit_test(test_nested_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
