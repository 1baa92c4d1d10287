/* SPDX-License-Identifier: MIT */
/*
 * XML as far as OpenVINO's IR files need it: expat, kept within limits. Elements come one by one, with
 * their depth and place; nothing is kept. A document type declaration ends the reading, so there are no
 * entities but the five that XML has by itself.
 */
#ifndef GARNER_FORMATS_IR_XML_H
#define GARNER_FORMATS_IR_XML_H

#include <string.h>

#include "fail.h"

enum { IR_MOST_DEPTH = 64, IR_MOST_ATTRIBUTES = 256, IR_LONGEST_TOKEN = 1 << 20, IR_LARGEST_FILE = 1 << 30 };

/* Where an element begins; both count from 1. */
struct ir_place {
    uint64_t line, column;
};

/* What the reader of the elements does. A status other than GARNER_OK ends the reading. */
struct ir_events {
    void *context;

    /* An element begins; the root has depth 1. `attributes` are names and values in turn, then NULL. */
    garner_status (*open)(void *context, int depth, const char *name, const char **attributes,
                          struct ir_place place);

    /* A piece of the text directly inside the innermost open element, or inside one of its children. */
    garner_status (*text)(void *context, const char *text, size_t size);

    garner_status (*close)(void *context, int depth);
};

/* Reads a document. What is malformed is GARNER_BAD_FILE: "PATH: line 3, column 7: ..."; all of it is
 * GARNER_UNSUPPORTED where garner was built without expat. Takes time in proportion to `size`. */
garner_status ir_xml_read(const char *path, const unsigned char *bytes, uint64_t size,
                          const struct ir_events *events, garner_error *error);

/* fail_at with the place in front of the sentence. */
garner_status ir_fail(garner_error *error, garner_status status, const char *path, struct ir_place place,
                      const char *format, ...) FAIL_FORMAT(5);

/* The value of an attribute, or NULL. */
static inline const char *ir_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(*attributes, name) == 0) return attributes[1];
    return NULL;
}

#endif
