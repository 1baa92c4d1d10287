/* SPDX-License-Identifier: MIT */
/*
 * A small machine that runs src/pool.c under every schedule. The file is compiled by gcc -fsanitize=thread,
 * which puts a call before each access to memory that threads may share and in place of each atomic
 * operation; this program defines these calls, and those of pthread (model_calls.c). Threads are fibers
 * (model_fibers.c). What an operation may do is decided by a model of C11's memory (model_memory.c,
 * model_steps.c): a load may give any value that its thread has not been told to be over. All choices are
 * tried, depth first; a state that was seen before is left (model_search.c).
 */
#ifndef GARNER_PROOFS_MODEL_WORLD_H
#define GARNER_PROOFS_MODEL_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_FIBERS = 4,
    MOST_LOCATIONS = 64,
    MOST_MESSAGES = 16,
    MOST_THINGS = 4, /* mutexes, and semaphores */
    STACK_BYTES = 16384,
    HEAP_BYTES = 2048,
    MOST_JOBS = 6,
    MOST_TASKS = 4
};

enum kind {
    NOTHING_YET, /* a fiber that did not begin */
    LOAD,
    STORE,
    ADD,
    SUBTRACT,
    AND,
    COMPARE_EXCHANGE,
    PLAIN_READ,
    PLAIN_WRITE,
    LOCK,
    UNLOCK,
    WAIT,     /* for a condition, */
    SLEEPING, /* and until somebody signals it */
    SIGNAL,
    BROADCAST,
    POST,
    TAKE,
    TRY_TAKE,
    CREATE,
    JOIN,
    MEET,   /* the other tasks of the job */
    MOMENT, /* at which others may do something */
    FORK,
    KINDS
};

/* What a fiber is about to do. */
struct operation {
    enum kind kind;
    int order, failure_order; /* as __ATOMIC_SEQ_CST */
    bool weak;
    uint8_t size;
    int8_t location; /* or thing, or fiber */
    int8_t mutex;    /* of WAIT and SLEEPING */
    void *address;
    uint64_t operand, expected;
    void *caller; /* where in pool.c; for people */
};

/* How much of each location a thread, or whoever reads a message, knows: the oldest message that may still be
 * read; of a plain location 1 if its last write is known, else 0. */
struct view {
    uint8_t at[MOST_LOCATIONS];
};

struct fiber {
    bool used, finished, signals_blocked, may_fork, fork_now;
    void *stack_pointer;
    struct operation pending;
    uint64_t result;
    struct view view;
    void *(*body)(void *);
    void *argument;
};

/* A value of an atomic location, in the order of modification, and what whoever acquires it knows then. */
struct message {
    uint64_t value;
    struct view view;
};

struct location {
    uint8_t messages;       /* 0: plain, or not written yet */
    uint8_t last_consensus; /* the last one that was written sequentially consistently */
    struct message message[MOST_MESSAGES];
};

struct thing {
    int8_t holder; /* of a mutex, or -1 */
    uint8_t value; /* of a semaphore */
    struct view view;
};

struct job_record {
    bool open, forked;
    uint8_t count, begun, done[MOST_TASKS];
};

/* All that changes, but for locations, stacks and what src/pool.c has in static memory. */
struct world {
    int8_t running;
    uint8_t forks_left, failures_left;
    bool forked, fork_is_elsewhere;
    uint8_t jobs;
    struct job_record job[MOST_JOBS];
    uint8_t input[MOST_FIBERS],
        result[MOST_FIBERS][MOST_TASKS]; /* of the tasks of each caller; never looked into */
    size_t heap_used;
    bool heap_freed;
    struct thing mutex[MOST_THINGS], semaphore[MOST_THINGS];
    struct fiber fiber[MOST_FIBERS];
    _Alignas(64) unsigned char heap[HEAP_BYTES];
};

extern struct world world;
extern struct location locations[MOST_LOCATIONS];

/* Ends the program: prints what is wrong, and the steps that led there. */
void fault(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* model_fibers.c */
unsigned char *fiber_stack(int fiber);
void fiber_begin(int fiber, void *(*body)(void *), void *argument);
void fiber_resume(int fiber);
void fiber_suspend(void);

/* model_memory.c */
void forget_locations(void);
int location_of(const void *address);
bool visit_location(int location, bool reads);
void forget_sharing(void);
bool sharing_was_found(void);
void view_join(struct view *to, const struct view *from);
int readable_messages(const struct operation *operation);
uint64_t read_message(const struct operation *operation, int which, int order);
void write_message(const struct operation *operation, uint64_t value, const struct view *inherited);
const struct message *last_message(const struct operation *operation);
void plain_access(const void *address, size_t size, bool write);
void know_everything(void);
void tidy_memory(void);

/* model_steps.c */
struct step {
    int8_t fiber;
    int8_t choice; /* or FORK_CHOICE */
    bool unforced; /* nothing waits for it to happen */
};
enum { FORK_CHOICE = 127, MOST_STEPS = 64 };
int steps_from_here(struct step *steps);
bool perform(const struct operation *operation, int choice);
int live_fibers(void);

/* model_calls.c */
uint64_t request(struct operation operation);
void fork_here(void);
void forget_things(void);

/* model_search.c */
void search(const char *name, void (*begin)(void));

#endif
