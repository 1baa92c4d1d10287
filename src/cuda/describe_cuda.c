/* SPDX-License-Identifier: MIT */
/* Says in words what was decided for a nest on a GPU. garner_cuda.h has the grammar. */
#include <inttypes.h>

#include "cuda_work.h"

void garner_cuda_describe(const struct cuda_work *work, struct line *line)
{
    static const char *const names[] = {
#define CUDA_SOURCE(source, name, in_flight) [CUDA_##source] = name,
#include "kernels/cuda_sources.def"
#undef CUDA_SOURCE
    };
    if (work->blocks == 0) return;
    garner_line_add(line, ", kernel %s-i", names[work->source]);
    if (work->index)
        garner_line_add(line, "%d", work->index * 8);
    else
        garner_line_add(line, "any");
    garner_line_add(line, "-v%d", work->vector);
    if (work->shared) garner_line_add(line, ", stages %" PRId64 " B", work->shared);
    garner_line_add(line, ", %" PRId64 " x %d threads", work->blocks, work->threads);
}
