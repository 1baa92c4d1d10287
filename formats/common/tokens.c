/* SPDX-License-Identifier: MIT */
/* What the headers of .npy and .safetensors have in common. */
#include "tokens.h"

#include <string.h>

#include "fail.h"

struct tokens tokens_begin(const char *text, size_t size, const char *spaces, const char *path,
                           garner_error *error)
{
    return (struct tokens){
        .start = text, .at = text, .end = text + size, .spaces = spaces, .path = path, .error = error};
}

garner_status tokens_malformed(const struct tokens *tokens, const char *what)
{
    return fail_at(tokens->error, GARNER_BAD_FILE, tokens->path,
                   "header is malformed at byte %zu: expected %s", (size_t)(tokens->at - tokens->start),
                   what);
}

void tokens_skip(struct tokens *tokens)
{
    /*@ loop invariant is_text(tokens) && advanced{Pre, Here}(tokens);
        loop assigns tokens->at;
        loop variant tokens->end - tokens->at; */
    while (tokens->at < tokens->end && *tokens->at && strchr(tokens->spaces, *tokens->at))
        tokens->at++;
}

int tokens_take(struct tokens *tokens, char wanted)
{
    tokens_skip(tokens);
    if (tokens->at == tokens->end || *tokens->at != wanted) return 0;
    tokens->at++;
    return 1;
}

garner_status tokens_expect(struct tokens *tokens, char wanted)
{
    char what[] = {'\'', wanted, '\'', 0};
    return tokens_take(tokens, wanted) ? GARNER_OK : tokens_malformed(tokens, what);
}

int tokens_digits(struct tokens *tokens, int64_t *value)
{
    *value = 0;
    /*@ loop invariant is_text(tokens) && advanced{Pre, Here}(tokens) && *value >= 0;
        loop invariant tokens->at == \at(tokens->at, Pre) || taken{Pre, Here}(tokens);
        loop assigns tokens->at, *value;
        loop variant tokens->end - tokens->at; */
    for (; tokens->at < tokens->end; tokens->at++) {
        const char next = *tokens->at; /* looked at once: another process may be writing to the file */
        if (next < '0' || next > '9') break;
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, next - '0', value))
            return 0;
    }
    return 1;
}
