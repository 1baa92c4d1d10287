/* SPDX-License-Identifier: MIT */
/*
 * What ONNX Runtime's optimizer makes of gathers that are its own, as far as numbers and names tell. The
 * plug-in asks about the graph that the runtime shows it, the command about a file.
 */
#ifndef GARNER_PLUGIN_FUSION_RULES_H
#define GARNER_PLUGIN_FUSION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of an axis, from `start` to before `end`. */
struct split_span {
    int64_t start, end;
};

/* The axis that Gathers and Slices of the same data cut up: if each of them is one part, the runtime makes
 * one Split of all. */
struct split_axis {
    int64_t number, extent, rank;
};

/* What counts from the end where it is negative. */
int64_t split_from_end(int64_t number, int64_t extent);

/* The part that a Gather along `axis` picks by one index; false if it is none of this axis. */
bool split_span_of_gather(struct split_span *span, const struct split_axis *of, int64_t axis, int64_t index);

/* The same of a Slice. */
bool split_span_of_slice(struct split_span *span, const struct split_axis *of, int64_t axis, int64_t start,
                         int64_t end, int64_t step);

/* Whether there are several, and they are the whole axis, each part once. Sorts them. */
bool split_spans_cover(struct split_span *spans, size_t count, int64_t extent);

/* Whether an operator of ONNX moves data and computes nothing. Those that move have f16 kernels in every
 * runtime. Of those that compute most have none, and which do differs from one release and CPU to the next.
 */
bool fusion_moves_data(const char *type);

#endif
