/* SPDX-License-Identifier: MIT */
/*
 * Goes through all states, depth first. A state is the bytes of the world, of the histories of locations, of
 * live stacks and of the static memory of the code under test; one is known by 128 bits of hash.
 */
#define _GNU_SOURCE
#include "model_world.h"

#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct world world;

/* ---- The static memory of the code under test ------------------------------------------------------ */

static unsigned char *statics;
static size_t static_bytes;
static uintptr_t loaded_at;
static const char *library = "";

/* The library's last writable segment, without what the loader made read-only. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "pool_under_test") == NULL) return 0;
    uintptr_t begin = 0, end = 0, read_only = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) {
            begin = info->dlpi_addr + part->p_vaddr;
            end = begin + part->p_memsz;
        }
        if (part->p_type == PT_GNU_RELRO) read_only = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    if (read_only > begin) begin = read_only;
    statics = (unsigned char *)begin;
    static_bytes = (size_t)(end - begin);
    loaded_at = info->dlpi_addr;
    library = info->dlpi_name;
    return 1;
}

/* ---- Snapshots ------------------------------------------------------------------------------------- */

struct snapshot {
    unsigned char *bytes;
    size_t size, room;
};

static void put(struct snapshot *snapshot, const void *bytes, size_t size)
{
    if (snapshot->size + size > snapshot->room) {
        snapshot->room = 2 * (snapshot->size + size);
        snapshot->bytes = realloc(snapshot->bytes, snapshot->room);
        if (snapshot->bytes == NULL) fault("no memory left");
    }
    memcpy(snapshot->bytes + snapshot->size, bytes, size);
    snapshot->size += size;
}

static size_t live_stack(int fiber, unsigned char **begin)
{
    if (!world.fiber[fiber].used || world.fiber[fiber].finished) return 0;
    *begin = world.fiber[fiber].stack_pointer;
    return (size_t)(fiber_stack(fiber) + STACK_BYTES - *begin);
}

static void take_snapshot(struct snapshot *snapshot)
{
    unsigned char *stack = NULL;
    snapshot->size = 0;
    put(snapshot, &world, offsetof(struct world, heap) + world.heap_used);
    for (int i = 0; i < MOST_LOCATIONS; i++)
        put(snapshot, &locations[i],
            offsetof(struct location, message) + locations[i].messages * sizeof(struct message));
    put(snapshot, statics, static_bytes);
    for (int i = 0; i < MOST_FIBERS; i++) {
        size_t size = live_stack(i, &stack);
        if (size > 0) put(snapshot, stack, size);
    }
}

static void get(const struct snapshot *snapshot, size_t *at, void *bytes, size_t size)
{
    memcpy(bytes, snapshot->bytes + *at, size);
    *at += size;
}

static void go_back(const struct snapshot *snapshot)
{
    unsigned char *stack = NULL;
    size_t at = 0;
    get(snapshot, &at, &world, offsetof(struct world, heap));
    get(snapshot, &at, world.heap, world.heap_used);
    for (int i = 0; i < MOST_LOCATIONS; i++) {
        get(snapshot, &at, &locations[i], offsetof(struct location, message));
        get(snapshot, &at, locations[i].message, locations[i].messages * sizeof(struct message));
    }
    get(snapshot, &at, statics, static_bytes);
    for (int i = 0; i < MOST_FIBERS; i++) {
        size_t size = live_stack(i, &stack);
        if (size > 0) get(snapshot, &at, stack, size);
        if (size > 0 && size < STACK_BYTES - 2048) memset(stack - 2048, 0, 2048);
    }
}

/* ---- Known states ---------------------------------------------------------------------------------- */

struct mark {
    uint64_t low, high;
};

static struct mark *known;
static size_t known_room, known_count;

static uint64_t mixed(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd1b54a32d192ed03);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct mark mark_of(const struct snapshot *snapshot)
{
    struct mark mark = {1, snapshot->size + 2};
    for (size_t i = 0; i < snapshot->size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, snapshot->bytes + i, snapshot->size - i < 8 ? snapshot->size - i : 8);
        mark.low = mixed(mark.low, word);
        mark.high = mixed(mark.high + 0x2545f4914f6cdd1d, word ^ mark.high);
    }
    mark.low |= 1; /* 0 is no mark */
    return mark;
}

/* Where a mark is, or would be. */
static struct mark *slot_of(struct mark mark)
{
    size_t at = mark.high % known_room;
    while (known[at].low != 0 && (known[at].low != mark.low || known[at].high != mark.high))
        at = (at + 1) % known_room;
    return &known[at];
}

static void make_room(void)
{
    struct mark *before = known;
    size_t room_before = known_room;
    known_room = known_room > 0 ? 2 * known_room : 1 << 16;
    known = calloc(known_room, sizeof *known);
    if (known == NULL) fault("no memory left");
    for (size_t i = 0; i < room_before; i++)
        if (before[i].low != 0) *slot_of(before[i]) = before[i];
    free(before);
}

/* Whether a state is met for the first time. */
static bool is_new(const struct snapshot *snapshot)
{
    if (2 * known_count >= known_room) make_room();
    struct mark mark = mark_of(snapshot), *slot = slot_of(mark);
    if (slot->low != 0) return false;
    *slot = mark;
    known_count++;
    return true;
}

/* ---- The search ------------------------------------------------------------------------------------- */

/* A state on the way to the current one, and the step that is tried there. */
struct level {
    struct snapshot snapshot;
    struct step steps[MOST_STEPS];
    int many, next;
    struct operation operation;
};

static struct level *levels;
static size_t depth, level_room, deepest;
static uint64_t steps_taken;

static void print_way(void)
{
    static const char *const names[KINDS] = {
        "begins",    "load",  "store", "add",         "subtract", "and",  "compare-exchange",
        "read",      "write", "lock",  "unlock",      "wait",     "wake", "signal",
        "broadcast", "post",  "take",  "try to take", "create",   "join", "meet",
        "nothing",   "fork"};
    char command[200];
    for (size_t i = 0; i < depth; i++) {
        const struct step step = levels[i].steps[levels[i].next - 1];
        const struct operation *operation = &levels[i].operation;
        fprintf(stderr, "  thread %d %s%s, choice %d ", step.fiber,
                step.choice == FORK_CHOICE ? "forks before " : "", names[operation->kind], step.choice);
        fflush(stderr);
        snprintf(command, sizeof command, "addr2line -sfpe '%.80s' 0x%zx >&2 || echo >&2", library,
                 operation->caller ? (size_t)((uintptr_t)operation->caller - 4 - loaded_at) : 0);
        if (system(command) != 0) break;
    }
}

static const char *scenario = "";

void fault(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "pool: %s: FAILED: ", scenario);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; after these steps\n");
    va_end(arguments);
    print_way();
    _exit(1);
}

static void enter_level(void)
{
    if (depth == level_room) {
        size_t room = level_room > 0 ? 2 * level_room : 256;
        levels = realloc(levels, room * sizeof *levels);
        if (levels == NULL) fault("no memory left");
        memset(levels + level_room, 0, (room - level_room) * sizeof *levels);
        level_room = room;
    }
    struct level *level = &levels[depth];
    take_snapshot(&level->snapshot);
    if (!is_new(&level->snapshot)) return;
    level->next = 0;
    level->many = steps_from_here(level->steps);
    depth++;
    if (depth > deepest) deepest = depth;
    for (int i = 0; i < level->many; i++)
        if (!level->steps[i].unforced) return;
    if (live_fibers() > 0) fault("all threads wait, and nobody will wake them");
}

static void take_step(struct step step)
{
    struct fiber *fiber = &world.fiber[step.fiber];
    bool goes_on = true;
    world.running = step.fiber;
    if (step.choice == FORK_CHOICE)
        fiber->fork_now = true;
    else
        goes_on = perform(&fiber->pending, step.choice);
    if (goes_on)
        fiber_resume(step.fiber);
    else
        world.running = -1;
    steps_taken++;
}

static void go_through(void (*begin)(void))
{
    memset(&world, 0, sizeof world);
    memset(locations, 0, sizeof locations);
    world.running = -1;
    for (int i = 0; i < MOST_THINGS; i++)
        world.mutex[i].holder = -1;
    if (known) memset(known, 0, known_room * sizeof *known);
    known_count = 0;
    begin();
    enter_level();
    while (depth > 0 && !sharing_was_found()) {
        struct level *level = &levels[depth - 1];
        if (level->next == level->many) {
            depth--;
            continue;
        }
        struct step step = level->steps[level->next++];
        go_back(&level->snapshot);
        level->operation = world.fiber[step.fiber].pending;
        take_step(step);
        enter_level();
    }
    depth = 0;
}

/* What turns out to be shared is known to be so from the beginning the next time. */
void search(const char *name, void (*begin)(void))
{
    static struct snapshot fresh;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    scenario = name;
    if (statics == NULL && dl_iterate_phdr(look_at_library, NULL) == 0)
        fault("the library under test is not loaded");
    if (fresh.size == 0) put(&fresh, statics, static_bytes);
    steps_taken = deepest = 0;
    forget_locations();
    forget_things();
    do {
        forget_sharing();
        memcpy(statics, fresh.bytes, static_bytes);
        go_through(begin);
    } while (sharing_was_found());
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("pool: %s: %zu states, %llu steps, at most %zu deep, %ld s\n", name, known_count,
           (unsigned long long)steps_taken, deepest, (long)(end.tv_sec - start.tv_sec));
    fflush(stdout);
}
