/* SPDX-License-Identifier: MIT */
/*
 * What the planner knows of a GPU. A kind of device is a line of devices.def; the planner decides from a nest
 * and such a line alone, so any machine can plan for any of them. Sizes are in bytes where nothing else is
 * said.
 */
#ifndef GARNER_CUDA_PROFILE_H
#define GARNER_CUDA_PROFILE_H

#include "../base.h"

struct cuda_profile {
    const char *name;
    const char *devices; /* which they are, for people */
    bool measured;       /* false: reasoned from what is published, and never measured */
    int capability;      /* the least compute capability that it is for: 90 is 9.0 */

    /* What the driver tells of the device at hand replaces these. */
    int64_t multiprocessors;
    int64_t shared; /* shared memory that one block may use */
    int64_t l2;
    int64_t resident; /* threads that a multiprocessor runs at a time */

    int64_t waves; /* so many times as many threads, each of which moves one vector, have enough in flight */

    /* Tables of rows of elements are staged */
    int64_t table_most;  /* up to this size, */
    int64_t table_least; /* from this size on: the caches hold smaller ones, */
    int64_t table_group; /* of as many rows at once as this holds, */
    int64_t table_point; /* where a table has at most so many bytes for each point of a row. */

    /* Panels of tables that rows share are staged */
    int64_t panel_wide;    /* so many bytes of each row where all of them fit, */
    int64_t panel_narrow;  /* or else so many; */
    int64_t panel_percent; /* if not all rows fit, at least so many of 100; */
    int64_t panel_l2;      /* then the panels that are in use at once take no more than this; */
    int64_t panel_repeats; /* and all that where a table has at most so many rows for each row of points. */
};

/* The i-th profile; NULL beyond the last. */
const struct cuda_profile *garner_cuda_profile(int i);

/* The profile for a compute capability, 90 for 9.0. */
const struct cuda_profile *garner_cuda_profile_for(int capability);

#endif
