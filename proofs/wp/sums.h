/* SPDX-License-Identifier: MIT */
/* How far a view reaches: the sums of what each axis adds below and above its element 0, in elements. */
#ifndef GARNER_PROOFS_SUMS_H
#define GARNER_PROOFS_SUMS_H

#include "view.h"

#ifdef OPAQUE_STEPS /* where products only disturb Z3 */
/*@ axiomatic Steps {
      logic integer least(integer n, integer stride);
      logic integer most(integer n, integer stride); } */
#else
/*@ logic integer least(integer n, integer stride) = n > 0 && stride < 0 ? (n - 1) * stride : 0;
    logic integer most(integer n, integer stride) = n > 0 && stride > 0 ? (n - 1) * stride : 0; */
#endif

/*@ logic integer low{L}(struct view *v, integer rank) =
      rank <= 0 ? 0 : low(v, rank - 1) + least(v->n[rank - 1], v->stride[rank - 1]);
    logic integer high{L}(struct view *v, integer rank) =
      rank <= 0 ? 0 : high(v, rank - 1) + most(v->n[rank - 1], v->stride[rank - 1]);
    logic integer place{L}(struct view *v, int64_t *at, integer rank) =
      rank <= 0 ? 0 : place(v, at, rank - 1) + at[rank - 1] * v->stride[rank - 1]; */

#endif
