/* SPDX-License-Identifier: MIT */
/*
 * Files where there are none: a page has what was dropped on it, in memory. Stands in for the files of
 * formats/common that speak with a file system.
 */
#ifndef GARNER_WEB_MEMORY_FILE_H
#define GARNER_WEB_MEMORY_FILE_H

#include "garner.h"

/* Lets models find a file beside them by its name. Takes over `bytes`, which are from malloc; 0: no memory,
 * and they are freed. One of the same name is replaced. */
int memory_file_add(const char *name, void *bytes, size_t size);

/* The bytes of a file of that name; NULL: there is none. */
const void *memory_file_find(const char *name, size_t length, size_t *size);

/* What file_save was last given; from malloc, for the caller to free. */
void *memory_file_take(size_t *size);

#endif
