/* SPDX-License-Identifier: MIT */
/*
 * The kernel is asked to resolve the name beneath a folder and without links, in one call where it can.
 * Opening never waits (a FIFO would), and nothing is read before the descriptor is known to be a regular
 * file.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"
#include "filesystem.h"
#include "region.h"

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

enum {
    OPEN_FILE = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
    OPEN_FOLDER = O_PATH | O_CLOEXEC | O_DIRECTORY,
    LONGEST_NAME = 4096,
    MOST_TRIES = 50 /* half a second */
};

/* ---- Names ---- */

static const char *wrong_with(const char *name, size_t size)
{
    if (size == 0) return "is empty";
    if (memchr(name, 0, size)) return "has a zero byte";
    if (name[0] == '/') return "is absolute";
    for (size_t at = 0; at < size;) {
        const char *slash = memchr(name + at, '/', size - at);
        size_t end = slash ? (size_t)(slash - name) : size;
        if (end - at == 2 && memcmp(name + at, "..", 2) == 0) return "has a component '..'";
        at = end + 1;
    }
    return NULL;
}

/* ---- Opening ---- */

/* Whether to try to open once more. EAGAIN is for the kernel a path that was changed just then, or a file
 * that another process has a lease of, which it is asked to give back: that takes a moment, or, if it does
 * not answer, most of a minute, which nobody waits for here. */
static int again(int *tries)
{
    static const struct timespec moment = {.tv_nsec = 10000000};
    if (errno == EINTR) return 1;
    if (errno != EAGAIN || ++*tries == MOST_TRIES) return 0;
    nanosleep(&moment, NULL);
    return 1;
}

int open_beneath_at_once(int folder, const char *name)
{
    int descriptor, tries = 0;
    do
        descriptor = filesystem_open_beneath(folder, name, OPEN_FILE);
    while (descriptor < 0 && again(&tries));
    return descriptor;
}

static int open_component(int folder, const char *name, int last)
{
    int descriptor, tries = 0;
    do
        descriptor = openat(folder, name, (last ? OPEN_FILE : OPEN_FOLDER) | O_NOFOLLOW);
    while (descriptor < 0 && again(&tries));
    /* What is no folder may be a link to one. */
    if (descriptor < 0 && errno == ENOTDIR && !last) {
        struct stat about;
        int link = fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
        errno = link ? ELOOP : ENOTDIR;
    }
    return descriptor;
}

int open_beneath_walking(int folder, const char *name)
{
    char component[LONGEST_NAME];
    int here = folder;
    for (;;) {
        name += strspn(name, "/");
        size_t length = strcspn(name, "/");
        if (length >= sizeof component || (length == 2 && memcmp(name, "..", 2) == 0)) {
            if (here != folder) close(here);
            errno = EINVAL;
            return -1;
        }
        memcpy(component, length ? name : ".", length ? length : 1);
        component[length ? length : 1] = '\0';
        name += length;
        int last = *name == '\0';
        int next = open_component(here, component, last);
        int number = errno;
        if (here != folder) close(here);
        errno = number;
        if (next < 0 || last) return next;
        here = next;
    }
}

/* The folder that a path lies in. */
static int open_folder(const char *owner)
{
    const char *slash = strrchr(owner, '/');
    if (!slash) return open(".", OPEN_FOLDER);
    if (slash == owner) return open("/", OPEN_FOLDER);
    size_t length = (size_t)(slash - owner);
    char *folder = malloc(length + 1);
    if (!folder) return -1;
    memcpy(folder, owner, length);
    folder[length] = '\0';
    int descriptor = open(folder, OPEN_FOLDER);
    int number = errno;
    free(folder);
    errno = number;
    return descriptor;
}

static int open_file(int folder, const char *name, int follow_links)
{
    int descriptor, tries = 0;
    if (follow_links) {
        do
            descriptor = openat(folder, name, OPEN_FILE);
        while (descriptor < 0 && again(&tries));
        return descriptor;
    }
    descriptor = open_beneath_at_once(folder, name);
    /* Sandboxes forbid calls that they do not know. */
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL))
        descriptor = open_beneath_walking(folder, name);
    return descriptor;
}

/* ---- Checking and mapping ---- */

struct request {
    const char *owner;
    char name[LONGEST_NAME];
    int follow_links;
    garner_error *error;
};

static garner_status refuse(const struct request *r, const char *what)
{
    char shown[128];
    return fail_at(r->error, GARNER_BAD_FILE, r->owner, "external data '%s' %s",
                   printable(shown, sizeof shown, r->name), what);
}

static garner_status open_failed(const struct request *r, int number)
{
    char shown[128], what[160];
    if (number == ELOOP || number == EXDEV)
        return refuse(r, r->follow_links ? "is a loop of links"
                                         : "is a symbolic link or lies behind one; --follow-links allows it");
    if (number == ENXIO) return refuse(r, "is no regular file");
    snprintf(what, sizeof what, "open external data '%s'", printable(shown, sizeof shown, r->name));
    return fail_errno(r->error, r->owner, what, number);
}

static garner_status check(const struct request *r, const struct stat *about)
{
    if (S_ISDIR(about->st_mode)) return refuse(r, "is a folder");
    if (!S_ISREG(about->st_mode)) return refuse(r, "is no regular file");
    if (about->st_nlink > 1 && !r->follow_links)
        return refuse(r, "has several hard links; --follow-links allows it");
    /* uncovered: only on 32-bit machines, which tests/cross has */
    if (about->st_size < 0 || (uint64_t)about->st_size > SIZE_MAX)
        return refuse(r, "is too large for this machine");
    return GARNER_OK;
}

static garner_status open_checked(const struct request *r, int *descriptor, uint64_t *bytes)
{
    struct stat about;
    int folder = open_folder(r->owner);
    if (folder < 0) return fail_errno(r->error, r->owner, "open the folder", errno);
    *descriptor = open_file(folder, r->name, r->follow_links);
    int number = errno;
    close(folder);
    if (*descriptor < 0) return open_failed(r, number);
    garner_status status = fstat(*descriptor, &about) ? open_failed(r, errno) : check(r, &about);
    *bytes = status ? 0 : (uint64_t)about.st_size;
    if (!status) return GARNER_OK;
    close(*descriptor);
    *descriptor = -1;
    return status;
}

/* A copy of the name is checked, and opened: it may lie in a file that another process writes to. */
static garner_status take_name(struct request *request, const char *name, size_t size)
{
    size_t shown = size < LONGEST_NAME ? size : LONGEST_NAME - 1;
    if (shown) memcpy(request->name, name, shown);
    const char *wrong = size > shown ? "is too long" : wrong_with(request->name, size);
    for (size_t i = 0; i < shown; i++)
        if (!request->name[i]) request->name[i] = '?';
    return wrong ? refuse(request, wrong) : GARNER_OK;
}

garner_status open_beneath_open(const char *owner, const char *name, size_t size, int follow_links,
                                int *descriptor, garner_error *error)
{
    uint64_t bytes;
    struct request request = {.owner = owner, .follow_links = follow_links, .error = error};
    *descriptor = -1;
    garner_status status = take_name(&request, name, size);
    return status ? status : open_checked(&request, descriptor, &bytes);
}

garner_status open_beneath_map(const char *owner, const char *name, size_t size, int follow_links,
                               void **mapping, size_t *mapping_size, garner_error *error)
{
    int descriptor = -1;
    uint64_t bytes = 0;
    struct request request = {.owner = owner, .follow_links = follow_links, .error = error};
    *mapping = NULL;
    *mapping_size = 0;
    garner_status status = take_name(&request, name, size);
    if (!status) status = open_checked(&request, &descriptor, &bytes);
    if (status) return status;
    if (bytes) *mapping = region_map(descriptor, (size_t)bytes);
    if (*mapping) *mapping_size = (size_t)bytes;
    if (bytes && !*mapping) status = open_failed(&request, errno);
    close(descriptor);
    return status;
}
