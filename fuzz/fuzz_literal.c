/* SPDX-License-Identifier: MIT */
/*
 * Text becomes a literal. If it is one, what the shell prints of it must read back, once :type is added,
 * to the same shape and the same bits; and --format json of it must print too.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "literal.h"
#include "print.h"
#include "value.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Exactly as large as it must be, so that a read past its end is seen. */
static char *text_of(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return NULL;
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* iota makes what it is asked for, which may be more than this machine has. */
static bool too_large(const char *text)
{
    double count = 1;
    const char *at = strstr(text, "iota");
    while (at && *(at += strcspn(at, "0123456789"))) {
        char *end;
        double extent = strtod(at, &end);
        count *= extent > 1 ? extent : 1;
        at = end > at ? end : at + 1;
    }
    return count > 1e5;
}

static char *printed(const struct array *array, enum print_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct print_style style = {.format = format};
    if (!out) return NULL;
    if (print_tensor(out, &array->tensor, &style, NULL) != GARNER_OK) abort();
    if (format == PRINT_TEXT) {
        if (fseek(out, -1, SEEK_CUR) != 0) abort(); /* over the end of the line */
        fprintf(out, ":%s", garner_dtype_name(array->tensor.dtype));
    }
    fclose(out);
    return text;
}

static bool same_strings(const struct array *a, const struct array *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        garner_string s = value_string(&a->tensor, i), t = value_string(&b->tensor, i);
        if (s.size != t.size || (s.size > 0 && memcmp(s.bytes, t.bytes, s.size) != 0)) return false;
    }
    return true;
}

/* An empty axis hides those after it: [] is all that is seen of the shape 0 by 3. */
static bool same(const struct array *a, const struct array *b)
{
    int64_t count = array_count(a->tensor.rank, a->shape);
    if (a->tensor.dtype != b->tensor.dtype) return false;
    if (count == 0) return array_count(b->tensor.rank, b->shape) == 0;
    if (a->tensor.rank != b->tensor.rank) return false;
    for (int32_t d = 0; d < a->tensor.rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    if (a->tensor.dtype == GARNER_STR) return same_strings(a, b, count);
    return memcmp(a->tensor.data, b->tensor.data, (size_t)garner_dtype_bytes(a->tensor.dtype, count, 0)) == 0;
}

static void check_round_trip(const struct array *array)
{
    struct array again;
    garner_error error;
    char *text = printed(array, PRINT_TEXT);
    if (!text) return;
    if (literal_parse(&again, "what was printed", text, &error) != GARNER_OK) {
        fprintf(stderr, "%.200s\n%s\n", text, error.message);
        abort();
    }
    if (!same(array, &again)) {
        fprintf(stderr, "not the same: %.200s\n", text);
        abort();
    }
    array_free(&again);
    free(text);
    free(printed(array, PRINT_JSON));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct array array;
    garner_error error;
    char *text = text_of(bytes, size);
    if (!text || too_large(text)) {
        free(text);
        return 0;
    }
    if (literal_parse(&array, "DATA", text, &error) == GARNER_OK) {
        check_round_trip(&array);
        array_free(&array);
    } else if (error.message[0] == '\0') {
        abort();
    }
    free(text);
    return 0;
}
