/* SPDX-License-Identifier: MIT */
/* The library ignores what it does not understand; a person at a shell would rather know. */
#define _DEFAULT_SOURCE

#include "environment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fail.h"
#include "options.h"

static garner_status check_cpu(garner_error *error)
{
    static const char *const names[] = {"", "scalar", "avx2", "avx512"};
    const char *text = getenv("GARNER_CPU");
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) return GARNER_OK;
    if (!text) return GARNER_OK;
    return fail(error, GARNER_BAD_ARGUMENT, "GARNER_CPU is '%.60s', and must be scalar, avx2 or avx512",
                text);
}

garner_status environment_check(int *threads, garner_error *error)
{
    const char *text = getenv("GARNER_NUM_THREADS");
    int64_t number = 0;
    *threads = 0;
    if (text && *text && (!options_integer(text, &number) || number < 0 || number > INT_MAX))
        return fail(error, GARNER_BAD_ARGUMENT, "GARNER_NUM_THREADS is '%.60s', and must be a number from 0",
                    text);
    *threads = (int)number;
    return check_cpu(error);
}

bool environment_wants_colour(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && terminal && strcmp(terminal, "dumb") != 0;
}

int environment_width(void)
{
    struct winsize size;
    int64_t columns;
    const char *text = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return text && options_integer(text, &columns) && columns > 0 && columns < 10000 ? (int)columns : 80;
}
