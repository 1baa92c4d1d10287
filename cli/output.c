/* SPDX-License-Identifier: MIT */
/* What is a terminal and what is not decides how results look. */
#define _POSIX_C_SOURCE 200809L

#include "output.h"

#include <unistd.h>

#include "progress.h"

struct print_style output_style(const struct invocation *line)
{
    enum print_format format = (enum print_format)line->setting[OPTION_FORMAT].number;
    bool terminal = isatty(STDOUT_FILENO), verbose = line->setting[OPTION_VERBOSE].given;
    return (struct print_style){
        .format = format,
        .header = terminal || verbose,
        .shorten = terminal && !verbose && format == PRINT_TEXT,
    };
}

static void show_progress(void *context, size_t done, size_t count)
{
    progress_step(context, done, count);
}

garner_status output_tensor(const garner_tensor *t, const struct print_style *style, garner_error *error)
{
    struct progress progress;
    struct print_style watched = *style;
    (void)progress_begin(&progress, (garner_exec){0});
    watched.watch = isatty(STDOUT_FILENO) ? NULL : show_progress;
    watched.context = &progress;
    garner_status status = print_tensor(stdout, t, &watched, error);
    progress_end(&progress);
    return status;
}
