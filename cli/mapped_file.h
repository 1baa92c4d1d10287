/* SPDX-License-Identifier: MIT */
/* Which file is mapped at an address, for a signal handler: nothing here allocates or locks. */
#ifndef GARNER_CLI_MAPPED_FILE_H
#define GARNER_CLI_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
    uint64_t offset; /* of the address within the file */
    size_t size;     /* of the path, which is cut off where it is too long */
    char path[1024]; /* from the root; what is no printable ASCII is a question mark */
};

/* False: none is, or this system does not tell. */
bool mapped_file_find(struct mapped_file *file, const void *address);

#endif
