/* SPDX-License-Identifier: MIT */
/*
 * A driver that fails, in the stand-in: each call of it in turn, and no driver at all. The library loads the
 * driver and sets devices up once, so each failure has a process of its own. What fails says so, and then all
 * is as if nothing had happened.
 */
#define _GNU_SOURCE

#include "testing.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "random.h" /* TEST_SANITIZED */

#include "counted_malloc.h"
#include "fake_driver.h"
#include "garner_cuda.h"

/* ---- The driver that is loaded ---- */

enum found { THE_STAND_IN, NO_FILE, NO_MEMORY_FOR_IT, AN_OLD_ONE };

static enum found found;

/* Stands before libc's. */
void *dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);
    void *next = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &next, sizeof real);
    if (found == NO_MEMORY_FOR_IT) errno = ENOMEM;
    if (found == NO_MEMORY_FOR_IT) return NULL;
    return real(found == NO_FILE ? "/nowhere/libcuda.so.1" : found == AN_OLD_ONE ? NULL : name, flags);
}

static void find(const char *name, void *function)
{
    static void *library;
    if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
    void *there = library ? dlsym(library, name) : NULL;
    memcpy(function, &there, sizeof there);
}

/* ---- What a program does ---- */

enum { ROWS = 5, WIDTH = 4, PICKED = 3 };

static const int64_t picked[PICKED] = {4, 0, -2};

struct scene {
    void *data, *indices, *out;
    garner_cuda_plan *plan, *of_shapes;
    garner_cuda_ticket *ticket;
};

static garner_status make(struct scene *s, garner_error *error)
{
    const int64_t shape[] = {ROWS, WIDTH}, count[] = {PICKED};
    const garner_op op = {.kind = GARNER_GATHER};
    RETURN_NOT_OK(garner_cuda_allocate(&s->data, 0, ROWS * WIDTH * sizeof(float), error));
    RETURN_NOT_OK(garner_cuda_allocate(&s->indices, 0, sizeof picked, error));
    RETURN_NOT_OK(garner_cuda_allocate(&s->out, 0, PICKED * WIDTH * sizeof(float), error));
    const garner_tensor data = {.data = s->data, .shape = shape, .rank = 2, .dtype = GARNER_F32},
                        indices = {.shape = count, .rank = 1, .dtype = GARNER_I64},
                        nowhere = {.shape = shape, .rank = 2, .dtype = GARNER_F32};
    RETURN_NOT_OK(garner_cuda_plan_create(&s->plan, &op, &data, &indices, NULL, error));
    RETURN_NOT_OK(garner_cuda_plan_create(&s->of_shapes, &op, &nowhere, &indices, NULL, error));
    return garner_cuda_ticket_create(&s->ticket, 0, error);
}

static garner_status move(const struct scene *s, float *out, garner_error *error)
{
    struct CUstream_st *const one = (struct CUstream_st *)8, *const other = (struct CUstream_st *)16;
    float data[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        data[i] = (float)i;
    RETURN_NOT_OK(garner_cuda_copy(s->data, data, sizeof data, NULL, error));
    RETURN_NOT_OK(garner_cuda_copy(s->indices, picked, sizeof picked, NULL, error));
    RETURN_NOT_OK(garner_cuda_run(s->plan, s->data, s->indices, s->out, NULL, error));
    garner_cuda_execute(s->plan, s->data, s->indices, s->out, NULL, s->ticket);
    garner_cuda_execute(s->plan, s->data, s->indices, s->out, one, s->ticket);
    garner_cuda_execute(s->plan, s->data, s->indices, s->out, other, s->ticket);
    RETURN_NOT_OK(garner_cuda_wait(s->ticket, error));
    return garner_cuda_copy(out, s->out, PICKED * WIDTH * sizeof *out, NULL, error);
}

/* From the first call of the library to the last; out is right if it answers OK. */
static garner_status play(garner_error *error)
{
    float out[PICKED * WIDTH] = {0};
    int count;
    struct scene s = {0};
    garner_cuda_device info = {.size = sizeof info};
    RETURN_NOT_OK(garner_cuda_devices(&count, error));
    RETURN_NOT_OK(garner_cuda_device_info(0, &info, error));
    garner_status status = make(&s, error);
    if (status == GARNER_OK) status = move(&s, out, error);
    garner_cuda_ticket_destroy(s.ticket);
    garner_cuda_plan_destroy(s.plan);
    garner_cuda_plan_destroy(s.of_shapes);
    garner_cuda_free(s.out);
    garner_cuda_free(s.indices);
    garner_cuda_free(s.data);
    for (int i = 0; i < PICKED * WIDTH && status == GARNER_OK; i++) {
        const int64_t row = picked[i / WIDTH] < 0 ? picked[i / WIDTH] + ROWS : picked[i / WIDTH];
        if (out[i] == (float)(row * WIDTH + i % WIDTH)) continue;
        fprintf(stderr, "out[%d] = %g\n", i, (double)out[i]);
        exit(EXIT_FAILURE);
    }
    return status;
}

/* ---- Children ---- */

enum { PASSED, FAILED, NEVER_CALLED };

/* Whether no context is current, as when the process began. */
static bool is_without_context(void)
{
    int (*get)(void **);
    void *current;
    find("cuCtxGetCurrent", &get);
    return get(&current) == 0 && current == NULL;
}

/* How a process ends that does this. */
static int in_a_process(int child(const char *symbol, int number), const char *symbol, int number)
{
    int ended;
    fflush(NULL);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) exit(child(symbol, number));
    assert_int_equal(waitpid(process, &ended, 0), process);
    if (!WIFEXITED(ended)) fail_msg("%s, call %d: signal %d", symbol, number, WTERMSIG(ended));
    return WEXITSTATUS(ended);
}

/* Whether a failure is reported as what it is. */
static bool is_clean(const char *symbol, garner_status status, const garner_error *error)
{
    if (status == GARNER_NO_MEMORY) return strstr(error->message, "has no memory for") != NULL;
    /* Where nothing can be learned of pointers, they are the host's. */
    if (strcmp(symbol, "cuPointerGetAttributes") == 0 && status == GARNER_BAD_ARGUMENT)
        return strcmp(error->message, "garner_cuda_copy: neither pointer is memory of a device") == 0;
    return status == GARNER_SYSTEM &&
           (strstr(error->message, ": the driver says out of memory") ||
            strcmp(error->message, "cuda: the NVIDIA driver does not start: out of memory") == 0);
}

static int fail_call(const char *symbol, int number)
{
    enum { NO_MEMORY = 2 };
    fake_fail_at *fail_it;
    fake_failed *has_failed;
    fake_uses *in_use;
    garner_error error;
    find("fake_fail_call", &fail_it);
    find("fake_has_failed", &has_failed);
    find("fake_in_use", &in_use);
    fail_it(symbol, number, NO_MEMORY);
    const garner_status status = play(&error);
    if (!has_failed()) return NEVER_CALLED;
    if (status != GARNER_OK && !is_clean(symbol, status, &error)) {
        fprintf(stderr, "%s, call %d: %s\n", symbol, number, error.message);
        return FAILED;
    }
    if (strcmp(symbol, "cuInit") == 0)
        return status == play(&error) ? PASSED : FAILED; /* there is no second try */
    const int before = in_use();
    if (play(&error) != GARNER_OK) fprintf(stderr, "after %s, call %d: %s\n", symbol, number, error.message);
    /* The ticket that garner_cuda_run keeps is an event and its memory. What was to be given back and was
     * not, is not tried again. */
    const bool gives_back = strstr(symbol, "Free") || strstr(symbol, "Destroy") ||
                            strcmp(symbol, "cuPointerGetAttributes") == 0 || strncmp(symbol, "cuCtx", 5) == 0;
    if (strcmp(symbol, "cuCtxPopCurrent_v2") != 0 && !is_without_context())
        fprintf(stderr, "after %s, call %d: a context is left\n", symbol, number);
    else if (before > 2 + gives_back * 2 || in_use() > 2 + gives_back * 2)
        fprintf(stderr, "after %s, call %d: %d things are left, then %d\n", symbol, number, before, in_use());
    else if (play(&error) == GARNER_OK)
        return PASSED;
    return FAILED;
}

static void test_each_call_fails(void **state)
{
    (void)state;
    static const char *const symbols[] = {
#define DRIVER(symbol, parameters) #symbol,
#include "driver.def"
#undef DRIVER
    };
    enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };
    for (int i = 0; i < SYMBOLS; i++) {
        int number = 1, ended = PASSED;
        /* Kernels are looked up in one loop. */
        const int most =
            strcmp(symbols[i], "cuModuleGetFunction") == 0 || strcmp(symbols[i], "cuFuncSetAttribute") == 0
                ? 3
                : 1000;
        while (ended == PASSED && number <= most)
            ended = in_a_process(fail_call, symbols[i], number++);
        if (ended == FAILED) fail_msg("%s", symbols[i]);
        const bool cannot_fail = strcmp(symbols[i], "cuGetErrorString") == 0;
        if (number == 2 && ended == NEVER_CALLED && !cannot_fail) fail_msg("%s is never called", symbols[i]);
    }
}

/* Memory of the host: a plan, a ticket, and a ticket of garner_cuda_run's own. */
static int fail_allocations(const char *name, int number)
{
    struct scene s = {0};
    garner_error error;
    float out[PICKED * WIDTH];
    int refused = 0;
    (void)name, (void)number;
    if (make(&s, &error) != GARNER_OK) return FAILED;
    const garner_op op = {.kind = GARNER_GATHER};
    const int64_t shape[] = {ROWS, WIDTH};
    const garner_tensor data = {.shape = shape, .rank = 2, .dtype = GARNER_F32},
                        indices = {.shape = shape, .rank = 2, .dtype = GARNER_I64};
    garner_cuda_plan *plan = s.plan;
    garner_cuda_ticket *ticket = s.ticket;
    counting_begin(1);
    refused += garner_cuda_plan_create(&plan, &op, &data, &indices, NULL, &error) == GARNER_NO_MEMORY &&
               plan == NULL && strstr(error.message, "garner_cuda_plan_create: no memory for a plan of ");
    counting_begin(1);
    refused += garner_cuda_ticket_create(&ticket, 0, &error) == GARNER_NO_MEMORY && ticket == NULL &&
               strstr(error.message, "garner_cuda_ticket_create: no memory for a ticket of ");
    counting_begin(1);
    refused += garner_cuda_run(s.plan, s.data, s.indices, s.out, NULL, &error) == GARNER_NO_MEMORY;
    counting_end();
    return refused == 3 && move(&s, out, &error) == GARNER_OK ? PASSED : FAILED;
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    NEEDS_MALLOC();
    assert_int_equal(in_a_process(fail_allocations, "malloc", 1), PASSED);
}

/* ---- No driver ---- */

struct refusal {
    enum found found;
    garner_status status;
    const char *message;
};

static const struct refusal refusals[] = {
    {NO_FILE, GARNER_SYSTEM, "cuda: there is no NVIDIA driver here: /nowhere/libcuda.so.1: "},
    {NO_MEMORY_FOR_IT, GARNER_NO_MEMORY, "cuda: there is no NVIDIA driver here: libcuda.so.1 is missing"},
    {AN_OLD_ONE, GARNER_SYSTEM, "cuda: the NVIDIA driver is too old: libcuda.so.1 has no cuInit"},
};

static bool refuses(garner_status status, const struct refusal *refusal, const garner_error *error)
{
    if (status == refusal->status && strncmp(error->message, refusal->message, strlen(refusal->message)) == 0)
        return true;
    fprintf(stderr, "%d: %s\n", (int)status, error->message);
    return false;
}

/* Every entry of the library says the same, time and again. */
static int without_a_driver(const char *name, int number)
{
    (void)name;
    const struct refusal *refusal = &refusals[number];
    garner_error error;
    int count;
    void *memory;
    garner_cuda_plan *plan;
    garner_cuda_ticket *ticket;
    garner_cuda_device info = {.size = sizeof info};
    const garner_op op = {.kind = GARNER_GATHER};
    found = refusal->found;
    garner_cuda_free(&count);
    const bool same =
        refuses(garner_cuda_devices(&count, &error), refusal, &error) &&
        refuses(garner_cuda_device_info(0, &info, &error), refusal, &error) &&
        refuses(garner_cuda_allocate(&memory, 0, 1, &error), refusal, &error) &&
        refuses(garner_cuda_copy(&count, &count, 1, NULL, &error), refusal, &error) &&
        refuses(garner_cuda_plan_create(&plan, &op, NULL, NULL, NULL, &error), refusal, &error) &&
        refuses(garner_cuda_ticket_create(&ticket, 0, &error), refusal, &error);
    return same && count == 0 && memory == NULL && plan == NULL && ticket == NULL ? PASSED : FAILED;
}

static void test_no_driver(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof refusals / sizeof refusals[0]); i++)
        if (in_a_process(without_a_driver, refusals[i].message, i) != PASSED)
            fail_msg("%s", refusals[i].message);
}

/* A failure without a text, as newer drivers may have. */
static int fail_without_a_text(const char *symbol, int number)
{
    fake_fail *fail_next;
    garner_error error;
    int count;
    (void)number;
    find("fake_fail_next", &fail_next);
    fail_next(symbol, FAKE_NAMELESS);
    if (garner_cuda_devices(&count, &error) == GARNER_SYSTEM && strstr(error.message, "unknown error"))
        return PASSED;
    fprintf(stderr, "%s\n", error.message);
    return FAILED;
}

static void test_a_failure_without_a_text(void **state)
{
    (void)state;
    assert_int_equal(in_a_process(fail_without_a_text, "cuInit", 1), PASSED);
    assert_int_equal(in_a_process(fail_without_a_text, "cuDeviceGetCount", 1), PASSED);
}

/* A driver that starts and finds nothing; and one that has less devices than before. */
static int without_devices(const char *name, int number)
{
    garner_error error;
    int count = 7;
    garner_cuda_ticket *ticket;
    (void)name, (void)number;
    if (setenv("FAKE_DEVICES", "0", 1) != 0 || garner_cuda_devices(&count, &error) != GARNER_SYSTEM ||
        count != 0 || strcmp(error.message, "cuda: the driver knows of no device") != 0)
        return FAILED;
    return garner_cuda_ticket_create(&ticket, 0, &error) == GARNER_BAD_ARGUMENT &&
                   strcmp(error.message, "cuda: device 0 is not among the 0 that there are") == 0
               ? PASSED
               : FAILED;
}

static void test_no_devices(void **state)
{
    (void)state;
    assert_int_equal(in_a_process(without_devices, "", 0), PASSED);
}

/* A device that nobody has set up yet: copying to its memory does, and says what goes wrong with that. */
static int copy_first(const char *symbol, int number)
{
    char text[] = "text";
    garner_error error;
    fake_fail *fail_next;
    fake_new *allocate;
    (void)number;
    find("fake_fail_next", &fail_next);
    find("fake_allocate", &allocate);
    void *memory = allocate(sizeof text, 0);
    fail_next(symbol, 2);
    if (garner_cuda_copy(memory, text, sizeof text, NULL, &error) != GARNER_SYSTEM ||
        strcmp(error.message, "cuda: loading the kernels: the driver says out of memory") != 0)
        return FAILED;
    fail_next(symbol, 2);
    garner_cuda_free(memory); /* which cannot say anything */
    if (garner_cuda_copy(memory, text, sizeof text, NULL, &error) != GARNER_OK) return FAILED;
    garner_cuda_free(memory);
    return PASSED;
}

static void test_a_device_that_is_not_set_up(void **state)
{
    (void)state;
    assert_int_equal(in_a_process(copy_first, "cuModuleLoadData", 1), PASSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_fails), cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_no_driver),       cmocka_unit_test(test_a_failure_without_a_text),
        cmocka_unit_test(test_no_devices),      cmocka_unit_test(test_a_device_that_is_not_set_up),
    };
    fake_fail_at *fail_it;
    find("fake_fail_call", &fail_it);
    if (fail_it == NULL) return printf("SKIP test_cuda_driver: a real driver does not fail on demand\n") < 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
