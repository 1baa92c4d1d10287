/* SPDX-License-Identifier: MIT */
/* Messages leave in one write, so that lines of several processes do not mix. */
#define _POSIX_C_SOURCE 200809L

#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

static const char opening[] = "garner: ";
enum { OPENING = sizeof opening - 1 };

static void write_whole(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, line, length);
        if (written <= 0) return; /* nobody is left to be told */
        line += written;
        length -= (size_t)written;
    }
}

/* A text too long for the memory there is loses its beginning. */
void message_print(const char *text)
{
    char few[2048];
    size_t size = OPENING + 4 * strlen(text) + 2; /* were every byte escaped */
    char *enough = size > sizeof few ? malloc(size) : NULL, *line = enough ? enough : few;
    if (!enough) size = sizeof few;
    memcpy(line, opening, OPENING);
    printable(line + OPENING, size - OPENING - 1, text);
    size_t length = strlen(line);
    line[length] = '\n';
    write_whole(line, length + 1);
    free(enough);
}
