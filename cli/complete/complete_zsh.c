/* SPDX-License-Identifier: MIT */
/*
 * One _arguments for each command; zsh takes '[', ']', ':' and '\' in explanations for its own.
 */
#include "complete.h"

static const char special[] = "[]:\\";

static void print_kind(FILE *out, enum complete_with with, enum option_id option)
{
    switch (with) {
    case WITH_WORDS:
        fputs("(", out);
        complete_words(out, option, " ");
        fputs(")", out);
        break;
    case WITH_FILES:
        fputs("_files", out);
        break;
    case WITH_FOLDERS:
        fputs("_files -/", out);
        break;
    case WITH_COMMANDS:
        fputs("(", out);
        complete_commands(out, " ");
        fputs(")", out);
        break;
    default:
        fputs(" ", out);
        break;
    }
}

/* '(-o --out)'{-o,--out}'[write the result]:FILE:_files' */
static void print_option(FILE *out, enum option_id option)
{
    const struct option *o = &options[option];
    fputs(" \\\n            ", out);
    if (o->letter)
        fprintf(out, "'*'{-%c,--%s%s}'[", o->letter, o->name, o->reader == READ_FLAG ? "" : "=");
    else
        fprintf(out, "'--%s%s[", o->name, o->reader == READ_FLAG ? "" : "=");
    complete_clause(out, o->help, special);
    fputs("]", out);
    if (o->reader != READ_FLAG) {
        fprintf(out, ":%s:", o->name);
        print_kind(out, complete_value(option), option);
    }
    fputs("'", out);
}

static void print_command(FILE *out, enum command_id command)
{
    enum complete_with with = complete_operands(command);
    fprintf(out, "        (%s)\n            _arguments", commands[command].name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (complete_takes(command, (enum option_id)i)) print_option(out, (enum option_id)i);
    if (with == WITH_OPERATORS) {
        fputs(" \\\n            '1:operator:_garner_operators' '*:file:_files'", out);
    } else if (with != WITH_NOTHING) {
        fprintf(out, " \\\n            '*:%s:", with == WITH_FILES ? "file" : "command");
        print_kind(out, with, OPTION_COUNT);
        fputs("'", out);
    }
    fputs("\n            ;;\n", out);
}

void complete_zsh(FILE *out)
{
    fputs("#compdef garner\n# zsh completion for garner, written by: garner help --completion zsh\n"
          "_garner_operators()\n{\n    _alternative 'operators:operator:(",
          out);
    complete_operators(out, " ");
    fputs(")' 'files:file:_files'\n}\n\n_garner()\n{\n    local curcontext=$curcontext state line\n"
          "    local -a commands\n    commands=(\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "        '%s:", commands[i].name);
        complete_clause(out, commands[i].summary, special);
        fputs("'\n", out);
    }
    fputs("    )\n    _arguments -C '--help[explain the command]' '--version[print the version]' \\\n"
          "        '1:command:->command' '*::argument:->argument'\n    case $state in\n"
          "    (command) _describe command commands ;;\n    (argument)\n        case ${words[1]//_/-} in\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_command(out, (enum command_id)i);
    fputs("        esac\n        ;;\n    esac\n}\n\n"
          "if [[ $funcstack[1] == _garner ]]; then _garner \"$@\"; else compdef _garner garner; fi\n",
          out);
}
