/* SPDX-License-Identifier: MIT */
/*
 * The plug-in in a stand-in for ONNX Runtime: which runtimes it refuses and how, what it registers, that a
 * run allocates nothing once it has a plan, that it uses the runtime's threads, and that it survives any
 * allocation that fails.
 */
#include "plugin_session.h"

/* ---- Which runtimes -------------------------------------------------------------------------------- */

static void test_old_runtime(void **state)
{
    (void)state;
    OrtEpFactory *factory;
    fake_reset();
    fake.version = 23;
    OrtStatus *status = open_factory(&factory);
    assert_non_null(status);
    assert_non_null(
        strstr(status->message, "garner " GARNER_VERSION_STRING " needs ONNX Runtime 1.24 or newer"));
    assert_non_null(strstr(status->message, "this is 1.23.7"));
}

static void test_newer_runtime(void **state)
{
    (void)state;
    OrtEpFactory *factory;
    fake_reset();
    fake.version = 99;
    assert_null(open_factory(&factory));
    assert_int_equal(factory->ort_version_supported, 24); /* whatever the runtime can do */
    assert_null(ReleaseEpFactory(factory));
}

static void test_runtime_that_lies(void **state)
{
    (void)state;
    OrtEpFactory *factory;
    fake_reset();
    fake.lies = true;
    OrtStatus *status = open_factory(&factory);
    assert_non_null(status);
    assert_non_null(strstr(status->message, "does not answer as its interface says"));
    assert_int_equal(fake.statuses, 1);
}

static void test_no_room(void **state)
{
    (void)state;
    size_t count = 99;
    fake_reset();
    assert_non_null(CreateEpFactories("any", fake_base(), NULL, NULL, 0, &count));
    assert_int_equal(count, 0);
}

/* ---- What it offers -------------------------------------------------------------------------------- */

static void test_registered(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int first, last;
    } wanted[] = {{"Gather", 1, 10},          {"Gather", 11, 12},         {"Gather", 13, 13},
                  {"GatherElements", 11, 12}, {"GatherElements", 13, 13}, {"GatherND", 11, 11},
                  {"GatherND", 12, 12},       {"GatherND", 13, 13}};
    OrtEpFactory *factory;
    fake_reset();
    assert_null(open_factory(&factory));
    assert_int_equal(fake.kernels, sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < fake.kernels; i++) {
        assert_string_equal(fake.kernel[i].type, wanted[i].type);
        assert_int_equal(fake.kernel[i].first, wanted[i].first);
        assert_int_equal(fake.kernel[i].last, wanted[i].last);
        assert_int_equal(fake.kernel[i].types[0],
                         24); /* 26, less the two complex ones that the stand-in lacks */
        assert_int_equal(fake.kernel[i].types[1], 2);
    }
    assert_string_equal(factory->GetName(factory), "GarnerExecutionProvider");
    assert_string_equal(factory->GetVersion(factory), GARNER_VERSION_STRING);
    assert_int_equal(fake.statuses, 0);
    assert_null(ReleaseEpFactory(factory));
}

static void test_devices(void **state)
{
    (void)state;
    static const int cpu = 0, gpu = 1;
    const OrtHardwareDevice *const hardware[] = {(const OrtHardwareDevice *)&gpu,
                                                 (const OrtHardwareDevice *)&cpu};
    OrtEpDevice *device[2];
    OrtEpFactory *factory;
    size_t count;
    fake_reset();
    assert_null(open_factory(&factory));
    assert_null(factory->GetSupportedDevices(factory, hardware, 2, device, 2, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(device[0], &cpu);
    assert_null(ReleaseEpFactory(factory));
}

/* Opens a provider with one option, lets it look at a node of 24 bytes, and says whether it claimed the node;
 * or the message with which it refused the option. */
static const char *claim_with(const char *key, const char *value)
{
    static char message[600];
    OrtEpFactory *factory;
    OrtEp *ep;
    fake_reset();
    fake.option[0] = key;
    fake.option[1] = value;
    fake.node_output = (struct OrtTypeInfo){GARNER_F32, 2, {2, 3}};
    assert_null(open_factory(&factory));
    OrtStatus *status = factory->CreateEp(factory, NULL, NULL, 0, NULL, NULL, &ep);
    if (status) {
        assert_null(ep);
        assert_int_equal(status->code, ORT_INVALID_ARGUMENT);
        snprintf(message, sizeof message, "%s", status->message);
    } else {
        assert_null(ep->GetCapability(ep, NULL, NULL));
        snprintf(message, sizeof message, fake.claimed ? "claimed" : "left");
        factory->ReleaseEp(factory, ep);
    }
    assert_null(ReleaseEpFactory(factory));
    return message;
}

static void test_options(void **state)
{
    (void)state;
    static const char key[] = "ep.garnerexecutionprovider.min_bytes";
    assert_string_equal(claim_with(NULL, NULL), "claimed");
    assert_string_equal(claim_with("session.anything", "1k"), "claimed");
    assert_string_equal(claim_with(key, "0"), "claimed");
    assert_string_equal(claim_with(key, "24"), "claimed");
    assert_string_equal(claim_with(key, "25"), "left");
    static const char *const bad[] = {"", "-1", "1k", " 1", "9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_non_null(strstr(claim_with(key, bad[i]), "it must be a whole number of bytes"));
    assert_non_null(strstr(claim_with("ep.garnerexecutionprovider.max", "1"), "there is no option max"));
}

static void test_fusions(void **state)
{
    (void)state;
    static const struct {
        struct fake_runtime graph;
        size_t claimed;
    } cases[] = {
        {{.columns = 4, .extent = 4}, 0},
        {{.columns = 4, .extent = 5}, 4},  /* one is missing */
        {{.columns = 4, .extent = 3}, 4},  /* one is outside */
        {{.columns = 1, .extent = 1}, 1},  /* no siblings */
        {{.columns = 4, .extent = -1}, 4}, /* who knows */
        {{.columns = 4, .extent = 4, .data_type = GARNER_STR}, 4},
        {{.columns = 4, .extent = 4, .producer = "Shape"}, 4},
        {{.columns = 3, .extent = 9, .ends_in_slice = true}, 0},
        {{.producer = "DequantizeLinear", .reader = "QuantizeLinear"}, 0},
        {{.producer = "DequantizeLinear", .reader = "Add"}, 1},
        {{.producer = "DequantizeLinear"}, 1}, /* an output */
        {{.producer = "Exp", .reader = "Exp"}, 1},
        {{.producer = "Exp", .reader = "Exp", .data_type = GARNER_F16}, 0},
        {{.producer = "Exp", .reader = "Concat", .data_type = GARNER_F16}, 1},
        {{.producer = "Slice", .reader = "Exp", .data_type = GARNER_F16}, 1},
        {{.reader = "Exp", .data_type = GARNER_F16}, 1}, /* an input */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OrtStatus *status;
        size_t claimed = claims_of(cases[i].graph, 0, &status);
        if (claimed != cases[i].claimed) fail_msg("case %zu: %zu claimed", i, claimed);
        assert_null(status);
        assert_int_equal(fake.statuses, 0);
    }
}

static void test_fusions_without_memory(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    const struct fake_runtime graph = {.columns = 4, .extent = 4};
    OrtStatus *status;
    assert_int_equal(claims_of(graph, 1, &status), 0); /* there is no list of nodes */
    assert_non_null(status);
    for (int n = 2; n <= 4; n++) { /* what is not found out is no reason to leave them */
        assert_int_equal(claims_of(graph, n, &status), 4);
        assert_null(status);
        assert_int_equal(live, 0);
    }
    assert_int_equal(claims_of(graph, 5, &status), 0);
    assert_int_equal(allocations, 4);
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static void test_run(void **state)
{
    (void)state;
    for (int stated = 0; stated < 2; stated++) {
        fake_reset();
        memset(rows, 0, sizeof rows);
        assert_null(session(stated, &small, 1));
        assert_rows();
        assert_int_equal(fake.statuses, 0);
    }
}

static void test_no_allocation_in_the_steady_state(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    fake_reset();
    counting_begin(0);
    OrtStatus *status = session(false, &small, 100);
    counting_end();
    assert_null(status);
    assert_int_equal(allocations, 0);
    assert_int_equal(live, 0);
}

/* Each allocation in turn fails: the session does too, or does without; nothing leaks, and no status is lost.
 */
static void test_no_memory(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    int failed = 0;
    for (int n = 1;; n++) {
        fake_reset();
        counting_begin(n);
        OrtStatus *status = session(true, &small, 2);
        counting_end();
        assert_int_equal(live, 0);
        if (status) {
            failed++;
            assert_int_equal(status->code, ORT_FAIL);
            assert_non_null(strstr(status->message, "memory"));
        }
        assert_int_equal(fake.statuses, status ? 1 : 0);
        if (allocations < n) break;
    }
    assert_true(failed >= 4); /* factory, provider, nodes, kernel; plans have a second chance */
}

static void test_bad_index(void **state)
{
    (void)state;
    fake_reset();
    chosen[1] = 4;
    OrtStatus *status = session(true, &small, 1);
    chosen[1] = 0;
    assert_non_null(status);
    assert_int_equal(status->code, ORT_INVALID_ARGUMENT);
    assert_string_equal(status->message, "Gather: indices[1] = 4 is outside [-4, 3] of data axis 0");
}

static void test_runtimes_threads(void **state)
{
    (void)state;
    enum { ROWS = 1 << 20 };
    int32_t *data = malloc(ROWS * sizeof *data), *out = calloc(ROWS, sizeof *out);
    int64_t *indices = malloc(ROWS * sizeof *indices);
    for (int i = 0; i < ROWS; i++) {
        data[i] = 7 * i;
        indices[i] = ROWS - 1 - i;
    }
    OrtValue from = {{GARNER_I32, 1, {ROWS}}, data}, at = {{GARNER_I64, 1, {ROWS}}, indices};
    OrtValue to = {{GARNER_I32, 1, {0}}, out};
    OrtKernelContext context = {{&from, &at}, &to};
    fake_reset();
    assert_null(session(true, &context, 1));
    assert_true(fake.parallel > 1);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(out[i], 7 * (ROWS - 1 - i));
    free(data);
    free(out);
    free(indices);
}

/* Through the interface alone: the stand-in's strings look like no library's. */
static void test_strings(void **state)
{
    (void)state;
    static struct fake_string words[3] = {{3, "ant"}, {0, ""}, {20, "a string that is long"}}, spelt[3];
    OrtValue from = {{GARNER_STR, 1, {3}}, words}, to = {{GARNER_STR, 1, {0}}, spelt};
    int64_t order[3] = {2, 1, -3};
    OrtValue at = {{GARNER_I64, 1, {3}}, order};
    OrtKernelContext context = {{&from, &at}, &to};
    for (int run = 0; run < 2; run++) {
        fake_reset();
        memset(spelt, 'x', sizeof spelt);
        assert_null(session(run, &context, 2));
        for (int i = 0; i < 3; i++) {
            const struct fake_string *wanted = &words[(order[i] + 3) % 3];
            assert_int_equal(spelt[i].size, wanted->size);
            assert_memory_equal(spelt[i].bytes, wanted->bytes, wanted->size);
        }
    }
    order[1] = 3;
    fake_reset();
    OrtStatus *status = session(false, &context, 1);
    assert_non_null(status);
    assert_string_equal(status->message, "Gather: indices[1] = 3 is outside [-3, 2] of data axis 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_runtime),
        cmocka_unit_test(test_newer_runtime),
        cmocka_unit_test(test_runtime_that_lies),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_registered),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_fusions),
        cmocka_unit_test(test_fusions_without_memory),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_no_allocation_in_the_steady_state),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_bad_index),
        cmocka_unit_test(test_runtimes_threads),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
