/* SPDX-License-Identifier: MIT */
/*
 * Completion scripts for shells, written from the table in options.def. They hold all they need: garner is
 * not called while somebody types.
 */
#ifndef GARNER_CLI_COMPLETE_H
#define GARNER_CLI_COMPLETE_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

void complete_bash(FILE *out);
void complete_zsh(FILE *out);
void complete_fish(FILE *out);

/* ---- What the three have in common ---- */

/* What may stand somewhere. */
enum complete_with { WITH_NOTHING, WITH_FILES, WITH_FOLDERS, WITH_WORDS, WITH_COMMANDS, WITH_OPERATORS };

/* After an option that takes a value. */
enum complete_with complete_value(enum option_id option);

/* As the operands of a command; WITH_OPERATORS: one of them first, files after it. */
enum complete_with complete_operands(enum command_id command);

/* Prints the words that may follow an option, or all commands, or all operators, with `between` them. */
void complete_words(FILE *out, enum option_id option, const char *between);
void complete_commands(FILE *out, const char *between);
void complete_operators(FILE *out, const char *between);

/* Whether a command (or, for COMMAND_NONE, any) takes an option. */
bool complete_takes(enum command_id command, enum option_id option);

/* Prints the first clause of a text, with a backslash before each letter of `special`; a quote becomes what
 * all three shells read as one inside single quotes. */
void complete_clause(FILE *out, const char *text, const char *special);

#endif
