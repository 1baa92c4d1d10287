/* SPDX-License-Identifier: MIT */
/*
 * A few problems, each with what the reference makes of it, and threads that solve them by every door. What
 * threads share is what the library allows to be shared: inputs, plans, pools, the process-wide pool.
 */
#define _GNU_SOURCE
#include "calls.h"

#include "cases.h"
#include "scripted_executor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROBLEMS = 4,
    MOST_THREADS = 4,
    CALLS = 24,      /* of each thread */
    LARGE = 1 << 16, /* elements of a problem that is worth several tasks */
    CANARY = 0xA5
};

/* ---- Choices ---- */

struct choices choices_from(const uint8_t *bytes, size_t size, uint64_t seed)
{
    struct choices choices = {bytes, size, seed};
    for (size_t i = 0; i < size; i++)
        choices.state = (choices.state ^ bytes[i]) * UINT64_C(0x100000001b3);
    return choices;
}

/* A number below `count`. */
static unsigned choose(struct choices *choices, unsigned count)
{
    if (choices->left > 0) {
        choices->left--;
        return *choices->bytes++ % count;
    }
    struct random random = random_from(choices->state++);
    return (unsigned)random_between(&random, 0, (int64_t)count - 1);
}

/* ---- Problems ---- */

struct problem {
    struct test_case c;
    garner_op op;
    garner_tensor data, indices;
    size_t out_bytes;
    unsigned char *expected;
    struct ref_result result;
    pthread_rwlock_t lock; /* of the plan: held for reading while it runs, for writing while it is replaced */
    garner_plan *plan;
};

static void choose_shapes(struct test_case *c, struct choices *choices, bool large)
{
    const bool elements = c->version->kind == GARNER_GATHER_ELEMENTS;
    c->data.rank = large ? 2 : 1 + (int)choose(choices, 3);
    for (int d = 0; d < c->data.rank; d++)
        c->data.shape[d] = large ? 64 : choose(choices, 7);
    c->indices.rank = elements ? c->data.rank : large ? 2 : 1 + (int)choose(choices, 2);
    for (int d = 0; d < c->indices.rank; d++)
        c->indices.shape[d] = elements && d != c->axis ? c->data.shape[d]
                              : large                  ? 32 + choose(choices, 32)
                                                       : choose(choices, 6);
    if (large && c->axis < c->indices.rank) c->indices.shape[elements ? c->axis : 0] = LARGE / 64;
    for (int d = 0; d < c->batch_dims && d < c->indices.rank && d < c->data.rank; d++)
        c->indices.shape[d] = c->data.shape[d];
    if (c->version->kind == GARNER_GATHER_ND)
        c->indices.shape[c->indices.rank - 1] = 1 + choose(choices, (unsigned)c->data.rank);
}

static void choose_case(struct test_case *c, struct choices *choices, bool large)
{
    memset(c, 0, sizeof *c);
    c->version = &ref_versions[choose(choices, REF_VERSIONS)];
    c->dtype = ref_types[choose(choices, REF_TYPES)];
    c->index_dtype = ref_index_types[choose(choices, REF_INDEX_TYPES)];
    c->item_bytes = 1 + choose(choices, 20);
    c->axis = c->version->kind == GARNER_GATHER_ND ? 0 : choose(choices, 2);
    c->batch_dims = choose(choices, 4) == 0 && c->version->kind != GARNER_GATHER_ELEMENTS;
    c->oob = (int)choose(choices, 5) - 1;
    c->bad_position = -1;
    c->bad_per_thousand = choose(choices, 4) == 0 ? 30 : 0;
    choose_shapes(c, choices, large);
}

static bool is_affordable(const struct test_case *c)
{
    const int64_t out = ref_count(c->out.rank, c->out.shape);
    return out <= 2 * LARGE && ref_count(c->indices.rank, c->indices.shape) <= LARGE;
}

static void *exact(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) abort();
    return memory;
}

static garner_tensor dense(struct case_view *view, garner_dtype dtype, size_t item_bytes, void *data)
{
    return (garner_tensor){.data = data,
                           .shape = view->shape,
                           .rank = view->rank,
                           .dtype = dtype,
                           .item_bytes = dtype == GARNER_OPAQUE ? item_bytes : 0};
}

/* Indices in range, near it, and now and then far outside. */
static void fill_indices(const struct test_case *c, const struct ref_op *op, const struct ref_view *data,
                         const struct ref_view *indices, struct random *random)
{
    const int64_t count = ref_count(indices->rank, indices->shape);
    const int64_t period = c->version->kind == GARNER_GATHER_ND ? indices->shape[indices->rank - 1] : 1;
    int64_t extents[GARNER_MAX_RANK]; /* components of a tuple go to axes in turn */
    for (int64_t k = 0; k < period && count > 0; k++)
        extents[k] = data->shape[ref_axis_of(op, data, indices, k)];
    const ref_int least = ref_least(c->index_dtype), most = ref_most(c->index_dtype);
    for (int64_t i = 0; i < count; i++) {
        const int64_t extent = extents[i % period];
        const bool bad = random_between(random, 0, 999) < c->bad_per_thousand;
        ref_int value = bad          ? (int64_t)random_bits(random)
                        : extent > 0 ? random_between(random, c->strict ? 0 : -extent, extent - 1)
                                     : 0;
        value = value < least ? 0 : value > most ? most : value;
        ref_store_index(c->index_dtype, indices->first + (size_t)i * ref_item_bytes(indices), value);
    }
}

/* Fills the buffers and lets the reference say what should come out. */
static void solve(struct problem *p, uint64_t seed)
{
    struct test_case *c = &p->c;
    struct random random = random_from(seed);
    const struct ref_op op = case_ref_op(c);
    const size_t data_bytes = ref_bytes(c->dtype, c->item_bytes, ref_count(c->data.rank, c->data.shape));
    const size_t index_bytes = ref_bytes(c->index_dtype, 0, ref_count(c->indices.rank, c->indices.shape));
    p->out_bytes = ref_bytes(c->dtype, c->item_bytes, ref_count(c->out.rank, c->out.shape));
    p->data = dense(&c->data, c->dtype, c->item_bytes, exact(data_bytes));
    p->indices = dense(&c->indices, c->index_dtype, 0, exact(index_bytes));
    p->expected = exact(p->out_bytes);
    random_fill(&random, p->data.data, data_bytes);
    memset(p->expected, 0, p->out_bytes);
    const struct ref_view data = case_ref_view(&c->data, c->dtype, c->item_bytes, p->data.data);
    const struct ref_view indices = case_ref_view(&c->indices, c->index_dtype, 0, p->indices.data);
    const struct ref_view out = case_ref_view(&c->out, c->dtype, c->item_bytes, p->expected);
    fill_indices(c, &op, &data, &indices, &random);
    ref_run(&op, &data, &indices, &out, &p->result);
}

/* False if the library and the reference do not agree on what is legal. */
static bool problem_create(struct problem *p, struct choices *choices)
{
    const bool large = choose(choices, 4) == 0;
    memset(p, 0, sizeof *p);
    for (int tries = 0;; tries++) {
        choose_case(&p->c, choices, large && tries < 8);
        if (tries > 16) { /* something that is always legal */
            p->c.version = ref_find_version(GARNER_GATHER, NULL);
            p->c.axis = p->c.batch_dims = 0;
        }
        const bool legal = case_complete(&p->c) == GARNER_OK && is_affordable(&p->c);
        if (!case_infer_agrees(&p->c)) return false;
        if (legal) break;
    }
    p->c.seed = choices->state;
    case_garner_op(&p->c, &p->op);
    solve(p, choices->state++);
    pthread_rwlock_init(&p->lock, NULL);
    return garner_plan_create(&p->plan, &p->op, &p->data, &p->indices, NULL, NULL) == GARNER_OK;
}

static void problem_destroy(struct problem *p)
{
    garner_plan_destroy(p->plan);
    if (p->expected) pthread_rwlock_destroy(&p->lock);
    free(p->data.data);
    free(p->indices.data);
    free(p->expected);
}

/* ---- A thread and its calls ---- */

struct caller {
    struct problem *problems;
    garner_pool *pool; /* shared */
    struct choices choices;
    pthread_t thread;
    uint64_t calls;
    bool good;
};

/* How one call is executed. */
struct manner {
    struct executor executor;
    garner_exec exec;
    bool has_exec, may_stop;
    garner_pool *own; /* destroyed afterwards */
};

static void manner_choose(struct manner *m, struct caller *caller)
{
    struct choices *choices = &caller->choices;
    memset(m, 0, sizeof *m);
    m->has_exec = true;
    switch (choose(choices, 8)) {
    case 0:
    case 1:
        m->has_exec = false;
        break;
    case 2:
    case 3:
        m->exec = garner_threads((int)choose(choices, 5));
        break;
    case 4:
        m->exec = garner_pool_exec(caller->pool);
        break;
    case 5:
        if (garner_pool_create(&m->own, 1 + (int)choose(choices, 3), NULL) != GARNER_OK) abort();
        m->exec = garner_pool_exec(m->own);
        break;
    default:
        m->executor = executor_make(1 + (int)choose(choices, 3), (enum executor_order)choose(choices, 3),
                                    choices->state);
        m->may_stop = choose(choices, 3) == 0;
        if (m->may_stop) m->executor.cancel_after = (int)choose(choices, 3);
        m->exec = executor_hook(&m->executor);
    }
}

static bool wrong(const struct problem *p, const char *call, const char *what)
{
    char text[640];
    snprintf(text, sizeof text, "%s, in a thread of several: %s", call, what);
    case_describe(&p->c, text);
    return false;
}

/* Whether a call gave what the reference gives; one that may be stopped may also say that it was. */
static bool is_right(const struct problem *p, const char *call, garner_status status, bool may_stop,
                     const garner_error *error, const unsigned char *out)
{
    if (status != error->status) return wrong(p, call, "another status than in the record");
    if (status == GARNER_CANCELLED && may_stop) return true;
    if (status != p->result.status) return wrong(p, call, error->message);
    if (status == GARNER_OUT_OF_RANGE && error->position != p->result.position)
        return wrong(p, call, "not the lowest bad position");
    if (status == GARNER_OK && p->out_bytes && memcmp(out, p->expected, p->out_bytes) != 0)
        return wrong(p, call, "other bytes");
    return true;
}

static garner_status call_simply(const struct problem *p, const garner_tensor *out, garner_error *error)
{
    const struct test_case *c = &p->c;
    const bool plain = !c->version->spec && c->oob <= GARNER_OOB_ERROR;
    if (plain && c->version->kind == GARNER_GATHER && c->batch_dims == 0)
        return garner_gather(&p->data, &p->indices, c->axis, out, error);
    if (plain && c->version->kind == GARNER_GATHER_ELEMENTS)
        return garner_gather_elements(&p->data, &p->indices, c->axis, out, error);
    if (plain && c->version->kind == GARNER_GATHER_ND)
        return garner_gather_nd(&p->data, &p->indices, c->batch_dims, out, error);
    return garner_run(&p->op, &p->data, &p->indices, out, NULL, error);
}

/* A plan that another thread may have made, and a third one wait to replace. */
static garner_status call_shared_plan(struct problem *p, void *out, const garner_exec *exec,
                                      garner_error *error)
{
    char text[64];
    pthread_rwlock_rdlock(&p->lock);
    garner_plan_describe(p->plan, text, sizeof text);
    const garner_status status = garner_execute(p->plan, p->data.data, p->indices.data, out, exec, error);
    pthread_rwlock_unlock(&p->lock);
    return status;
}

static garner_status call_new_plan(struct problem *p, void *out, const garner_exec *exec, garner_error *error)
{
    garner_plan *plan;
    garner_status status = garner_plan_create(&plan, &p->op, &p->data, &p->indices, NULL, error);
    if (status != GARNER_OK) return status;
    status = garner_execute(plan, p->data.data, p->indices.data, out, exec, error);
    pthread_rwlock_wrlock(&p->lock);
    garner_plan *old = p->plan;
    p->plan = plan;
    pthread_rwlock_unlock(&p->lock);
    garner_plan_destroy(old);
    return status;
}

/* What changes nothing, and must not care who else is calling. */
static bool call_about(struct problem *p, struct choices *choices)
{
    garner_op op;
    garner_error error;
    garner_cpu cpu = {.size = sizeof cpu};
    const char *spec = p->c.version->spec;
    if (garner_op_from_spec(&op, choose(choices, 2) ? spec : "onnx-99", p->c.version->kind, &error) !=
        error.status)
        return wrong(p, "garner_op_from_spec", "another status than in the record");
    garner_cpu_info(&cpu);
    return case_infer_agrees(&p->c) && (cpu.threads >= 1 || wrong(p, "garner_cpu_info", "no threads"));
}

static bool call_once(struct caller *caller, struct problem *p, unsigned char *out)
{
    struct manner m;
    garner_error error;
    garner_status status;
    const char *call;
    const garner_tensor to = dense(&p->c.out, p->c.dtype, p->c.item_bytes, out);
    manner_choose(&m, caller);
    const garner_exec *exec = m.has_exec ? &m.exec : NULL;
    memset(out, CANARY, p->out_bytes);
    memset(&error, CANARY, sizeof error);
    switch (choose(&caller->choices, 4)) {
    case 0:
        call = "garner_run";
        status = garner_run(&p->op, &p->data, &p->indices, &to, exec, &error);
        break;
    case 1:
        call = "a shared plan";
        status = call_shared_plan(p, out, exec, &error);
        break;
    case 2:
        call = "a new plan";
        status = call_new_plan(p, out, exec, &error);
        break;
    default:
        call = "one call";
        status = call_simply(p, &to, &error);
        m.may_stop = false;
    }
    const bool right = is_right(p, call, status, m.may_stop, &error, out);
    garner_pool_destroy(m.own);
    return right;
}

static void *make_calls(void *context)
{
    struct caller *caller = context;
    caller->good = true;
    for (int i = 0; i < CALLS && caller->good; i++) {
        struct problem *p = &caller->problems[choose(&caller->choices, PROBLEMS)];
        unsigned char *out = exact(p->out_bytes);
        caller->good =
            choose(&caller->choices, 8) == 0 ? call_about(p, &caller->choices) : call_once(caller, p, out);
        caller->calls++;
        free(out);
    }
    return NULL;
}

/* ---- All of it ---- */

/* The bytes are dealt out, so that each thread has some of its own. */
static void start(struct caller *callers, int count, struct choices choices, struct problem *problems,
                  garner_pool *pool)
{
    const size_t each = choices.left / (size_t)count;
    for (int i = 0; i < count; i++) {
        callers[i] = (struct caller){.problems = problems, .pool = pool};
        const uint8_t *bytes = each ? choices.bytes + each * (size_t)i : NULL;
        callers[i].choices = choices_from(bytes, each, choices.state + (uint64_t)i * 1000003);
        if (pthread_create(&callers[i].thread, NULL, make_calls, &callers[i]) != 0) abort();
    }
}

bool calls_run(struct choices choices, uint64_t *calls)
{
    struct problem problems[PROBLEMS];
    struct caller callers[MOST_THREADS];
    garner_pool *pool;
    bool good = true;
    memset(problems, 0, sizeof problems);
    for (int i = 0; i < PROBLEMS && good; i++)
        good = problem_create(&problems[i], &choices);
    if (garner_pool_create(&pool, 2 + (int)choose(&choices, 3), NULL) != GARNER_OK) abort();
    const int count = good ? 2 + (int)choose(&choices, MOST_THREADS - 1) : 0;
    if (count > 0) start(callers, count, choices, problems, pool);
    for (int i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        good = good && callers[i].good;
        *calls += callers[i].calls;
    }
    garner_pool_destroy(pool);
    for (int i = 0; i < PROBLEMS; i++)
        problem_destroy(&problems[i]);
    return good;
}
