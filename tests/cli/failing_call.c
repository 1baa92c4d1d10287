/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that lets one call of a program fail: FAIL_CALL names it and says which, as in
 * "read:3", the third read. "memory" stands for every way to allocate, inside libc too; all others are what
 * the program itself calls. The failure is reported on standard error, so that a test knows that it took
 * place.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char wanted[32]; /* the call's name */
static atomic_long left;

__attribute__((constructor)) static void begin(void)
{
    const char *plan = getenv("FAIL_CALL"), *colon = plan ? strchr(plan, ':') : NULL;
    if (!colon || (size_t)(colon - plan) >= sizeof wanted) return;
    memcpy(wanted, plan, (size_t)(colon - plan));
    atomic_store(&left, atol(colon + 1));
}

static long call_system(long number, long a, long b, long c, long d, long e, long f)
{
    long (*real)(long, ...);
    void *symbol = dlsym(RTLD_NEXT, "syscall");
    memcpy(&real, &symbol, sizeof real);
    return real(number, a, b, c, d, e, f);
}

static void report(const char *what, const char *call)
{
    char line[64];
    int size = snprintf(line, sizeof line, "%s: %s\n", what, call);
    call_system(SYS_write, STDERR_FILENO, (long)line, size, 0, 0, 0);
}

static int fails(const char *call, int number)
{
    if (*wanted == '?') report("called", call);
    if (strcmp(call, wanted) != 0 || atomic_fetch_sub(&left, 1) != 1) return 0;
    report("failing", call);
    errno = number;
    return 1;
}

/* ---- Memory: by way of libc's own names, since dlsym allocates ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* ---- System calls ---- */

/* FUNCTION(type it gives, what it gives when it fails, errno, name, parameters, arguments) */
#define FUNCTION(type, failure, number, name, parameters, arguments) \
    type name parameters;                                            \
    type name parameters                                             \
    {                                                                \
        type(*real) parameters;                                      \
        void *symbol = dlsym(RTLD_NEXT, #name);                      \
        memcpy(&real, &symbol, sizeof real);                         \
        if (fails(#name, number)) return failure;                    \
        return real arguments;                                       \
    }

FUNCTION(ssize_t, -1, EIO, read, (int fd, void *to, size_t size), (fd, to, size))
FUNCTION(ssize_t, -1, EIO, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
FUNCTION(ssize_t, -1, EIO, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
FUNCTION(ssize_t, -1, ENOSPC, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
FUNCTION(ssize_t, -1, ENOSPC, pwrite64, (int fd, const void *from, size_t size, off64_t at),
         (fd, from, size, at))
FUNCTION(void *, MAP_FAILED, ENOMEM, mmap, (void *at, size_t size, int what, int flags, int fd, off_t from),
         (at, size, what, flags, fd, from))
FUNCTION(void *, MAP_FAILED, ENOMEM, mmap64,
         (void *at, size_t size, int what, int flags, int fd, off64_t from),
         (at, size, what, flags, fd, from))
FUNCTION(int, -1, EIO, fstat, (int fd, struct stat *about), (fd, about))
FUNCTION(int, -1, EIO, fstat64, (int fd, struct stat64 *about), (fd, about))
FUNCTION(int, -1, EIO, stat, (const char *path, struct stat *about), (path, about))
FUNCTION(int, -1, EIO, stat64, (const char *path, struct stat64 *about), (path, about))
FUNCTION(int, -1, EIO, fstatat, (int folder, const char *path, struct stat *about, int flags),
         (folder, path, about, flags))
FUNCTION(int, -1, EIO, fstatat64, (int folder, const char *path, struct stat64 *about, int flags),
         (folder, path, about, flags))
FUNCTION(off_t, -1, EIO, lseek, (int fd, off_t at, int from), (fd, at, from))
FUNCTION(off64_t, -1, EIO, lseek64, (int fd, off64_t at, int from), (fd, at, from))
FUNCTION(int, -1, EIO, fsync, (int fd), (fd))
FUNCTION(int, -1, EPERM, fchmod, (int fd, mode_t mode), (fd, mode))
FUNCTION(int, -1, EMLINK, linkat, (int from, const char *old, int to, const char *new, int flags),
         (from, old, to, new, flags))
FUNCTION(int, -1, EIO, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
FUNCTION(int, -1, EIO, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
FUNCTION(int, -1, EIO, mkdir, (const char *path, mode_t mode), (path, mode))
FUNCTION(int, -1, EACCES, access, (const char *path, int how), (path, how))
FUNCTION(ssize_t, -1, EIO, readlink, (const char *path, char *to, size_t size), (path, to, size))
FUNCTION(ssize_t, -1, EIO, readlinkat, (int folder, const char *path, char *to, size_t size),
         (folder, path, to, size))
FUNCTION(ssize_t, -1, ENOSYS, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags))
FUNCTION(char *, NULL, ENOMEM, realpath, (const char *path, char *to), (path, to))
FUNCTION(FILE *, NULL, ENOMEM, open_memstream, (char **text, size_t *size), (text, size))
FUNCTION(FILE *, NULL, EMFILE, fopen, (const char *path, const char *mode), (path, mode))
FUNCTION(FILE *, NULL, EMFILE, fopen64, (const char *path, const char *mode), (path, mode))
FUNCTION(DIR *, NULL, EMFILE, opendir, (const char *path), (path))
FUNCTION(int, -1, EIO, scandir,
         (const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
          int (*order)(const struct dirent **, const struct dirent **)),
         (path, entries, filter, order))
FUNCTION(int, -1, EIO, scandir64,
         (const char *path, struct dirent64 ***entries, int (*filter)(const struct dirent64 *),
          int (*order)(const struct dirent64 **, const struct dirent64 **)),
         (path, entries, filter, order))
FUNCTION(int, EAGAIN, EAGAIN, pthread_create,
         (pthread_t * thread, const pthread_attr_t *how, void *(*run)(void *), void *argument),
         (thread, how, run, argument))

/* Its own output is not held back: what standard output and error do is tested apart. */
ssize_t write(int fd, const void *from, size_t size)
{
    if (fd > STDERR_FILENO && fails("write", ENOSPC)) return -1;
    return call_system(SYS_write, fd, (long)from, (long)size, 0, 0, 0);
}

/* One that fails has closed the file all the same. */
int close(int fd)
{
    int failed = fails("close", EIO);
    long done = call_system(SYS_close, fd, 0, 0, 0, 0, 0);
    if (failed) errno = EIO;
    return failed ? -1 : (int)done;
}

/* ---- Those with any number of arguments ---- */

#define OPENING(name, parameters, last, folder, path)                                     \
    int name parameters;                                                                  \
    int name parameters                                                                   \
    {                                                                                     \
        va_list more;                                                                     \
        va_start(more, last);                                                             \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;           \
        va_end(more);                                                                     \
        if (fails("open", EMFILE)) return -1;                                             \
        return (int)call_system(SYS_openat, folder, (long)path, flags, (long)mode, 0, 0); \
    }

OPENING(open, (const char *path, int flags, ...), flags, AT_FDCWD, path)
OPENING(open64, (const char *path, int flags, ...), flags, AT_FDCWD, path)
OPENING(openat, (int folder, const char *path, int flags, ...), flags, folder, path)
OPENING(openat64, (int folder, const char *path, int flags, ...), flags, folder, path)

/* openat2 has no function of its own. */
long syscall(long number, ...)
{
    long argument[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_openat2 && fails("openat2", EMFILE)) return -1;
    return call_system(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
