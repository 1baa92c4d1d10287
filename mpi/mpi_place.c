/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "mpi_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct place place_of(int descriptor)
{
    struct place place = {getpid(), descriptor, -1, -1};
    struct stat about;
    if (descriptor < 0 || fstat(descriptor, &about) != 0) return place; /* which nobody opens */
    place.device = (int64_t)about.st_dev, place.inode = (int64_t)about.st_ino;
    return place;
}

static int is_it(const struct place *place, const struct stat *about)
{
    return S_ISREG(about->st_mode) && (int64_t)about->st_dev == place->device &&
           (int64_t)about->st_ino == place->inode;
}

int place_open(const struct place *place)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)place->process,
             (long long)place->descriptor);
    if (stat(path, &about) != 0 || !is_it(place, &about)) return -1; /* to open a pipe would wait */
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &about) == 0 && is_it(place, &about)) return file;
    close(file);
    return -1;
}
