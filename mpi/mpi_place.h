/* SPDX-License-Identifier: MIT */
/*
 * A file without a name that another process has open, as processes of one machine can find it.
 */
#ifndef GARNER_MPI_PLACE_H
#define GARNER_MPI_PLACE_H

#include <stdint.h>

struct place {
    int64_t process, descriptor, device, inode;
};

/* Where this process has a file open; descriptor -1 says that there is none. */
struct place place_of(int descriptor);

/* Opens it for writing, and returns the descriptor; -1 if it is not that very file which lies there. In
 * another container or on another machine the same numbers name another process, or none. */
int place_open(const struct place *place);

#endif
