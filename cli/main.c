/* SPDX-License-Identifier: MIT */
/*
 * The command garner: understands its command line, runs one command, and turns the answer into a
 * message and an exit code.
 */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "environment.h"
#include "exits.h"
#include "fail.h"
#include "help.h"
#include "message.h"
#include "ranks.h"
#include "signals.h"

static garner_status (*const run_command_of[COMMAND_COUNT])(const struct invocation *, garner_error *) = {
#define COMMAND(id, name, operands, least, most, run, summary, details) [COMMAND_##id] = run,
#include "options.def"
};

static garner_status dispatch(const struct invocation *line, garner_error *error)
{
    if (line->setting[OPTION_VERSION].given) {
        printf("garner %s\n", garner_version());
        return GARNER_OK;
    }
    if (line->command == COMMAND_NONE || line->setting[OPTION_HELP].given) {
        help_print(stdout, line->command);
        return GARNER_OK;
    }
    garner_status status = line->command == COMMAND_HELP ? GARNER_OK : environment_check(error);
    if (status == GARNER_OK && ranks_share(line)) return ranks_command(line, error);
    return status == GARNER_OK ? run_command_of[line->command](line, error) : status;
}

/* What could not be written is a failure too, and the last chance to notice it is here. */
static garner_status flush_output(garner_error *error)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return GARNER_OK;
    return fail_errno(error, "standard output", "write", errno);
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    struct invocation line;
    garner_error error = {.status = GARNER_OK};
    signals_install();
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    garner_status status = options_parse(&line, argc, argv, &error);
    if (status == GARNER_OK) status = dispatch(&line, &error);
    if (status == GARNER_OK || status == STATUS_DIFFERENT) {
        garner_status flushed = flush_output(&error);
        if (flushed != GARNER_OK) status = flushed;
    }
    /* A command that has said it all leaves no message. */
    if (status != GARNER_OK && *error.message) message_print(error.message);
    return exit_code(status);
}
