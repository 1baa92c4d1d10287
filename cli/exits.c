/* SPDX-License-Identifier: MIT */
/* From what the library answers to what the process answers. */
#include "exits.h"

int exit_code(garner_status status)
{
    if (status == STATUS_DIFFERENT) return EXIT_DIFFERENT;
    switch (status) {
    case GARNER_OK:
        return EXIT_DONE;
    case GARNER_BAD_ARGUMENT:
        return EXIT_USAGE;
    case GARNER_OUT_OF_RANGE:
    case GARNER_BAD_SHAPE:
    case GARNER_BAD_TYPE:
    case GARNER_TOO_LARGE:
        return EXIT_REFUSED;
    case GARNER_BAD_FILE:
    case GARNER_UNSUPPORTED:
        return EXIT_FILE;
    default:
        return EXIT_SYSTEM;
    }
}
