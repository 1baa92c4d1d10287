/* SPDX-License-Identifier: MIT */
/* What each operation may do next, and does. */
#include "model_world.h"

#include <errno.h>
#include <string.h>

int live_fibers(void)
{
    int live = 0;
    for (int i = 0; i < MOST_FIBERS; i++)
        live += world.fiber[i].used && !world.fiber[i].finished;
    return live;
}

static int sleepers_of(int condition, int *fibers)
{
    int sleepers = 0;
    for (int i = 0; i < MOST_FIBERS; i++) {
        const struct fiber *fiber = &world.fiber[i];
        if (!fiber->used || fiber->finished || fiber->pending.kind != SLEEPING) continue;
        if (fiber->pending.location == condition) fibers[sleepers++] = i;
    }
    return sleepers;
}

static bool all_have_met(const struct operation *operation)
{
    const struct job_record *job = &world.job[operation->location];
    return job->begun == job->count;
}

/* The choices of an operation are 0, 1, ..; none: it cannot happen now. Those from *unforced on nobody may
 * count on: a wait that ends for no reason, a compare-exchange that fails though it need not. */
static int choices_of(const struct operation *operation, int *unforced)
{
    int fibers[MOST_FIBERS], choices = 1;
    *unforced = MOST_STEPS;
    switch (operation->kind) {
    case LOAD:
        return readable_messages(operation);
    case COMPARE_EXCHANGE:
        choices = readable_messages(operation);
        *unforced = 1;
        return operation->weak ? choices + 1 : choices;
    case LOCK:
        return world.mutex[operation->location].holder < 0;
    case SLEEPING:
        *unforced = 0;
        return 1;
    case SIGNAL:
        choices = sleepers_of(operation->location, fibers);
        return choices > 0 ? choices : 1;
    case TAKE: /* the last choice: a signal interrupts it */
        *unforced = world.semaphore[operation->location].value > 0;
        return *unforced + 1;
    case CREATE:
        return world.failures_left > 0 ? 2 : 1;
    case JOIN:
        return !world.fiber[operation->location].used || world.fiber[operation->location].finished;
    case MEET:
        return all_have_met(operation);
    default:
        return 1;
    }
}

int steps_from_here(struct step *steps)
{
    int many = 0;
    for (int i = 0; i < MOST_FIBERS; i++) {
        const struct fiber *fiber = &world.fiber[i];
        if (!fiber->used || fiber->finished) continue;
        int unforced;
        world.running = (int8_t)i;
        int choices = choices_of(&fiber->pending, &unforced);
        world.running = -1;
        if (many + choices >= MOST_STEPS) fault("the model has no room for another step");
        for (int c = 0; c < choices; c++)
            steps[many++] = (struct step){.fiber = (int8_t)i, .choice = (int8_t)c, .unforced = c >= unforced};
        if (world.forks_left > 0 && fiber->may_fork && !fiber->signals_blocked)
            steps[many++] = (struct step){.fiber = (int8_t)i, .choice = FORK_CHOICE, .unforced = true};
    }
    return many;
}

/* ---- Atomic operations ------------------------------------------------------------------------- */

static uint64_t changed(const struct operation *operation, uint64_t value)
{
    const uint64_t mask = operation->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * operation->size) - 1;
    if (operation->kind == ADD) return (value + operation->operand) & mask;
    if (operation->kind == SUBTRACT) return (value - operation->operand) & mask;
    return value & operation->operand;
}

static uint64_t read_modify_write(const struct operation *operation)
{
    const struct view inherited = last_message(operation)->view;
    uint64_t value = read_message(operation, 0, operation->order);
    write_message(operation, changed(operation, value), &inherited);
    return value;
}

/* Choice 0 reads the last message; if that is as expected it succeeds. The others are older messages, which
 * make it fail; one more, where it may fail for no reason. What was read is the result; it tells success,
 * too, but where it may fail so. */
static uint64_t compare_exchange(const struct operation *operation, int choice)
{
    struct fiber *self = &world.fiber[world.running];
    const int readable = readable_messages(operation);
    const struct message last = *last_message(operation);
    self->pending.operand = choice == 0 && last.value == operation->expected; /* whether it succeeded */
    if (self->pending.operand) {
        uint64_t value = read_message(operation, 0, operation->order);
        write_message(operation, operation->operand, &last.view);
        return value;
    }
    return read_message(operation, choice < readable ? choice : 0, operation->failure_order);
}

/* ---- Mutexes, conditions, semaphores -------------------------------------------------------------- */

static void lock(int number)
{
    struct thing *mutex = &world.mutex[number];
    mutex->holder = world.running;
    view_join(&world.fiber[world.running].view, &mutex->view);
}

static void unlock(int number)
{
    struct thing *mutex = &world.mutex[number];
    if (mutex->holder != world.running) fault("a mutex is unlocked by a thread that does not hold it");
    mutex->holder = -1;
    view_join(&mutex->view, &world.fiber[world.running].view);
}

/* A sleeper that is woken wants the mutex first. */
static void awaken(int number)
{
    struct operation *pending = &world.fiber[number].pending;
    pending->kind = LOCK;
    pending->location = pending->mutex;
}

static void signal_sleepers(const struct operation *operation, int choice)
{
    int fibers[MOST_FIBERS], sleepers = sleepers_of(operation->location, fibers);
    for (int i = 0; i < sleepers; i++)
        if (operation->kind == BROADCAST || i == choice) awaken(fibers[i]);
}

static uint64_t take(const struct operation *operation, int choice)
{
    struct thing *semaphore = &world.semaphore[operation->location];
    if (semaphore->value == 0 || choice > 0) return 1;
    semaphore->value--;
    view_join(&world.fiber[world.running].view, &semaphore->view);
    return 0;
}

static void post(int number)
{
    struct thing *semaphore = &world.semaphore[number];
    semaphore->value++;
    view_join(&semaphore->view, &world.fiber[world.running].view);
}

/* ---- Threads and processes ------------------------------------------------------------------------ */

static uint64_t create(const struct operation *operation, int choice)
{
    int number = 0;
    if (choice > 0) {
        world.failures_left--;
        return EAGAIN;
    }
    while (number < MOST_FIBERS && world.fiber[number].used)
        number++;
    if (number == MOST_FIBERS) fault("the model has no room for another thread");
    const struct fiber *self = &world.fiber[world.running];
    fiber_begin(number, (void *(*)(void *))(uintptr_t)operation->operand,
                (void *)(uintptr_t)operation->expected);
    world.fiber[number].view = self->view;
    world.fiber[number].signals_blocked = self->signals_blocked;
    uint64_t handle = (uint64_t)number + 1;
    memcpy(operation->address, &handle, sizeof handle);
    return 0;
}

static void join(int number)
{
    if (!world.fiber[number].used) fault("a join of a thread that is not there");
    view_join(&world.fiber[world.running].view, &world.fiber[number].view);
    world.fiber[number] = (struct fiber){0};
}

/* From here on the child is followed: of all threads it has this one. */
static void become_child(void)
{
    for (int i = 0; i < MOST_FIBERS; i++)
        if (i != world.running) world.fiber[i] = (struct fiber){0};
    know_everything();
    world.forked = true;
    world.forks_left--;
    for (int i = 0; i < world.jobs; i++)
        world.job[i].forked = true;
}

static uint64_t do_now(const struct operation *operation, int choice)
{
    switch (operation->kind) {
    case LOAD:
        return read_message(operation, choice, operation->order);
    case STORE:
        write_message(operation, operation->operand, NULL);
        break;
    case ADD:
    case SUBTRACT:
    case AND:
        return read_modify_write(operation);
    case COMPARE_EXCHANGE:
        return compare_exchange(operation, choice);
    case LOCK:
        lock(operation->location);
        break;
    case UNLOCK:
        unlock(operation->location);
        break;
    case SIGNAL:
    case BROADCAST:
        signal_sleepers(operation, choice);
        break;
    case POST:
        post(operation->location);
        break;
    case TAKE:
    case TRY_TAKE:
        return take(operation, choice);
    case CREATE:
        return create(operation, choice);
    case JOIN:
        join(operation->location);
        break;
    case FORK:
        become_child();
        break;
    default:
        break;
    }
    return 0;
}

/* Does it for the fiber that is running; false if that one does not go on yet. */
bool perform(const struct operation *operation, int choice)
{
    struct fiber *self = &world.fiber[world.running];
    const struct operation given = *operation;
    if (given.kind == SLEEPING) {
        awaken(world.running);
        return false;
    }
    if (given.kind == WAIT) {
        unlock(given.mutex);
        self->pending.kind = SLEEPING;
        return false;
    }
    self->result = do_now(&given, choice);
    tidy_memory();
    return true;
}
