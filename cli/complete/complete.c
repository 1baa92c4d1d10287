/* SPDX-License-Identifier: MIT */
/* Reads out of the table what may stand where: by what values and operands are called in help. */
#include "complete.h"

#include <string.h>

enum complete_with complete_value(enum option_id option)
{
    const char *value = options[option].value;
    if (options[option].reader == READ_WORD || option == OPTION_SPEC || strcmp(value, "TYPE") == 0)
        return WITH_WORDS;
    if (strstr(value, "FILE")) return WITH_FILES;
    return strcmp(value, "DIR") == 0 ? WITH_FOLDERS : WITH_NOTHING;
}

enum complete_with complete_operands(enum command_id command)
{
    const char *operands = commands[command].operands;
    if (*operands == '\0') return WITH_NOTHING;
    if (strstr(operands, "COMMAND")) return WITH_COMMANDS;
    return strstr(operands, "OPERATOR") ? WITH_OPERATORS : WITH_FILES;
}

bool complete_takes(enum command_id command, enum option_id option)
{
    return command == COMMAND_NONE || (options[option].commands >> command & 1);
}

/* ---- Words ---- */

static void print_word(FILE *out, const char *word, int length, const char *between, bool *first)
{
    fprintf(out, "%s%.*s", *first ? "" : between, length, word);
    *first = false;
}

/* Each version once, though several operators have it. */
static void print_specs(FILE *out, const char *between)
{
    static const garner_kind kinds[] = {GARNER_GATHER, GARNER_GATHER_ELEMENTS, GARNER_GATHER_ND};
    bool first = true;
    for (int k = 0; k < 3; k++)
        for (int i = 0; garner_spec_name(kinds[k], i); i++) {
            const char *name = garner_spec_name(kinds[k], i);
            bool seen = false;
            for (int earlier = 0; earlier < k; earlier++)
                for (int j = 0; garner_spec_name(kinds[earlier], j); j++)
                    seen = seen || strcmp(name, garner_spec_name(kinds[earlier], j)) == 0;
            if (!seen) print_word(out, name, (int)strlen(name), between, &first);
        }
}

void complete_words(FILE *out, enum option_id option, const char *between)
{
    bool first = true;
    if (option == OPTION_SPEC) {
        print_specs(out, between);
    } else if (options[option].reader == READ_WORD) {
        for (const char *word = options[option].value; *word; word += *word == '|') {
            int length = (int)strcspn(word, "|");
            print_word(out, word, length, between, &first);
            word += length;
        }
    } else {
        for (garner_dtype dtype = 1; dtype < GARNER_OPAQUE; dtype++) {
            const char *name = garner_dtype_name(dtype);
            bool index = name && (*name == 'i' || *name == 'u') && garner_dtype_bits(dtype) >= 8;
            if (index || (name && option != OPTION_INDEX_DTYPE && dtype != GARNER_STR)) /* bench makes none */
                print_word(out, name, (int)strlen(name), between, &first);
        }
    }
}

void complete_commands(FILE *out, const char *between)
{
    bool first = true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_word(out, commands[i].name, (int)strlen(commands[i].name), between, &first);
}

void complete_operators(FILE *out, const char *between)
{
    static const enum command_id operators[] = {COMMAND_GATHER, COMMAND_GATHER_ELEMENTS, COMMAND_GATHER_ND};
    bool first = true;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        print_word(out, commands[operators[i]].name, (int)strlen(commands[operators[i]].name), between,
                   &first);
}

void complete_clause(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == ';' || *text == ':' || (text[0] == ' ' && text[1] == '(')) return;
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}
