/* SPDX-License-Identifier: MIT */
/* Messages leave in one write, so that lines of several processes do not mix. */
#define _POSIX_C_SOURCE 200809L

#include "message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

void message_print(const char *text)
{
    char shown[2048], line[sizeof shown + 16];
    int length = snprintf(line, sizeof line, "garner: %s\n", printable(shown, sizeof shown, text));
    const char *rest = line;
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, rest, (size_t)length);
        if (written <= 0) return; /* nobody is left to be told */
        rest += written;
        length -= (int)written;
    }
}
