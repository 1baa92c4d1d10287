/* SPDX-License-Identifier: MIT */
/*
 * The kernel skeleton: address source x mover.
 *
 * Contract: a file that defines KERNEL_TARGET (a function attribute that turns an instruction set on,
 * or nothing) includes this once and gets gather_segment(), whose last three parameters are constants
 * at every call, so that each call compiles to a loop of its own. A group of indices is loaded, each
 * one once, checked together with one comparison each, and then moved.
 */
#ifndef KERNEL_TARGET
#error "define KERNEL_TARGET before including gather_tmpl.h"
#endif

enum { GROUP = 8 };

/* The offset of one point; clears *inside if an index is not inside its axis. */
GARNER_INLINE KERNEL_TARGET int64_t point_offset(const struct segment *s, const char *at, enum source source,
                                                 int width, bool *inside)
{
    const struct index_type type = {width, false};
    if (source == BLOCK) return index_load(at, type);
    uint64_t offset = 0; /* unsigned, because a place that is not inside may be anything */
    for (int k = 0; k < (source == ONE ? 1 : s->axes); k++) {
        int64_t place;
        *inside &= index_inside(index_load(at + k * width, type), s->axis[k].bound, s->axis[k].wrap, &place);
        offset += (uint64_t)place * (uint64_t)s->axis[k].stride;
    }
    return (int64_t)offset;
}

GARNER_INLINE KERNEL_TARGET void move_run(char *out, const char *from, int64_t run)
{
    memcpy(out, from, (size_t)run);
}

/* One group of `count` points, a constant. False, with nothing moved, if an index is not inside. */
GARNER_INLINE KERNEL_TARGET bool move_group(const struct segment *s, int64_t first, int count,
                                            enum source source, int width, int64_t run)
{
    int64_t offset[GROUP];
    bool inside = true;
    int64_t tuple = (source == TUPLE ? s->axes : 1) * (int64_t)width;
    const char *at = s->index + first * tuple;
    for (int i = 0; i < count; i++)
        offset[i] = point_offset(s, at + i * tuple, source, width, &inside);
    if (!inside) return false;
    for (int i = 0; i < count; i++) {
        char *out = s->out + (first + i) * s->step;
        if (source == BLOCK && offset[i] == OFFSET_NOWHERE)
            memset(out, 0, (size_t)run);
        else
            move_run(out, s->data + (source == BLOCK ? 0 : (first + i) * s->ramp) + offset[i], run);
    }
    return true;
}

GARNER_INLINE KERNEL_TARGET int64_t gather_segment(const struct segment *s, enum source source, int width,
                                                   int64_t constant_run)
{
    int64_t run = constant_run ? constant_run : s->run, i = 0;
    for (; s->n - i >= GROUP; i += GROUP)
        if (!move_group(s, i, GROUP, source, width, run)) return i;
    for (; i < s->n; i++)
        if (!move_group(s, i, 1, source, width, run)) return i;
    return i;
}

#undef KERNEL_TARGET
