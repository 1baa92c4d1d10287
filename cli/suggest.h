/* SPDX-License-Identifier: MIT */
/*
 * Guesses what a mistyped word was meant to be.
 */
#ifndef GARNER_CLI_SUGGEST_H
#define GARNER_CLI_SUGGEST_H

/* How many letters must be changed, dropped, added or swapped to make one word the other; words beyond
 * 31 letters are far from all others. */
int suggest_distance(const char *a, const char *b);

/* Whether a distance is small enough for a word that people typed. */
int suggest_near(const char *typed, int distance);

#endif
