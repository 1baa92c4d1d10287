/* SPDX-License-Identifier: MIT */
/* Strings, which belong to the runtime: their positions are gathered, then each is copied from its place to
 * its new one. */
#ifndef GARNER_ONNXRUNTIME_STRINGS_H
#define GARNER_ONNXRUNTIME_STRINGS_H

#include "runtime.h"

/* Where strings come from, where they go, and who does the work. */
struct strings {
    const struct ort *ort;
    const OrtValue *data;
    OrtValue *out;
    const garner_exec *exec;
};

/* `plan` gathers `positions`, 0, 1, 2, ... one for each string of data. */
OrtStatus *strings_gather(const struct strings *strings, const garner_plan *plan, const int64_t *positions,
                          const void *indices);

#endif
