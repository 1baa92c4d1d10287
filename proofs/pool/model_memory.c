/* SPDX-License-Identifier: MIT */
/*
 * C11's memory, as views over messages: every atomic location has a history of values in the order of
 * modification, every thread a view, the oldest value of each location that it may still read. A release puts
 * the thread's view into the message, an acquire takes it over, a read-modify-write reads the last message
 * and passes on its view. Sequentially consistent loads read nothing older than the last sequentially
 * consistent store. This is RC11, but that stores come last in the order of modification: a store by a thread
 * that does not know all stores before it is reported, so nothing is left out by that. Plain accesses need to
 * know the last write, else they race with it. Messages that nobody can read any more are dropped.
 */
#include "model_world.h"

#include <string.h>

struct location locations[MOST_LOCATIONS];

/* Names of locations stay the same throughout a scenario; so does which fibers came there, which only grows.
 */
static const void *addresses[MOST_LOCATIONS];
static unsigned visitors[MOST_LOCATIONS];
static bool is_read[MOST_LOCATIONS];
static int named;
static bool found_sharing;

void forget_locations(void)
{
    named = 0;
    memset(visitors, 0, sizeof visitors);
    memset(is_read, 0, sizeof is_read);
}

int location_of(const void *address)
{
    for (int i = 0; i < named; i++)
        if (addresses[i] == address) return i;
    if (named == MOST_LOCATIONS) fault("the model has no room for another location");
    addresses[named] = address;
    return named++;
}

static bool is_shared(int location)
{
    return (visitors[location] & (visitors[location] - 1)) != 0;
}

/* Notes a visit, and answers whether several threads come there. What only one comes to needs no turn of its
 * own. A visit while there are no others, or not yet, does not count, but in a child, which follows from when
 * it was made. */
bool visit_location(int location, bool reads)
{
    const bool alone = live_fibers() == 1, was_shared = is_shared(location), was_read = is_read[location];
    if (!alone || world.forked) visitors[location] |= 1u << world.running;
    if (!alone && reads) is_read[location] = true;
    if (is_shared(location) != was_shared || is_read[location] != was_read) found_sharing = true;
    return is_shared(location);
}

void forget_sharing(void)
{
    found_sharing = false;
}

bool sharing_was_found(void)
{
    return found_sharing;
}

void view_join(struct view *to, const struct view *from)
{
    for (int i = 0; i < MOST_LOCATIONS; i++)
        if (from->at[i] > to->at[i]) to->at[i] = from->at[i];
}

static uint64_t load_memory(const struct operation *operation)
{
    uint64_t value = 0; /* little-endian, as both architectures are */
    memcpy(&value, operation->address, operation->size);
    return value;
}

/* The history of the location; it begins with what is there. */
static struct location *history_of(const struct operation *operation)
{
    struct location *location = &locations[operation->location];
    if (location->messages == 0) {
        location->messages = 1;
        location->message[0].value = load_memory(operation);
    }
    return location;
}

const struct message *last_message(const struct operation *operation)
{
    struct location *location = history_of(operation);
    return &location->message[location->messages - 1];
}

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

int readable_messages(const struct operation *operation)
{
    const struct location *location = history_of(operation);
    int oldest = world.fiber[world.running].view.at[operation->location];
    if (operation->order == __ATOMIC_SEQ_CST && oldest < location->last_consensus)
        oldest = location->last_consensus;
    return location->messages - oldest;
}

/* Reads message `which`, counted from the last. */
uint64_t read_message(const struct operation *operation, int which, int order)
{
    const struct location *location = history_of(operation);
    struct fiber *self = &world.fiber[world.running];
    int number = location->messages - 1 - which;
    self->view.at[operation->location] = (uint8_t)number;
    if (acquires(order)) view_join(&self->view, &location->message[number].view);
    return location->message[number].value;
}

/* Whether a relaxed store says the same as the one before it, to everyone: then it is that one. */
static bool is_repeated(const struct location *location, int at)
{
    const struct message *last = &location->message[location->messages], *before = last - 1;
    struct view view = before->view;
    view.at[at] = last->view.at[at];
    return before->value == last->value && memcmp(&view, &last->view, sizeof view) == 0;
}

/* `inherited` is the view of the message that a read-modify-write read, else NULL. */
void write_message(const struct operation *operation, uint64_t value, const struct view *inherited)
{
    struct location *location = history_of(operation);
    struct fiber *self = &world.fiber[world.running];
    int at = operation->location;
    if (!inherited && self->view.at[at] != location->messages - 1)
        fault("a store by a thread that does not know the store before it");
    if (location->messages == MOST_MESSAGES) fault("the model has no room for another message");
    struct message *message = &location->message[location->messages];
    self->view.at[at] = location->messages;
    *message = (struct message){.value = value};
    message->view.at[at] = location->messages;
    if (inherited) view_join(&message->view, inherited);
    if (releases(operation->order)) view_join(&message->view, &self->view);
    if (operation->order == __ATOMIC_SEQ_CST) location->last_consensus = location->messages;
    memcpy(operation->address, &value, operation->size);
    if (!inherited && operation->order == __ATOMIC_RELAXED && is_repeated(location, at))
        self->view.at[at]--;
    else
        location->messages++;
}

/* Whether a thread may touch this memory at all. */
static void look_at_address(const void *address)
{
    const unsigned char *byte = address;
    if (world.heap_freed && byte >= world.heap && byte < world.heap + HEAP_BYTES)
        fault("an access to a pool that was destroyed");
    for (int i = 0; i < MOST_FIBERS; i++) {
        const struct fiber *fiber = &world.fiber[i];
        const unsigned char *stack = fiber_stack(i);
        if (i == world.running || byte < stack || byte >= stack + STACK_BYTES) continue;
        if (!fiber->used || fiber->finished || byte < (const unsigned char *)fiber->stack_pointer)
            fault("an access to a job that has ended: its memory is gone");
    }
}

/* A write makes everyone else's knowledge old. */
static void forget_elsewhere(int location)
{
    for (int i = 0; i < MOST_FIBERS; i++)
        world.fiber[i].view.at[location] = 0;
    for (int i = 0; i < MOST_THINGS; i++)
        world.mutex[i].view.at[location] = world.semaphore[i].view.at[location] = 0;
    for (int i = 0; i < MOST_LOCATIONS; i++)
        for (int m = 0; m < locations[i].messages; m++)
            locations[i].message[m].view.at[location] = 0;
}

/* last_consensus of a plain location is whether it was ever written. */
void plain_access(const void *address, size_t size, bool write)
{
    struct fiber *self = &world.fiber[world.running];
    look_at_address(address);
    if (size == 0) return;
    int at = location_of(address);
    if (locations[at].messages > 0) fault("a plain access to an atomic location");
    if (locations[at].last_consensus && !self->view.at[at])
        fault("a data race: a %s that nothing orders after the last write", write ? "write" : "read");
    if (!write) return;
    locations[at].last_consensus = 1;
    forget_elsewhere(at);
    self->view.at[at] = 1;
}

/* In a child process one thread is left, and what it sees is what is there. */
void know_everything(void)
{
    struct fiber *self = &world.fiber[world.running];
    memset(&self->view, 0, sizeof self->view);
    for (int i = 0; i < MOST_THINGS; i++) {
        memset(&world.mutex[i].view, 0, sizeof world.mutex[i].view);
        memset(&world.semaphore[i].view, 0, sizeof world.semaphore[i].view);
    }
    for (int i = 0; i < MOST_LOCATIONS; i++) {
        struct location *location = &locations[i];
        if (location->messages > 0) {
            location->message[0] = (struct message){.value = location->message[location->messages - 1].value};
            location->messages = 1;
        }
        location->last_consensus = 0;
    }
}

static void lower(uint8_t *number, int by)
{
    *number = (uint8_t)(*number > by ? *number - by : 0);
}

/* Drops the oldest messages of a location: all views count on from the first that is left. */
static void drop_messages(int at, int many)
{
    struct location *location = &locations[at];
    location->messages = (uint8_t)(location->messages - many);
    memmove(location->message, location->message + many, location->messages * sizeof location->message[0]);
    lower(&location->last_consensus, many);
    for (int i = 0; i < MOST_FIBERS; i++)
        lower(&world.fiber[i].view.at[at], many);
    for (int i = 0; i < MOST_THINGS; i++) {
        lower(&world.mutex[i].view.at[at], many);
        lower(&world.semaphore[i].view.at[at], many);
    }
    for (int i = 0; i < MOST_LOCATIONS; i++)
        for (int m = 0; m < locations[i].messages; m++)
            lower(&locations[i].message[m].view.at[at], many);
}

/* The oldest message that somebody may still read. Where only one thread comes, or none reads, that is the
 * last. */
static int oldest_readable(int at)
{
    int oldest = locations[at].messages - 1;
    if (!is_shared(at) || !is_read[at]) return oldest;
    for (int i = 0; i < MOST_FIBERS; i++) {
        const struct fiber *fiber = &world.fiber[i];
        if (fiber->used && !fiber->finished && fiber->view.at[at] < oldest) oldest = fiber->view.at[at];
    }
    return oldest;
}

/* Whether all know the last write to a plain location: then it is as if it had always been there. */
static bool is_settled(int at)
{
    for (int i = 0; i < MOST_FIBERS; i++) {
        const struct fiber *fiber = &world.fiber[i];
        if (fiber->used && !fiber->finished && !fiber->view.at[at]) return false;
    }
    return true;
}

/* Forgets what can no longer make a difference. */
void tidy_memory(void)
{
    for (int at = 0; at < named; at++) {
        int oldest = oldest_readable(at);
        if (oldest > 0) drop_messages(at, oldest);
        if (locations[at].messages == 0 && locations[at].last_consensus && is_settled(at)) {
            locations[at].last_consensus = 0;
            forget_elsewhere(at);
        }
    }
}
