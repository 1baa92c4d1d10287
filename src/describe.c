/* SPDX-License-Identifier: MIT */
/* Describes a plan in one line, for people who want to know what was chosen. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "plan.h"

/* A line that grows and remembers how long it would be. */
struct line {
    char *buffer;
    size_t size, length;
};

static void say(struct line *line, const char *format, ...) GARNER_PRINTF(2, 3);
static void say(struct line *line, const char *format, ...)
{
    va_list arguments;
    size_t used = line->length < line->size ? line->length : line->size;
    va_start(arguments, format);
    int written = vsnprintf(line->size ? line->buffer + used : NULL, line->size - used, format, arguments);
    va_end(arguments);
    if (written > 0) line->length += (size_t)written;
}

static void say_nest(struct line *line, const struct nest *nest)
{
    for (int d = 0; d < nest->rank && nest->points > 0; d++)
        say(line, " (%" PRId64 ": %" PRId64 ",%" PRId64 ",%" PRId64 ")", nest->dim[d].n, nest->dim[d].data,
            nest->dim[d].index, nest->dim[d].out);
    if (nest->points == 0) say(line, " nothing to move");
    say(line, ", axes");
    for (int k = 0; k < nest->axes; k++)
        say(line, " (%" PRId64 ",%" PRId64 ")", nest->axis[k].bound, nest->axis[k].stride);
    say(line, ", run %" PRId64 " %s", nest->run, nest->packed ? nest->packed->name : "B");
}

static void say_kernel(struct line *line, const struct kernel *kernel)
{
    static const char *const source_names[] = {
#define SOURCE(source, name, axes) [source] = name,
#include "cpu/kernels/sources.def"
#undef SOURCE
    };
    say(line, " %s %s-i%d-", garner_level_name(kernel->level), source_names[kernel->source],
        kernel->index * 8);
    if (kernel->run)
        say(line, "%d", kernel->run);
    else
        say(line, "any");
}

/* Which kernel moves the points, and, where they go by places in out, which one fills these. */
static void say_kernels(struct line *line, const struct cpu_work *work, const struct nest *nest)
{
    say(line, ", kernel");
    if (work->strategy == PANELS)
        say_kernel(line, work->panel_kernel);
    else if (work->kernel)
        say_kernel(line, work->kernel);
    else if (nest->packed)
        say(line, " scalar bits");
    else
        say_kernel(line, garner_kernel_find(BLOCK, sizeof(int64_t), nest->run));
    if (work->slots && work->strategy != PANELS) {
        say(line, ", %" PRId64 " in out", work->slots);
        say_kernel(line, work->panel_kernel);
    }
}

size_t garner_plan_describe(const garner_plan *plan, char *buffer, size_t size)
{
    struct line line = {buffer, buffer ? size : 0, 0};
    if (line.size > 0) buffer[0] = '\0';
    if (plan == NULL) return 0;
    say(&line, "%s:", plan->op);
    say_nest(&line, &plan->nest);
    if (plan->work.tasks > 0) say_kernels(&line, &plan->work, &plan->nest);
    say(&line, ", %" PRId64 " task%s", plan->work.tasks, plan->work.tasks == 1 ? "" : "s");
    return line.length;
}
