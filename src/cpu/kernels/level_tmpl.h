/* SPDX-License-Identifier: MIT */
/*
 * A level's kernels, from its lines of kernels.def: a function for each and the table of them all.
 *
 * Contract: before including this a file defines LEVEL (a name for its functions), LEVEL_TARGET
 * (the attribute that turns its instructions on), LEVEL_KERNEL_x as DEFINE_KERNEL for the level x that it
 * is, LEVEL_TABLE, and LEVEL_BODY, an inline function of (segment,
 * source, index, run, level) whose arguments after the first are constants.
 */
#ifndef LEVEL_KERNEL_SCALAR
#define LEVEL_KERNEL_SCALAR SKIP_KERNEL
#endif
#ifndef LEVEL_KERNEL_AVX2
#define LEVEL_KERNEL_AVX2 SKIP_KERNEL
#endif
#ifndef LEVEL_KERNEL_AVX512
#define LEVEL_KERNEL_AVX512 SKIP_KERNEL
#endif
#ifndef LEVEL_KERNEL_AVX512_GATHER
#define LEVEL_KERNEL_AVX512_GATHER SKIP_KERNEL
#endif

#define SKIP_KERNEL(level, source, index, run)
#define KERNEL(level, source, index, run) LEVEL_KERNEL_##level(level, source, index, run)
#define KERNEL_NAME_(level, source, index, run) level##_##source##_##index##_##run
#define KERNEL_NAME(level, source, index, run) KERNEL_NAME_(level, source, index, run)

#define DEFINE_KERNEL(level, source, index, run)                                                 \
    static LEVEL_TARGET int64_t KERNEL_NAME(LEVEL, source, index, run)(                          \
        const struct segment *like, const char *data, const char *indices, char *out, int64_t n) \
    {                                                                                            \
        const struct segment segment = segment_at(like, data, indices, out, n);                  \
        return LEVEL_BODY(&segment, source, index, run, level);                                  \
    }
#include "kernels.def"
#undef DEFINE_KERNEL

const kernel_table LEVEL_TABLE = {
#define DEFINE_KERNEL(level, source, index, run)                             \
    [source][INDEX_SLOT(index)][RUN_SLOT(run)] = {level, source, index, run, \
                                                  KERNEL_NAME(LEVEL, source, index, run)},
#include "kernels.def"
#undef DEFINE_KERNEL
};

#undef SKIP_KERNEL
#undef KERNEL
#undef KERNEL_NAME
#undef KERNEL_NAME_
#undef LEVEL
#undef LEVEL_TARGET
#undef LEVEL_BODY
#undef LEVEL_TABLE
#undef LEVEL_KERNEL_SCALAR
#undef LEVEL_KERNEL_AVX2
#undef LEVEL_KERNEL_AVX512
#undef LEVEL_KERNEL_AVX512_GATHER
