/* SPDX-License-Identifier: MIT */
/* Says in words what was decided for a nest on the CPU. */
#include <inttypes.h>

#include "cpu_work.h"

static void say_kernel(struct line *line, const struct kernel *kernel)
{
    static const char *const source_names[] = {
#define SOURCE(source, name, axes) [source] = name,
#include "kernels/sources.def"
#undef SOURCE
    };
    garner_line_add(line, " %s %s-i%d-", garner_level_name(kernel->level), source_names[kernel->source],
                    kernel->index * 8);
    if (kernel->run)
        garner_line_add(line, "%d", kernel->run);
    else
        garner_line_add(line, "any");
}

/* Which kernel moves the points, and, where panels lie in slots in out, which one moves those. */
static void say_kernels(struct line *line, const struct cpu_work *work, const struct nest *nest)
{
    garner_line_add(line, ", kernel");
    if (work->strategy == PANELS)
        say_kernel(line, work->panel_kernel);
    else if (work->kernel)
        say_kernel(line, work->kernel);
    else if (nest->packed)
        garner_line_add(line, " scalar bits");
    else
        say_kernel(line, garner_kernel_find(BLOCK, sizeof(int64_t), nest->run));
    if (work->slots && work->strategy != PANELS) {
        garner_line_add(line, ", %" PRId64 " in out", work->slots);
        say_kernel(line, work->panel_kernel);
    }
}

void garner_cpu_describe(const struct backend_work *given, const struct nest *nest, struct line *line)
{
    const struct cpu_work *work = cpu_work_of(given);
    if (work->tasks > 0) say_kernels(line, work, nest);
    garner_line_add(line, ", %" PRId64 " task%s", work->tasks, work->tasks == 1 ? "" : "s");
}
