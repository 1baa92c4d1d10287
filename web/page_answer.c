/* SPDX-License-Identifier: MIT */
/* The one answer, and the memory that crosses the border. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "print.h"

static FILE *stream;
static char *text;
static size_t text_size;

static void forget(void)
{
    if (stream) fclose(stream);
    stream = NULL;
    free(text);
    text = NULL;
    text_size = 0;
}

FILE *answer_begin(void)
{
    forget();
    stream = open_memstream(&text, &text_size);
    return stream;
}

void answer_bytes(void *bytes, size_t size)
{
    forget();
    text = bytes;
    text_size = size;
}

void answer_member(FILE *answer, const char *name, const char *value, int first)
{
    fprintf(answer, "%s\"%s\": ", first ? "" : ", ", name);
    print_json_string(answer, value);
}

void answer_error(const garner_error *error)
{
    FILE *answer = answer_begin();
    if (!answer) return;
    fputs("{\"error\": {", answer);
    answer_member(answer, "message", error->message, 1);
    fprintf(answer, ", \"status\": %d", (int)error->status);
    if (error->has & GARNER_HAS_POSITION) fprintf(answer, ", \"position\": %lld", (long long)error->position);
    fputs("}}", answer);
}

void answer_tensor(FILE *answer, garner_dtype dtype, int32_t rank, const int64_t *shape)
{
    const char *name = garner_dtype_name(dtype);
    answer_member(answer, "dtype", name ? name : "opaque", 1);
    fputs(", \"shape\": ", answer);
    print_integers(answer, shape, rank, true);
    fprintf(answer, ", \"count\": %lld", (long long)array_count(rank, shape));
}

/* The answer is whole only once the stream has written it. */
PAGE_CALL(page_answer) char *page_answer(void)
{
    if (stream) fclose(stream);
    stream = NULL;
    return text;
}

PAGE_CALL(page_answer_size) size_t page_answer_size(void)
{
    return text_size;
}

/* Memory for what the page hands over; one byte more than asked for, so that texts end. */
PAGE_CALL(page_alloc) void *page_alloc(size_t size)
{
    char *memory = malloc(size + 1);
    if (memory) memory[size] = 0;
    return memory;
}

PAGE_CALL(page_free) void page_free(void *memory)
{
    free(memory);
}
