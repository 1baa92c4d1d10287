/* SPDX-License-Identifier: MIT */
/*
 * What a command is: a function that gets the command line and answers with a status and, if that is
 * not GARNER_OK, a sentence. main turns the two into an exit code and a message.
 */
#ifndef GARNER_CLI_COMMAND_H
#define GARNER_CLI_COMMAND_H

#include "options.h"

garner_status operate_command(const struct invocation *line, garner_error *error);
garner_status explain_command(const struct invocation *line, garner_error *error);
garner_status run_command(const struct invocation *line, garner_error *error);
garner_status info_command(const struct invocation *line, garner_error *error);
garner_status diff_command(const struct invocation *line, garner_error *error);
garner_status convert_command(const struct invocation *line, garner_error *error);
garner_status check_command(const struct invocation *line, garner_error *error);
garner_status bench_command(const struct invocation *line, garner_error *error);
garner_status cpu_command(const struct invocation *line, garner_error *error);
garner_status device_command(const struct invocation *line, garner_error *error);
garner_status help_command(const struct invocation *line, garner_error *error);

#endif
