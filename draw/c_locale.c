/* SPDX-License-Identifier: MIT */
/* The locale C for a moment. Making it costs nothing: C libraries have it ready, and hand that out. */
#define _POSIX_C_SOURCE 200809L

#include "c_locale.h"

#include <locale.h>

void *c_locale_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void c_locale_end(void *before)
{
    locale_t ours = uselocale(before);
    if (ours != LC_GLOBAL_LOCALE && ours != before) freelocale(ours);
}
