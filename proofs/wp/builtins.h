/* SPDX-License-Identifier: MIT */
/*
 * What the proofs take for granted: what gcc's builtins do, and that an empty assembly statement changes no
 * value. Included before anything of the product.
 */
#ifndef GARNER_PROOFS_BUILTINS_H
#define GARNER_PROOFS_BUILTINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define __asm__(...)
#define __builtin_expect(value, usual) (value)
#define __builtin_prefetch(...)

/*@ predicate fits(integer x) = INT64_MIN <= x <= INT64_MAX; */

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result == 0 <==> fits(a + b);
    ensures \result == 0 ==> *result == a + b; */
int model_add_overflow(int64_t a, int64_t b, int64_t *result);

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result == 0 <==> fits(a - b);
    ensures \result == 0 ==> *result == a - b; */
int model_sub_overflow(int64_t a, int64_t b, int64_t *result);

/*@ requires \valid(result);
    assigns *result;
    ensures \result == 0 || \result == 1;
    ensures \result == 0 <==> fits(a * b);
    ensures \result == 0 ==> *result == a * b; */
int model_mul_overflow(int64_t a, int64_t b, int64_t *result);

#define __builtin_add_overflow model_add_overflow
#define __builtin_sub_overflow model_sub_overflow
#define __builtin_mul_overflow model_mul_overflow

#endif
