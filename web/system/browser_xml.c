/* SPDX-License-Identifier: MIT */
/*
 * XML as the browser read it. The page turns a document into records, one after the other:
 *     'o' COUNT, name, and so many attributes, name and value: an element begins
 *     't' text: text in it
 *     'c': it ends
 * COUNT is one byte, as is each letter; texts end in a zero byte. Elements are counted instead of lines,
 * which a browser does not tell.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir_xml.h"

garner_status ir_fail(garner_error *error, garner_status status, const char *path, struct ir_place place,
                      const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return fail_at(error, status, path, "element %llu: %s", (unsigned long long)place.line, sentence);
}

struct records {
    const char *path, *at, *end;
    const struct ir_events *events;
    garner_error *error;
    int depth;
    struct ir_place place;
};

/* The next text; NULL: the records end before it does. */
static const char *take_text(struct records *records)
{
    const char *text = records->at;
    const char *zero = memchr(text, 0, (size_t)(records->end - text));
    if (!zero) return NULL;
    records->at = zero + 1;
    return text;
}

static garner_status broken(const struct records *records)
{
    return fail_at(records->error, GARNER_BAD_FILE, records->path,
                   "the page's records of the XML are broken");
}

static garner_status open_element(struct records *records)
{
    const char *attributes[2 * IR_MOST_ATTRIBUTES + 1] = {NULL};
    if (records->at == records->end) return broken(records);
    int count = (unsigned char)*records->at++;
    const char *name = take_text(records);
    for (int i = 0; name && i < 2 * count; i++) {
        attributes[i] = take_text(records);
        if (!attributes[i]) return broken(records);
    }
    if (!name) return broken(records);
    records->place.line++;
    records->place.column = 1;
    if (++records->depth > IR_MOST_DEPTH)
        return ir_fail(records->error, GARNER_BAD_FILE, records->path, records->place,
                       "elements are nested deeper than the limit of %d", IR_MOST_DEPTH);
    return records->events->open(records->events->context, records->depth, name, attributes, records->place);
}

static garner_status next_record(struct records *records)
{
    const struct ir_events *events = records->events;
    char kind = *records->at++;
    if (kind == 'o') return open_element(records);
    if (kind == 'c' && records->depth > 0) return events->close(events->context, records->depth--);
    const char *text = kind == 't' ? take_text(records) : NULL;
    return text ? events->text(events->context, text, strlen(text)) : broken(records);
}

garner_status ir_xml_read(const char *path, const unsigned char *bytes, uint64_t size,
                          const struct ir_events *events, garner_error *error)
{
    const char *begin = (const char *)bytes;
    struct records records = {path, begin, begin + size, events, error, 0, {0, 0}};
    garner_status status = GARNER_OK;
    while (!status && records.at < records.end)
        status = next_record(&records);
    return status ? status : succeed(error);
}
