/* SPDX-License-Identifier: MIT */
/* A list of files by name, and one that is being written. */
#include "memory_file.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "file.h"
#include "open_beneath.h"
#include "region.h"

struct memory_file {
    struct memory_file *next;
    void *bytes;
    size_t size;
    char name[];
};

static struct memory_file *files;

static struct memory_file *find(const char *name, size_t length)
{
    struct memory_file *file = files;
    while (file && (strlen(file->name) != length || memcmp(file->name, name, length) != 0))
        file = file->next;
    return file;
}

int memory_file_add(const char *name, void *bytes, size_t size)
{
    size_t length = strlen(name);
    struct memory_file *file = find(name, length);
    if (!file) {
        file = malloc(sizeof *file + length + 1);
        if (!file) {
            free(bytes);
            return 0;
        }
        memcpy(file->name, name, length + 1);
        file->bytes = NULL;
        file->next = files;
        files = file;
    }
    free(file->bytes);
    file->bytes = bytes;
    file->size = size;
    return 1;
}

const void *memory_file_find(const char *name, size_t length, size_t *size)
{
    const struct memory_file *file = find(name, length);
    *size = file ? file->size : 0;
    return file ? file->bytes : NULL;
}

/* ---- Reading: region.h, open_beneath.h, file.h ---- */

void region_unmap(void *mapping, size_t size)
{
    (void)size;
    free(mapping);
}

/* A copy, which whoever asked for it keeps for as long as he likes. */
garner_status open_beneath_map(const char *owner, const char *name, size_t size, int follow_links,
                               void **mapping, size_t *mapping_size, garner_error *error)
{
    (void)follow_links;
    const void *bytes = memory_file_find(name, size, mapping_size);
    *mapping = NULL;
    if (!bytes)
        return fail_at(error, GARNER_BAD_FILE, owner,
                       "needs the file '%.*s' beside it: drop both on the page, together",
                       size < 100 ? (int)size : 100, name);
    if (*mapping_size == 0) return GARNER_OK;
    *mapping = malloc(*mapping_size);
    if (!*mapping) return fail_memory(error, owner, *mapping_size);
    memcpy(*mapping, bytes, *mapping_size);
    return GARNER_OK;
}

garner_status file_open(struct file *file, const char *path, garner_error *error)
{
    *file = (struct file){.path = path, .descriptor = -1};
    return fail_at(error, GARNER_UNSUPPORTED, path, "a page has no files but those that are dropped on it");
}

garner_status file_open_unmapped(struct file *file, const char *path, garner_error *error)
{
    return file_open(file, path, error);
}

garner_status file_fetch(struct file *file, uint64_t size, garner_error *error)
{
    (void)file, (void)size, (void)error;
    return GARNER_OK;
}

garner_status file_fetch_to_end(struct file *file, uint64_t most, garner_error *error)
{
    return file_fetch(file, most, error);
}

uint64_t file_rest(const struct file *file)
{
    (void)file;
    return 0;
}

struct region *file_share(struct file *file)
{
    (void)file;
    return NULL;
}

void file_close(struct file *file)
{
    *file = (struct file){.path = file->path, .descriptor = -1};
}

/* ---- Writing: file.h ---- */

struct sink {
    unsigned char *bytes;
    size_t size, capacity;
};

static struct sink saved;

garner_status sink_write(struct sink *sink, const void *bytes, size_t size, garner_error *error)
{
    if (size > sink->capacity - sink->size) {
        size_t capacity = sink->capacity * 2 + size + 4096;
        void *larger = capacity < size ? NULL : realloc(sink->bytes, capacity);
        if (!larger) return fail_memory(error, "the file", size);
        sink->bytes = larger;
        sink->capacity = capacity;
    }
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
    return GARNER_OK;
}

int sink_is_patchable(const struct sink *sink)
{
    (void)sink;
    return 1;
}

garner_status sink_patch(struct sink *sink, uint64_t at, const void *bytes, size_t size, garner_error *error)
{
    (void)error;
    memcpy(sink->bytes + at, bytes, size);
    return GARNER_OK;
}

garner_status file_save(const char *path, file_producer *produce, void *context, garner_error *error)
{
    (void)path;
    free(saved.bytes);
    saved = (struct sink){.bytes = NULL};
    return produce(context, &saved, error);
}

void *memory_file_take(size_t *size)
{
    void *bytes = saved.bytes;
    *size = saved.size;
    saved = (struct sink){.bytes = NULL};
    return bytes;
}
