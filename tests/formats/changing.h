/* SPDX-License-Identifier: MIT */
/*
 * A file that another process writes to while it is mapped and read, without chance: the bytes lie on both
 * sides of a page boundary, just after the byte that will change, and only one side can be read at a time.
 * Each time that the reader goes from one side to the other is a moment; at one of these the byte changes.
 * Trying them all shows what a reader does if what it has read once is something else when it looks again.
 */
#ifndef GARNER_TESTS_CHANGING_H
#define GARNER_TESTS_CHANGING_H

#include "random.h"
#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* Moments that are told apart, unless there are fewer: an instruction that reads both sides makes any number.
 */
enum { MOST_MOMENTS = 40 };

static struct {
    unsigned char *mapping, *boundary, *target;
    size_t side; /* bytes on each */
    unsigned char flip;
    int moments, when;
} changing;

static void allow(int before, int after)
{
    const int all = PROT_READ | PROT_WRITE;
    (void)mprotect(changing.mapping, changing.side, before ? all : PROT_NONE);
    (void)mprotect(changing.boundary, changing.side, after ? all : PROT_NONE);
}

static void cross(int number, siginfo_t *info, void *context)
{
    const unsigned char *at = info->si_addr;
    (void)context;
    if (at < changing.mapping || at >= changing.boundary + changing.side) {
        signal(number, SIG_DFL); /* a crash like any other */
        return;
    }
    int now = ++changing.moments == changing.when, done = now || changing.moments == MOST_MOMENTS;
    allow(done || at < changing.boundary, done || at >= changing.boundary);
    if (now) *(volatile unsigned char *)changing.target ^= changing.flip;
}

static void changing_begin(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = cross, .sa_flags = SA_SIGINFO};
    changing.side = (size / page + 1) * page;
    changing.mapping =
        mmap(NULL, 2 * changing.side, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(changing.mapping != MAP_FAILED);
    changing.boundary = changing.mapping + changing.side;
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
}

static void changing_end(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    assert_int_equal(munmap(changing.mapping, 2 * changing.side), 0);
}

/* Reads the file once; byte `at` changes at moment `when` (0: never). Returns how many moments there were. */
typedef void changing_reader(const void *bytes, size_t size);
static int changing_read(const unsigned char *bytes, size_t size, size_t at, int when,
                         changing_reader *read_all)
{
    unsigned char *copy = changing.boundary - at - 1, *end = copy + size;
    size_t rest = (size_t)(changing.boundary + changing.side - end);
    memcpy(copy, bytes, size);
    changing.target = copy + at;
    changing.moments = 0;
    changing.when = when;
    ASAN_POISON_MEMORY_REGION(end, rest);
    allow(0, 0);
    read_all(copy, size);
    allow(1, 1);
    ASAN_UNPOISON_MEMORY_REGION(end, rest);
    return changing.moments;
}

/* Byte `i`, changed at every moment, away from what it was and back to it: one bit, another from byte to
 * byte, and in long runs all of them. */
static void change_byte(unsigned char *bytes, size_t size, size_t i, changing_reader *read_all)
{
    static const unsigned char flips[] = {0x01, 0x40, 0x80};
    const size_t count = test_is_long() ? sizeof flips : 1;
    for (size_t k = 0; k < 2 * count; k++) {
        changing.flip = flips[(i + k / 2) % sizeof flips];
        if (k % 2) bytes[i] ^= changing.flip;
        int moments = changing_read(bytes, size, i, 0, read_all);
        for (int when = 1; when <= moments; when++)
            (void)changing_read(bytes, size, i, when, read_all);
        if (k % 2) bytes[i] ^= changing.flip;
    }
}

/* Every byte. Within padding one stands for all. */
static inline void change_everywhere(unsigned char *bytes, size_t size, changing_reader *read_all)
{
    changing_begin(size);
    for (size_t i = 0; i < size; i++)
        if (i < 2 || bytes[i] != bytes[i - 1] || bytes[i] != bytes[i - 2])
            change_byte(bytes, size, i, read_all);
    changing_end();
}

#endif
