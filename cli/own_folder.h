/* SPDX-License-Identifier: MIT */
/* Where the command itself lies: libraries that it loads by name lie beside it, or are installed near it. */
#ifndef GARNER_CLI_OWN_FOLDER_H
#define GARNER_CLI_OWN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Its folder, without a slash at the end. False if that cannot be found out, or does not fit. */
bool own_folder(char *path, size_t size);

#endif
