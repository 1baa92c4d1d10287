/* SPDX-License-Identifier: MIT */
/*
 * A level's kernels, from its lines of kernels.def: its functions and the table of them all.
 *
 * Contract: before including this a file defines LEVEL (a name for its functions), LEVEL_ENUM (the level),
 * LEVEL_TARGET (the attribute that turns its instructions on), LEVEL_IS_x as DO for the level x that it is,
 * LEVEL_TABLE, and two inline functions of (segment, id): LEVEL_BODY, to which the id is constant, and
 * LEVEL_RUNS, which moves runs of any length, to which the source and the bytes of an index are not.
 */
#ifndef LEVEL_IS_SCALAR
#define LEVEL_IS_SCALAR SKIP
#endif
#ifndef LEVEL_IS_AVX2
#define LEVEL_IS_AVX2 SKIP
#endif
#ifndef LEVEL_IS_AVX512
#define LEVEL_IS_AVX512 SKIP
#endif
#ifndef LEVEL_IS_AVX512_GATHER
#define LEVEL_IS_AVX512_GATHER SKIP
#endif

#define DO(...) __VA_ARGS__
#define SKIP(...)
#define NAME_(level, source, index, body) level##_##source##_##index##_##body
#define NAME(level, source, index, body) NAME_(level, source, index, body)
#define SHARED_(level) level##_runs
#define SHARED_NAME(level) SHARED_(level)

/* Runs of any length but for the commonest sources: to move one takes longer than a few branches. */
static GARNER_NOINLINE __attribute__((unused)) LEVEL_TARGET int64_t
SHARED_NAME(LEVEL)(const struct segment *s, enum source source, int index)
{
    return LEVEL_RUNS(s, (struct kernel_id){LEVEL_ENUM, source, index, ANY});
}

/* Pairs of the widest indices and registers are common enough for a function of their own, too. */
#define IS_UNCOMMON(level, source, index) \
    ((source) != UNIT && (source) != BLOCK && ((level) != AVX512 || (source) != PAIR || (index) != 8))

#define DEFINE_BODY(level, source, index, body)                                                  \
    static LEVEL_TARGET int64_t NAME(LEVEL, source, index, body)(                                \
        const struct segment *like, const char *data, const char *indices, char *out, int64_t n) \
    {                                                                                            \
        const struct segment segment = segment_at(like, data, indices, out, n);                  \
        return (body) == ANY && IS_UNCOMMON(level, source, index)                                \
                   ? SHARED_NAME(LEVEL)(&segment, source, index)                                 \
                   : LEVEL_BODY(&segment, (struct kernel_id){level, source, index, body});       \
    }
#define BODY(level, source, index, body) LEVEL_IS_##level(DEFINE_BODY(level, source, index, body))
#define KERNEL(level, source, index, run, body)
#include "kernels.def"
#undef KERNEL
#undef DEFINE_BODY
#undef IS_UNCOMMON

const kernel_table LEVEL_TABLE = {
#define TABLE_ENTRY(level, source, index, run, body)                           \
    [source][INDEX_SLOT(index)][RUN_SLOT(run)] = {{level, source, index, run}, \
                                                  NAME(LEVEL, source, index, body)},
#define KERNEL(level, source, index, run, body) LEVEL_IS_##level(TABLE_ENTRY(level, source, index, run, body))
#include "kernels.def"
#undef KERNEL
#undef TABLE_ENTRY
};

#undef DO
#undef SKIP
#undef NAME
#undef NAME_
#undef SHARED_
#undef SHARED_NAME
#undef LEVEL
#undef LEVEL_ENUM
#undef LEVEL_TARGET
#undef LEVEL_BODY
#undef LEVEL_RUNS
#undef LEVEL_TABLE
#undef LEVEL_IS_SCALAR
#undef LEVEL_IS_AVX2
#undef LEVEL_IS_AVX512
#undef LEVEL_IS_AVX512_GATHER
