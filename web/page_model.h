/* SPDX-License-Identifier: MIT */
/* The gathers of a model, as the page lists them. */
#ifndef GARNER_WEB_PAGE_MODEL_H
#define GARNER_WEB_PAGE_MODEL_H

#include "model.h"

/* Answers the model's title, its gathers, and groups of those that are alike. */
void page_model_answer(struct model *model);

/* What a gather has as data (0) or indices (1), if the file holds it; else NULL. */
const garner_tensor *page_model_constant(const struct model *model, int node, int input);

/* Draws it as explain does, with file_save. */
garner_status page_model_draw(struct model *model, int gathers, garner_error *error);

#endif
