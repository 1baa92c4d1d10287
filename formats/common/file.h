/* SPDX-License-Identifier: MIT */
/*
 * Bytes in and out. Reading: a regular file is mapped, anything else (standard input, a FIFO, a
 * device) is read into memory only as far as somebody asks. Writing: a file appears whole or not at
 * all, and an old file survives every failure.
 */
#ifndef GARNER_FORMATS_FILE_H
#define GARNER_FORMATS_FILE_H

#include "garner.h"

struct region;

/* Asked, on the thread that waits, when a signal interrupts an open, a read or a write: a true answer gives
 * up, as a failure with EINTR. NULL, as it is at first, goes on waiting. For interpreters, whose handlers run
 * later. */
extern int (*file_gives_up)(void);

/* After a call that failed: whether only a signal was in the way, and the call is to be made again. */
int file_was_interrupted(void);

/* ---- Reading (file.c) ---- */

struct file {
    const char *path;
    const unsigned char *bytes; /* what is there so far */
    uint64_t size;              /* how much is there so far */
    void *memory;               /* from malloc, or NULL */
    void *mapping;              /* from mmap, or NULL */
    size_t mapping_size;
    size_t capacity; /* of memory */
    int descriptor;  /* -1: nothing more to read */
};

/* Opens a file; the path "-" is standard input. A mapped file is there at once, others not yet. */
garner_status file_open(struct file *file, const char *path, garner_error *error);

/* The same without a mapping: what another process does to the file later changes nothing here. */
garner_status file_open_unmapped(struct file *file, const char *path, garner_error *error);

/* Reads on until `size` bytes are there or the file ends; file->size tells which. Memory grows with
 * what really arrives, never with what is merely asked for. */
garner_status file_fetch(struct file *file, uint64_t size, garner_error *error);

/* The same for formats that need the end of the file: a character device such as /dev/zero has none, and is
 * refused. */
garner_status file_fetch_to_end(struct file *file, uint64_t most, garner_error *error);

/* How many bytes lie beyond the first file->size, where that is known without reading; else 0. */
uint64_t file_rest(const struct file *file);

/* Hands what the file owns to a region; file->bytes stay valid as long as that. NULL if there is no memory
 * for it. */
struct region *file_share(struct file *file);

/* Releases what the file still owns. */
void file_close(struct file *file);

/* ---- Writing (file_save.c) ---- */

/* Where file_save's producer puts its bytes. */
struct sink;

/* Appends bytes. After a failure every further call fails in the same way. */
garner_status sink_write(struct sink *sink, const void *bytes, size_t size, garner_error *error);

/* Whether bytes can be written again: in a new file, not in a pipe or a device. */
int sink_is_patchable(const struct sink *sink);

/* Writes bytes again, `at` bytes after the beginning; all of them have been written before. */
garner_status sink_patch(struct sink *sink, uint64_t at, const void *bytes, size_t size, garner_error *error);

/* The descriptor of a new file, with all that was appended so far in it, for those who write the rest in
 * place. GARNER_UNSUPPORTED for a pipe or a device. */
garner_status sink_descriptor(struct sink *sink, int *descriptor, garner_error *error);

/*
 * Writes what `produce` gives to the file at `path`, whole or not at all: the bytes go to a nameless
 * file in the same folder, are synced, and only then take the name. A new file gets mode 0666 less the
 * umask, a replaced one keeps its mode, less the rights of its group if it cannot keep that. Symbolic links
 * are followed; devices, FIFOs, "-" (standard output) and descriptors by their name in /dev are written
 * through. After a failure the old file is as it was and the folder holds nothing new. (Replacing takes a
 * second name for the moment between two system calls; being killed by SIGKILL just there can leave that
 * name, with the whole new content. Other signals wait.)
 *
 * A closed pipe is GARNER_SYSTEM if the program ignores SIGPIPE, as the shell command does.
 */
typedef garner_status file_producer(void *context, struct sink *sink, garner_error *error);
garner_status file_save(const char *path, file_producer *produce, void *context, garner_error *error);

/* For handlers of signals that end the program: removes what file_save is writing on this thread, where a
 * file system that has no nameless files made it give that a name. */
void file_abandon(void);

/* Replaces the last part of a path, which lies in PATH_MAX bytes, by what it links to, until it is no link:
 * the name that file_save writes to, whether it exists or not. Returns 0 or an errno value. */
int file_follow_links(char *path);

/* From now on, and on this thread, file_save tells `watch` now and then how many bytes are written; NULL
 * tells nobody. For those who show progress. */
typedef void file_watcher(void *context, uint64_t written);
void file_watch(file_watcher *watch, void *context);

#endif
