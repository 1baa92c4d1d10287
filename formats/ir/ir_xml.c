/* SPDX-License-Identifier: MIT */
/*
 * The one file that knows expat. It gets the document in pieces, so that a token that never ends is met
 * while it is still short, and what expat scans again after each piece is bounded by the longest token.
 */
#include "ir_xml.h"

#include <stdarg.h>
#include <stdio.h>

garner_status ir_fail(garner_error *error, garner_status status, const char *path, struct ir_place place,
                      const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return fail_at(error, status, path, "line %llu, column %llu: %s", (unsigned long long)place.line,
                   (unsigned long long)place.column, sentence);
}

#ifdef GARNER_HAVE_EXPAT

#include <expat.h>

enum { PIECE = 1 << 16 };

struct reading {
    XML_Parser parser;
    const char *path;
    const struct ir_events *events;
    garner_error *error;
    garner_status status;
    int depth;
};

static struct ir_place place_of(const struct reading *reading)
{
    return (struct ir_place){(uint64_t)XML_GetCurrentLineNumber(reading->parser),
                             (uint64_t)XML_GetCurrentColumnNumber(reading->parser) + 1};
}

static void stop(struct reading *reading, garner_status status)
{
    reading->status = status;
    if (status) XML_StopParser(reading->parser, XML_FALSE);
}

static void XMLCALL doctype(void *context, const XML_Char *name, const XML_Char *system,
                            const XML_Char *public, int has_subset)
{
    struct reading *reading = context;
    (void)name, (void)system, (void)public, (void)has_subset;
    stop(reading,
         ir_fail(reading->error, GARNER_BAD_FILE, reading->path, place_of(reading),
                 "a document type declaration (DOCTYPE), which no IR has; nothing after it is read"));
}

static garner_status too_long(const struct reading *reading)
{
    return ir_fail(reading->error, GARNER_BAD_FILE, reading->path, place_of(reading),
                   "a tag, text or comment of more than %d bytes, which is the limit", IR_LONGEST_TOKEN);
}

/* Whether an element is within the limits. */
static garner_status check_element(const struct reading *reading)
{
    int attributes = XML_GetSpecifiedAttributeCount(reading->parser) / 2;
    if (reading->depth > IR_MOST_DEPTH)
        return ir_fail(reading->error, GARNER_BAD_FILE, reading->path, place_of(reading),
                       "elements are nested deeper than the limit of %d", IR_MOST_DEPTH);
    if (attributes > IR_MOST_ATTRIBUTES)
        return ir_fail(reading->error, GARNER_BAD_FILE, reading->path, place_of(reading),
                       "an element with %d attributes; the limit is %d", attributes, IR_MOST_ATTRIBUTES);
    if (XML_GetCurrentByteCount(reading->parser) > IR_LONGEST_TOKEN) return too_long(reading);
    return GARNER_OK;
}

/* expat may still report a little after it was told to stop: what happens then is ignored. */
static void XMLCALL element_opens(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reading *reading = context;
    if (reading->status) return;
    reading->depth++;
    garner_status status = check_element(reading);
    if (!status)
        status = reading->events->open(reading->events->context, reading->depth, name, attributes,
                                       place_of(reading));
    stop(reading, status);
}

static void XMLCALL element_closes(void *context, const XML_Char *name)
{
    struct reading *reading = context;
    (void)name;
    if (reading->status) return;
    stop(reading, reading->events->close(reading->events->context, reading->depth));
    reading->depth--;
}

static void XMLCALL text_comes(void *context, const XML_Char *text, int size)
{
    struct reading *reading = context;
    if (reading->status) return;
    stop(reading, reading->events->text(reading->events->context, text, (size_t)size));
}

static garner_status malformed(const struct reading *reading)
{
    enum XML_Error code = XML_GetErrorCode(reading->parser);
    const char *what = XML_ErrorString(code);
    if (code == XML_ERROR_NO_MEMORY)
        return fail_at(reading->error, GARNER_NO_MEMORY, reading->path, "not enough memory to read the XML");
    return ir_fail(reading->error, GARNER_BAD_FILE, reading->path, place_of(reading),
                   "this is not XML as it should be: %s", what ? what : "unknown error");
}

/* Hands over the piece at *at. Of what expat has, all before the current event is done with; the rest is a
 * token that has not ended. */
static garner_status parse_piece(struct reading *reading, const unsigned char *bytes, uint64_t size,
                                 uint64_t *at)
{
    uint64_t left = size - *at, piece = left < PIECE ? left : PIECE;
    enum XML_Status answer = XML_Parse(reading->parser, (const char *)bytes + *at, (int)piece, piece == left);
    *at += piece;
    if (reading->status) return reading->status;
    if (answer != XML_STATUS_OK) return malformed(reading);
    int64_t done = (int64_t)XML_GetCurrentByteIndex(reading->parser);
    int unfinished = done >= 0 && *at<size && * at - (uint64_t)done> IR_LONGEST_TOKEN;
    return unfinished ? too_long(reading) : GARNER_OK;
}

static garner_status parse(struct reading *reading, const unsigned char *bytes, uint64_t size)
{
    uint64_t at = 0;
    garner_status status;
    XML_SetUserData(reading->parser, reading);
    XML_SetElementHandler(reading->parser, element_opens, element_closes);
    XML_SetCharacterDataHandler(reading->parser, text_comes);
    XML_SetStartDoctypeDeclHandler(reading->parser, doctype);
    do
        status = parse_piece(reading, bytes, size, &at);
    while (!status && at < size);
    return status;
}

garner_status ir_xml_read(const char *path, const unsigned char *bytes, uint64_t size,
                          const struct ir_events *events, garner_error *error)
{
    struct reading reading = {.path = path, .events = events, .error = error};
    if (size > IR_LARGEST_FILE)
        return fail_at(error, GARNER_BAD_FILE, path, "a file of %llu bytes; the limit for an IR is %d",
                       (unsigned long long)size, IR_LARGEST_FILE);
    reading.parser = XML_ParserCreate(NULL);
    if (!reading.parser) return fail_at(error, GARNER_NO_MEMORY, path, "not enough memory to read the XML");
    garner_status status = parse(&reading, bytes, size);
    XML_ParserFree(reading.parser);
    return status ? status : succeed(error);
}

#else

garner_status ir_xml_read(const char *path, const unsigned char *bytes, uint64_t size,
                          const struct ir_events *events, garner_error *error)
{
    (void)bytes, (void)size, (void)events;
    return fail_at(error, GARNER_UNSUPPORTED, path,
                   "this garner was built without expat (Debian: libexpat1-dev) and cannot read OpenVINO IR");
}

#endif
