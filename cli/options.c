/* SPDX-License-Identifier: MIT */
/*
 * Parses command lines by the table in options.def. What an option means is not known here, but that --out
 * may be given several times.
 */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "literal.h"
#include "suggest.h"
#include "value.h"

const struct command commands[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, least, most, run, summary, details) \
    [COMMAND_##id] = {name, operands, least, most, summary, details},
#include "options.def"
};

#define ON(id) (1u << COMMAND_##id)
#define ON_GATHERS (ON(GATHER) | ON(GATHER_ELEMENTS) | ON(GATHER_ND))
#define ON_EVERY (~0u)

const struct option options[OPTION_COUNT] = {
#define OPTION(id, letter, name, value, reader, commands, help) \
    [OPTION_##id] = {letter, name, value, READ_##reader, commands, help},
#include "options.def"
};

const struct example examples[] = {
#define EXAMPLE(id, line, prints) {COMMAND_##id, line, prints},
#include "options.def"
};
const size_t example_count = sizeof examples / sizeof *examples;

/* ---- Words ---- */

static bool same_letters(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((a[i] == '_' ? '-' : a[i]) != (b[i] == '_' ? '-' : b[i])) return false;
    return true;
}

bool options_same_word(const char *a, const char *b)
{
    size_t length = strlen(a);
    return strlen(b) == length && same_letters(a, b, length);
}

garner_status options_command(enum command_id *command, const char *name, garner_error *error)
{
    int nearest = 0, best = INT_MAX;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        int distance = suggest_distance(name, commands[i].name);
        if (distance < best) best = distance, nearest = i;
        *command = (enum command_id)i;
        if (options_same_word(name, commands[i].name)) return GARNER_OK;
    }
    *command = COMMAND_NONE;
    if (suggest_near(name, best))
        return fail(error, GARNER_BAD_ARGUMENT, "'%.60s' is no command; did you mean %s?", name,
                    commands[nearest].name);
    return fail(error, GARNER_BAD_ARGUMENT, "'%.60s' is no command; garner --help lists them", name);
}

static garner_status unknown_option(const char *name, garner_error *error)
{
    int nearest = 0, best = INT_MAX;
    for (int i = 0; i < OPTION_COUNT; i++) {
        int distance = suggest_distance(name, options[i].name);
        if (distance < best) best = distance, nearest = i;
    }
    if (suggest_near(name, best))
        return fail(error, GARNER_BAD_ARGUMENT, "--%.60s is no option; did you mean --%s?", name,
                    options[nearest].name);
    return fail(error, GARNER_BAD_ARGUMENT, "--%.60s is no option; garner COMMAND --help lists them", name);
}

/* ---- Values ---- */

bool options_integer(const char *text, int64_t *number)
{
    char *end;
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits < '0' || *digits > '9') return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return errno == 0 && *end == '\0';
}

/* An axis is an integer, or a literal of one integer, as the axis input of OpenVINO's operators is. */
static garner_status read_axis(struct setting *setting, bool *understood, garner_error *error)
{
    struct array array;
    char shown[VALUE_TEXT_SIZE];
    *understood = options_integer(setting->text, &setting->number);
    if (*understood || !literal_is_integer(setting->text)) return GARNER_OK;
    garner_status status = literal_parse(&array, "--axis", setting->text, error);
    if (status != GARNER_OK)
        return status == GARNER_BAD_ARGUMENT ? GARNER_OK : status; /* too large a number */
    value_text(shown, sizeof shown, &array.tensor, 0);
    array_free(&array);
    *understood = options_integer(shown, &setting->number);
    return GARNER_OK;
}

/* A number of bytes, in units of K, M, G or T if one follows: powers of 1024. */
static bool read_size(const char *text, int64_t *number)
{
    static const char units[] = "KMGT";
    enum { LEAST = 1 << 20 };
    char digits[24];
    size_t length = strspn(text, "0123456789");
    const char *unit = text[length] ? strchr(units, text[length] & ~0x20) : NULL;
    if (length == 0 || length >= sizeof digits || (text[length] && (!unit || text[length + 1]))) return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!options_integer(digits, number)) return false;
    for (const char *u = units; unit && u <= unit; u++)
        if (__builtin_mul_overflow(*number, 1024, number)) return false;
    return *number >= LEAST;
}

/* Which of the words in "one|two|three" the text is, or -1. */
static int64_t read_word(const char *words, const char *text)
{
    for (int64_t i = 0;; i++) {
        size_t length = strcspn(words, "|");
        if (strlen(text) == length && same_letters(text, words, length)) return i;
        if (words[length] == '\0') return -1;
        words += length + 1;
    }
}

static bool read_device(const char *text, int64_t *number)
{
    static const char cuda[] = "cuda";
    enum { MOST = 9999 };
    const size_t length = sizeof cuda - 1;
    *number = 0;
    if (strcmp(text, "cpu") == 0) return true;
    if (strncmp(text, cuda, length) != 0) return false;
    const char *digits = text + length + 1;
    if (text[length] == ':' &&
        (!options_integer(digits, number) || digits[strspn(digits, "0123456789")] || *number > MOST))
        return false;
    *number += 1;
    return text[length] == '\0' || text[length] == ':';
}

static garner_status read_value(const struct option *option, struct setting *setting, const char *text,
                                garner_error *error)
{
    const char *wants = NULL;
    bool understood;
    garner_status status = GARNER_OK;
    *setting = (struct setting){.given = true, .text = text};
    switch (option->reader) {
    case READ_INTEGER:
        wants = options_integer(text, &setting->number) ? NULL : "an integer";
        break;
    case READ_AXIS:
        status = read_axis(setting, &understood, error);
        wants = understood ? NULL : "an integer";
        break;
    case READ_COUNT:
        if (!options_integer(text, &setting->number) || setting->number < 0 || setting->number > INT_MAX)
            wants = "a whole number from 0";
        break;
    case READ_SIZE:
        wants = read_size(text, &setting->number) ? NULL : "bytes such as 512M or 2G, at least 1M";
        break;
    case READ_DEVICE:
        wants = read_device(text, &setting->number) ? NULL : option->value;
        break;
    case READ_WORD:
        setting->number = read_word(option->value, text);
        wants = setting->number < 0 ? option->value : NULL;
        break;
    default:
        break;
    }
    if (status != GARNER_OK || !wants) return status;
    return fail(error, GARNER_BAD_ARGUMENT, "--%s takes %s, not '%.60s'", option->name, wants, text);
}

/* ---- The command line ---- */

struct arguments {
    struct invocation *line;
    int argc, next;
    char **argv;
    garner_error *error;
};

/* Operands and then the values of --out lie at the front of argv, which never reaches the argument that is
 * being read. */
static void add_operand(struct invocation *line, char *text)
{
    char **end = line->operands + line->operand_count++;
    if (line->out_count) end[line->out_count] = end[0]; /* the first value becomes the last */
    *end = text;
    line->outs = end + 1;
}

static void add_out(struct invocation *line, char *text)
{
    line->outs = line->operands + line->operand_count;
    line->outs[line->out_count++] = text;
}

/* Sets an option whose value may be attached; if it is not, it is the next argument, whatever that is. */
static garner_status set_option(struct arguments *a, int id, char *attached)
{
    const struct option *option = &options[id];
    struct setting *setting = &a->line->setting[id];
    if (option->reader == READ_FLAG) {
        if (attached) return fail(a->error, GARNER_BAD_ARGUMENT, "--%s takes no value", option->name);
        setting->given = true;
        return GARNER_OK;
    }
    if (!attached && a->next == a->argc)
        return fail(a->error, GARNER_BAD_ARGUMENT, "--%s needs a value: %s", option->name, option->value);
    char *value = attached ? attached : a->argv[a->next++];
    if (id == OPTION_OUT) add_out(a->line, value);
    return read_value(option, setting, value, a->error);
}

static garner_status parse_long(struct arguments *a, char *text)
{
    size_t length = strcspn(text, "=");
    char *attached = text[length] == '=' ? text + length + 1 : NULL;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == length && same_letters(text, options[i].name, length))
            return set_option(a, i, attached);
    char name[64];
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, text, length);
    name[length] = '\0';
    return unknown_option(name, a->error);
}

/* -v, -oFILE, -o FILE, and flags run together. */
static garner_status parse_short(struct arguments *a, char *text)
{
    for (; *text; text++) {
        int id = 0;
        while (id < OPTION_COUNT && options[id].letter != *text)
            id++;
        if (id == OPTION_COUNT)
            return fail(a->error, GARNER_BAD_ARGUMENT, "-%c is no option; garner COMMAND --help lists them",
                        *text);
        bool flag = options[id].reader == READ_FLAG;
        garner_status status = set_option(a, id, flag || text[1] == '\0' ? NULL : text + 1);
        if (status != GARNER_OK || !flag) return status;
    }
    return GARNER_OK;
}

static bool is_operand(const char *text)
{
    return text[0] != '-' || text[1] == '\0' || (text[1] != '-' && literal_begins(text));
}

static garner_status parse_arguments(struct arguments *a)
{
    bool options_end = false;
    while (a->next < a->argc) {
        char *text = a->argv[a->next++];
        garner_status status = GARNER_OK;
        if (options_end || is_operand(text))
            add_operand(a->line, text);
        else if (strcmp(text, "--") == 0)
            options_end = true;
        else
            status = text[1] == '-' ? parse_long(a, text + 2) : parse_short(a, text + 1);
        if (status != GARNER_OK) return status;
    }
    return GARNER_OK;
}

static garner_status check_options(const struct invocation *line, garner_error *error)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (line->setting[i].given && !(options[i].commands >> line->command & 1))
            return fail(error, GARNER_BAD_ARGUMENT, "%s does not take --%s", commands[line->command].name,
                        options[i].name);
    return GARNER_OK;
}

static garner_status check_operands(const struct invocation *line, garner_error *error)
{
    const struct command *command = &commands[line->command];
    if (line->operand_count < command->least)
        return fail(error, GARNER_BAD_ARGUMENT, "%s needs %s, and %d of them %s given", command->name,
                    command->operands, line->operand_count, line->operand_count == 1 ? "is" : "are");
    if (command->most == 0 && line->operand_count > 0)
        return fail(error, GARNER_BAD_ARGUMENT, "%s takes options alone, not '%.60s'", command->name,
                    line->operands[0]);
    if (command->most >= 0 && line->operand_count > command->most)
        return fail(error, GARNER_BAD_ARGUMENT, "%s takes %s, and '%.60s' is one too many", command->name,
                    command->operands, line->operands[command->most]);
    return GARNER_OK;
}

garner_status options_parse(struct invocation *line, int argc, char **argv, garner_error *error)
{
    memset(line, 0, sizeof *line);
    line->command = COMMAND_NONE;
    line->operands = line->outs = argv;
    struct arguments a = {line, argc, 1, argv, error};
    garner_status status = parse_arguments(&a);
    if (status != GARNER_OK || line->setting[OPTION_VERSION].given) return status;
    bool help = line->setting[OPTION_HELP].given;
    if (line->operand_count == 0) {
        if (help || argc <= 1) return GARNER_OK;
        return fail(error, GARNER_BAD_ARGUMENT, "no command is given; garner --help lists them");
    }
    status = options_command(&line->command, line->operands[0], error);
    if (status != GARNER_OK || help) return status;
    line->operands++;
    line->operand_count--;
    status = check_options(line, error);
    return status == GARNER_OK ? check_operands(line, error) : status;
}
