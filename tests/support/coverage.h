/* SPDX-License-Identifier: MIT */
/*
 * How many cases a test program ran for each operator version, element type and index type.
 */
#ifndef GARNER_TESTS_COVERAGE_H
#define GARNER_TESTS_COVERAGE_H

#include "reference.h"

void coverage_count(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype);

/* Prints the table and returns how many combinations that the version allows had no case. */
int coverage_print(void);

/* Whether the version allows these types when not strict. */
bool coverage_allowed(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype);

#endif
