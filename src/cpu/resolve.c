/* SPDX-License-Identifier: MIT */
/* The resolver: indices of any width, sign and stride, under any policy, become checked offsets. */
#include "kernels/kernel.h"

/* One loop for each index type, made by passing the type as a constant. */
GARNER_INLINE enum landing resolve_as(const struct nest *nest, const char *at, int64_t n, int64_t *offset,
                                      struct index_type type)
{
    const struct dim *inner = &nest->dim[nest->rank - 1];
    enum landing worst = INSIDE;
    /*@ loop invariant 0 <= i <= n;
        loop assigns i, worst, offset[0 .. n - 1]; */
    for (int64_t i = 0; i < n; i++) {
        int64_t from = i * inner->data, picked;
        enum landing landing = INSIDE;
        /*@ loop invariant 0 <= k <= nest->axes;
            loop assigns k, landing, from, picked; */
        for (int k = 0; k < nest->axes && landing != REFUSED; k++) {
            int64_t index = index_load(at + (i * inner->index + k * nest->step) * type.bytes, type);
            enum landing here = index_land(index, type, &nest->axis[k], nest->policy, &picked);
            if (here == INSIDE) {
                /*@ assert 0 <= picked < nest->axis[k].bound; */
                from += picked * nest->axis[k].stride;
            } else {
                landing = here;
            }
        }
        if (landing == REFUSED) return REFUSED;
        if (landing == NOWHERE) worst = NOWHERE;
        offset[i] = landing == NOWHERE ? OFFSET_NOWHERE : from;
    }
    return worst;
}

enum landing garner_resolve(const struct nest *nest, const char *indices, int64_t at, int64_t n,
                            int64_t *offset)
{
    const char *first = indices + at * nest->index_type.bytes;
    bool is_unsigned = nest->index_type.is_unsigned;
    switch (nest->index_type.bytes) {
    case 1:
        return is_unsigned ? resolve_as(nest, first, n, offset, (struct index_type){1, true})
                           : resolve_as(nest, first, n, offset, (struct index_type){1, false});
    case 2:
        return is_unsigned ? resolve_as(nest, first, n, offset, (struct index_type){2, true})
                           : resolve_as(nest, first, n, offset, (struct index_type){2, false});
    case 4:
        return is_unsigned ? resolve_as(nest, first, n, offset, (struct index_type){4, true})
                           : resolve_as(nest, first, n, offset, (struct index_type){4, false});
    default:
        return is_unsigned ? resolve_as(nest, first, n, offset, (struct index_type){8, true})
                           : resolve_as(nest, first, n, offset, (struct index_type){8, false});
    }
}
