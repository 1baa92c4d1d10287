/* SPDX-License-Identifier: MIT */
/* Status names, and the cold formatter behind every error sentence. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "line.h"

const char *garner_version(void)
{
    return GARNER_VERSION_STRING;
}

const char *garner_status_name(garner_status status)
{
    switch (status) {
    case GARNER_OK:
        return "ok";
    case GARNER_OUT_OF_RANGE:
        return "out_of_range";
    case GARNER_BAD_SHAPE:
        return "bad_shape";
    case GARNER_BAD_TYPE:
        return "bad_type";
    case GARNER_TOO_LARGE:
        return "too_large";
    case GARNER_BAD_ARGUMENT:
        return "bad_argument";
    case GARNER_NO_MEMORY:
        return "no_memory";
    case GARNER_CANCELLED:
        return "cancelled";
    case GARNER_BAD_FILE:
        return "bad_file";
    case GARNER_UNSUPPORTED:
        return "unsupported";
    case GARNER_SYSTEM:
        return "system";
    }
    return "unknown";
}

static void record(garner_error *error, garner_status status, const char *format, va_list arguments)
{
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

garner_status garner_fail(garner_error *error, garner_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(error, status, format, arguments);
    va_end(arguments);
    return status;
}

garner_status garner_fail_at_axis(garner_error *error, garner_status status, int64_t axis, const char *format,
                                  ...)
{
    error->axis = axis;
    error->has |= GARNER_HAS_AXIS;
    va_list arguments;
    va_start(arguments, format);
    record(error, status, format, arguments);
    va_end(arguments);
    return status;
}

struct list_text garner_list_text(int rank, const int64_t *numbers)
{
    enum { longest = 21, ending = 6 }; /* one number with its comma; ",...]" */
    struct list_text list;
    struct line line = {list.text, sizeof list.text, 0};
    garner_line_add(&line, "[");
    for (int i = 0; i < rank; i++) {
        if (line.length + longest + ending > line.size) {
            garner_line_add(&line, ",...");
            break;
        }
        garner_line_add(&line, "%s%lld", i ? "," : "", (long long)numbers[i]);
    }
    garner_line_add(&line, "]");
    return list; /* analysis: garner_line_add has written it, from its first byte on */
}
