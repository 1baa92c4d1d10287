/* SPDX-License-Identifier: MIT */
/*
 * Multiples without multiplication: what is true of times * stride, law by law, since Z3 hardly
 * finds its way through products. The laws are proved where MULTIPLES_ARE_PRODUCTS is defined, and called by
 * what is proved elsewhere.
 */
#ifndef GARNER_PROOFS_MULTIPLES_H
#define GARNER_PROOFS_MULTIPLES_H

/*@ axiomatic Multiples {
      logic integer multiple(integer times, integer stride);
#ifdef MULTIPLES_ARE_PRODUCTS
      axiom multiple_is: \forall integer times, stride; multiple(times, stride) == times * stride;
#endif
    }
    predicate grows = \forall integer a, b, s; a <= b && s >= 0 ==> multiple(a, s) <= multiple(b, s);
    predicate is_odd = \forall integer a, s; multiple(-a, s) == -multiple(a, s);
    predicate begins_at_zero = \forall integer s; multiple(0, s) == 0;
    predicate grows_by_one = \forall integer a, s; multiple(a + 1, s) == multiple(a, s) + s;
    predicate multiplies_zero = \forall integer a; multiple(a, 0) == 0;
    predicate parts_fill = \forall integer i, n, s; 0 <= i < n && s >= 0 ==>
      0 <= multiple(i, s) <= multiple(n, s) - s;
    predicate leaves_zero = \forall integer a, s; s >= 0 && a != 0 ==>
      multiple(a, s) <= -s || s <= multiple(a, s);
    predicate divides_with_rest = \forall integer a, b; b != 0 ==> a == multiple(a / b, b) + a % b; */

/*@ ghost
    /@ assigns \nothing;
       ensures grows && is_odd && begins_at_zero && multiplies_zero && grows_by_one && leaves_zero; @/
    void laws_of_multiples(void) {}
    /@ assigns \nothing;
       ensures divides_with_rest; @/
    void law_of_rests(void) {}
    /@ assigns \nothing;
       ensures parts_fill && begins_at_zero && multiplies_zero; @/
    void laws_of_parts(void) { laws_of_multiples(); } */

/* Of divisors the proofs take for granted what every book on numbers begins with. */
/*@ axiomatic Divisors {
      predicate divides(integer g, integer x);
      axiom divides_itself: \forall integer g; divides(g, g);
      axiom divides_zero: \forall integer g; divides(g, 0);
      axiom divides_on: \forall integer g, c, x; divides(g, c) && divides(c, x) ==> divides(g, x);
      axiom divides_sums: \forall integer g, a, x, y, z;
        divides(g, x) && divides(g, y) && z <= y + multiple(a, x) <= z ==> divides(g, z);
      axiom divides_rests: \forall integer g, a, x, y, z;
        divides(g, x) && divides(g, y) && z <= y - multiple(a, x) <= z ==> divides(g, z);
      axiom divides_without_rest: \forall integer g, x; g != 0 && divides(g, x) ==> x % g == 0;
    } */

#endif
