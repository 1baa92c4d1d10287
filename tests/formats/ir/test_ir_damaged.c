/* SPDX-License-Identifier: MIT */
/* An IR that has nearly everything, whole and with any byte another: it is read, or refused in words that
 * name the file. */
#include "ir.h"

#include <stdlib.h>
#include <string.h>

#include "ir_sample.h"
#include "testing.h" /* last: cmocka has a macro called fail */

static garner_status read_sample(const char *xml)
{
    struct graph graph;
    garner_error error;
    garner_status status =
        ir_read_bytes(&graph, "x.xml", xml, sizeof sample_xml - 1, sample_bin, sizeof sample_bin, &error);
    if (status)
        assert_memory_equal(error.message, "x.xml: ", 7);
    else
        graph_free(&graph);
    return status;
}

static void test_damaged(void **state)
{
    (void)state;
    static const char changes[] = {1, 2, '0' ^ '9', ' ' ^ '\'', '<' ^ 'a'};
    char *xml = malloc(sizeof sample_xml);
    size_t refused = 0;
    assert_non_null(xml);
    memcpy(xml, sample_xml, sizeof sample_xml);
    garner_status whole = read_sample(xml);
    if (whole == GARNER_UNSUPPORTED) {
        free(xml);
        SKIP_LOUDLY("built without expat");
    }
    assert_int_equal(whole, GARNER_OK);
    for (size_t at = 0; at < sizeof sample_xml - 1; at++)
        for (size_t i = 0; i < sizeof changes; i++) {
            xml[at] = (char)(xml[at] ^ changes[i]);
            refused += read_sample(xml) != GARNER_OK;
            xml[at] = sample_xml[at];
        }
    assert_true(refused > sizeof sample_xml);
    free(xml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
