/* SPDX-License-Identifier: MIT */
/* What is known around a model's gathers, and with it the claims of all of them. */
#ifndef GARNER_CLI_SURROUNDINGS_H
#define GARNER_CLI_SURROUNDINGS_H

#include "chain.h"
#include "claims.h"

struct split_span; /* fusion_rules.h */

struct surroundings {
    const struct chain *chain;
    enum claim *claims[CLAIM_RUNTIMES]; /* of each node */
    struct split_span *spans;           /* room for one for each reader of a value */
    size_t *first, *readers,
        *ports; /* value v is read by readers[first[v]] to readers[first[v+1]-1] as input ports[...] */
    unsigned char *is_input, *is_folded; /* of each value */
    unsigned char *split;                /* of each value, for claims_rules.c */
    size_t bodies;                       /* nodes with graphs of their own, which may read any value */
};

/* 0: no memory; surroundings_free is fine then too. */
int surroundings_create(struct surroundings *around, const struct chain *chain);
void surroundings_free(struct surroundings *around);

/* Fills claims of the gathers (claims_rules.c). */
void surroundings_claim(struct surroundings *around);

#endif
