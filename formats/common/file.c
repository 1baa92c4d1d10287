/* SPDX-License-Identifier: MIT */
/* Reading files: mapped where they can be, otherwise read as far as asked. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "region.h"

enum { FIRST_CAPACITY = 4096, LARGEST_READ = 1 << 30 };

int (*file_gives_up)(void);

int file_was_interrupted(void)
{
    if (errno != EINTR) return 0;
    const int again = !file_gives_up || !file_gives_up();
    errno = EINTR;
    return again;
}

static int is_standard_input(const struct file *file)
{
    return strcmp(file->path, "-") == 0;
}

static void close_descriptor(struct file *file)
{
    if (file->descriptor >= 0 && !is_standard_input(file)) close(file->descriptor);
    file->descriptor = -1;
}

/* Maps a regular file that has a size (those in /proc have none) and is done with the descriptor. A
 * file system that cannot map leaves the file to be read. */
static void map(struct file *file, const struct stat *about)
{
    /* uncovered: only on 32-bit machines, which tests/cross has */
    if (!S_ISREG(about->st_mode) || about->st_size <= 0 || (uint64_t)about->st_size > SIZE_MAX) return;
    size_t size = (size_t)about->st_size;
    void *mapping = region_map(file->descriptor, size);
    if (mapping == NULL) return;
    file->mapping = mapping;
    file->bytes = mapping;
    file->mapping_size = size;
    file->size = size;
    close_descriptor(file);
}

static garner_status open_path(struct file *file, const char *path, int mapped, garner_error *error)
{
    struct stat about;
    *file = (struct file){.path = path, .descriptor = STDIN_FILENO};
    if (is_standard_input(file)) return succeed(error);

    do
        file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (file->descriptor < 0 && file_was_interrupted());
    if (file->descriptor < 0) return fail_errno(error, path, "open", errno);
    int number = fstat(file->descriptor, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (number) {
        close_descriptor(file);
        return fail_errno(error, path, "read", number);
    }
    if (mapped) map(file, &about);
    return succeed(error);
}

garner_status file_open(struct file *file, const char *path, garner_error *error)
{
    return open_path(file, path, 1, error);
}

garner_status file_open_unmapped(struct file *file, const char *path, garner_error *error)
{
    return open_path(file, path, 0, error);
}

/* Room for more bytes, at most twice what has arrived and never more than is asked for. */
static garner_status grow(struct file *file, uint64_t wanted, garner_error *error)
{
    uint64_t capacity = (uint64_t)file->capacity * 2;
    if (capacity < FIRST_CAPACITY) capacity = FIRST_CAPACITY;
    if (capacity > wanted) capacity = wanted;
    /* uncovered: only on 32-bit machines, which tests/cross has */
    void *memory = capacity > SIZE_MAX ? NULL : realloc(file->memory, (size_t)capacity);
    if (!memory) return fail_memory(error, file->path, capacity);
    file->memory = memory;
    file->bytes = memory;
    file->capacity = (size_t)capacity;
    return GARNER_OK;
}

static garner_status read_some(struct file *file, uint64_t wanted, garner_error *error)
{
    uint64_t room = file->capacity - file->size;
    if (room > wanted - file->size) room = wanted - file->size;
    if (room > LARGEST_READ) room = LARGEST_READ;
    ssize_t got = read(file->descriptor, (unsigned char *)file->memory + file->size, (size_t)room);
    if (got < 0 && !file_was_interrupted()) return fail_errno(error, file->path, "read", errno);
    if (got > 0) file->size += (uint64_t)got;
    if (got == 0) close_descriptor(file);
    return GARNER_OK;
}

garner_status file_fetch(struct file *file, uint64_t size, garner_error *error)
{
    garner_status status = GARNER_OK;
    while (!status && file->descriptor >= 0 && file->size < size) {
        if (file->size == file->capacity) status = grow(file, size, error);
        if (!status) status = read_some(file, size, error);
    }
    return status;
}

garner_status file_fetch_to_end(struct file *file, uint64_t most, garner_error *error)
{
    struct stat about;
    if (file->descriptor >= 0 && fstat(file->descriptor, &about) == 0 && S_ISCHR(about.st_mode))
        return fail_at(error, GARNER_BAD_FILE, file->path,
                       "is a device, which may have no end; this format is read from files and pipes");
    return file_fetch(file, most, error);
}

uint64_t file_rest(const struct file *file)
{
    struct stat about;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) || !S_ISREG(about.st_mode)) return 0;
    off_t at = lseek(file->descriptor, 0, SEEK_CUR);
    return at < 0 || at >= about.st_size ? 0 : (uint64_t)(about.st_size - at);
}

struct region *file_share(struct file *file)
{
    struct region *region = region_create(file->memory, file->mapping, file->mapping_size);
    if (region) file->memory = file->mapping = NULL;
    return region;
}

void file_close(struct file *file)
{
    close_descriptor(file);
    free(file->memory);
    if (file->mapping) region_unmap(file->mapping, file->mapping_size);
    *file = (struct file){.path = file->path, .descriptor = -1};
}
