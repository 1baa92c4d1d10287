/* SPDX-License-Identifier: MIT */
/*
 * Lays out the tables twice: wrapped at 80 columns for a terminal, and as troff for man. What is said is
 * in options.def and manual.def.
 */
#include "help.h"

#include <string.h>

#include "command.h"
#include "complete.h"
#include "fail.h"

enum { WIDTH = 80, TERM_WIDTH = 16, TERM_SIZE = 64 };

static const struct entry {
    const char *title; /* begins a section if not NULL */
    int everywhere;
    const char *term, *text;
} manual[] = {
#define SECTION(title, everywhere) {title, everywhere, NULL, NULL},
#define ENTRY(term, text) {NULL, 0, term, text},
#include "manual.def"
};

static const char synopsis[] = "garner COMMAND [OPTIONS] ARGUMENTS";
static const char tagline[] = "the gather operators of ONNX and OpenVINO";

/* "-o, --out FILE" */
static const char *option_term(char term[TERM_SIZE], const struct option *option)
{
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(term, TERM_SIZE, "%s--%s%s%s", letter, option->name, *option->value ? " " : "", option->value);
    return term;
}

/* Options that belong to no command in particular. */
static bool is_general(const struct option *option)
{
    return option->commands == ~0u || option->commands == 0;
}

/* What the list of commands shows are the general ones alone: each command's own help has the others. */
static bool takes(enum command_id command, const struct option *option)
{
    return command == COMMAND_NONE ? is_general(option) : option->commands >> command & 1;
}

/* ---- For a terminal ---- */

static void wrap(FILE *out, int indent, int column, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    putc('\n', out);
}

static void print_entry(FILE *out, const char *term, const char *text)
{
    enum { INDENT = TERM_WIDTH + 4 };
    if (*term == '\0') {
        fputs("  ", out);
        wrap(out, 2, 2, text);
        return;
    }
    fprintf(out, "  %-*s", TERM_WIDTH, term);
    if (strlen(term) > TERM_WIDTH)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fputs("  ", out);
    wrap(out, INDENT, INDENT, text);
}

static void print_options(FILE *out, enum command_id command)
{
    char term[TERM_SIZE];
    fputs(command == COMMAND_NONE ? "\nOPTIONS OF EVERY COMMAND\n" : "\nOPTIONS\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(command, &options[i])) print_entry(out, option_term(term, &options[i]), options[i].help);
}

static void print_manual(FILE *out)
{
    int wanted = 0;
    for (size_t i = 0; i < sizeof manual / sizeof *manual; i++) {
        if (manual[i].title) wanted = manual[i].everywhere;
        if (!wanted) continue;
        if (manual[i].title)
            fprintf(out, "\n%s\n", manual[i].title);
        else
            print_entry(out, manual[i].term, manual[i].text);
    }
}

static void print_examples(FILE *out, enum command_id command)
{
    bool first = true;
    for (size_t i = 0; i < example_count; i++) {
        if (examples[i].command != command) continue;
        fprintf(out, "%s  $ %s\n", first ? "\nEXAMPLES\n" : "", examples[i].line);
        for (const char *text = examples[i].prints; text && *text; text += *text == '\n') {
            int length = (int)strcspn(text, "\n");
            fprintf(out, "  %.*s\n", length, text);
            text += length;
        }
        first = false;
    }
}

static void print_overview(FILE *out)
{
    fprintf(out, "garner: %s\n\nusage: %s\n\nCOMMANDS\n", tagline, synopsis);
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_entry(out, commands[i].name, commands[i].summary);
    print_entry(out, "", "garner COMMAND --help explains one; garner help --man is the whole manual.");
    print_options(out, COMMAND_NONE);
    print_manual(out);
}

void help_print(FILE *out, enum command_id command)
{
    if (command == COMMAND_NONE) {
        print_overview(out);
        return;
    }
    const struct command *c = &commands[command];
    fprintf(out, "usage: garner %s %s [OPTIONS]\n\n", c->name, c->operands);
    wrap(out, 0, 0, c->details);
    print_options(out, command);
    print_examples(out, command);
}

/* ---- For man ---- */

/* Letters that troff would take for its own are spelt out. */
static void troff_letters(FILE *out, const char *text, size_t length)
{
    if (length > 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (; length > 0; text++, length--) {
        switch (*text) {
        case '-':
            fputs("\\-", out);
            break;
        case '\\':
            fputs("\\e", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '"':
            fputs("\\(dq", out);
            break;
        default:
            putc(*text, out);
        }
    }
}

static void troff(FILE *out, const char *text)
{
    troff_letters(out, text, strlen(text));
    putc('\n', out);
}

static void troff_entry(FILE *out, const char *term, const char *text)
{
    fputs(*term ? ".TP\n\\fB" : ".PP\n", out);
    if (*term) {
        troff(out, term);
        fputs("\\fR", out);
    }
    troff(out, text);
}

/* What is typed and what is printed, line by line as it is. */
static void troff_examples(FILE *out, enum command_id command)
{
    bool first = true;
    for (size_t i = 0; i < example_count; i++) {
        if (examples[i].command != command) continue;
        fputs(first ? ".PP\n.EX\n\\fB$ " : "\\fB$ ", out);
        troff_letters(out, examples[i].line, strlen(examples[i].line));
        fputs("\\fR\n", out);
        for (const char *text = examples[i].prints; text && *text; text += *text == '\n') {
            size_t length = strcspn(text, "\n");
            troff_letters(out, text, length);
            putc('\n', out);
            text += length;
        }
        first = false;
    }
    if (!first) fputs(".EE\n", out);
}

static void troff_command(FILE *out, enum command_id command)
{
    char term[TERM_SIZE];
    const struct command *c = &commands[command];
    fputs(".SS ", out);
    snprintf(term, sizeof term, "%s %s", c->name, c->operands);
    troff(out, term);
    troff(out, c->details);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options[i].commands != ~0u && takes(command, &options[i]))
            troff_entry(out, option_term(term, &options[i]), options[i].help);
    troff_examples(out, command);
}

static void troff_page(FILE *out)
{
    char term[TERM_SIZE];
    fprintf(out, ".TH GARNER 1 \"\" \"garner %s\"\n.nh\n.SH NAME\ngarner \\- ", garner_version());
    troff(out, tagline);
    fputs(".SH SYNOPSIS\n", out);
    troff(out, synopsis);
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        troff_command(out, (enum command_id)i);
    fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_general(&options[i])) troff_entry(out, option_term(term, &options[i]), options[i].help);
    for (size_t i = 0; i < sizeof manual / sizeof *manual; i++) {
        if (manual[i].title)
            fprintf(out, ".SH %s\n", manual[i].title);
        else
            troff_entry(out, manual[i].term, manual[i].text);
    }
}

garner_status help_command(const struct invocation *line, garner_error *error)
{
    /* in the order of the words of --completion */
    static void (*const scripts[])(FILE *) = {complete_bash, complete_zsh, complete_fish};
    enum command_id command = COMMAND_NONE;
    garner_status status = GARNER_OK;
    if (line->operand_count > 0) status = options_command(&command, line->operands[0], error);
    if (status != GARNER_OK) return status;
    if (line->setting[OPTION_COMPLETION].given)
        scripts[line->setting[OPTION_COMPLETION].number](stdout);
    else if (line->setting[OPTION_MAN].given)
        troff_page(stdout);
    else
        help_print(stdout, command);
    return GARNER_OK;
}
