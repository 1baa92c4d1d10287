/* SPDX-License-Identifier: MIT */
/*
 * Lines become the words of a command line. Whatever they are, they are understood, or refused with a
 * message; what is understood names a command and holds its operands within what was given.
 */
#include <stdlib.h>
#include <string.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_WORDS = 40 };

/* Cuts the lines apart, each into memory of its own; returns how many words there are. */
static int cut(char **words, const uint8_t *bytes, size_t size)
{
    int count = 0;
    while (size > 0 && count < MOST_WORDS) {
        const uint8_t *line_end = memchr(bytes, '\n', size);
        size_t length = line_end ? (size_t)(line_end - bytes) : size;
        char *word = malloc(length + 1);
        if (!word) break;
        memcpy(word, bytes, length);
        word[length] = '\0';
        words[count++] = word;
        length += line_end != NULL;
        bytes += length;
        size -= length;
    }
    return count;
}

static void check(const struct invocation *line, char **argv, int argc)
{
    if (line->operand_count < 0 || line->operands < argv ||
        line->operands + line->operand_count > argv + argc)
        abort();
    if (line->command > COMMAND_NONE) abort();
    if (line->command == COMMAND_NONE && !line->setting[OPTION_VERSION].given &&
        !line->setting[OPTION_HELP].given && argc > 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char name[] = "garner";
    char *words[MOST_WORDS], *argv[MOST_WORDS + 2] = {name};
    struct invocation line;
    garner_error error;
    int count = cut(words, bytes, size);
    memcpy(argv + 1, words, (size_t)count * sizeof *words);
    garner_status status = options_parse(&line, count + 1, argv, &error);
    if (status == GARNER_OK)
        check(&line, argv, count + 1);
    else if (status != GARNER_BAD_ARGUMENT || error.message[0] == '\0')
        abort();
    for (int i = 0; i < count; i++)
        free(words[i]);
    return 0;
}
