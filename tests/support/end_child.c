/* SPDX-License-Identifier: MIT */
#include "end_child.h"

#include <unistd.h>

#if defined(__ELF__) && defined(__clang__)
int __llvm_profile_write_file(void) __attribute__((weak)); /* there if coverage is measured */

static void write_coverage(void)
{
    if (__llvm_profile_write_file) __llvm_profile_write_file();
}

/* Once more after everything else, so that what the library does when it is unloaded counts too. */
__attribute__((destructor(101))) static void write_coverage_last(void)
{
    write_coverage();
}
#else
static void write_coverage(void)
{
}
#endif

void end_child(int status)
{
    write_coverage();
    _exit(status);
}
