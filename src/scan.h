/* SPDX-License-Identifier: MIT */
/*
 * The index tensor in its own order. A kernel only says that it met an index it must refuse; which
 * one to report is found here, by one walk in C order, so the answer is the lowest position whatever
 * the split, the order of tasks or the number of threads.
 */
#ifndef GARNER_SCAN_H
#define GARNER_SCAN_H

#include "nest.h"
#include "view.h"

/* The index tensor as the caller sees it, and what its elements select. */
struct index_map {
    struct view view;
    bool tuples; /* the last axis counts the gathered axes */
    int gather;  /* the first gathered axis of data */
};

/* Whether a walk takes time in proportion to the memory of the index tensor. Where out has elements it
 * always does: out takes memory for each index. */
garner_status garner_scan_check(const struct index_map *map, const char *op, garner_error *error);

/* Reports the index at these coordinates as refused. */
garner_status garner_scan_report(const struct index_map *map, const struct nest *nest, const char *op,
                                 const int64_t *coordinates, int64_t index, garner_error *error) GARNER_COLD;

/* Walks all indices at `base`. GARNER_OK if none is refused; else the lowest refused one, reported. The
 * executor, which may be NULL, is asked now and then whether to stop. */
garner_status garner_scan(const struct index_map *map, const struct nest *nest, const char *op,
                          const void *base, const garner_exec *exec, garner_error *error);

#endif
