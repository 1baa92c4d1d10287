/* SPDX-License-Identifier: MIT */
/* The library ignores what it does not understand; a person at a shell would rather know. */
#define _DEFAULT_SOURCE

#include "environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fail.h"
#include "options.h"

int environment_levels(void)
{
    garner_cpu cpu = {.size = sizeof cpu};
    int count = 0;
    garner_cpu_info(&cpu);
    while (strcmp(garner_cpu_level_name(count), cpu.detected) != 0)
        count++;
    return count + 1;
}

const char *environment_level_list(char text[ENVIRONMENT_LEVELS])
{
    const int count = environment_levels();
    size_t used = 0;
    for (int i = 0; i < count && used < ENVIRONMENT_LEVELS; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        used += (size_t)snprintf(text + used, ENVIRONMENT_LEVELS - used, "%s%s", before,
                                 garner_cpu_level_name(i));
    }
    return text;
}

/* A level that this machine lacks changes nothing in the library, so it is refused like any other word. */
static garner_status check_cpu(garner_error *error)
{
    char levels[ENVIRONMENT_LEVELS];
    const char *text = getenv("GARNER_CPU");
    if (!text || *text == '\0') return GARNER_OK;
    for (int i = 0; i < environment_levels(); i++)
        if (strcmp(text, garner_cpu_level_name(i)) == 0) return GARNER_OK;
    for (int i = 0; garner_cpu_profile_name(i); i++)
        if (strcmp(text, garner_cpu_profile_name(i)) == 0) return GARNER_OK;
    return fail(error, GARNER_BAD_ARGUMENT,
                "GARNER_CPU is '%.60s', and must be %s on this machine, or a profile that garner cpu lists",
                text, environment_level_list(levels));
}

/* Digits alone, as the library reads them: no sign, and no zero before others. */
static bool is_plain_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' && (text[0] != '0' || text[1] == '\0');
}

garner_status environment_check(garner_error *error)
{
    const char *text = getenv("GARNER_NUM_THREADS");
    int64_t number;
    if (text && *text && (!is_plain_number(text) || !options_integer(text, &number) || number > INT_MAX))
        return fail(error, GARNER_BAD_ARGUMENT, "GARNER_NUM_THREADS is '%.60s', and must be a number from 0",
                    text);
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
