/* SPDX-License-Identifier: MIT */
/* Linux lists the mappings of a process in /proc/self/maps, one in a line:
 *
 *     7f0000000000-7f0000400000 r--s 00001000 08:01 1234   /path/of/the/file
 *
 * from, to, rights, offset in the file, device and number of the file, and its path. */
#define _POSIX_C_SOURCE 200809L

#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Characters of a file, one at a time. */
struct characters {
    int descriptor;
    ssize_t used, size;
    char bytes[1024];
};

/* -1 at the end. */
static int next(struct characters *c)
{
    if (c->used == c->size) {
        c->used = 0;
        do
            c->size = read(c->descriptor, c->bytes, sizeof c->bytes);
        while (c->size < 0 && errno == EINTR);
        if (c->size <= 0) c->size = 0;
    }
    return c->used < c->size ? (unsigned char)c->bytes[c->used++] : -1;
}

/* Reads a hexadecimal number and the character behind it. */
static uint64_t next_number(struct characters *c)
{
    uint64_t number = 0;
    for (;;) {
        const int digit = next(c);
        if (digit >= '0' && digit <= '9')
            number = number << 4 | (uint64_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            number = number << 4 | (uint64_t)(digit - 'a' + 10);
        else
            return number;
    }
}

/* Skips device and number; the first character of the path, or the end of the line. */
static int skip_to_path(struct characters *c)
{
    int character = next(c);
    for (int words = 0; words < 2; words++) {
        while (character > ' ')
            character = next(c);
        while (character == ' ')
            character = next(c);
    }
    return character;
}

static void take_path(struct mapped_file *file, struct characters *c, int character)
{
    for (file->size = 0; character >= 0 && character != '\n'; character = next(c))
        if (file->size < sizeof file->path)
            file->path[file->size++] = (char)(character >= ' ' && character < 0x7f ? character : '?');
}

static bool find_line(struct mapped_file *file, struct characters *c, uint64_t address)
{
    for (;;) {
        const uint64_t begin = next_number(c), end = next_number(c);
        while (next(c) > ' ') /* the rights */
            ;
        file->offset = next_number(c) + (address - begin);
        int character = skip_to_path(c);
        if (begin <= address && address < end) {
            take_path(file, c, character);
            return file->size > 0 && file->path[0] == '/';
        }
        while (character >= 0 && character != '\n')
            character = next(c);
        if (character < 0) return false;
    }
}

bool mapped_file_find(struct mapped_file *file, const void *address)
{
    struct characters c = {.descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (c.descriptor < 0) return false;
    const bool found = find_line(file, &c, (uint64_t)(uintptr_t)address);
    close(c.descriptor);
    return found;
}
