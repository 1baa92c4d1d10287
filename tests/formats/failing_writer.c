/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that lets system calls fail, for tests of the writer. FAILING names one call and
 * how: "write:1:28" fails the first write with errno 28, "write:0:4" every one, "write:0:short" makes
 * every write a short one. NO_TMPFILE in the environment refuses nameless files. APPEARS="fsync:x" puts
 * a FIFO in place of x when fsync is called for the first time. Each failure is reported on standard
 * error, so that a test knows that it took place.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t (*real_write(void))(int, const void *, size_t)
{
    ssize_t (*function)(int, const void *, size_t);
    void *symbol = dlsym(RTLD_NEXT, "write");
    memcpy(&function, &symbol, sizeof function);
    return function;
}

static void report(const char *call)
{
    char line[64];
    int size = snprintf(line, sizeof line, "failing: %s\n", call);
    (void)!real_write()(STDERR_FILENO, line, (size_t)size);
}

static void appear(const char *call)
{
    static int done;
    const char *plan = getenv("APPEARS");
    size_t size = strlen(call);
    if (done || !plan || strncmp(plan, call, size) != 0 || plan[size] != ':') return;
    done = 1;
    unlink(plan + size + 1);
    if (mkfifo(plan + size + 1, 0600) == 0) report(call);
}

/* What FAILING says about this call, the n-th of its name: 0 nothing, -1 short, else an errno value. */
static int verdict(const char *call)
{
    static int calls;
    const char *plan = getenv("FAILING");
    size_t size = strlen(call);
    appear(call);
    if (!plan || strncmp(plan, call, size) != 0 || plan[size] != ':') return 0;
    char *how;
    long which = strtol(plan + size + 1, &how, 10);
    if (++calls != which && which != 0) return 0;
    if (which || calls == 1) report(call);
    /* Interruptions come in bursts, not for ever. */
    if (atoi(how + 1) == EINTR && calls > 5) return 0;
    return strcmp(how, ":short") == 0 ? -1 : atoi(how + 1);
}

#define FAIL_IF_TOLD(name)          \
    do {                            \
        int number = verdict(name); \
        if (number > 0) {           \
            errno = number;         \
            return -1;              \
        }                           \
    } while (0)

#define REAL(type, name, ...)              \
    type (*real)(__VA_ARGS__);             \
    void *symbol = dlsym(RTLD_NEXT, name); \
    memcpy(&real, &symbol, sizeof real)

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    if (descriptor <= STDERR_FILENO) return real_write()(descriptor, bytes, size);
    int number = verdict("write");
    if (number == -1) return real_write()(descriptor, bytes, size > 7 ? 7 + size / 1000 : size);
    if (number) {
        errno = number;
        return -1;
    }
    return real_write()(descriptor, bytes, size);
}

ssize_t readlink(const char *path, char *link, size_t size)
{
    REAL(ssize_t, "readlink", const char *, char *, size_t);
    FAIL_IF_TOLD("readlink");
    return real(path, link, size);
}

int fsync(int descriptor)
{
    REAL(int, "fsync", int);
    FAIL_IF_TOLD("fsync");
    return real(descriptor);
}

int fchmod(int descriptor, mode_t mode)
{
    REAL(int, "fchmod", int, mode_t);
    FAIL_IF_TOLD("fchmod");
    return real(descriptor, mode);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    REAL(int, "linkat", int, const char *, int, const char *, int);
    FAIL_IF_TOLD("linkat");
    return real(from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    FAIL_IF_TOLD("renameat");
    return real(from_folder, from, to_folder, to);
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    REAL(ssize_t, "getrandom", void *, size_t, unsigned);
    FAIL_IF_TOLD("getrandom");
    return real(bytes, size, flags);
}

static int open_or_fail(int folder, const char *path, int flags, mode_t mode)
{
    REAL(int, "openat", int, const char *, int, ...);
    FAIL_IF_TOLD("openat");
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return real(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_or_fail(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_or_fail(folder, path, flags, mode);
}
