/* SPDX-License-Identifier: MIT */
/*
 * The command under mpirun: several processes with one command line, which must not write one file each for
 * itself.
 */
#ifndef GARNER_CLI_RANKS_H
#define GARNER_CLI_RANKS_H

#include "options.h"

/* Whether this process is one of several that mpirun or another launcher has started, and the command writes
 * a file. */
bool ranks_share(const struct invocation *line);

/* gather by all ranks together; a sentence for every other command, and where the library for this MPI is
 * missing. Of an error rank 0 alone keeps the sentence, if it was not told yet. */
garner_status ranks_command(const struct invocation *line, garner_error *error);

#endif
