/* SPDX-License-Identifier: MIT */
/*
 * What the process does when the system pulls something from under it: a mapped file that shrinks, a
 * reader that goes away, standard streams that were never open.
 */
#ifndef GARNER_CLI_SIGNALS_H
#define GARNER_CLI_SIGNALS_H

void signals_install(void);

#endif
