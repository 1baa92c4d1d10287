/* SPDX-License-Identifier: MIT */
/*
 * The memory of a graph. Small pieces are cut from blocks, large ones get a block of their own, and all
 * blocks hang on one list, as do mappings and memory that were given away to the graph.
 */
#define _POSIX_C_SOURCE 200809L

#include "graph.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region.h"

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 16, ALIGNMENT = alignof(max_align_t) };

struct block {
    struct block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

/* Something that came from elsewhere: unmapped if it has a size, else freed. */
struct kept {
    struct kept *next;
    void *memory;
    size_t mapped;
};

struct graph_arena {
    struct block *blocks; /* the first is the one that pieces are cut from */
    struct kept *kept;
    size_t next_block;
    size_t value_room, node_room, input_room, output_room;
};

/* ---- The arena ---- */

static void release(void *memory, size_t mapped)
{
    if (mapped)
        region_unmap(memory, mapped);
    else
        free(memory);
}

void graph_free(struct graph *graph)
{
    struct graph_arena *arena = graph->arena;
    free(graph->values);
    free(graph->nodes);
    free(graph->inputs);
    free(graph->outputs);
    while (arena && arena->kept) {
        struct kept *kept = arena->kept;
        arena->kept = kept->next;
        release(kept->memory, kept->mapped);
    }
    while (arena && arena->blocks) {
        struct block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    free(arena);
    memset(graph, 0, sizeof *graph);
}

static struct block *new_block(size_t size)
{
    /* uncovered: no file is that large */
    struct block *block = size > SIZE_MAX - sizeof *block ? NULL : calloc(1, sizeof *block + size);
    if (block) block->size = size;
    return block;
}

/* A piece that is too large to leave room for others gets a block behind the first one. */
static void *alloc_large(struct graph_arena *arena, size_t size)
{
    struct block *block = new_block(size);
    if (!block) return NULL;
    block->used = size;
    block->next = arena->blocks ? arena->blocks->next : NULL;
    if (arena->blocks)
        arena->blocks->next = block;
    else
        arena->blocks = block;
    return block->bytes;
}

static void *alloc_small(struct graph_arena *arena, size_t size)
{
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        block = new_block(arena->next_block);
        if (!block) return NULL;
        if (arena->next_block < LARGEST_BLOCK) arena->next_block *= 2;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *piece = block->bytes + block->used;
    block->used += size;
    return piece;
}

void *graph_alloc(struct graph *graph, size_t count, size_t size, garner_error *error)
{
    size_t bytes = 0;
    /* uncovered: no file is that large */
    int fits = !__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX - ALIGNMENT;
    if (!bytes) bytes = 1;
    void *piece = NULL;
    /* uncovered: no file is that large */
    if (fits) {
        bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        piece = bytes > FIRST_BLOCK / 2 ? alloc_large(graph->arena, bytes) : alloc_small(graph->arena, bytes);
    }
    /* uncovered: no file is that large */
    if (!piece) (void)fail_memory(error, graph->path, fits ? bytes : UINT64_MAX);
    return piece;
}

const char *graph_text(struct graph *graph, const char *bytes, size_t size, garner_error *error)
{
    if (!size) return "";
    /* uncovered: no file is that large */
    char *text = size < SIZE_MAX ? graph_alloc(graph, 1, size + 1, error) : NULL;
    if (text) memcpy(text, bytes, size);
    return text;
}

static const char *format_text(struct graph *graph, garner_error *error, const char *format,
                               va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    /* uncovered: none of these formats can fail */
    char *text = graph_alloc(graph, 1, size < 0 ? 1 : (size_t)size + 1, error);
    /* uncovered: the same */
    if (text && size >= 0) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

const char *graph_format(struct graph *graph, garner_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(graph, error, format, arguments);
    va_end(arguments);
    return text;
}

garner_status graph_add_note(struct graph *graph, garner_error *error, const char *format, ...)
{
    va_list arguments;
    if (graph->note_count >= GRAPH_MOST_NOTES) return GARNER_OK;
    if (!graph->notes) graph->notes = graph_alloc(graph, GRAPH_MOST_NOTES, sizeof *graph->notes, error);
    if (!graph->notes) return GARNER_NO_MEMORY;
    va_start(arguments, format);
    const char *text = format_text(graph, error, format, arguments);
    va_end(arguments);
    if (!text) return GARNER_NO_MEMORY;
    graph->notes[graph->note_count++] = text;
    return GARNER_OK;
}

static garner_status keep(struct graph *graph, void *memory, size_t mapped, garner_error *error)
{
    struct kept *kept = graph_alloc(graph, 1, sizeof *kept, error);
    if (!kept) {
        release(memory, mapped);
        return GARNER_NO_MEMORY;
    }
    *kept = (struct kept){graph->arena->kept, memory, mapped};
    graph->arena->kept = kept;
    return GARNER_OK;
}

garner_status graph_keep_mapping(struct graph *graph, void *mapping, size_t size, garner_error *error)
{
    return keep(graph, mapping, size, error);
}

garner_status graph_keep_memory(struct graph *graph, void *memory, garner_error *error)
{
    return keep(graph, memory, 0, error);
}

/* ---- Growing ---- */

garner_status graph_begin(struct graph *graph, const char *path, const char *format, garner_error *error)
{
    memset(graph, 0, sizeof *graph);
    graph->arena = calloc(1, sizeof *graph->arena);
    if (!graph->arena) return fail_memory(error, path, sizeof *graph->arena);
    graph->arena->next_block = FIRST_BLOCK;
    graph->path = path; /* for the message, should there be one */
    graph->path = graph_text(graph, path, strlen(path), error);
    graph->format = format;
    graph->name = graph->producer = graph->version = "";
    if (graph->path) return GARNER_OK;
    graph_free(graph);
    return GARNER_NO_MEMORY;
}

/* Makes room for one more element of `size` bytes in an array of `count`, `*room` of which have room. */
static void *grow(struct graph *graph, void *array, size_t count, size_t size, size_t *room,
                  garner_error *error)
{
    if (count < *room) return array;
    size_t wanted = *room ? 2 * *room : 8, bytes;
    /* uncovered: no file is that large */
    void *larger = __builtin_mul_overflow(wanted, size, &bytes) ? NULL : realloc(array, bytes);
    if (larger)
        *room = wanted;
    else
        (void)fail_memory(error, graph->path, (uint64_t)wanted * size);
    return larger;
}

garner_status graph_add_value(struct graph *graph, const char *name, size_t *id, garner_error *error)
{
    struct graph_value *values =
        grow(graph, graph->values, graph->value_count, sizeof *values, &graph->arena->value_room, error);
    if (!values) return GARNER_NO_MEMORY;
    graph->values = values;
    *id = graph->value_count++;
    values[*id] = (struct graph_value){.name = name, .rank = -1, .node = GRAPH_NONE};
    return GARNER_OK;
}

garner_status graph_add_node(struct graph *graph, size_t *id, garner_error *error)
{
    struct graph_node *nodes =
        grow(graph, graph->nodes, graph->node_count, sizeof *nodes, &graph->arena->node_room, error);
    if (!nodes) return GARNER_NO_MEMORY;
    graph->nodes = nodes;
    *id = graph->node_count++;
    nodes[*id] = (struct graph_node){.name = "", .type = "", .domain = "", .version = ""};
    return GARNER_OK;
}

static garner_status add_port(struct graph *graph, struct graph_port **ports, size_t *count, size_t *room,
                              struct graph_port port, garner_error *error)
{
    struct graph_port *larger = grow(graph, *ports, *count, sizeof port, room, error);
    if (!larger) return GARNER_NO_MEMORY;
    *ports = larger;
    larger[(*count)++] = port;
    return GARNER_OK;
}

garner_status graph_add_input(struct graph *graph, const char *name, size_t value, size_t *id,
                              garner_error *error)
{
    *id = graph->input_count;
    return add_port(graph, &graph->inputs, &graph->input_count, &graph->arena->input_room,
                    (struct graph_port){.name = name, .value = value}, error);
}

garner_status graph_add_output(struct graph *graph, const char *name, size_t value, size_t *id,
                               garner_error *error)
{
    *id = graph->output_count;
    return add_port(graph, &graph->outputs, &graph->output_count, &graph->arena->output_room,
                    (struct graph_port){.name = name, .value = value}, error);
}

/* ---- Looking ---- */

size_t graph_find_port(const struct graph_port *ports, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0) return i;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < ports[i].alias_count; j++)
            if (strcmp(ports[i].aliases[j], name) == 0) return i;
    return GRAPH_NONE;
}

int graph_extent_allows(const struct graph_extent *extent, int64_t value)
{
    return value >= extent->least && (extent->most < 0 || value <= extent->most);
}

char *graph_extent_text(char text[GRAPH_EXTENT_TEXT], const struct graph_extent *extent)
{
    long long least = extent->least, most = extent->most;
    if (least == most)
        snprintf(text, GRAPH_EXTENT_TEXT, "%lld", least);
    else if (most < 0 && least == 0)
        snprintf(text, GRAPH_EXTENT_TEXT, "?");
    else if (most < 0)
        snprintf(text, GRAPH_EXTENT_TEXT, "%lld..", least);
    else
        snprintf(text, GRAPH_EXTENT_TEXT, "%lld..%lld", least, most);
    return text;
}

char *graph_shape_text(char text[GRAPH_SHAPE_TEXT], const struct graph_extent *extents, int32_t rank)
{
    static const char cut[] = ",...]";
    size_t used = (size_t)snprintf(text, GRAPH_SHAPE_TEXT, "[");
    for (int32_t i = 0; i < rank; i++) {
        char piece[GRAPH_EXTENT_TEXT];
        if (extents[i].symbol)
            printable(piece, 32, extents[i].symbol);
        else
            graph_extent_text(piece, &extents[i]);
        if (used + 1 + strlen(piece) + sizeof cut > GRAPH_SHAPE_TEXT) {
            memcpy(text + used, cut, sizeof cut);
            return text;
        }
        used += (size_t)sprintf(text + used, "%s%s", i ? "," : "", piece);
    }
    memcpy(text + used, "]", 2);
    return text;
}
