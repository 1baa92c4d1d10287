/* SPDX-License-Identifier: MIT */
/* The two functions through which kernels find points say yes only if every index is in range. */
#include "index_contracts.h"

#include "kernel.h"
#include "source.h"

/*@ requires 0 <= count <= MOST_GROUP && bound >= 0 && \valid_read(index + (0 .. count - 1));
    assigns \nothing;
    ensures \result == 0 || \result == 1;
    ensures \result ==> \forall integer i; 0 <= i < count ==> 0 <= index[i] < bound; */
static inline bool all_inside(const int64_t *index, int count, int64_t bound);

/*@ requires 0 <= group.count <= MOST_GROUP && \valid(index + (0 .. group.count - 1));
    requires \valid_read(s) && 0 <= k < MOST_AXES && \valid_read(s->axis + k) && is_axis(&s->axis[k]);
    requires \separated(s, index + (0 .. group.count - 1));
    requires \separated(s->axis + k, index + (0 .. group.count - 1));
    assigns index[0 .. group.count - 1];
    ensures \result ==> \forall integer i; 0 <= i < group.count ==> 0 <= index[i] < s->axis[k].bound; */
static inline bool load_axis(const struct segment *s, const struct group group, int k, int64_t *index,
                             const struct kernel_id id);

/*@ assigns \nothing;
    ensures 1 <= \result <= MOST_AXES; */
static inline int source_axes(enum source source);

/*@ assigns \nothing; */
static inline bool source_is_resolved(enum source source);

/*@ assigns \nothing;
    ensures \result == (a < b ? a : b); */
static inline int64_t at_most(int64_t a, int64_t b);

/*@ assigns \nothing; */
static inline int64_t load_index(const char *at, int bytes, bool is_unsigned);

/*@ assigns \nothing; */
static inline bool loads_unsigned(bool wraps, const struct kernel_id id);

/*@ assigns \nothing; */
static inline uint64_t point_offset(const struct segment *s, int64_t point, const struct kernel_id id);

/*@ assigns \nothing; */
static inline uint64_t add_index(uint64_t from, int64_t index, int64_t stride, const struct kernel_id id);

/*@ requires \valid(offset) && \valid_read(s) && \valid_read(s->axis + (0 .. MOST_AXES - 1));
    requires \forall integer k; 0 <= k < MOST_AXES ==> is_axis(&s->axis[k]);
    requires \separated(offset, s, s->axis + (0 .. MOST_AXES - 1));
    assigns *offset; */
static inline bool find_run(const struct segment *s, int64_t point, int64_t *offset,
                            const struct kernel_id id);
