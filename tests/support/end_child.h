/* SPDX-License-Identifier: MIT */
/*
 * How a child process of a test ends at once, without what the program does at its exit: as by _exit. In a
 * build that measures coverage what it ran is written first.
 */
#ifndef GARNER_TESTS_END_CHILD_H
#define GARNER_TESTS_END_CHILD_H

void end_child(int status) __attribute__((noreturn));

#endif
