/* SPDX-License-Identifier: MIT */
/* What info prints of files and of models, and the pieces that both are printed with. */
#ifndef GARNER_CLI_INFO_H
#define GARNER_CLI_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "garner.h"

/* Describes a model in the file at `path`. */
garner_status info_model(const char *path, bool json, bool follow_links, garner_error *error);

/* Text from outside for a person: nothing in it steers a terminal. Returns how many columns it took. */
int info_text(FILE *out, const char *text);

#endif
