/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that lets one call of a program fail. FAIL_CALL says which and how: "read:3" is the
 * third read,
 * "*:7" the seventh call of all, "write:1:28" the first write, with errno 28, "write:0:short" makes every
 * write a short one; "?:0" lets none fail. "memory" stands for every way to allocate. Each failure, or with
 * "?" each call, is a line on standard error, so that a test knows that it took place.
 *
 * Without more it is every call of the program, and of libraries on its behalf. FAIL_WITHIN names objects, as
 * in
 * "_garner.,libgarner_": then a call counts if one of these makes it, itself or through libraries of the
 * system or the interpreter. A program can begin and end it around its own calls, by failing_begin and
 * failing_end.
 *
 * NO_TMPFILE refuses nameless files; APPEARS="fsync:x" puts a FIFO in place of x when fsync is first called;
 * FAIL_LOG names a file that gets a line for each call that changes the disk, for replaying them.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHORT = -1, MOST_FRAMES = 200 };

static char wanted[32]; /* the call's name; "": none, "*": any, "?": all are told and none fails */
static long which;      /* of them; 0: each */
static int how;         /* an errno value, or SHORT; 0: the call's own */
static char within[128];
static atomic_long counted;
static atomic_int happened;
static int report_to = STDERR_FILENO, log_to = -1;
static _Thread_local int busy __attribute__((tls_model("initial-exec"))); /* in here already */

/* Objects that a call may come through: it is the call of whoever called these. */
static const char *const passages[] = {"libc.so",  "libstdc++", "libgcc_s",   "libz.so",
                                       "libexpat", "libasan",   "libubsan",   "ld-linux",
                                       "libm.so",  "libpython", "failing.so", "_multiarray_umath"};

static long call_system(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*real)(long, ...);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(number, a, b, c, d, e, f);
}

static void tell(int file, const char *what, const char *call)
{
    char line[96];
    int size = snprintf(line, sizeof line, "%s: %s\n", what, call);
    call_system(SYS_write, file, (long)line, size, 0, 0, 0);
}

/* ---- What is wanted ---- */

void failing_begin(const char *plan, const char *objects, int file);
long failing_end(void);
int failing_happened(void);

void failing_begin(const char *plan, const char *objects, int file)
{
    const char *colon = strchr(plan, ':');
    char *end, *warm[1];
    busy++;
    if (*objects) backtrace((void **)warm, 1); /* which loads and allocates, the first time */
    busy--;
    atomic_store(&counted, 0);
    atomic_store(&happened, 0);
    which = strtol(colon + 1, &end, 10);
    how = strcmp(end, ":short") == 0 ? SHORT : *end ? atoi(end + 1) : 0;
    report_to = file;
    snprintf(within, sizeof within, "%s", objects);
    snprintf(wanted, sizeof wanted, "%.*s", (int)(colon - plan), plan);
}

/* How many calls there were of those that might have failed. */
long failing_end(void)
{
    *wanted = 0;
    return atomic_load(&counted);
}

int failing_happened(void)
{
    return atomic_load(&happened);
}

/* ---- From main to its end ---- */

static void begin(void)
{
    const char *plan = getenv("FAIL_CALL"), *objects = getenv("FAIL_WITHIN"), *path = getenv("FAIL_LOG");
    if (path)
        log_to = (int)call_system(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                                  0600, 0, 0);
    if (plan && strchr(plan, ':')) failing_begin(plan, objects ? objects : "", STDERR_FILENO);
}

static void stop(void)
{
    *wanted = 0;
    log_to = -1;
}

typedef int main_function(int count, char **words, char **environment);
static main_function *main_of_program;

static int main_between(int count, char **words, char **environment)
{
    begin();
    atexit(stop); /* which comes before what was registered earlier */
    return main_of_program(count, words, environment);
}

/* What else is in a program, as what counts its conditions, has calls of its own before main and after it. */
int __libc_start_main(main_function *of_program, int count, char **words, void (*first)(void),
                      void (*last)(void), void (*loaded)(void), void *stack)
{
    static int (*real)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    void *symbol = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&real, &symbol, sizeof real);
    main_of_program = of_program;
    return real(main_between, count, words, first, last, loaded, stack);
}

/* ---- Whose call it is ---- */

static int names(const char *list, const char *object)
{
    while (*list) {
        size_t size = strcspn(list, ",");
        if (size && memmem(object, strlen(object), list, size)) return 1;
        list += size + (list[size] == ',');
    }
    return 0;
}

/* The program itself is the interpreter, where objects are named. */
static int is_passage(const char *object)
{
    const char *name = strrchr(object, '/') ? strrchr(object, '/') + 1 : object;
    if (!*name) return 1;
    for (size_t i = 0; i < sizeof passages / sizeof *passages; i++)
        if (strncmp(name, passages[i], strlen(passages[i])) == 0) return 1;
    return 0;
}

static int is_theirs(void)
{
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < count; i++) {
        struct dl_find_object found;
        if (_dl_find_object(frames[i], &found) != 0) return 0;
        const char *object = found.dlfo_link_map->l_name;
        if (names(within, object)) return 1;
        if (!is_passage(object)) return 0;
    }
    return 0;
}

/* The errno value with which this call fails, or SHORT; 0: it does not. */
static int verdict(const char *call, int number)
{
    const int any = *wanted == '*' || *wanted == '?';
    if (!*wanted || busy || (!any && strcmp(call, wanted) != 0)) return 0;
    busy++;
    int own = !*within || is_theirs();
    if (own && *wanted == '?') tell(report_to, "called", call);
    busy--;
    if (!own) return 0;
    const long now = atomic_fetch_add(&counted, 1) + 1;
    if (*wanted == '?' || (which && now != which)) return 0;
    if (how == EINTR && now > 5) return 0; /* interruptions come in bursts, not for ever */
    if (!atomic_exchange(&happened, 1)) tell(report_to, "failing", call);
    return how ? how : number;
}

/* A FIFO takes the place of a file. */
static void appear(const char *call)
{
    static atomic_int done;
    const char *plan = getenv("APPEARS");
    const size_t size = strlen(call);
    if (!plan || strncmp(plan, call, size) != 0 || plan[size] != ':' || atomic_exchange(&done, 1)) return;
    call_system(SYS_unlinkat, AT_FDCWD, (long)(plan + size + 1), 0, 0, 0, 0);
    if (mkfifo(plan + size + 1, 0600) == 0) tell(STDERR_FILENO, "failing", call);
}

static int fails(const char *call, int number)
{
    const int failure = verdict(call, number);
    if (failure <= 0) return 0;
    errno = failure;
    return 1;
}

/* ---- The log ---- */

/* A call that changes the disk: its name, and its arguments as they come; bytes in hexadecimal. */
static void note(const char *format, ...)
{
    char line[512];
    va_list arguments;
    if (log_to < 0) return;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    call_system(SYS_write, log_to, (long)line, size, 0, 0, 0);
}

static void note_bytes(const void *bytes, ssize_t size)
{
    char part[512];
    for (ssize_t at = 0; log_to >= 0 && at < size;) {
        int used = 0;
        for (; at < size && used < 500; at++)
            used += snprintf(part + used, 3, "%02x", ((const unsigned char *)bytes)[at]);
        call_system(SYS_write, log_to, (long)part, used, 0, 0, 0);
    }
    note("\n");
}

/* ---- Memory ---- */

/* Those behind this library: libc's, or a sanitizer's. */
#define REAL(type, name, parameters)           \
    static type(*real) parameters;             \
    if (!real) {                               \
        busy++;                                \
        void *symbol = dlsym(RTLD_NEXT, name); \
        busy--;                                \
        memcpy(&real, &symbol, sizeof real);   \
    }

void *malloc(size_t size)
{
    REAL(void *, "malloc", (size_t))
    return fails("memory", ENOMEM) ? NULL : real(size);
}

void *calloc(size_t count, size_t size)
{
    REAL(void *, "calloc", (size_t, size_t))
    return fails("memory", ENOMEM) ? NULL : real(count, size);
}

void *realloc(void *memory, size_t size)
{
    REAL(void *, "realloc", (void *, size_t))
    return fails("memory", ENOMEM) ? NULL : real(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    REAL(void *, "aligned_alloc", (size_t, size_t))
    return fails("memory", ENOMEM) ? NULL : real(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    REAL(int, "posix_memalign", (void **, size_t, size_t))
    return fails("memory", ENOMEM) ? ENOMEM : real(memory, alignment, size);
}

/* ---- System calls ---- */

/* FUNCTION(type it gives, what it gives when it fails, errno, name, parameters, arguments) */
#define FUNCTION(type, failure, number, name, parameters, arguments) \
    type name parameters;                                            \
    type name parameters                                             \
    {                                                                \
        REAL(type, #name, parameters)                                \
        appear(#name);                                               \
        if (fails(#name, number)) return failure;                    \
        return real arguments;                                       \
    }

FUNCTION(ssize_t, -1, EIO, read, (int fd, void *to, size_t size), (fd, to, size))
FUNCTION(ssize_t, -1, EIO, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
FUNCTION(ssize_t, -1, EIO, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
FUNCTION(void *, MAP_FAILED, ENOMEM, mmap, (void *at, size_t size, int what, int flags, int fd, off_t from),
         (at, size, what, flags, fd, from))
FUNCTION(void *, MAP_FAILED, ENOMEM, mmap64,
         (void *at, size_t size, int what, int flags, int fd, off64_t from),
         (at, size, what, flags, fd, from))
FUNCTION(int, -1, EINVAL, madvise, (void *at, size_t size, int advice), (at, size, advice))
FUNCTION(int, -1, EMFILE, memfd_create, (const char *name, unsigned flags), (name, flags))
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
FUNCTION(int, -1, EPERM, fchmod, (int fd, mode_t mode), (fd, mode))
FUNCTION(int, -1, EPERM, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
FUNCTION(int, -1, EACCES, access, (const char *path, int mode), (path, mode))
FUNCTION(int, -1, EACCES, faccessat, (int folder, const char *path, int mode, int flags),
         (folder, path, mode, flags))
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
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
         (thread, attributes, run, argument))
FUNCTION(int, ENOMEM, ENOMEM, __register_atfork,
         (void (*before)(void), void (*parent)(void), void (*child)(void), void *object),
         (before, parent, child, object))
FUNCTION(int, -1, EINVAL, sched_getaffinity, (pid_t thread, size_t size, cpu_set_t *set), (thread, size, set))
FUNCTION(int, -1, EINVAL, sched_setaffinity, (pid_t thread, size_t size, const cpu_set_t *set),
         (thread, size, set))
FUNCTION(int, -1, EINVAL, sigaction, (int number, const struct sigaction *new, struct sigaction *old),
         (number, new, old))
FUNCTION(locale_t, 0, ENOMEM, newlocale, (int mask, const char *name, locale_t base), (mask, name, base))
FUNCTION(int, -1, EINTR, sem_wait, (sem_t * semaphore), (semaphore))
FUNCTION(int, -1, ENOSPC, sem_init, (sem_t * semaphore, int shared, unsigned value),
         (semaphore, shared, value))
/* A wait that fails, as the standard has it: it ends though nobody called. */
FUNCTION(int, 0, EINTR, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex),
         (condition, mutex))

/* ---- Those that change the disk, which the log has ---- */

/* Standard output and error are not held back: what these do is tested apart. */
ssize_t write(int fd, const void *from, size_t size)
{
    const int failure = fd > STDERR_FILENO ? verdict("write", ENOSPC) : 0;
    if (failure > 0) {
        errno = failure;
        return -1;
    }
    if (failure == SHORT && size > 7) size = 7 + size / 1000;
    const ssize_t wrote = call_system(SYS_write, fd, (long)from, (long)size, 0, 0, 0);
    note("write %d - ", fd);
    note_bytes(from, wrote);
    return wrote;
}

static ssize_t write_there(int fd, const void *from, size_t size, off64_t at)
{
    if (fails("pwrite", ENOSPC)) return -1;
    const ssize_t wrote = call_system(SYS_pwrite64, fd, (long)from, (long)size, at, 0, 0);
    note("write %d %lld ", fd, (long long)at);
    note_bytes(from, wrote);
    return wrote;
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    return write_there(fd, from, size, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
    return write_there(fd, from, size, at);
}

/* The same for those that give 0 or -1 and are one system call. */
#define CHANGE(number, name, parameters, a, b, c, d, e, ...)                                        \
    int name parameters                                                                             \
    {                                                                                               \
        appear(#name);                                                                              \
        if (fails(#name, number)) return -1;                                                        \
        const int done =                                                                            \
            (int)call_system(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0); \
        if (done == 0) note(#name " " __VA_ARGS__);                                                 \
        return done;                                                                                \
    }

CHANGE(EIO, fsync, (int fd), fd, 0, 0, 0, 0, "%d\n", fd)
CHANGE(EMLINK, linkat, (int from, const char *old, int to, const char *new, int flags), from, old, to, new,
       flags, "%s %s\n", old, new)
CHANGE(EIO, renameat, (int from, const char *old, int to, const char *new), from, old, to, new, 0, "%s %s\n",
       old, new)
CHANGE(EIO, unlinkat, (int folder, const char *path, int flags), folder, path, flags, 0, 0, "%s\n", path)

/* Not every architecture has a call of this name. */
int mkdir(const char *path, mode_t mode)
{
    appear("mkdir");
    if (fails("mkdir", EIO)) return -1;
    const int done = (int)call_system(SYS_mkdirat, AT_FDCWD, (long)path, (long)mode, 0, 0, 0);
    if (done == 0) note("mkdir %s\n", path);
    return done;
}

/* One that fails has closed the file all the same. */
int close(int fd)
{
    const int failed = fails("close", EIO);
    const int number = errno;
    const long done = call_system(SYS_close, fd, 0, 0, 0, 0, 0);
    if (failed) errno = number;
    return failed ? -1 : (int)done;
}

/* ---- Those with any number of arguments ---- */

static int open_or_fail(int folder, const char *path, int flags, mode_t mode)
{
    appear("open");
    if (fails("open", EMFILE)) return -1;
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    const int fd = (int)call_system(SYS_openat, folder, (long)path, flags, (long)mode, 0, 0);
    if (fd >= 0) note("open %d %#o %s\n", fd, (unsigned)flags, path);
    return fd;
}

#define OPENING(name, parameters, folder)                                       \
    int name parameters                                                         \
    {                                                                           \
        va_list more;                                                           \
        va_start(more, flags);                                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                           \
        return open_or_fail(folder, path, flags, mode);                         \
    }

OPENING(open, (const char *path, int flags, ...), AT_FDCWD)
OPENING(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENING(openat, (int folder, const char *path, int flags, ...), folder)
OPENING(openat64, (int folder, const char *path, int flags, ...), folder)

/* These have no function of their own. */
long syscall(long number, ...)
{
    long argument[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_openat2 && fails("openat2", EMFILE)) return -1;
    if (number == SYS_preadv2 && fails("preadv2", EOPNOTSUPP)) return -1;
    return call_system(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
