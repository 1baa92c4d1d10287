/* SPDX-License-Identifier: MIT */
/* explain MODEL: opens it, finds out all that can be known without inputs, and draws it. */
#include "explain_model.h"

#include "chain.h"
#include "fail.h"
#include "gathers.h"

static garner_status draw_chain(const struct chain *chain, const struct explain_paper *paper,
                                garner_error *error)
{
    if (paper->svg) return chain_svg(chain, paper->svg, error);
    chain_draw(chain, paper->terminal, paper->width, paper->colour);
    return succeed(error);
}

static garner_status draw_gathers(const struct chain *chain, const struct explain_paper *paper,
                                  garner_error *error)
{
    struct gathers gathers;
    garner_status status = gathers_create(&gathers, chain, error);
    if (status) return status;
    if (paper->svg)
        status = gathers_svg(&gathers, paper->svg, error);
    else
        gathers_draw(&gathers, paper->terminal, paper->width, paper->colour);
    gathers_free(&gathers);
    return status;
}

garner_status explain_opened(struct model *model, const struct explain_paper *paper, garner_error *error)
{
    struct chain chain;
    garner_error problem;
    garner_status status = model_plan(model, &problem);
    if (status == GARNER_NO_MEMORY) return fail(error, status, "%s", problem.message);
    const char *unfit = status && !model_refusal(model) ? problem.message : NULL;
    status = chain_create(&chain, model, unfit, error);
    if (status) return status;
    status = (paper->gathers ? draw_gathers : draw_chain)(&chain, paper, error);
    chain_free(&chain);
    return status;
}

garner_status explain_model(const char *path, int follow_links, const struct explain_paper *paper,
                            garner_error *error)
{
    struct model *model;
    garner_status status = model_open(&model, path, follow_links ? MODEL_FOLLOW_LINKS : 0, error);
    if (status) return status;
    status = explain_opened(model, paper, error);
    model_free(model);
    return status;
}
