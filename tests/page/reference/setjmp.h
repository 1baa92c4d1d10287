/* SPDX-License-Identifier: MIT */
/* WebAssembly has no jumps out of functions: a test that fails, or is skipped, ends the program, which says
 * so. */
#ifndef GARNER_TESTS_PAGE_SETJMP_H
#define GARNER_TESTS_PAGE_SETJMP_H

#include <stdio.h>
#include <stdlib.h>

typedef int jmp_buf;
#define setjmp(buffer) ((void)(buffer), 0)
#define longjmp(buffer, verdict) \
    (fprintf(stderr, "the program ends with this test (%d)\n", (int)(verdict)), exit(2 + 0 * (buffer)))

#endif
