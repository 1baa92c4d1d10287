/* SPDX-License-Identifier: MIT */
/*
 * How the core reports: every internal function gets a record that is never NULL, sets the fields
 * that apply, and ends in garner_fail, the one place where a sentence is formatted.
 */
#ifndef GARNER_ERROR_H
#define GARNER_ERROR_H

#include "base.h"

/* The record to work with: the caller's if there is one, else `spare`; cleared to GARNER_OK. */
static inline garner_error *error_begin(garner_error *error, garner_error *spare)
{
    if (error == NULL) error = spare;
    error->status = GARNER_OK;
    error->has = 0;
    error->message[0] = '\0';
    return error;
}

/* Records the status and the sentence, and returns the status. */
garner_status garner_fail(garner_error *error, garner_status status, const char *format, ...)
    GARNER_PRINTF(3, 4) GARNER_COLD;

/* Records the axis that the sentence speaks of too. */
garner_status garner_fail_at_axis(garner_error *error, garner_status status, int64_t axis, const char *format,
                                  ...) GARNER_PRINTF(4, 5) GARNER_COLD;

/* Coordinates or a shape as "[2,3]"; what does not fit is left out at the end, as ",...]". */
struct list_text {
    char text[160];
};
struct list_text garner_list_text(int rank, const int64_t *numbers) GARNER_COLD;

#endif
