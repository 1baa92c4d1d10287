/* SPDX-License-Identifier: MIT */
/* Expands kernels.def once more, into lines with names, and finds each line's entry in its level's table. */
#include "kernel_list.h"

const struct kernel_line kernel_lines[] = {
#define KERNEL(level, source, index, run, body) {level, source, index, run, #source " " #index " " #run},
#include "cpu/kernels/kernels.def"
#undef KERNEL
};
const int kernel_line_count = sizeof kernel_lines / sizeof kernel_lines[0];

const struct kernel *kernel_of_line(const struct kernel_line *line)
{
    const kernel_table *table = garner_level_kernels(line->level);
    return table ? &(*table)[line->source][INDEX_SLOT(line->index)][RUN_SLOT(line->run)] : NULL;
}

bool kernel_is_joined(enum source source)
{
    return source == SHORT_UNIT || source == SHORT_COLUMNS;
}
