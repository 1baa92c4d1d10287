/* SPDX-License-Identifier: MIT */
/*
 * How a view of a case lies in memory, at random: dense or strided, in any order of its axes, backwards,
 * with gaps, repeated, misaligned.
 */
#ifndef GARNER_TESTS_ARRANGE_H
#define GARNER_TESTS_ARRANGE_H

#include "cases.h"

/* Any order of the axes, gaps between them, either direction: no two elements share memory. */
void arrange_scattered(struct random *random, struct case_view *view);

/* Anything that is legal: packed views stay dense, an input may also repeat itself. */
void arrange(struct random *random, struct case_view *view, bool packed, bool input);

#endif
