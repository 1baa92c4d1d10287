/* SPDX-License-Identifier: MIT */
/* Describes a plan in one line, for people who want to know what was chosen. */
#include <inttypes.h>

#include "plan.h"

void garner_describe_nest(struct line *line, const char *op, const struct nest *nest)
{
    garner_line_add(line, "%s:", op);
    for (int d = 0; d < nest->rank && nest->points > 0; d++)
        garner_line_add(line, " (%" PRId64 ": %" PRId64 ",%" PRId64 ",%" PRId64 ")", nest->dim[d].n,
                        nest->dim[d].data, nest->dim[d].index, nest->dim[d].out);
    if (nest->points == 0) garner_line_add(line, " nothing to move");
    garner_line_add(line, ", axes");
    for (int k = 0; k < nest->axes; k++)
        garner_line_add(line, " (%" PRId64 ",%" PRId64 ")", nest->axis[k].bound, nest->axis[k].stride);
    garner_line_add(line, ", run %" PRId64 " %s", nest->run, nest->packed ? nest->packed->name : "B");
}

size_t garner_plan_describe(const garner_plan *plan, char *buffer, size_t size)
{
    struct line line = {buffer, buffer ? size : 0, 0};
    if (line.size > 0) buffer[0] = '\0';
    if (plan == NULL) return 0;
    garner_describe_nest(&line, plan->op, &plan->nest);
    garner_cpu_describe(&plan->work, &plan->nest, &line);
    return line.length;
}
