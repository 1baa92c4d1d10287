/* SPDX-License-Identifier: MIT */
/* Tickets in the order of their first launches, so that the first error is that of the first launch. */
#include "device_scope.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "call_errors.h"
#include "device_tickets.h"
#include "errors.h"

enum { MOST_HELD = 64 }; /* tickets, or plans; more of them wait for those before */

static const char capsule_name[] = "garner.cuda.deferred";

struct entry {
    garner_cuda_ticket *ticket;
    int device;
    void *stream;
    struct given_indices *given; /* of this ticket's one launch; or NULL */
};

struct device_scope {
    const struct device_library *library;
    struct entry *entry;
    struct cached_plan *plan;
    size_t entries, entry_room, plans, plan_room;
    bool has_captured; /* a graph uses tickets and plans as long as it is there, of which nobody tells us */
    atomic_flag busy;
    PyObject *exception; /* the first; or NULL */
};

/* ---- Errors ---------------------------------------------------------------------------------- */

void device_scope_keep(struct device_scope *scope)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (scope->exception == NULL)
        scope->exception = value;
    else
        Py_XDECREF(value);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void release_plans(struct device_scope *scope)
{
    for (size_t i = 0; i < scope->plans; i++)
        cache_release(&scope->plan[i]);
    scope->plans = 0;
}

static void release_entries(struct device_scope *scope)
{
    for (size_t i = 0; i < scope->entries; i++) {
        device_ticket_give(scope->library, scope->entry[i].device, scope->entry[i].ticket);
        free(scope->entry[i].given);
    }
    scope->entries = 0;
}

/* Waits for all; the first error is filled in. */
static garner_status wait_all(struct device_scope *scope, garner_error *first)
{
    garner_status status = GARNER_OK;
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < scope->entries; i++) {
        garner_error error;
        const struct entry *entry = &scope->entry[i];
        const garner_status each = scope->library->wait(entry->ticket, &error);
        if (each == GARNER_OK || status != GARNER_OK) continue;
        status = each;
        if (entry->given) given_restore(entry->given, &error);
        *first = error;
    }
    Py_END_ALLOW_THREADS;
    return status;
}

void device_scope_wait(struct state *state, struct device_scope *scope)
{
    garner_error error;
    if (wait_all(scope, &error) != GARNER_OK) {
        raise_record(state, &error);
        device_scope_keep(scope);
    }
    if (scope->has_captured) return;
    release_entries(scope);
    release_plans(scope);
}

/* ---- Launching ------------------------------------------------------------------------------- */

static void *grow(void *memory, size_t *room, size_t item)
{
    const size_t more = *room ? *room * 2 : 8;
    void *grown = realloc(memory, more * item);
    if (grown) *room = more;
    return grown;
}

/* Holds a plan until the launches were waited for. One that is not in the cache is taken over. */
static bool hold_plan(struct device_scope *scope, struct cached_plan *plan)
{
    for (size_t i = 0; i < scope->plans; i++)
        if (scope->plan[i].plan == plan->plan) return true;
    if (scope->plans == scope->plan_room) {
        struct cached_plan *grown = grow(scope->plan, &scope->plan_room, sizeof *grown);
        if (grown == NULL) return false;
        scope->plan = grown;
    }
    scope->plan[scope->plans++] = *plan;
    if (!cache_hold(plan)) plan->plan = NULL;
    return true;
}

/* Whether the scope's last ticket serves the launch, too. */
static bool continues(const struct device_scope *scope, const struct device_launch *launch, int device)
{
    const struct entry *last = scope->entries ? &scope->entry[scope->entries - 1] : NULL;
    return last && last->device == device && last->stream == launch->stream && !last->given && !launch->given;
}

static garner_status add_entry(struct device_scope *scope, const struct device_launch *launch, int device,
                               garner_error *error)
{
    struct given_indices *given = launch->given ? malloc(sizeof *given) : NULL;
    struct entry *grown = scope->entry;
    if (scope->entries == scope->entry_room) grown = grow(scope->entry, &scope->entry_room, sizeof *grown);
    if (grown) scope->entry = grown;
    garner_status status = grown && (given || !launch->given) ? GARNER_OK : GARNER_NO_MEMORY;
    garner_cuda_ticket *ticket = NULL;
    if (status == GARNER_OK)
        status = device_ticket_take(scope->library, device, launch->is_captured, &ticket, error);
    else
        *error = (garner_error){.status = GARNER_NO_MEMORY, .message = "cuda: no memory for a ticket"};
    if (status != GARNER_OK) {
        free(given);
        return status;
    }
    if (given) *given = *launch->given;
    scope->entry[scope->entries++] = (struct entry){ticket, device, launch->stream, given};
    return GARNER_OK;
}

static garner_status launch_held(struct device_scope *scope, const struct device_launch *launch,
                                 garner_error *error)
{
    const garner_cuda_plan *plan = launch->plan->plan;
    const int device = scope->library->plan_device(plan);
    if (!continues(scope, launch, device)) {
        const garner_status status = add_entry(scope, launch, device, error);
        if (status != GARNER_OK) return status;
    }
    garner_cuda_ticket *ticket = scope->entry[scope->entries - 1].ticket;
    garner_status status = GARNER_NO_MEMORY;
    if (hold_plan(scope, launch->plan)) {
        Py_BEGIN_ALLOW_THREADS;
        status =
            scope->library->execute(plan, launch->data, launch->indices, launch->out, launch->stream, ticket);
        if (status != GARNER_OK) status = scope->library->wait(ticket, error);
        Py_END_ALLOW_THREADS;
    } else {
        *error = (garner_error){.status = GARNER_NO_MEMORY, .message = "cuda: no memory to hold a plan"};
    }
    return status;
}

bool device_scope_launch(struct state *state, struct device_scope *scope, const struct device_launch *launch)
{
    garner_error error;
    error.status = GARNER_OK;
    scope->library = device_library_get(&error);
    /* uncovered at times: seldom is another thread there just now */
    if (atomic_flag_test_and_set(&scope->busy)) {
        PyErr_SetString(PyExc_RuntimeError, "garner.cuda.deferred: another thread is using it");
        return false;
    }
    if (!launch->is_captured && !scope->has_captured &&
        (scope->entries >= MOST_HELD || scope->plans >= MOST_HELD))
        device_scope_wait(state, scope);
    scope->has_captured |= launch->is_captured;
    const garner_status status = launch_held(scope, launch, &error);
    atomic_flag_clear(&scope->busy);
    if (status != GARNER_OK) raise_record(state, &error);
    return status == GARNER_OK;
}

/* ---- Scopes as capsules ---------------------------------------------------------------------- */

/* What a graph may still use stays for ever: nobody says when the graph is gone. */
static void delete_scope(PyObject *capsule)
{
    garner_error ignored;
    struct device_scope *scope = PyCapsule_GetPointer(capsule, capsule_name);
    PyObject *type, *value, *traceback;
    if (scope == NULL) return;
    PyErr_Fetch(&type, &value, &traceback);
    (void)wait_all(scope, &ignored);
    if (!scope->has_captured) {
        release_entries(scope);
        release_plans(scope);
    }
    Py_XDECREF(scope->exception);
    free(scope->entry);
    free(scope->plan);
    free(scope);
    PyErr_Restore(type, value, traceback);
}

struct device_scope *device_scope_current(struct state *state)
{
    PyObject *thread = PyThreadState_GetDict();
    PyObject *capsule =
        thread ? PyDict_GetItemWithError(thread, state->name[NAME_garner_cuda_deferred]) : NULL;
    return capsule ? PyCapsule_GetPointer(capsule, capsule_name) : NULL;
}

PyObject *device_scope_new(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    static const struct signature signature = {"deferred", 0, 0, 0, {0}};
    if (!arguments_take(PyModule_GetState(module), &signature, arguments, count, keywords, NULL)) return NULL;
    struct device_scope *scope = calloc(1, sizeof *scope);
    if (scope == NULL) return PyErr_NoMemory();
    atomic_flag_clear(&scope->busy);
    PyObject *capsule = PyCapsule_New(scope, capsule_name, delete_scope);
    if (capsule == NULL) free(scope);
    return capsule;
}

/* Makes a scope this thread's, or none: None. Answers the one before, a new reference. */
static PyObject *exchange(struct state *state, PyObject *capsule)
{
    PyObject *thread = PyThreadState_GetDict(), *key = state->name[NAME_garner_cuda_deferred];
    if (thread == NULL) return PyErr_NoMemory();
    PyObject *before = PyDict_GetItemWithError(thread, key);
    before = Py_NewRef(before ? before : Py_None);
    const int done = capsule != Py_None                             ? PyDict_SetItem(thread, key, capsule)
                     : PyDict_GetItemWithError(thread, key) != NULL ? PyDict_DelItem(thread, key)
                                                                    : 0;
    if (done < 0) Py_CLEAR(before);
    return before;
}

static struct device_scope *scope_of(PyObject *module, const char *function, PyObject *const *arguments,
                                     Py_ssize_t count)
{
    (void)module;
    if (count >= 1 && PyCapsule_IsValid(arguments[0], capsule_name))
        return PyCapsule_GetPointer(arguments[0], capsule_name);
    PyErr_Format(PyExc_TypeError, "%s takes a scope", function);
    return NULL;
}

PyObject *device_scope_enter(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords)
{
    (void)keywords;
    if (scope_of(module, "enter", arguments, count) == NULL) return NULL;
    return exchange(PyModule_GetState(module), arguments[0]);
}

/* (scope, the one before): makes that one current again. */
PyObject *device_scope_leave(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords)
{
    struct state *state = PyModule_GetState(module);
    struct device_scope *scope = scope_of(module, "leave", arguments, count);
    (void)keywords;
    if (scope == NULL) return NULL;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "leave takes a scope and the one before");
    if (device_scope_current(state) != scope) {
        PyErr_SetString(PyExc_RuntimeError,
                        "garner.cuda.deferred: it ends in another thread, or in another order, "
                        "than it began");
        return NULL;
    }
    return exchange(state, arguments[1]);
}

/* Waits for all launches, and raises the first error since the last time. */
PyObject *device_scope_check(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                             PyObject *keywords)
{
    struct device_scope *scope = scope_of(module, "check", arguments, count);
    (void)keywords;
    if (scope == NULL) return NULL;
    /* uncovered at times: as above */
    if (atomic_flag_test_and_set(&scope->busy)) {
        PyErr_SetString(PyExc_RuntimeError, "garner.cuda.deferred: another thread is using it");
        return NULL;
    }
    device_scope_wait(PyModule_GetState(module), scope);
    PyObject *first = scope->exception;
    scope->exception = NULL;
    atomic_flag_clear(&scope->busy);
    if (first == NULL) return Py_NewRef(Py_None);
    PyErr_SetObject((PyObject *)Py_TYPE(first), first);
    Py_DECREF(first);
    return NULL;
}
