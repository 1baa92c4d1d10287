/* SPDX-License-Identifier: MIT */
/*
 * A line for each command and each option. Files are fish's own answer, so they are turned off where they
 * cannot stand.
 */
#include "complete.h"

static const char special[] = "\\";

static void print_text(FILE *out, const char *text)
{
    fputs(" -d '", out);
    complete_clause(out, text, special);
    fputs("'\n", out);
}

/* The commands that take an option, or nothing where all do. */
static void print_condition(FILE *out, enum option_id option)
{
    bool all = true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        all = all && complete_takes((enum command_id)i, option);
    if (all) return;
    if (options[option].commands == 0) {
        fputs(" -n __fish_use_subcommand", out);
        return;
    }
    fputs(" -n '__fish_seen_subcommand_from", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (complete_takes((enum command_id)i, option)) fprintf(out, " %s", commands[i].name);
    fputs("'", out);
}

static void print_option(FILE *out, enum option_id option)
{
    const struct option *o = &options[option];
    fputs("complete -c garner", out);
    print_condition(out, option);
    if (o->letter) fprintf(out, " -s %c", o->letter);
    fprintf(out, " -l %s", o->name);
    switch (complete_value(option)) {
    case WITH_FILES:
        fputs(" -r -F", out);
        break;
    case WITH_FOLDERS:
        fputs(" -x -a '(__fish_complete_directories)'", out);
        break;
    case WITH_WORDS:
        fputs(" -x -a '", out);
        complete_words(out, option, " ");
        fputs("'", out);
        break;
    default:
        if (o->reader != READ_FLAG) fputs(" -x", out);
    }
    print_text(out, o->help);
}

static void print_operands(FILE *out, enum command_id command)
{
    enum complete_with with = complete_operands(command);
    if (with == WITH_FILES) return;
    fprintf(out, "complete -c garner -n '__fish_seen_subcommand_from %s'", commands[command].name);
    if (with != WITH_OPERATORS) fputs(" -f", out);
    if (with != WITH_NOTHING) fputs(" -a '", out);
    if (with == WITH_COMMANDS) complete_commands(out, " ");
    if (with == WITH_OPERATORS) complete_operators(out, " ");
    fputs(with != WITH_NOTHING ? "'\n" : "\n", out);
}

void complete_fish(FILE *out)
{
    fputs("# fish completion for garner, written by: garner help --completion fish\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "complete -c garner -n __fish_use_subcommand -f -a %s", commands[i].name);
        print_text(out, commands[i].summary);
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_operands(out, (enum command_id)i);
    for (int i = 0; i < OPTION_COUNT; i++)
        print_option(out, (enum option_id)i);
}
