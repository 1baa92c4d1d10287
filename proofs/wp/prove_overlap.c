/* SPDX-License-Identifier: MIT */
/*
 * A view of which the search says that no two elements share memory has none that do. What holds of each step
 * is found from the last to the first; the search then sees one step and what follows it.
 */
#include <stdlib.h>

#include "multiples.h"
#include "view.h"

struct step;
/*@ ghost void mean_facts(const struct step *s);
    void mean_next(const struct step *s);
    void descend(const struct step *here); */

#define qsort(steps, count, size, order) sort_by_stride(steps, count)
static void sort_by_stride(struct step *step, size_t count);

/*@ assigns \nothing;
    ensures \result == (a < b ? a : b); */
static inline int64_t at_most(int64_t a, int64_t b);

/*@ assigns \nothing;
    ensures \result == (a > b ? a : b); */
static inline int64_t at_least(int64_t a, int64_t b);

#include "../../src/overlap.c"

/*@ predicate is_end{L}(struct step *s) = s->most == 0 && s->reach == 0 && s->common == 0;
    predicate is_step{L}(struct step *s) =
      \valid_read(s) && \valid_read(s + 1) && 0 < s->most < INT64_MAX && 0 < s->stride;
    predicate adds_up{L}(struct step *s) = s->reach == (s + 1)->reach + multiple(s->most, s->stride) &&
      s->reach >= 0 && s->common > 0 && divides(s->common, s->stride) &&
      divides(s->common, (s + 1)->common); */

/* What `home` and `returning` mean, in one step; and what is found of both. */
/*@ predicate steps_home{L}(struct step *s) = \forall integer sum; home(s, sum) ==>
      \exists integer d; -s->most <= d <= s->most && home(s + 1, sum + multiple(d, s->stride));
    predicate home_steps{L}(struct step *s) = \forall integer sum, d;
      -s->most <= d <= s->most && home(s + 1, sum + multiple(d, s->stride)) ==> home(s, sum);
    predicate steps_return{L}(struct step *s) = returning(s) ==> returning(s + 1) ||
      \exists integer d; d != 0 && -s->most <= d <= s->most && home(s + 1, multiple(d, s->stride));
    predicate ends_home{L}(struct step *s) = !returning(s) && \forall integer sum; home(s, sum) <==> sum == 0;
    predicate within{L}(struct step *s) =
      \forall integer sum; home(s, sum) ==> -s->reach <= sum <= s->reach;
    predicate even{L}(struct step *s) = \forall integer sum; home(s, sum) ==> home(s, -sum);
    predicate whole{L}(struct step *s) = \forall integer sum; home(s, sum) ==> divides(s->common, sum);
    predicate facts{L}(struct step *s) =
      \valid_read(s) && 0 <= s->most < INT64_MAX && 0 <= s->reach && 0 <= s->common &&
      (s->most == 0 ==> !returning(s)) &&
      (s->most > 0 ==> s->stride > 0 && s->reach == (s + 1)->reach + multiple(s->most, s->stride) &&
        steps_home(s) && steps_return(s) && within(s + 1) && even(s + 1) && whole(s + 1)); */

/* What follows from what `home` and `returning` mean, and that `known` means: facts of this step and of all
 * that follow. */
/*@ axiomatic Known { predicate known{L}(struct step *s) reads s[0 .. 64]; } */
/*@ ghost
    /@ assigns \nothing;
       ensures s->most == 0 ==> ends_home(s);
       ensures s->most > 0 ==> steps_home(s) && home_steps(s) && steps_return(s); @/
    void mean_step(const struct step *s);

    /@ requires facts(s) && (s->most > 0 ==> known(s + 1));
       assigns \nothing;
       ensures known(s); @/
    void mean_known(const struct step *s);

    /@ requires known(s);
       assigns \nothing;
       ensures facts(s); @/
    void mean_facts(const struct step *s);

    /@ requires known(s) && s->most > 0;
       assigns \nothing;
       ensures known(s + 1) && facts(s + 1); @/
    void mean_next(const struct step *s); */

/*@ ghost
    /@ requires known(here) && here->most > 0;
       assigns \nothing;
       ensures known(here + 1) && facts(here + 1) && grows && is_odd && begins_at_zero; @/
    void descend(const struct step *here) { mean_next(here); laws_of_multiples(); } */

/*@ requires b > 0;
    assigns \nothing;
    ensures multiple(\result, b) <= a < multiple(\result + 1, b);
    ensures a < 0 ==> a <= \result < 0;
    ensures a >= 0 ==> 0 <= \result <= a; */
static int64_t divide_down(int64_t a, int64_t b);

/*@ requires fits(multiple(times, stride));
    assigns \nothing;
    ensures \result == multiple(times, stride); */
static inline int64_t walk_steps(int64_t times, int64_t stride);

/*@ requires known(here);
    requires \valid(patience) && *patience >= 0;
    requires here->reach - INT64_MAX <= sum <= INT64_MAX - here->reach;
    requires !moved ==> sum == 0;
    assigns *patience;
    ensures !\result ==> *patience >= 0;
    ensures !\result && moved ==> !home(here, sum);
    ensures !\result && !moved ==> !returning(here); */
static bool returns_to_zero(const struct step *here, int64_t sum, bool moved, int *patience);

/*@ requires a > 0 && b >= 0;
    assigns \nothing;
    ensures \result > 0 && divides(\result, a) && divides(\result, b); */
static int64_t common_divisor(int64_t a, int64_t b);

/*@ requires \valid(here) && \valid_read(here + 1) && 0 < here->most < INT64_MAX && 0 < here->stride;
    requires (here + 1)->reach >= 0 && (here + 1)->common >= 0;
    assigns here->reach, here->common;
    ensures adds_up(here); */
static void add_step(struct step *here);

/*@ ghost
    /@ requires is_step(s) && adds_up(s) && steps_home(s) && grows && is_odd && begins_at_zero &&
         within(s + 1);
       assigns \nothing;
       ensures within(s); @/
    void know_within(const struct step *s) {}

    /@ requires is_step(s) && steps_home(s) && home_steps(s) && is_odd && even(s + 1);
       assigns \nothing;
       ensures even(s); @/
    void know_even(const struct step *s) {}

    /@ requires is_step(s) && adds_up(s) && steps_home(s) && whole(s + 1);
       assigns \nothing;
       ensures whole(s); @/
    void know_whole(const struct step *s) {}

    /@ requires is_step(s) && adds_up(s) && steps_home(s) && steps_return(s) && within(s + 1) &&
         even(s + 1) && whole(s + 1);
       assigns \nothing;
       ensures facts(s); @/
    void know_facts(const struct step *s) {}

    /@ requires is_step(s) && adds_up(s) && known(s + 1) && within(s + 1) && even(s + 1) && whole(s + 1);
       assigns \nothing;
       ensures known(s) && within(s) && even(s) && whole(s); @/
    void know_step(const struct step *s)
    {
        laws_of_multiples();
        mean_step(s);
        know_within(s);
        know_even(s);
        know_whole(s);
        know_facts(s);
        mean_known(s);
    } */

/*@ ghost
    /@ requires \valid_read(s) && is_end(s);
       assigns \nothing;
       ensures known(s) && within(s) && even(s) && whole(s); @/
    void know_end(const struct step *s) { mean_step(s); mean_known(s); } */

/*@ ghost
    /@ requires 0 <= count <= GARNER_MAX_RANK && \valid_read(step + (0 .. count)) && is_end(step + count);
       requires \forall integer j; 0 <= j < count ==> is_step(step + j) && adds_up(step + j);
       assigns \nothing;
       ensures known(step); @/
    void know_steps(const struct step *step, int count)
    {
        know_end(step + count);
        /@ loop invariant -1 <= i < count;
           loop invariant known(step + (i + 1));
           loop invariant within(step + (i + 1)) && even(step + (i + 1)) && whole(step + (i + 1));
           loop assigns i;
           loop variant i; @/
        for (int i = count - 1; i >= 0; i--)
            know_step(step + i);
    } */
