/* SPDX-License-Identifier: MIT */
/*
 * OpenVINO's IR: an .xml file of layers and edges, and a .bin file beside it with the elements of its
 * constants, which stay where they are in the mapping. Versions 10 and 11, opsets 1 to 16.
 */
#ifndef GARNER_FORMATS_IR_H
#define GARNER_FORMATS_IR_H

#include "graph.h"

/* Reads the model at `path`. Layers that garner does not run become nodes of GRAPH_UNSUPPORTED; what is
 * malformed is an error that names line and column. With `follow_links` the .bin may be a link. On failure
 * *graph is zeroed. */
garner_status ir_read(struct graph *graph, const char *path, int follow_links, garner_error *error);

/* The same for bytes in memory, of which those of the .bin must outlive the graph. */
garner_status ir_read_bytes(struct graph *graph, const char *path, const void *xml, uint64_t xml_size,
                            const void *bin, uint64_t bin_size, garner_error *error);

#endif
