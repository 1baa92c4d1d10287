/* SPDX-License-Identifier: MIT */
#include "fusion_rules.h"

#include <stdlib.h>
#include <string.h>

int64_t split_from_end(int64_t number, int64_t extent)
{
    return number < 0 && extent > 0 ? number + extent : number; /* an extent below 0 is not known */
}

static int64_t within(int64_t number, int64_t extent)
{
    number = split_from_end(number, extent);
    return number < 0 ? 0 : number > extent ? extent : number;
}

bool split_span_of_gather(struct split_span *span, const struct split_axis *of, int64_t axis, int64_t index)
{
    if (split_from_end(axis, of->rank) != of->number) return false;
    span->start = split_from_end(index, of->extent);
    span->end = span->start + 1;
    return span->start >= 0 && span->start < of->extent;
}

bool split_span_of_slice(struct split_span *span, const struct split_axis *of, int64_t axis, int64_t start,
                         int64_t end, int64_t step)
{
    if (split_from_end(axis, of->rank) != of->number) return false;
    span->start = within(start, of->extent);
    span->end = within(end, of->extent);
    return step == 1 && span->start < span->end;
}

static int compare_spans(const void *one, const void *other)
{
    int64_t a = ((const struct split_span *)one)->start, b = ((const struct split_span *)other)->start;
    return (a > b) - (a < b);
}

bool split_spans_cover(struct split_span *spans, size_t count, int64_t extent)
{
    int64_t end = 0;
    if (count < 2) return false;
    qsort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].start != end) return false;
        end = spans[i].end;
    }
    return end == extent;
}

bool fusion_moves_data(const char *type)
{
    static const char *const movers[] = {
        "Cast",     "Concat", "Constant", "Expand", "Flatten", "Gather", "GatherElements",  "GatherND",
        "Identity", "If",     "Loop",     "Pad",    "Reshape", "Scan",   "ScatterElements", "ScatterND",
        "Shape",    "Size",   "Slice",    "Split",  "Squeeze", "Tile",   "Transpose",       "Unsqueeze",
        "Where"};
    for (size_t i = 0; i < sizeof movers / sizeof movers[0]; i++)
        if (strcmp(type, movers[i]) == 0) return true;
    return false;
}
