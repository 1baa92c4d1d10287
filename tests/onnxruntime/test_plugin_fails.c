/* SPDX-License-Identifier: MIT */
/*
 * The plug-in in a runtime that fails: each call of its interface in turn, through all that a session does.
 * The plug-in hands the runtime's status on, or does without what it asked for; nothing is left, and the next
 * session is right. And graphs, tensors and strings as no runtime of today has them.
 */
#include "plugin_session.h"

/* ---- Each call fails ------------------------------------------------------------------------------- */

/* Lets the n-th call fail in each round until a round has no n-th; how many failed that way. `play` plays a
 * round and looks at what comes of it. */
static size_t fail_each_call(OrtStatus *(*play)(void))
{
    size_t n = 0;
    do {
        fake_reset();
        fake.fail_at = ++n;
        counting_begin(0);
        OrtStatus *status = play();
        counting_end();
        if (is_interposed() && live != 0) fail_msg("call %zu: %d blocks of memory are left", n, live);
        if (fake.statuses != (status != NULL)) fail_msg("call %zu: %d statuses are left", n, fake.statuses);
        if (fake.objects != 0) fail_msg("call %zu: %d objects are left", n, fake.objects);
        if (status && !strstr(status->message, FAKE_FAILURE) && !strstr(status->message, "does not answer") &&
            !strstr(status->message, "did not run"))
            fail_msg("call %zu: %s", n, status->message);
    } while (fake.calls >= n);
    return n - 1;
}

static OrtStatus *play_stated(void)
{
    memset(rows, 0, sizeof rows);
    OrtStatus *status = session(true, &small, 2);
    if (!status) assert_rows();
    return status;
}

static OrtStatus *play_open(void)
{
    memset(rows, 0, sizeof rows);
    OrtStatus *status = session(false, &small, 2);
    if (!status) assert_rows();
    return status;
}

static struct fake_string words[3] = {{3, "ant"}, {0, ""}, {20, "a string that is long"}}, spelt[3];
static int64_t order[3] = {2, 1, -3};
static OrtValue words_value = {{GARNER_STR, 1, {3}}, words}, order_value = {{GARNER_I64, 1, {3}}, order};
static OrtValue spelt_value = {{GARNER_STR, 1, {0}}, spelt};
static OrtKernelContext spelling = {{&words_value, &order_value}, &spelt_value};

static void assert_spelt(void)
{
    for (int i = 0; i < 3; i++) {
        const struct fake_string *wanted = &words[(order[i] + 3) % 3];
        assert_int_equal(spelt[i].size, wanted->size);
        assert_memory_equal(spelt[i].bytes, wanted->bytes, wanted->size);
    }
}

static OrtStatus *play_strings(void)
{
    memset(spelt, 'x', sizeof spelt);
    OrtStatus *status = session(false, &spelling, 2);
    if (!status) assert_spelt();
    return status;
}

static OrtStatus *play_devices(void)
{
    static const int cpu = 0;
    const OrtHardwareDevice *const hardware[] = {(const OrtHardwareDevice *)&cpu,
                                                 (const OrtHardwareDevice *)&cpu};
    OrtEpDevice *device[1];
    OrtEpFactory *factory;
    size_t count = 9;
    OrtStatus *status = open_factory(&factory);
    if (status) return status;
    status = factory->GetSupportedDevices(factory, hardware, 2, device, 1, &count);
    assert_int_equal(count, status ? 0 : 1); /* two there are, there is room for one */
    assert_null(ReleaseEpFactory(factory));
    return status;
}

static void test_each_call_of_a_session_fails(void **state)
{
    (void)state;
    assert_true(fail_each_call(play_stated) > 60);
    assert_true(fail_each_call(play_open) > 60);
    assert_true(fail_each_call(play_strings) > 60);
    assert_true(fail_each_call(play_devices) > 60);
}

/* ---- Graphs ---------------------------------------------------------------------------------------- */

#define MIN_BYTES "ep.garnerexecutionprovider.min_bytes"

/* Rows of 1 KiB, of which one is picked: the runtime copies it as fast. */
#define LONG_ROWS .extent = 256, .node_output = {GARNER_F32, 2, {1, 1}}
#define OPEN (-1)
#define HUGE INT64_MAX

static const struct {
    struct fake_runtime graph;
    size_t claimed;
} graphs[] = {
    {{.is_empty = true}, 0},
    /* One Split of all columns: what makes it, and what does not. */
    {{.columns = 4, .extent = 4}, 0},
    {{.columns = 4, .extent = 4, .since_version = 11}, 4},
    {{.columns = 4, .extent = 4, .inputs = 6}, 4},
    {{.columns = 4, .extent = 4, .reads_as_indices = true}, 4},
    {{.columns = 4, .extent = 4, .axis = -1}, 0},
    {{.columns = 4, .extent = 4, .axis = 2}, 4},
    {{.columns = 4, .extent = 4, .axis = -3}, 4},
    {{.columns = 4, .extent = 4, .data_rank = 65}, 4},
    {{.columns = 4, .extent = 4, .data_type = 99}, 4},
    {{.columns = 4, .extent = 4, .number = {GARNER_I64, 1, {1}}}, 0},
    {{.columns = 4, .extent = 4, .number = {GARNER_I64, 1, {2}}}, 4},
    {{.columns = 4, .extent = 4, .number = {GARNER_I64, 2, {1, 1}}}, 4},
    {{.columns = 4, .extent = 4, .number = {GARNER_I32, 0, {0}}}, 4},
    {{.columns = 4, .extent = 3, .ends_in_nd = true}, 1},
    {{.columns = 3, .extent = 9, .ends_in_slice = true}, 0},
    {{.columns = 3, .extent = 9, .ends_in_slice = true, .inputs = 3}, 2},
    {{.columns = 3, .extent = 9, .ends_in_slice = true, .inputs = 5, .step = 1}, 0},
    {{.columns = 3, .extent = 9, .ends_in_slice = true, .inputs = 5, .step = 2}, 2},
    {{.columns = 3, .extent = 2, .ends_in_slice = true}, 2},
    /* Quantized, and half precision: by all readers. */
    {{.producer = "DequantizeLinear", .reader = "QuantizeLinear", .second_reader = "QuantizeLinear"}, 0},
    {{.producer = "DequantizeLinear", .reader = "QuantizeLinear", .second_reader = "Add"}, 1},
    {{.producer = "DequantizeLinear", .reader = "Add", .second_reader = "QuantizeLinear"}, 1},
    {{.producer = "DequantizeLinear", .unread = true}, 1},
    {{.columns = 1, .producer = "DequantizeLinear", .reader = "QuantizeLinear", .ends_in_nd = true}, 1},
    /* Long rows. */
    {{LONG_ROWS}, 0},
    {{LONG_ROWS, .inputs = 6}, 1},
    {{LONG_ROWS, .data_type = GARNER_STR}, 1},
    {{LONG_ROWS, .columns = 4, .axis = -2}, 4},
    {{LONG_ROWS, .columns = 4, .axis = -2, .reads_as_indices = true}, 4},
    {{LONG_ROWS, .columns = 1, .axis = -2, .ends_in_nd = true}, 1},
    {{LONG_ROWS, .columns = 2, .axis = -2, .ends_in_nd = true}, 1},
    {{LONG_ROWS, .columns = 2, .axis = -2, .ends_in_slice = true}, 1},
    {{LONG_ROWS, .columns = 1, .axis = 2}, 1},
    {{LONG_ROWS, .columns = 1, .axis = -3}, 1},
    {{.extent = HUGE, .node_output = {GARNER_F32, 1, {2}}}, 1},
    {{.extent = 255, .node_output = {GARNER_F32, 1, {2}}}, 1},
    {{.extent = 256, .node_output = {GARNER_F32, 1, {2}}}, 0},
    {{.extent = 256, .node_output = {GARNER_F32, 1, {OPEN}}}, 0},
    {{.extent = 1 << 20, .node_output = {GARNER_F32, 1, {OPEN}}}, 1},
    {{.extent = 256, .node_output = {GARNER_F32, 1, {1 << 20}}}, 1},
    /* As large as is asked for, as far as is known. */
    {{.option = {MIN_BYTES, "9"}, .node_output = {GARNER_F32, 1, {2}}}, 0},
    {{.option = {MIN_BYTES, "9"}, .node_output = {GARNER_F32, 1, {OPEN}}}, 1},
    {{.option = {MIN_BYTES, "9"}, .node_output = {GARNER_F32, 1, {HUGE}}}, 1},
    {{.option = {MIN_BYTES, "9"}, .node_output = {GARNER_F32, 2, {HUGE, 2}}}, 1},
    {{.option = {MIN_BYTES, "9"}, .node_output = {99, 1, {2}}}, 1},
};

enum { GRAPHS = sizeof graphs / sizeof graphs[0] };

static void test_graphs(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRAPHS; i++) {
        OrtStatus *status;
        size_t claimed = claims_of(graphs[i].graph, 0, &status);
        if (claimed != graphs[i].claimed) fail_msg("graph %zu: %zu claimed", i, claimed);
        assert_null(status);
        assert_int_equal(fake.statuses, 0);
    }
}

static size_t graph_at;

/* The runtime must hear of failures where it can do something about them; that a rewrite could not be looked
 * for is none. */
static OrtStatus *play_graph(void)
{
    OrtEpFactory *factory;
    OrtEp *ep;
    const size_t fail_at_call = fake.fail_at;
    fake = graphs[graph_at].graph;
    fake.version = ORT_API_VERSION;
    fake.fail_at = fail_at_call;
    OrtStatus *status = open_factory(&factory);
    if (status) return status;
    status = factory->CreateEp(factory, NULL, NULL, 0, NULL, NULL, &ep);
    if (!status) {
        status = ep->GetCapability(ep, NULL, NULL);
        factory->ReleaseEp(factory, ep);
    }
    assert_true(fake.claimed <= (fake.columns ? fake.columns : 1));
    assert_null(ReleaseEpFactory(factory));
    return status;
}

static void test_each_call_about_a_graph_fails(void **state)
{
    (void)state;
    for (graph_at = 0; graph_at < GRAPHS; graph_at++)
        fail_each_call(play_graph);
}

/* What the runtime gives is NULL where something should be: a value that is no tensor, an operator without a
 * name. */
static void test_nothing_is_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRAPHS; i++) {
        size_t n = 0;
        do {
            OrtStatus *status;
            struct fake_runtime graph = graphs[i].graph;
            graph.nothing_at = ++n;
            claims_of(graph, 0, &status);
            if (status) fail_msg("graph %zu, gift %zu: %s", i, n, status->message);
            assert_true(fake.claimed <= (fake.columns ? fake.columns : 1));
            assert_int_equal(fake.statuses, 0);
            assert_int_equal(fake.objects, 0);
        } while (fake.gifts >= n);
    }
}

/* ---- Tensors --------------------------------------------------------------------------------------- */

/* What a gather of these data says, whose kernel was made for others. */
static const char *say(OrtValue *data)
{
    static char message[600];
    OrtKernelContext context = {{data, &chosen_value}, &rows_value};
    fake_reset();
    OrtStatus *status = session(false, &context, 1);
    snprintf(message, sizeof message, "%s", status ? status->message : "");
    assert_int_equal(fake.statuses, status ? 1 : 0);
    return message;
}

static void test_tensors_that_are_refused(void **state)
{
    (void)state;
    OrtValue unknown = {{99, 1, {4}}, table}, none = {{0, 1, {4}}, table},
             deep = {{GARNER_F32, 65, {4}}, table}, deep_strings = {{GARNER_STR, 65, {4}}, words};
    assert_non_null(strstr(say(&unknown), "Gather: data"));
    assert_non_null(strstr(say(&none), "Gather: data"));
    assert_non_null(strstr(say(&deep), "Gather: data has rank 65"));
    assert_non_null(strstr(say(&deep_strings), "Gather: data has rank 65"));
}

/* Types that came to ONNX after f4e2m1, whose numbers are not garner's; no version of the operators takes
 * them yet. */
static void test_late_types(void **state)
{
    (void)state;
    static const char *const names[] = {"u2", "i2", "f8e8m0"};
    for (int i = 0; i < 3; i++) {
        char wanted[100];
        OrtValue data = {{GARNER_F4E2M1 + 1 + i, 1, {4}}, table};
        snprintf(wanted, sizeof wanted, "Gather: data of type %s is not among the types of onnx-13",
                 names[i]);
        assert_non_null(strstr(say(&data), wanted));
    }
}

/* ---- Strings --------------------------------------------------------------------------------------- */

/* A layout that is almost the one that is known here is another one. */
static void test_strings_almost_plain(void **state)
{
    (void)state;
    for (enum fake_layout layout = FAKE_LETTER; layout <= FAKE_END; layout++) {
        fake_reset();
        fake.layout = layout;
        memset(spelt, 'x', sizeof spelt);
        assert_null(session(false, &spelling, 1));
        assert_spelt();
    }
}

/* So many that several threads copy them, and one failure or more of theirs. */
static void test_many_strings(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct fake_string *from = calloc(MANY, sizeof *from), *to = calloc(MANY, sizeof *to);
    int64_t *at = malloc(MANY * sizeof *at);
    for (int i = 0; i < MANY; i++) {
        from[i].size = (size_t)snprintf(from[i].bytes, sizeof from[i].bytes, "number %d", i);
        at[i] = MANY - 1 - i;
    }
    OrtValue data = {{GARNER_STR, 1, {MANY}}, from}, indices = {{GARNER_I64, 1, {MANY}}, at},
             out = {{GARNER_STR, 1, {0}}, to};
    OrtKernelContext context = {{&data, &indices}, &out};
    fake_reset();
    assert_null(session(false, &context, 1));
    for (int i = 0; i < MANY; i++)
        assert_memory_equal(to[i].bytes, from[MANY - 1 - i].bytes, from[MANY - 1 - i].size);
    static const struct {
        const char *failing;
        size_t at;
        const char *message;
    } cases[] = {{"fake_GetResizedStringTensorElementBuffer", 40 + 3000,
                  FAKE_FAILURE}, /* 40 are looked at when it begins */
                 {"fake_GetResizedStringTensorElementBuffer", 40 + 1, FAKE_FAILURE},
                 {"fake_KernelContext_ParallelFor", 1, "Gather: the executor stopped after 0 of 2 tasks"},
                 {"fake_KernelContext_ParallelFor", 2, "threads did not copy the strings"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_reset();
        fake.failing = cases[i].failing;
        fake.fail_at = cases[i].at;
        fake.forever = true;
        OrtStatus *status = session(false, &context, 1);
        assert_non_null(status);
        if (!strstr(status->message, cases[i].message)) fail_msg("%s", status->message);
        assert_int_equal(fake.statuses, 1);
    }
    free(from);
    free(to);
    free(at);
}

/* The characters of so many strings fit into no memory. */
static void test_strings_without_memory(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    int failed = 0;
    for (int n = 1;; n++) {
        fake_reset();
        counting_begin(n);
        OrtStatus *status = session(true, &spelling, 1);
        counting_end();
        assert_int_equal(live, 0);
        assert_int_equal(fake.statuses, status ? 1 : 0);
        if (status) assert_non_null(strstr(status->message, "memory"));
        failed += status != NULL;
        if (allocations < n) break;
    }
    assert_true(failed >= 6); /* as for numbers, and the views, and what is gathered of them */
}

/* ---- Runtimes that are none ------------------------------------------------------------------------ */

static void test_runtime_that_garbles(void **state)
{
    (void)state;
    OrtEpFactory *factory;
    fake_reset();
    fake.garbles = true;
    OrtStatus *status = open_factory(&factory);
    assert_non_null(status);
    assert_non_null(strstr(status->message, "does not answer as its interface says"));
    assert_null(ReleaseEpFactory(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_of_a_session_fails),  cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_each_call_about_a_graph_fails), cmocka_unit_test(test_nothing_is_given),
        cmocka_unit_test(test_tensors_that_are_refused),      cmocka_unit_test(test_late_types),
        cmocka_unit_test(test_strings_almost_plain),          cmocka_unit_test(test_many_strings),
        cmocka_unit_test(test_strings_without_memory),        cmocka_unit_test(test_runtime_that_garbles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
