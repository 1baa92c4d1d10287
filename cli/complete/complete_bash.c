/* SPDX-License-Identifier: MIT */
/*
 * Bash cuts words at '=' and ':', so --oob=zero comes as three of them.
 */
#include "complete.h"

static const char opening[] =
    "# bash completion for garner, written by: garner help --completion bash\n"
    "_garner_files()\n"
    "{\n"
    "    local IFS=$'\\n'\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    COMPREPLY=($(compgen \"$1\" -- \"$2\"))\n"
    "}\n"
    "\n"
    "_garner()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= operands=0 i\n"
    "    COMPREPLY=()\n"
    "    if [[ $word == '=' ]]; then\n"
    "        word=\n"
    "    elif [[ $before == '=' ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n";

static void print_names(FILE *out, const struct option *option)
{
    if (option->letter) fprintf(out, "-%c|", option->letter);
    fprintf(out, "--%s", option->name);
}

/* Finds the command, and how many operands it has already: what follows an option that takes a value is
 * neither. */
static void print_search(FILE *out)
{
    bool first = true;
    fputs("    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in\n        ", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options[i].reader != READ_FLAG) {
            fputs(first ? "" : "|", out);
            print_names(out, &options[i]);
            first = false;
        }
    fputs(")\n"
          "            [[ ${COMP_WORDS[i+1]} == '=' ]] && ((i++))\n"
          "            ((i++))\n"
          "            ;;\n"
          "        -*) ;;\n"
          "        *) if [[ $command ]]; then ((operands++)); else command=${COMP_WORDS[i]//_/-}; fi ;;\n"
          "        esac\n"
          "    done\n",
          out);
}

static void print_value(FILE *out, enum option_id option)
{
    fputs("    ", out);
    print_names(out, &options[option]);
    fputs(") ", out);
    switch (complete_value(option)) {
    case WITH_WORDS:
        fputs("COMPREPLY=($(compgen -W '", out);
        complete_words(out, option, " ");
        fputs("' -- \"$word\")); ", out);
        break;
    case WITH_FILES:
        fputs("_garner_files -f \"$word\"; ", out);
        break;
    case WITH_FOLDERS:
        fputs("_garner_files -d \"$word\"; ", out);
        break;
    default:
        break;
    }
    fputs("return ;;\n", out);
}

static void print_option_names(FILE *out, enum command_id command)
{
    bool first = true;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (complete_takes(command, (enum option_id)i)) {
            fprintf(out, "%s--%s", first ? "" : " ", options[i].name);
            first = false;
        }
}

static void print_operands(FILE *out, enum command_id command)
{
    enum complete_with with = complete_operands(command);
    fprintf(out, "    %s) ", commands[command].name);
    if (with == WITH_OPERATORS) fputs("((operands)) || COMPREPLY=($(compgen -W '", out);
    if (with == WITH_COMMANDS) fputs("COMPREPLY=($(compgen -W '", out);
    if (with == WITH_OPERATORS) complete_operators(out, " ");
    if (with == WITH_COMMANDS) complete_commands(out, " ");
    if (with == WITH_OPERATORS || with == WITH_COMMANDS) fputs("' -- \"$word\")); ", out);
    if (with == WITH_OPERATORS) fputs("[[ $COMPREPLY ]] || ", out);
    if (with == WITH_OPERATORS || with == WITH_FILES) fputs("_garner_files -f \"$word\" ", out);
    fputs(";;\n", out);
}

void complete_bash(FILE *out)
{
    fputs(opening, out);
    print_search(out);
    fputs("    case $before in\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options[i].reader != READ_FLAG) print_value(out, (enum option_id)i);
    fputs("    esac\n    if [[ $word == -* ]]; then\n        local words='", out);
    print_option_names(out, COMMAND_NONE);
    fputs("'\n        case $command in\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "        %s) words='", commands[i].name);
        print_option_names(out, (enum command_id)i);
        fputs("' ;;\n", out);
    }
    fputs("        esac\n        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n        return\n    fi\n"
          "    case $command in\n    '') COMPREPLY=($(compgen -W '",
          out);
    complete_commands(out, " ");
    fputs("' -- \"$word\")) ;;\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_operands(out, (enum command_id)i);
    fputs("    esac\n}\n\ncomplete -F _garner garner\n", out);
}
