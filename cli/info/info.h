/* SPDX-License-Identifier: MIT */
/* What info prints of models. */
#ifndef GARNER_CLI_INFO_H
#define GARNER_CLI_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "garner.h"

struct model;

enum { INFO_JSON = 1, INFO_GATHERS = 2 /* the gathers and their neighbours alone */ };

/* Describes a model in the file at `path` on standard output; `flags` of the above. */
garner_status info_model(const char *path, unsigned flags, bool follow_links, garner_error *error);

/* The same of an open one, into `out`. */
garner_status info_opened(struct model *model, unsigned flags, FILE *out, garner_error *error);

/* Its gathers and their neighbours alone, after model_plan. */
garner_status info_gathers(const struct model *model, bool json, FILE *out, garner_error *error);

#endif
