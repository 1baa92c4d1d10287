/* SPDX-License-Identifier: MIT */
/*
 * The safe writer. The order is what makes it safe: write to a file without a name, sync it, give it
 * its mode, and only then a name; every step before the last can fail without a trace. All names are
 * looked up in one opened folder, so that nothing moves under our feet.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "filesystem.h"

enum { BUFFER = 1 << 16, LARGEST_WRITE = 1 << 24, MOST_LINKS = 40, RANDOM_NAME = 48 };

struct sink {
    const char *path;
    int descriptor;
    int patchable;    /* a new file, written from its beginning */
    int number;       /* errno of the first failure, */
    uint64_t stopped; /* where that was */
    uint64_t written; /* bytes so far */
    size_t used;
    unsigned char buffer[BUFFER];
};

/* A file to be put in place. Functions on it return 0 or an errno value. */
struct target {
    char path[PATH_MAX]; /* with links followed */
    const char *name;    /* the part after the folder */
    int folder;
    int descriptor;              /* the new content */
    char temporary[RANDOM_NAME]; /* its name, if it has one already; else "" */
    int exists;
    struct stat old;
};

/* ---- The sink ---- */

static _Thread_local file_watcher *watcher;
static _Thread_local void *watcher_context;

void file_watch(file_watcher *watch, void *context)
{
    watcher = watch;
    watcher_context = context;
}

static int write_all(struct sink *sink, const unsigned char *bytes, size_t size)
{
    while (size) {
        ssize_t wrote = write(sink->descriptor, bytes, size < LARGEST_WRITE ? size : LARGEST_WRITE);
        if (wrote < 0 && !file_was_interrupted()) return errno;
        /* uncovered: no system writes nothing */
        if (wrote == 0) return EIO; /* never seen; without this it would be seen for ever */
        if (wrote < 0) continue;
        bytes += wrote, size -= (size_t)wrote;
        sink->written += (uint64_t)wrote;
        if (watcher) watcher(watcher_context, sink->written);
    }
    return 0;
}

/* Appends bytes to the file, unless something has failed before. */
static void append(struct sink *sink, const unsigned char *bytes, size_t size)
{
    if (sink->number) return;
    sink->number = write_all(sink, bytes, size);
    sink->stopped = sink->written;
}

static int flush(struct sink *sink)
{
    append(sink, sink->buffer, sink->used);
    sink->used = 0;
    return sink->number;
}

/* A pipe or a device may have had something before. */
static garner_status fail_write(const struct sink *sink, garner_error *error)
{
    garner_status status = fail_errno(error, sink->path, "write", sink->number);
    if (!error || !sink->patchable) return status;
    const size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, ", at offset %llu",
             (unsigned long long)sink->stopped);
    return status;
}

garner_status sink_write(struct sink *sink, const void *bytes, size_t size, garner_error *error)
{
    if (size > BUFFER - sink->used) flush(sink);
    if (size >= BUFFER) {
        append(sink, bytes, size);
    } else if (size) {
        memcpy(sink->buffer + sink->used, bytes, size);
        sink->used += size;
    }
    return sink->number ? fail_write(sink, error) : GARNER_OK;
}

int sink_is_patchable(const struct sink *sink)
{
    return sink->patchable;
}

static int write_at(struct sink *sink, uint64_t at, const unsigned char *bytes, size_t size)
{
    while (size) {
        sink->stopped = at;
        ssize_t wrote = pwrite(sink->descriptor, bytes, size, (off_t)at);
        if (wrote < 0 && errno != EINTR) return errno;
        /* uncovered: no system writes nothing */
        if (wrote == 0) return EIO;
        if (wrote < 0) continue;
        bytes += wrote, size -= (size_t)wrote, at += (uint64_t)wrote;
    }
    return 0;
}

/* What is still in the buffer is changed there. */
garner_status sink_patch(struct sink *sink, uint64_t at, const void *bytes, size_t size, garner_error *error)
{
    if (at >= sink->written && at - sink->written <= sink->used && size <= sink->used - (at - sink->written))
        memcpy(sink->buffer + (at - sink->written), bytes, size);
    else if (!flush(sink))
        sink->number = write_at(sink, at, bytes, size);
    return sink->number ? fail_write(sink, error) : GARNER_OK;
}

garner_status sink_descriptor(struct sink *sink, int *descriptor, garner_error *error)
{
    if (!sink->patchable)
        return fail_at(error, GARNER_UNSUPPORTED, sink->path,
                       "only a file can be written by several at once");
    if (flush(sink)) return fail_write(sink, error);
    *descriptor = sink->descriptor;
    return GARNER_OK;
}

/* Runs the producer into a descriptor. */
static garner_status pour(const char *path, int descriptor, int patchable, file_producer *produce,
                          void *context, garner_error *error)
{
    struct sink *sink = malloc(sizeof *sink);
    if (!sink) return fail_memory(error, path, sizeof *sink);
    sink->path = path;
    sink->descriptor = descriptor;
    sink->patchable = patchable;
    sink->number = 0;
    sink->stopped = 0;
    sink->written = 0;
    sink->used = 0;
    garner_status status = produce(context, sink, error);
    if (!status && flush(sink)) status = fail_write(sink, error);
    free(sink);
    return status;
}

/* ---- Devices and FIFOs ---- */

static garner_status write_through(const char *path, file_producer *produce, void *context,
                                   garner_error *error)
{
    struct stat about;
    int descriptor;
    do
        descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    while (descriptor < 0 && file_was_interrupted());
    if (descriptor < 0) return fail_errno(error, path, "write", errno);
    /* A regular file that came in between would be overwritten in place. */
    int number = fstat(descriptor, &about) ? errno : S_ISREG(about.st_mode) ? EEXIST : 0;
    garner_status status = number ? fail_errno(error, path, "write", number)
                                  : pour(path, descriptor, 0, produce, context, error);
    if (close(descriptor) && errno != EINTR && !status) status = fail_errno(error, path, "write", errno);
    return status;
}

/* ---- Finding the place ---- */

int file_follow_links(char *path)
{
    char link[PATH_MAX];
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t size = readlink(path, link, sizeof link - 1);
        if (size < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
        link[size] = 0;
        char *slash = link[0] == '/' ? NULL : strrchr(path, '/');
        size_t at = slash ? (size_t)(slash - path) + 1 : 0;
        if (at + (size_t)size >= PATH_MAX) return ENAMETOOLONG;
        memcpy(path + at, link, (size_t)size + 1);
    }
    return ELOOP;
}

/* ENOENT if nothing is there, and EEXIST if it is not a regular file: those alone are replaced, whatever
 * else may have come to stand there since file_save decided. */
static int look(const struct target *target, struct stat *about)
{
    if (fstatat(target->folder, target->name, about, AT_SYMLINK_NOFOLLOW)) return ENOENT;
    return S_ISREG(about->st_mode) ? 0 : EEXIST;
}

static int locate(struct target *target, const char *path)
{
    if (strlen(path) >= sizeof target->path) return ENAMETOOLONG;
    memcpy(target->path, path, strlen(path) + 1);
    int number = file_follow_links(target->path);
    if (number) return number;
    char *slash = strrchr(target->path, '/');
    target->name = slash ? slash + 1 : target->path;
    if (!*target->name) return *path ? EISDIR : ENOENT;
    if (slash == target->path) {
        target->folder = filesystem_open_folder("/");
    } else {
        if (slash) *slash = 0;
        target->folder = filesystem_open_folder(slash ? target->path : ".");
        if (slash) *slash = '/';
    }
    if (target->folder < 0) return errno;
    number = look(target, &target->old);
    if (number == EEXIST) return number;
    target->exists = number == 0;
    /* A rename would not ask whether the old file may be written. */
    if (target->exists && faccessat(target->folder, target->name, W_OK, AT_EACCESS)) return errno;
    return 0;
}

/* ---- The new content ---- */

static int random_name(char name[RANDOM_NAME])
{
    unsigned char bytes[16];
    const int number = filesystem_random(bytes, sizeof bytes);
    if (number) return number;
    int at = snprintf(name, RANDOM_NAME, ".garner-");
    for (size_t i = 0; i < sizeof bytes; i++)
        at += snprintf(name + at, RANDOM_NAME - (size_t)at, "%02x", bytes[i]);
    return 0;
}

/* A file that has a name before it is whole: this thread's, for file_abandon. */
static _Thread_local const struct target *volatile unfinished;

static void hold(const struct target *target)
{
    atomic_signal_fence(memory_order_seq_cst);
    unfinished = target;
    atomic_signal_fence(memory_order_seq_cst);
}

void file_abandon(void)
{
    const struct target *target = unfinished;
    if (target && target->temporary[0]) unlinkat(target->folder, target->temporary, 0);
}

/* The name is known to file_abandon before the file is there: no other has it. */
static int open_named(struct target *target)
{
    int number = random_name(target->temporary);
    if (!number) {
        hold(target);
        do
            target->descriptor = openat(target->folder, target->temporary,
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        while (target->descriptor < 0 && errno == EINTR);
        if (target->descriptor >= 0) return 0;
        number = errno;
        hold(NULL);
    }
    target->temporary[0] = 0;
    return number;
}

static int open_content(struct target *target)
{
    target->descriptor = filesystem_open_nameless(target->folder);
    return target->descriptor >= 0 ? 0 : open_named(target);
}

/* Restores owner and group, or the group alone: only the administrator can give a file away, others own
 * what they write. Returns 0 if not even the group is as it was. */
static int give_back(const struct target *target)
{
    return fchown(target->descriptor, target->old.st_uid, target->old.st_gid) == 0 ||
           fchown(target->descriptor, (uid_t)-1, target->old.st_gid) == 0;
}

/* The mode of the old file, or of any new one. */
static int settle_mode(const struct target *target)
{
    struct stat now;
    if (fstat(target->descriptor, &now)) return errno;
    mode_t mode = target->old.st_mode & 0777;
    if (!target->exists) {
        if (!target->temporary[0]) return 0;
        mode_t mask = umask(0077);
        umask(mask);
        mode = 0666 & ~mask;
    } else if ((now.st_uid != target->old.st_uid || now.st_gid != target->old.st_gid) && !give_back(target)) {
        mode &= ~(mode_t)070; /* they would be the rights of another group */
    }
    return (now.st_mode & 07777) != mode && fchmod(target->descriptor, mode) ? errno : 0;
}

static int settle(const struct target *target)
{
    int number = settle_mode(target);
    if (number) return number;
    return fsync(target->descriptor) && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

/* ---- Taking the name ---- */

/* Only rename replaces, and it needs a name to start from. */
static int replace(struct target *target)
{
    struct stat now;
    int number = look(target, &now);
    if (number == EEXIST) return number;
    if (!target->temporary[0]) {
        char name[RANDOM_NAME];
        number = random_name(name);
        if (!number) number = filesystem_link(target->descriptor, target->folder, name);
        if (number) return number;
        memcpy(target->temporary, name, sizeof name);
    }
    if (renameat(target->folder, target->temporary, target->folder, target->name)) return errno;
    target->temporary[0] = 0;
    return 0;
}

/* Signals wait, so that none of them ends the program between the link and the rename. */
static int publish(struct target *target)
{
    sigset_t all, before;
    sigfillset(&all);
    int masked = pthread_sigmask(SIG_BLOCK, &all, &before) == 0;
    int number = EEXIST;
    if (!target->exists && !target->temporary[0])
        number = filesystem_link(target->descriptor, target->folder, target->name);
    if (number == EEXIST) number = replace(target);
    if (number && target->temporary[0]) unlinkat(target->folder, target->temporary, 0);
    target->temporary[0] = 0;
    if (masked) pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* The file is whole whatever happens now; at worst a power failure brings the old one back. */
    if (!number) (void)fsync(target->folder);
    return number;
}

static garner_status put(struct target *target, const char *path, file_producer *produce, void *context,
                         garner_error *error)
{
    int number = open_content(target);
    if (number) return fail_errno(error, path, "write", number);
    garner_status status = pour(path, target->descriptor, 1, produce, context, error);
    if (!status) number = settle(target);
    if (!status && !number) number = publish(target);
    if (number) status = fail_errno(error, path, "write", number);
    if (target->temporary[0]) unlinkat(target->folder, target->temporary, 0);
    hold(NULL);
    close(target->descriptor);
    return status;
}

static garner_status put_in_place(const char *path, file_producer *produce, void *context,
                                  garner_error *error)
{
    struct target target = {.folder = -1, .descriptor = -1};
    int number = locate(&target, path);
    garner_status status =
        number ? fail_errno(error, path, "write", number) : put(&target, path, produce, context, error);
    if (target.folder >= 0) close(target.folder);
    return status;
}

/* The descriptor that a path in /dev names; -1: none. */
static int named_descriptor(const char *path)
{
    static const char folder[] = "/dev/fd/";
    char *end;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    if (strncmp(path, folder, sizeof folder - 1) != 0) return -1;
    path += sizeof folder - 1;
    long number = *path >= '0' && *path <= '9' ? strtol(path, &end, 10) : -1;
    return number >= 0 && number <= INT_MAX && !*end ? (int)number : -1;
}

/* 0 if the file is open as this descriptor, EBADF if not; else why nobody knows. */
static int compare_open(const struct stat *about, int descriptor)
{
    struct stat open;
    if (fstat(descriptor, &open)) return errno;
    return open.st_dev == about->st_dev && open.st_ino == about->st_ino ? 0 : EBADF;
}

/* /dev/stdout and its like may lead to a regular file that the shell has opened: that one is written to
 * where the shell stands in it, not replaced. Finds its descriptor; EBADF if there is none. */
static int find_descriptor(const char *path, const struct stat *about, int *descriptor)
{
    int number = EBADF;
    *descriptor = named_descriptor(path);
    if (*descriptor >= 0) number = compare_open(about, *descriptor);
    if (number != EBADF) return number;
    *descriptor = STDOUT_FILENO;
    return compare_open(about, *descriptor);
}

garner_status file_save(const char *path, file_producer *produce, void *context, garner_error *error)
{
    struct stat about;
    garner_status status;
    int descriptor = STDOUT_FILENO, number = 0; /* as "-" has them */
    if (strcmp(path, "-") != 0)
        number = stat(path, &about) ? errno : find_descriptor(path, &about, &descriptor);
    if (number == 0)
        status = pour(path, descriptor, 0, produce, context, error);
    else if (number == ENOENT || (number == EBADF && S_ISREG(about.st_mode)))
        status = put_in_place(path, produce, context, error);
    else if (number == EBADF)
        status = write_through(path, produce, context, error);
    else
        status = fail_errno(error, path, "write", number);
    return status ? status : succeed(error);
}
