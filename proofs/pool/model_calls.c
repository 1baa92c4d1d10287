/* SPDX-License-Identifier: MIT */
/*
 * What the code under test calls: the compiler's calls for its accesses to memory, and the system's. Each
 * becomes an operation that waits for its turn, but for those which no other thread can notice.
 */
#define GARNER_PROOFS_MODEL_ITSELF
#include "model_intercept.h"

#include "model_world.h"

#include <errno.h>
#include <string.h>

static struct fiber *self(void)
{
    return &world.fiber[world.running];
}

/* While a fork may come, everything that the thread does which may fork is a moment at which it may;
 * everything that all do, if it is a thread of its own. */
static bool fork_may_come(void)
{
    return world.forks_left > 0 && (self()->may_fork || world.fork_is_elsewhere);
}

/* Whether others must have a chance before it. Unlocking can be no earlier for them than it is. */
static bool needs_a_turn(const struct operation *operation)
{
    const bool atomic = operation->kind >= LOAD && operation->kind <= COMPARE_EXCHANGE;
    const bool shared = atomic && visit_location(operation->location, operation->kind != STORE);
    if (fork_may_come()) return true;
    if (operation->kind == UNLOCK || operation->kind == PLAIN_READ || operation->kind == PLAIN_WRITE)
        return false;
    if (operation->kind == CREATE) return world.failures_left > 0;
    if (operation->kind == FORK) return false;
    return !atomic || shared || readable_messages(operation) > 1;
}

uint64_t request(struct operation operation)
{
    operation.caller = operation.caller ? operation.caller : __builtin_return_address(0);
    self()->pending = operation;
    self()->result = 0;
    if (!needs_a_turn(&operation)) {
        perform(&operation, 0);
        return self()->result;
    }
    for (;;) {
        fiber_suspend(); /* the scheduler performs it */
        if (!self()->fork_now) return self()->result;
        self()->fork_now = false;
        fork_here();
        self()->pending = operation;
    }
}

/* ---- Accesses to memory ---------------------------------------------------------------------------- */

static void access_memory(const void *address, size_t size, bool write, void *caller)
{
    if (world.running < 0) return; /* before the first thread */
    if (fork_may_come())
        request((struct operation){.kind = write ? PLAIN_WRITE : PLAIN_READ, .caller = caller});
    self()->pending.caller = caller;
    plain_access(address, size, write);
}

#define PLAIN(size)                                                       \
    void __tsan_read##size(void *address);                                \
    void __tsan_read##size(void *address)                                 \
    {                                                                     \
        access_memory(address, size, false, __builtin_return_address(0)); \
    }                                                                     \
    void __tsan_write##size(void *address);                               \
    void __tsan_write##size(void *address)                                \
    {                                                                     \
        access_memory(address, size, true, __builtin_return_address(0));  \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

/* Structures that are copied whole: a word is a location. */
static void access_range(char *address, size_t size, bool write, void *caller)
{
    for (size_t i = 0; i < size; i += 8)
        access_memory(address + i, 8, write, caller);
}

void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size)
{
    access_range(address, size, false, __builtin_return_address(0));
}

void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size)
{
    access_range(address, size, true, __builtin_return_address(0));
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

static uint64_t atomic_access(struct operation operation)
{
    if (world.running < 0) fault("an atomic operation outside of every thread");
    operation.location = (int8_t)location_of(operation.address);
    plain_access(operation.address, 0, false);
    return request(operation);
}

#define ATOMIC(type, bits)                                                                     \
    type __tsan_atomic##bits##_load(void *address, int order);                                 \
    type __tsan_atomic##bits##_load(void *address, int order)                                  \
    {                                                                                          \
        return (type)atomic_access((struct operation){.kind = LOAD,                            \
                                                      .order = order,                          \
                                                      .size = bits / 8,                        \
                                                      .address = address,                      \
                                                      .caller = __builtin_return_address(0)}); \
    }                                                                                          \
    CHANGING(type, bits, store, STORE)                                                         \
    CHANGING(type, bits, fetch_add, ADD)                                                       \
    CHANGING(type, bits, fetch_sub, SUBTRACT)                                                  \
    CHANGING(type, bits, fetch_and, AND)                                                       \
    COMPARING(type, bits, weak, true)                                                          \
    COMPARING(type, bits, strong, false)

#define CHANGING(type, bits, name, which)                                                      \
    type __tsan_atomic##bits##_##name(void *address, type operand, int order);                 \
    type __tsan_atomic##bits##_##name(void *address, type operand, int order)                  \
    {                                                                                          \
        return (type)atomic_access((struct operation){.kind = which,                           \
                                                      .order = order,                          \
                                                      .size = bits / 8,                        \
                                                      .address = address,                      \
                                                      .operand = operand,                      \
                                                      .caller = __builtin_return_address(0)}); \
    }

#define COMPARING(type, bits, name, is_weak)                                                                 \
    int __tsan_atomic##bits##_compare_exchange_##name(void *address, type *expected, type wanted, int order, \
                                                      int failure_order);                                    \
    int __tsan_atomic##bits##_compare_exchange_##name(void *address, type *expected, type wanted, int order, \
                                                      int failure_order)                                     \
    {                                                                                                        \
        type found = (type)atomic_access((struct operation){.kind = COMPARE_EXCHANGE,                        \
                                                            .order = order,                                  \
                                                            .failure_order = failure_order,                  \
                                                            .weak = is_weak,                                 \
                                                            .size = bits / 8,                                \
                                                            .address = address,                              \
                                                            .operand = wanted,                               \
                                                            .expected = *expected,                           \
                                                            .caller = __builtin_return_address(0)});         \
        *expected = found;                                                                                   \
        return (int)self()->pending.operand;                                                                 \
    }

ATOMIC(uint8_t, 8)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

/* ---- Mutexes, conditions, semaphores -------------------------------------------------------------- */

/* Mutexes, conditions and semaphores by address; 0 is none. */
static const void *things[MOST_THINGS];

void forget_things(void)
{
    memset(things, 0, sizeof things);
}

static int8_t thing_at(const void *address)
{
    int i = 0;
    while (i < MOST_THINGS && things[i] && things[i] != address)
        i++;
    if (i == MOST_THINGS) fault("the model has no room for another mutex");
    things[i] = address;
    return (int8_t)i;
}

static int on_thing(enum kind kind, const void *address, void *caller)
{
    plain_access(address, 0, false);
    return (int)request((struct operation){.kind = kind, .location = thing_at(address), .caller = caller});
}

int model_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    world.mutex[thing_at(mutex)].holder = -1;
    return 0;
}

int model_mutex_lock(pthread_mutex_t *mutex)
{
    return on_thing(LOCK, mutex, __builtin_return_address(0));
}

int model_mutex_unlock(pthread_mutex_t *mutex)
{
    return on_thing(UNLOCK, mutex, __builtin_return_address(0));
}

int model_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    (void)attributes;
    thing_at(condition);
    return 0;
}

int model_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return (int)request((struct operation){.kind = WAIT,
                                           .location = thing_at(condition),
                                           .mutex = thing_at(mutex),
                                           .caller = __builtin_return_address(0)});
}

int model_cond_signal(pthread_cond_t *condition)
{
    return on_thing(SIGNAL, condition, __builtin_return_address(0));
}

int model_cond_broadcast(pthread_cond_t *condition)
{
    return on_thing(BROADCAST, condition, __builtin_return_address(0));
}

int model_sem_init(sem_t *semaphore, int shared, unsigned value)
{
    (void)shared;
    world.semaphore[thing_at(semaphore)].value = (uint8_t)value;
    return 0;
}

int model_sem_post(sem_t *semaphore)
{
    return on_thing(POST, semaphore, __builtin_return_address(0));
}

int model_sem_wait(sem_t *semaphore)
{
    if (on_thing(TAKE, semaphore, __builtin_return_address(0)) == 0) return 0;
    errno = EINTR;
    return -1;
}

int model_sem_trywait(sem_t *semaphore)
{
    if (on_thing(TRY_TAKE, semaphore, __builtin_return_address(0)) == 0) return 0;
    errno = EAGAIN;
    return -1;
}

/* ---- Threads and processes ------------------------------------------------------------------------ */

int model_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    (void)attributes;
    return (int)request((struct operation){.kind = CREATE,
                                           .address = thread,
                                           .operand = (uintptr_t)body,
                                           .expected = (uintptr_t)argument,
                                           .caller = __builtin_return_address(0)});
}

int model_join(pthread_t thread, void **result)
{
    (void)result;
    return (int)request((struct operation){
        .kind = JOIN, .location = (int8_t)(thread - 1), .caller = __builtin_return_address(0)});
}

pthread_t model_self(void)
{
    return (pthread_t)world.running + 1;
}

int model_once(pthread_once_t *once, void (*function)(void))
{
    if (*once == PTHREAD_ONCE_INIT) function();
    *once = PTHREAD_ONCE_INIT + 1;
    return 0;
}

static void (*before_forks)(void), (*in_children)(void);

int model_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)in_parent;
    before_forks = before;
    in_children = in_child;
    return 0;
}

/* The process that goes on without a child is the one that did not fork. */
void fork_here(void)
{
    self()->may_fork = false;
    before_forks();
    request((struct operation){.kind = FORK});
    in_children();
}

int model_sigmask(int how, const sigset_t *now, sigset_t *before)
{
    (void)how;
    if (before) {
        sigemptyset(before);
        if (self()->signals_blocked) sigaddset(before, SIGUSR1);
    }
    if (now) self()->signals_blocked = sigismember(now, SIGUSR1);
    if (now && fork_may_come()) /* a signal may have waited for this */
        request((struct operation){.kind = MOMENT, .caller = __builtin_return_address(0)});
    return 0;
}

int model_yield(void)
{
    return 0;
}

/* The system does not tell. Which CPU a thread is on matters to nobody else. */
int model_getcpu(void)
{
    return -1;
}

int model_getaffinity(pid_t thread, size_t size, cpu_set_t *set)
{
    (void)thread, (void)size, (void)set;
    return -1;
}

int model_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    (void)thread, (void)size, (void)set;
    return 0;
}

int model_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){0};
    return 0;
}

/* ---- Memory --------------------------------------------------------------------------------------- */

void *model_calloc(size_t count, size_t size)
{
    if (world.heap_used + count * size > HEAP_BYTES) fault("the model has no room for another block");
    void *block = world.heap + world.heap_used;
    world.heap_used += (count * size + 63) / 64 * 64;
    return block;
}

void model_free(void *block)
{
    (void)block;
    world.heap_freed = true; /* there is one block */
}
