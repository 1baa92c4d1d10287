/* SPDX-License-Identifier: MIT */
/*
 * What the shell says beside its results: one line on standard error, beginning "garner: ", in which
 * nothing can steer a terminal.
 */
#ifndef GARNER_CLI_MESSAGE_H
#define GARNER_CLI_MESSAGE_H

void message_print(const char *text);

#endif
