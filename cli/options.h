/* SPDX-License-Identifier: MIT */
/*
 * The command line as it was understood. The table behind it is options.def.
 */
#ifndef GARNER_CLI_OPTIONS_H
#define GARNER_CLI_OPTIONS_H

#include <stdbool.h>

#include "garner.h"

enum command_id {
#define COMMAND(id, name, operands, least, most, run, summary, details) COMMAND_##id,
#include "options.def"
    COMMAND_COUNT,
    COMMAND_NONE = COMMAND_COUNT
};

enum option_id {
#define OPTION(id, letter, name, value, reader, commands, help) OPTION_##id,
#include "options.def"
    OPTION_COUNT
};

/* One option as given. */
struct setting {
    bool given;
    const char *text;
    int64_t number; /* of INTEGER, AXIS, COUNT and SIZE; of WORD, which word it is; of DEVICE, 0 for the CPU,
                     * 1 for the first GPU, ... */
};

struct invocation {
    enum command_id command;
    struct setting setting[OPTION_COUNT];
    char **operands;
    int operand_count;
    char **outs; /* what each --out was given, in no order; its setting holds the last */
    int out_count;
};

struct command {
    const char *name, *operands;
    int least, most;
    const char *summary, *details;
};

enum reader { READ_FLAG, READ_TEXT, READ_INTEGER, READ_AXIS, READ_COUNT, READ_SIZE, READ_DEVICE, READ_WORD };

struct option {
    char letter;
    const char *name, *value;
    enum reader reader;
    unsigned commands; /* bit i: command i takes it */
    const char *help;
};

struct example {
    enum command_id command;
    const char *line, *prints; /* prints: NULL for nothing */
};

extern const struct command commands[COMMAND_COUNT];
extern const struct option options[OPTION_COUNT];
extern const struct example examples[];
extern const size_t example_count;

/*
 * Understands a command line. Options stand anywhere, also before the command; "--" ends them; words take
 * '-' or '_'; -1, -.5 and -inf are operands. GARNER_BAD_ARGUMENT says what is wrong and, where something
 * similar exists, what was probably meant. Reorders argv: operands move to its front.
 */
garner_status options_parse(struct invocation *line, int argc, char **argv, garner_error *error);

/* The command of that name, or COMMAND_NONE with a message. */
garner_status options_command(enum command_id *command, const char *name, garner_error *error);

/* Whether two words are the same but for '-' and '_'. */
bool options_same_word(const char *a, const char *b);

/* A decimal integer and nothing else. */
bool options_integer(const char *text, int64_t *number);

#endif
