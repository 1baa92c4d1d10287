/* SPDX-License-Identifier: MIT */
/*
 * Opens files that another file names: a model's external data, an IR's .bin. The name comes from outside,
 * so it may lead nowhere but beneath the folder of the file that names it. The file is opened once, and
 * every check is made on the descriptor.
 */
#ifndef GARNER_FORMATS_OPEN_BENEATH_H
#define GARNER_FORMATS_OPEN_BENEATH_H

#include "garner.h"

/*
 * Opens the file `name` of `size` bytes (not terminated), taken from the folder of `owner`, the path of the
 * file that names it. Refused with GARNER_BAD_FILE: an empty or absolute name, one with a zero byte or
 * with "..", symbolic links anywhere, and what is no regular file with one link. With `follow_links`
 * symbolic links are followed wherever they lead, and a file may have several links. Close *descriptor in the
 * end; after a failure it is -1.
 */
garner_status open_beneath_open(const char *owner, const char *name, size_t size, int follow_links,
                                int *descriptor, garner_error *error);

/* The same, mapped. An empty file gives no mapping: *mapping NULL and *mapping_size 0. Otherwise unmap it in
 * the end. */
garner_status open_beneath_map(const char *owner, const char *name, size_t size, int follow_links,
                               void **mapping, size_t *mapping_size, garner_error *error);

/* How the kernel is asked, beneath an open folder: in one call where it has openat2, else by a walk from
 * component to component. Both return a descriptor, or -1 with errno; ENOSYS from the first: not there. */
int open_beneath_at_once(int folder, const char *name);
int open_beneath_walking(int folder, const char *name);

#endif
