/* SPDX-License-Identifier: MIT */
/*
 * The library's own list of kernels, for those that test and time each of them: one entry for each line
 * of kernels.def, of every level, whether this machine has it or not.
 */
#ifndef GARNER_TESTS_KERNEL_LIST_H
#define GARNER_TESTS_KERNEL_LIST_H

#include "cpu/kernels/kernel.h"

struct kernel_line {
    enum level level;
    enum source source;
    int index, run;
    const char *name; /* "UNIT 8 64": source, bytes of an index, bytes of a run */
};

extern const struct kernel_line kernel_lines[];
extern const int kernel_line_count;

/* The kernel of a line, or NULL if the level was not compiled for this machine. */
const struct kernel *kernel_of_line(const struct kernel_line *line);

/* How many axes a source gathers. */
int kernel_axes(enum source source);

/* Whether a source follows offsets that were resolved before. */
bool kernel_is_block(enum source source);

/* Whether a source joins short rows. */
bool kernel_is_joined(enum source source);

#endif
