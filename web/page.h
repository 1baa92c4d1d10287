/* SPDX-License-Identifier: MIT */
/*
 * What the page calls, and what its files share. Each call leaves an answer, JSON unless it says otherwise,
 * that page_answer and page_answer_size tell the page to fetch. One gather is looked at at a time: two
 * tensors, data and indices, and where each element of out came from. Numbers cross as doubles, which hold
 * every number that a page can count to.
 */
#ifndef GARNER_WEB_PAGE_H
#define GARNER_WEB_PAGE_H

#include <stdio.h>

#include "array.h"
#include "explain_map.h"

/* In front of a function that the page calls. */
#define PAGE_CALL(name) __attribute__((export_name(#name)))

/* ---- Answers (page_answer.c) ---- */

/* Begins an answer, and forgets the last one. NULL: no memory, and the answer is empty. */
FILE *answer_begin(void);

/* Bytes from malloc as the answer. */
void answer_bytes(void *bytes, size_t size);

/* The answer as text, whole. */
char *page_answer(void);

/* {"error": {"message": "...", "status": 3, "position": 7}}; the position only where the record has one. */
void answer_error(const garner_error *error);

/* "name": "text", with a comma in front unless it is the first. */
void answer_member(FILE *answer, const char *name, const char *text, int first);

/* "dtype": "f32", "shape": [2, 3], "count": 6 */
void answer_tensor(FILE *answer, garner_dtype dtype, int32_t rank, const int64_t *shape);

/* ---- The gather (page_gather.c) ---- */

enum page_slot { PAGE_DATA, PAGE_INDICES, PAGE_SLOTS };

/* An input, emptied so that something else can be put there; the gather of before is forgotten. NULL: there
 * is no such slot. */
struct array *page_slot(int slot);

/* Answers what now lies in a slot, or why nothing does. */
void page_slot_answer(int slot, garner_status status, const garner_error *error);

/* The gather that is looked at; NULL: there is none. After an error it has no sources, and no out. */
const struct map *page_map(void);

#endif
