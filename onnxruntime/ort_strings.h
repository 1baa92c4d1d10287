/* SPDX-License-Identifier: MIT */
/*
 * Strings, which belong to the runtime. What is gathered are views of them, and then each string is copied to
 * its new place. The runtime's interface hands out one string at a time, which costs several times what the
 * copying does; so where its strings are found to be laid out as GNU's C++ library does it, views are read,
 * and short strings are written, in place. Anywhere else the same is done through the interface alone.
 */
#ifndef GARNER_ORT_STRINGS_H
#define GARNER_ORT_STRINGS_H

#include "runtime.h"

/* Makes strings in the runtime and looks at them: whether they are laid out as is known here. */
bool ort_strings_are_plain(const struct ort *ort);

/* How many views lie between the views of two strings: what plans must count on. */
int64_t ort_strings_step(const struct ort *ort);

/* Where strings come from, where they go, and who does the work. */
struct strings {
    const struct ort *ort;
    const OrtValue *data;
    OrtValue *out;
    const garner_exec *exec;
};

OrtStatus *ort_strings_gather(const struct strings *strings, const garner_plan *plan, int64_t data_count,
                              const void *indices);

#endif
