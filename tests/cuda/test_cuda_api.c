/* SPDX-License-Identifier: MIT */
/*
 * garner_cuda.h from its caller's side: the CPU's error for a bad index in every kind of kernel, zeros where
 * it was refused, tickets of several executions, memory of somebody else, a driver that fails.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "device_memory.h"
#include "fake_driver.h"
#include "garner_cuda.h"

/* A gather of f32 by i64 of shapes up to rank 2, and the kernel that it is meant for. */
struct trial {
    const char *kernel;
    garner_kind kind;
    int64_t axis;
    int64_t data[2], indices[2];
    int indices_rank;
    int64_t bad; /* the position of one bad index */
};

static const struct trial trials[] = {
    {"rows-", GARNER_GATHER, 0, {50, 64}, {300}, 1, 217},
    {"grid-", GARNER_GATHER, 1, {50, 64}, {30}, 1, 29},
    {"table-", GARNER_GATHER_ELEMENTS, 1, {64, 1024}, {64, 1024}, 2, 40000},
    {"panel-", GARNER_GATHER_ELEMENTS, 0, {128, 67}, {128, 67}, 2, 66},
    {"panel-", GARNER_GATHER_ELEMENTS, 0, {20000, 16}, {20000, 16}, 2, 300000},
    {"line-", GARNER_GATHER_ND, 0, {50, 64}, {200, 2}, 2, 201},
    {"elements-", GARNER_GATHER, 0, {50, 1}, {30000}, 1, 21777},
    {"long-rows-", GARNER_GATHER, 0, {50, 6000}, {30}, 1, 29},
};

enum { TRIALS = sizeof trials / sizeof trials[0] };

/* One trial in memory of the host and of the device. */
struct bench {
    const struct trial *trial;
    float *data, *out;
    int64_t *indices, count, out_count;
    garner_tensor data_tensor, indices_tensor;
    garner_op op;
    void *device_data, *device_indices, *device_out;
    garner_cuda_plan *plan;
    garner_cuda_ticket *ticket;
};

static void *bytes_of(int64_t count, size_t each)
{
    void *memory = malloc((size_t)count * each);
    assert_non_null(memory);
    return memory;
}

static void set_up(struct bench *b, const struct trial *trial)
{
    garner_error error;
    *b = (struct bench){.trial = trial, .op = {.kind = trial->kind, .axis = trial->axis}};
    const int64_t elements = trial->data[0] * trial->data[1];
    b->count = trial->indices[0] * (trial->indices_rank > 1 ? trial->indices[1] : 1);
    b->data = bytes_of(elements, sizeof *b->data);
    b->indices = bytes_of(b->count, sizeof *b->indices);
    for (int64_t i = 0; i < elements; i++)
        b->data[i] = (float)i;
    for (int64_t i = 0; i < b->count; i++) /* some from the end */
        b->indices[i] = i * 7919 % (2 * trial->data[trial->axis]) - trial->data[trial->axis];
    b->device_data = device_allocate((size_t)elements * sizeof *b->data);
    b->device_indices = device_allocate((size_t)b->count * sizeof *b->indices);
    device_put(b->device_data, b->data, (size_t)elements * sizeof *b->data);
    b->data_tensor =
        (garner_tensor){.data = b->device_data, .shape = trial->data, .rank = 2, .dtype = GARNER_F32};
    b->indices_tensor =
        (garner_tensor){.shape = trial->indices, .rank = trial->indices_rank, .dtype = GARNER_I64};
    assert_int_equal(
        garner_cuda_plan_create(&b->plan, &b->op, &b->data_tensor, &b->indices_tensor, NULL, &error),
        GARNER_OK);
    b->out_count = garner_cuda_plan_output(b->plan)->count;
    b->out = bytes_of(b->out_count, sizeof *b->out);
    b->device_out = device_allocate((size_t)b->out_count * sizeof *b->out);
    assert_int_equal(garner_cuda_ticket_create(&b->ticket, garner_cuda_plan_device(b->plan), &error),
                     GARNER_OK);
}

static void tear_down(struct bench *b)
{
    garner_cuda_ticket_destroy(b->ticket);
    garner_cuda_plan_destroy(b->plan);
    device_free(b->device_data);
    device_free(b->device_indices);
    device_free(b->device_out);
    free(b->data);
    free(b->indices);
    free(b->out);
}

/* On the CPU, with what lies in memory of the host. */
static garner_status run_on_cpu(const struct bench *b, float *out, garner_error *error)
{
    garner_tensor data = b->data_tensor, indices = b->indices_tensor;
    const garner_shape *shape = garner_cuda_plan_output(b->plan);
    data.data = b->data;
    indices.data = b->indices;
    const garner_tensor to = {.data = out, .shape = shape->extents, .rank = shape->rank, .dtype = GARNER_F32};
    return garner_run(&b->op, &data, &indices, &to, NULL, error);
}

static garner_status run_on_gpu(struct bench *b, garner_error *error)
{
    device_put(b->device_indices, b->indices, (size_t)b->count * sizeof *b->indices);
    const garner_status launched =
        garner_cuda_execute(b->plan, b->device_data, b->device_indices, b->device_out, NULL, b->ticket);
    assert_int_equal(launched, GARNER_OK);
    const garner_status status = garner_cuda_wait(b->ticket, error);
    device_get(b->out, b->device_out, (size_t)b->out_count * sizeof *b->out);
    return status;
}

/* The error of the GPU is the CPU's, in every field. */
static void assert_same_error(const garner_error *a, const garner_error *b)
{
    assert_string_equal(a->message, b->message);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->has, b->has);
    assert_int_equal(a->axis, b->axis);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->coordinates, b->coordinates, (size_t)a->rank * sizeof a->coordinates[0]);
    assert_int_equal(a->value.i, b->value.i);
    assert_int_equal(a->bound, b->bound);
}

static void try_bad_index(const struct trial *trial)
{
    struct bench b;
    char text[1000];
    garner_error error, cpu;
    set_up(&b, trial);
    garner_cuda_plan_describe(b.plan, text, sizeof text);
    if (device_is_fake()) assert_non_null(strstr(text, trial->kernel));
    float *expected = bytes_of(b.out_count, sizeof *expected);
    assert_int_equal(run_on_cpu(&b, expected, &cpu), GARNER_OK);
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OK);
    assert_memory_equal(b.out, expected, (size_t)b.out_count * sizeof *b.out);

    const int64_t good = b.indices[trial->bad];
    b.indices[trial->bad] = 987654321;
    if (trial->bad + 1 < b.count)
        b.indices[b.count - 1] = -987654321; /* a higher one, which nobody reports */
    assert_int_equal(run_on_cpu(&b, expected, &cpu), GARNER_OUT_OF_RANGE);
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OUT_OF_RANGE);
    assert_same_error(&error, &cpu);

    /* Zeros where an index was refused, as with the policy zero; and the next call is right. */
    b.op.oob = GARNER_OOB_ZERO;
    assert_int_equal(run_on_cpu(&b, expected, &cpu), GARNER_OK);
    assert_memory_equal(b.out, expected, (size_t)b.out_count * sizeof *b.out);
    b.indices[trial->bad] = good;
    b.indices[b.count - 1] = 0;
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OK);
    assert_int_equal(garner_cuda_wait(b.ticket, &error), GARNER_OK); /* once more */
    free(expected);
    tear_down(&b);
}

static void test_a_bad_index_is_the_cpus_sentence(void **state)
{
    (void)state;
    fake_backwards *backwards;
    void *set = device_symbol("fake_set_backwards");
    memcpy(&backwards, &set, sizeof set);
    for (int i = 0; i < TRIALS; i++) {
        try_bad_index(&trials[i]);
        if (!set) continue;
        backwards(1);
        try_bad_index(&trials[i]);
        backwards(0);
    }
}

static void test_a_ticket_reports_the_first_of_several(void **state)
{
    (void)state;
    struct bench a, b;
    garner_error error;
    set_up(&a, &trials[0]);
    set_up(&b, &trials[1]);
    a.indices[250] = 1000;
    b.indices[3] = 2000;
    device_put(a.device_indices, a.indices, (size_t)a.count * sizeof *a.indices);
    device_put(b.device_indices, b.indices, (size_t)b.count * sizeof *b.indices);
    assert_int_equal(
        garner_cuda_execute(a.plan, a.device_data, a.device_indices, a.device_out, NULL, a.ticket), 0);
    assert_int_equal(
        garner_cuda_execute(b.plan, b.device_data, b.device_indices, b.device_out, NULL, a.ticket), 0);
    assert_int_equal(garner_cuda_execute(b.plan, NULL, b.device_indices, b.device_out, NULL, a.ticket),
                     GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_wait(a.ticket, &error), GARNER_OUT_OF_RANGE);
    assert_string_equal(error.message, "Gather: indices[250] = 1000 is outside [-50, 49] of data axis 0");
    assert_int_equal(garner_cuda_wait(a.ticket, &error), GARNER_OK);
    tear_down(&a);
    tear_down(&b);
}

static void assert_refused(struct bench *b, const void *data, const void *indices, void *out,
                           const char *sentence)
{
    garner_error error;
    assert_int_not_equal(garner_cuda_execute(b->plan, data, indices, out, NULL, b->ticket), GARNER_OK);
    assert_int_not_equal(garner_cuda_wait(b->ticket, &error), GARNER_OK);
    assert_string_equal(error.message, sentence);
    assert_int_not_equal(garner_cuda_run(b->plan, data, indices, out, NULL, &error), GARNER_OK);
    assert_string_equal(error.message, sentence);
}

/* ---- Bad indices of views ---- */

enum { VIEW_MOST = 64 };

/* Indices are 0 but for one; data are f32. */
struct viewed {
    const char *what;
    garner_kind kind;
    int64_t axis, data[3], indices[4], strides[4];
    int data_rank, indices_rank;
    int64_t bad; /* from the indices' pointer */
    const char *where;
};

static const struct viewed views[] = {
    {"a part of a matrix", GARNER_GATHER, 0, {5, 4}, {3, 4}, {16, 2}, 2, 2, 2 * 16 + 3 * 2, "indices[2,3]"},
    {"axes that walk as one",
     GARNER_GATHER,
     0,
     {5, 4},
     {3, 2, 4},
     {20, 8, 2},
     2,
     3,
     20 + 8 + 2,
     "indices[1,1,1]"},
    {"the same rows again", GARNER_GATHER, 0, {5, 4}, {3, 2, 4}, {0, 8, 2}, 2, 3, 8 + 2, "indices[0,1,1]"},
    {"repeated in rows", GARNER_GATHER, 0, {5, 4}, {3, 2, 4}, {16, 0, 2}, 2, 3, 18, "indices[1,0,1]"},
    {"the same from nothing", GARNER_GATHER, 0, {5, 0}, {3, 2, 4}, {0, 8, 2}, 2, 3, 8 + 2, "indices[0,1,1]"},
    {"axes of one", GARNER_GATHER, 0, {5, 4}, {1, 3, 1, 4}, {1, 16, 1, 2}, 2, 4, 16 + 2, "indices[0,1,0,1]"},
    {"a number", GARNER_GATHER, 1, {3, 5, 2}, {0}, {0}, 3, 0, 0, "indices "},
    {"one again and again", GARNER_GATHER, 0, {5, 4}, {7}, {0}, 2, 1, 0, "indices[0]"},
    {"from nothing", GARNER_GATHER, 0, {5, 0}, {3, 1, 4}, {16, 1, 2}, 2, 3, 2 * 16 + 3 * 2, "indices[2,0,3]"},
    {"one from nothing", GARNER_GATHER, 0, {5, 0}, {0}, {0}, 2, 0, 0, "indices "},
    {"tuples", GARNER_GATHER_ND, 0, {5, 4, 2}, {3, 2, 2}, {16, 4, 2}, 3, 3, 16 + 4 + 2, "indices[1,1,1]"},
    {"tuples from nothing",
     GARNER_GATHER_ND,
     0,
     {5, 4, 0},
     {3, 2, 2},
     {16, 4, 2},
     3,
     3,
     16 + 4 + 2,
     "indices[1,1,1]"},
    {"elements", GARNER_GATHER_ELEMENTS, 1, {5, 4}, {3, 4}, {16, 2}, 2, 2, 16 + 2, "indices[1,1]"},
};

static void try_view(const struct viewed *view)
{
    garner_error cpu, gpu;
    garner_cuda_plan *plan;
    float data[VIEW_MOST] = {0}, out[1024];
    int64_t indices[VIEW_MOST] = {0};
    indices[view->bad] = 99;
    void *there[] = {device_allocate(sizeof data), device_allocate(sizeof indices),
                     device_allocate(sizeof out)};
    garner_op op = {.kind = view->kind, .axis = view->axis};
    garner_tensor from = {.data = data, .shape = view->data, .rank = view->data_rank, .dtype = GARNER_F32};
    garner_tensor at = {.data = indices,
                        .shape = view->indices,
                        .strides = view->strides,
                        .rank = view->indices_rank,
                        .dtype = GARNER_I64};
    device_put(there[1], indices, sizeof indices);
    assert_int_equal(garner_cuda_plan_create(&plan, &op, &from, &at, NULL, &gpu), GARNER_OK);
    const garner_shape *shape = garner_cuda_plan_output(plan);
    const garner_tensor to = {.data = out, .shape = shape->extents, .rank = shape->rank, .dtype = GARNER_F32};
    assert_int_equal(garner_run(&op, &from, &at, &to, NULL, &cpu), GARNER_OUT_OF_RANGE);
    if (!strstr(cpu.message, view->where)) fail_msg("%s: %s", view->what, cpu.message);
    assert_int_equal(garner_cuda_run(plan, there[0], there[1], there[2], NULL, &gpu), GARNER_OUT_OF_RANGE);
    assert_same_error(&gpu, &cpu);
    garner_cuda_plan_destroy(plan);
    op.oob = GARNER_OOB_ZERO; /* where nothing is refused */
    assert_int_equal(garner_cuda_plan_create(&plan, &op, &from, &at, NULL, &gpu), GARNER_OK);
    assert_int_equal(garner_cuda_run(plan, there[0], there[1], there[2], NULL, &gpu), GARNER_OK);
    garner_cuda_plan_destroy(plan);
    for (int i = 0; i < 3; i++)
        device_free(there[i]);
}

static void test_a_bad_index_of_a_view(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        try_view(&views[i]);
}

/* ---- Callers' mistakes ---- */

static void test_nothing_is_given(void **state)
{
    (void)state;
    char text[8] = "before";
    struct bench b;
    garner_error error;
    const garner_op op = {.kind = GARNER_GATHER};
    garner_cuda_plan *plan;
    garner_cuda_ticket *ticket;
    set_up(&b, &trials[0]);
    assert_int_equal(garner_cuda_devices(NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_devices: count is NULL");
    assert_int_equal(garner_cuda_device_info(0, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_device_info: info is NULL");
    assert_int_equal(garner_cuda_ticket_create(NULL, 0, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_ticket_create: ticket is NULL");
    assert_int_equal(garner_cuda_plan_create(NULL, &op, &b.data_tensor, &b.indices_tensor, NULL, &error),
                     GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_plan_create: plan is NULL");
    assert_int_equal(garner_cuda_plan_create(&plan, &op, NULL, &b.indices_tensor, NULL, &error),
                     GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "Gather: data is NULL");
    assert_null(plan);
    assert_int_equal(garner_cuda_copy(b.device_data, NULL, 1, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_copy: a pointer is NULL");
    assert_int_equal(garner_cuda_execute(NULL, b.device_data, b.device_indices, b.device_out, NULL, b.ticket),
                     GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_execute(NULL, NULL, NULL, NULL, NULL, b.ticket), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_wait(b.ticket, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_execute: plan is NULL");
    assert_null(garner_cuda_plan_output(NULL));
    assert_int_equal(garner_cuda_plan_device(NULL), -1);
    assert_int_equal(garner_cuda_plan_describe(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    const size_t length = garner_cuda_plan_describe(b.plan, NULL, 100);
    assert_int_equal(garner_cuda_plan_describe(b.plan, text, sizeof text), length); /* of which some fits */
    assert_int_equal(strlen(text), sizeof text - 1);
    assert_int_equal(garner_cuda_plan_describe(b.plan, text, 0), length);
    garner_cuda_ticket_destroy(NULL);
    assert_int_equal(garner_cuda_ticket_create(&ticket, -1, &error), GARNER_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "cuda: device -1 is not among the "));
    assert_int_equal(
        garner_cuda_device_info(-1, &(garner_cuda_device){.size = sizeof(garner_cuda_device)}, &error),
        GARNER_BAD_ARGUMENT);
    tear_down(&b);
}

static void test_memory_that_is_not_the_devices(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b, &trials[0]);
    void *data = b.device_data, *indices = b.device_indices, *out = b.device_out;
    assert_refused(&b, b.data, indices, out, "Gather: data is memory of the host; it must be of device 0");
    assert_refused(&b, data, b.indices, out, "Gather: indices is memory of the host; it must be of device 0");
    assert_refused(&b, data, indices, b.out, "Gather: out is memory of the host; it must be of device 0");
    assert_refused(&b, NULL, indices, out, "Gather: the pointer of data is NULL, but it has elements");
    assert_refused(&b, data, indices, data, "Gather: out overlaps data; they must not share memory");
    garner_error error;
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OK); /* and it still works */
    assert_int_equal(garner_cuda_execute(b.plan, data, indices, out, NULL, NULL), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_wait(NULL, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_run(NULL, data, indices, out, NULL, &error), GARNER_BAD_ARGUMENT);
    tear_down(&b);
}

static void test_strings_are_refused(void **state)
{
    (void)state;
    garner_error error;
    garner_cuda_plan *plan;
    const int64_t shape[] = {4};
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {.shape = shape, .rank = 1, .dtype = GARNER_STR},
                        indices = {.shape = shape, .rank = 1, .dtype = GARNER_I64};
    assert_int_equal(garner_cuda_plan_create(&plan, &op, &data, &indices, NULL, &error), GARNER_UNSUPPORTED);
    assert_string_equal(error.message,
                        "Gather: data of type str cannot be gathered on a GPU: its characters lie in "
                        "memory of the host");
    assert_null(plan);
}

static void test_devices(void **state)
{
    (void)state;
    garner_error error;
    int count;
    garner_cuda_device info = {.size = sizeof info};
    garner_cuda_ticket *ticket;
    assert_int_equal(garner_cuda_devices(&count, &error), GARNER_OK);
    assert_true(count >= 1);
    assert_int_equal(garner_cuda_device_info(0, &info, &error), GARNER_OK);
    assert_true(info.major >= 7 && info.multiprocessors > 0 && info.memory > 0 && info.profile &&
                info.name[0]);
    assert_int_equal(garner_cuda_device_info(count, &info, &error), GARNER_BAD_ARGUMENT);
    info.size = 3;
    assert_int_equal(garner_cuda_device_info(0, &info, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_ticket_create(&ticket, count, &error), GARNER_BAD_ARGUMENT);
    assert_null(ticket);
}

static void test_memory(void **state)
{
    (void)state;
    garner_error error;
    void *a, *b, *none;
    char text[] = "0123456789", back[sizeof text] = "";
    assert_int_equal(garner_cuda_allocate(&a, 0, sizeof text, &error), GARNER_OK);
    assert_int_equal(garner_cuda_allocate(&b, 0, 0, &error), GARNER_OK); /* no bytes have an address, too */
    assert_non_null(b);
    garner_cuda_free(b);
    assert_int_equal(garner_cuda_allocate(&b, 0, sizeof text, &error), GARNER_OK);
    assert_int_equal(garner_cuda_copy(a, text, sizeof text, NULL, &error), GARNER_OK);
    assert_int_equal(garner_cuda_copy(b, a, sizeof text, NULL, &error), GARNER_OK);
    assert_int_equal(garner_cuda_copy(back, b, sizeof text, NULL, &error), GARNER_OK);
    assert_string_equal(back, text);
    assert_int_equal(garner_cuda_copy(back, b, 0, NULL, &error), GARNER_OK);
    assert_int_equal(garner_cuda_copy(back, text, sizeof text, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message, "garner_cuda_copy: neither pointer is memory of a device");
    assert_int_equal(garner_cuda_copy(NULL, b, sizeof text, NULL, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_allocate(NULL, 0, 1, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_allocate(&none, 1000, 1, &error), GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_allocate(&none, 0, UINT64_C(1) << 50, &error), GARNER_NO_MEMORY);
    assert_null(none);
    assert_string_equal(error.message, "cuda: device 0 has no memory for 1125899906842624 bytes");
    garner_cuda_free(a);
    garner_cuda_free(b);
    garner_cuda_free(NULL);
}

/* ---- What only the stand-in can do ---- */

static void fail_next(const char *symbol, int result)
{
    void *found = device_symbol("fake_fail_next");
    fake_fail *fail_it;
    memcpy(&fail_it, &found, sizeof found);
    fail_it(symbol, result);
}

static void test_another_device(void **state)
{
    (void)state;
    struct bench b;
    garner_error error;
    garner_cuda_ticket *other;
    if (!device_is_fake()) SKIP_LOUDLY("the stand-in has two devices, this machine may have one");
    set_up(&b, &trials[0]);
    assert_true(device_begin(1));
    void *there = device_allocate((size_t)b.count * sizeof *b.indices);
    assert_refused(
        &b, b.device_data, there, b.device_out,
        "Gather: indices is memory of device 1; it must be of device 0, for which the plan was made");
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OK); /* with another context current */
    assert_int_equal(garner_cuda_ticket_create(&other, 1, &error), GARNER_OK);
    assert_int_equal(garner_cuda_execute(b.plan, b.device_data, b.device_indices, b.device_out, NULL, other),
                     GARNER_BAD_ARGUMENT);
    assert_int_equal(garner_cuda_wait(other, &error), GARNER_BAD_ARGUMENT);
    assert_string_equal(error.message,
                        "Gather: the ticket is of device 1; it must be of device 0, as the plan");
    garner_cuda_ticket_destroy(other);
    device_free(there);
    assert_true(device_begin(0));
    tear_down(&b);
}

/* Memory of all devices is any device's. */
static void test_managed_memory(void **state)
{
    (void)state;
    struct bench b;
    garner_error error;
    if (!device_is_fake()) SKIP_LOUDLY("the stand-in gives such memory");
    void *found[] = {device_symbol("fake_allocate"), device_symbol("fake_free")};
    fake_new *allocate;
    fake_delete *release;
    memcpy(&allocate, &found[0], sizeof allocate);
    memcpy(&release, &found[1], sizeof release);
    set_up(&b, &trials[0]);
    void *managed = allocate((size_t)b.count * sizeof *b.indices, FAKE_MANAGED);
    memcpy(managed, b.indices, (size_t)b.count * sizeof *b.indices);
    assert_int_equal(garner_cuda_run(b.plan, b.device_data, managed, b.device_out, NULL, &error), GARNER_OK);
    release(managed);
    tear_down(&b);
}

/* Tickets that garner_cuda_run keeps are each of one device. */
static void test_devices_in_turn(void **state)
{
    (void)state;
    struct bench first, second;
    garner_error error;
    if (!device_is_fake()) SKIP_LOUDLY("the stand-in has two devices, this machine may have one");
    set_up(&first, &trials[0]);
    assert_true(device_begin(1));
    set_up(&second, &trials[1]);
    assert_int_equal(garner_cuda_plan_device(second.plan), 1);
    device_put(first.device_indices, first.indices, (size_t)first.count * sizeof *first.indices);
    device_put(second.device_indices, second.indices, (size_t)second.count * sizeof *second.indices);
    for (int i = 0; i < 6; i++) {
        struct bench *b = i % 3 ? &first : &second;
        assert_int_equal(
            garner_cuda_run(b->plan, b->device_data, b->device_indices, b->device_out, NULL, &error),
            GARNER_OK);
    }
    tear_down(&second);
    assert_true(device_begin(0));
    tear_down(&first);
}

/* What is captured is not waited for; the stand-in launches it at once. */
static void test_capture(void **state)
{
    (void)state;
    struct bench b;
    garner_error error;
    if (!device_is_fake()) SKIP_LOUDLY("the stand-in captures all streams");
    void *found = device_symbol("fake_set_capture");
    fake_capture *capture;
    memcpy(&capture, &found, sizeof capture);
    set_up(&b, &trials[0]);
    b.indices[7] = 1000;
    capture(1);
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OUT_OF_RANGE);
    capture(0);
    b.indices[7] = 0;
    assert_int_equal(run_on_gpu(&b, &error), GARNER_OK);
    tear_down(&b);
}

static void test_a_driver_that_fails(void **state)
{
    (void)state;
    static const char *const launching[] = {"cuLaunchKernel", "cuEventRecord", "cuPointerGetAttributes"};
    struct CUstream_st *destroyed = (struct CUstream_st *)4, *stream = (struct CUstream_st *)8;
    struct bench b;
    garner_error error;
    garner_cuda_ticket *ticket;
    if (!device_is_fake()) SKIP_LOUDLY("a real driver does not fail on demand");
    set_up(&b, &trials[0]);
    for (int i = 0; i < 3; i++) {
        fail_next(launching[i], 2);
        assert_int_equal(
            garner_cuda_run(b.plan, b.device_data, b.device_indices, b.device_out, stream, &error),
            GARNER_SYSTEM);
        assert_non_null(strstr(error.message, "the driver says out of memory"));
        assert_int_equal(run_on_gpu(&b, &error), GARNER_OK);
    }
    fail_next("cuEventSynchronize", 2);
    assert_int_equal(garner_cuda_run(b.plan, b.device_data, b.device_indices, b.device_out, stream, &error),
                     GARNER_SYSTEM);
    fail_next("cuStreamSynchronize", 2); /* the default stream is waited for without an event */
    assert_int_equal(garner_cuda_run(b.plan, b.device_data, b.device_indices, b.device_out, NULL, &error),
                     GARNER_SYSTEM);
    assert_non_null(strstr(error.message, "waiting for a gather: the driver says out of memory"));
    fail_next("cuMemHostAlloc", 2);
    assert_int_equal(garner_cuda_ticket_create(&ticket, 0, &error), GARNER_SYSTEM);
    fail_next("cuEventCreate", 2);
    assert_int_equal(garner_cuda_ticket_create(&ticket, 0, &error), GARNER_SYSTEM);
    void *memory;
    fail_next("cuMemAlloc_v2", 1);
    assert_int_equal(garner_cuda_allocate(&memory, 0, 1, &error), GARNER_SYSTEM);
    assert_string_equal(error.message, "cuda: memory of the device: the driver says a fake error");
    assert_int_equal(garner_cuda_copy(b.device_data, b.data, 4, destroyed, &error), GARNER_SYSTEM);
    fail_next("cuStreamSynchronize", 1);
    assert_int_equal(garner_cuda_copy(b.device_data, b.data, 4, NULL, &error), GARNER_SYSTEM);
    assert_string_equal(error.message, "cuda: copying: the driver says a fake error");
    assert_int_equal(
        garner_cuda_run(b.plan, b.device_data, b.device_indices, b.device_out, destroyed, &error),
        GARNER_SYSTEM);
    assert_string_equal(error.message, "cuda: the stream: the driver says invalid resource handle");
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bad_index_is_the_cpus_sentence),
        cmocka_unit_test(test_a_ticket_reports_the_first_of_several),
        cmocka_unit_test(test_a_bad_index_of_a_view),
        cmocka_unit_test(test_nothing_is_given),
        cmocka_unit_test(test_memory_that_is_not_the_devices),
        cmocka_unit_test(test_strings_are_refused),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_another_device),
        cmocka_unit_test(test_managed_memory),
        cmocka_unit_test(test_devices_in_turn),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_a_driver_that_fails),
    };
    if (!device_begin(0)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
