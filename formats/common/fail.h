/* SPDX-License-Identifier: MIT */
/*
 * How the formats report: one sentence into the caller's error record, beginning with the path. Paths
 * come from outside, so what could steer a terminal is written as \xNN.
 */
#ifndef GARNER_FORMATS_FAIL_H
#define GARNER_FORMATS_FAIL_H

#include "garner.h"

#if defined(__GNUC__)
#define FAIL_FORMAT(at) __attribute__((format(printf, at, (at) + 1)))
#else
#define FAIL_FORMAT(at)
#endif

/* Sets status and message; error may be NULL. Returns the status, so that callers return it. */
garner_status fail(garner_error *error, garner_status status, const char *format, ...) FAIL_FORMAT(3);

/* The same with "PATH: " in front, the path as printable makes it of at most FAIL_PATH - 1 characters. */
enum { FAIL_PATH = 200 };
garner_status fail_at(garner_error *error, garner_status status, const char *path, const char *format, ...)
    FAIL_FORMAT(4);

/* GARNER_SYSTEM: "PATH: cannot WHAT: No space left on device", from an errno value; GARNER_NO_MEMORY if that
 * is what it says. error->value.i is that errno value. */
garner_status fail_errno(garner_error *error, const char *path, const char *what, int number);

/* GARNER_NO_MEMORY: "PATH: not enough memory for N bytes". Here, so that compilers and analysers see in every
 * caller that it is never GARNER_OK. */
static inline garner_status fail_memory(garner_error *error, const char *path, uint64_t bytes)
{
    (void)fail_at(error, GARNER_NO_MEMORY, path, "not enough memory for %llu bytes",
                  (unsigned long long)bytes);
    return GARNER_NO_MEMORY;
}

/* GARNER_OK, and an error record that says so. */
garner_status succeed(garner_error *error);

/* Writes `text` so that a terminal shows it and obeys nothing: control characters, text direction
 * marks and invalid UTF-8 become \xNN. Too long a text loses its beginning. Always terminates `buffer`;
 * size is at least 16. Returns buffer. */
char *printable(char *buffer, size_t size, const char *text);

/* The same for the first character of `text`, an invalid byte standing alone. Returns how many bytes it was.
 */
enum { PRINTABLE_NEXT = 17 };
size_t printable_next(char out[PRINTABLE_NEXT], const char *text);

/* "FILE:NAME", or FILE alone if the name is "": what a message about one of a file's tensors begins with. */
enum { FAIL_LABEL = 512 };
const char *fail_label(char label[FAIL_LABEL], const char *path, const char *name);

#endif
