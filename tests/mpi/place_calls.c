/* SPDX-License-Identifier: MIT */
/*
 * A file is opened through another process's descriptor only if it is that file: the numbers of a process and
 * of its descriptor may mean another file where they are read. Exits with the line of what went wrong.
 */
#define _GNU_SOURCE

#include "mpi_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define EXPECT(holds) \
    if (!(holds)) return fprintf(stderr, "line %d: %s\n", __LINE__, #holds), 1

static int opens(const struct place *place)
{
    int file = place_open(place);
    if (file >= 0) close(file);
    return file >= 0;
}

int main(void)
{
    int ends[2], file = open("ours", O_CREAT | O_RDWR, 0600), other = open("foreign", O_CREAT | O_RDWR, 0600);
    EXPECT(file >= 0 && other >= 0 && pipe(ends) == 0);
    struct place place = place_of(file), none = place_of(-1);
    EXPECT(unlink("ours") == 0);
    EXPECT(opens(&place));
    EXPECT(none.descriptor == -1 && !opens(&none));
    EXPECT(dup2(other, file) == file && !opens(&place));
    EXPECT(dup2(ends[1], file) == file && !opens(&place));
    EXPECT(close(file) == 0 && !opens(&place));
    return 0;
}
