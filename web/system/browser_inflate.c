/* SPDX-License-Identifier: MIT */
/* Pieces by where they lie, and a reader over each. */
#include "browser_inflate.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "zip.h"

struct piece {
    const unsigned char *packed;
    size_t packed_size;
    unsigned char *bytes; /* NULL: wanted */
    size_t size;
};

enum { MOST_PIECES = 4096 };
static struct piece *pieces;
static size_t piece_count;

struct zip_inflater {
    const char *label;
    size_t piece, at;
};

static size_t find(const unsigned char *packed)
{
    size_t i = 0;
    while (i < piece_count && pieces[i].packed != packed)
        i++;
    return i;
}

static garner_status want(const char *label, const unsigned char *packed, uint64_t size, garner_error *error)
{
    if (piece_count == MOST_PIECES)
        return fail_at(error, GARNER_UNSUPPORTED, label, "more than %d deflated members", MOST_PIECES);
    struct piece *more = realloc(pieces, (piece_count + 1) * sizeof *pieces);
    if (!more) return fail_memory(error, label, sizeof *pieces);
    pieces = more;
    pieces[piece_count++] = (struct piece){packed, (size_t)size, NULL, 0};
    return GARNER_OK;
}

garner_status zip_inflate_begin(struct zip_inflater **inflater, const char *label,
                                const unsigned char *packed, uint64_t size, garner_error *error)
{
    size_t i = find(packed);
    *inflater = NULL;
    garner_status status = i == piece_count ? want(label, packed, size, error) : GARNER_OK;
    if (status) return status;
    if (!pieces[i].bytes)
        return fail_at(error, GARNER_UNSUPPORTED, label, "the browser could not inflate it");
    *inflater = malloc(sizeof **inflater);
    if (!*inflater) return fail_memory(error, label, sizeof **inflater);
    **inflater = (struct zip_inflater){label, i, 0};
    return GARNER_OK;
}

garner_status zip_inflate(struct zip_inflater *inflater, void *bytes, uint64_t size, garner_error *error)
{
    const struct piece *piece = &pieces[inflater->piece];
    if (size > piece->size - inflater->at)
        return fail_at(error, GARNER_BAD_FILE, inflater->label, "corrupt: the deflated data end too early");
    memcpy(bytes, piece->bytes + inflater->at, (size_t)size);
    inflater->at += (size_t)size;
    return GARNER_OK;
}

garner_status zip_inflate_finish(struct zip_inflater *inflater, garner_error *error)
{
    if (inflater->at == pieces[inflater->piece].size) return GARNER_OK;
    return fail_at(error, GARNER_BAD_FILE, inflater->label, "corrupt: more deflated data than the file says");
}

void zip_inflate_end(struct zip_inflater *inflater)
{
    free(inflater);
}

int browser_inflate_wanted(size_t i, const unsigned char **packed, size_t *size)
{
    for (size_t k = 0; k < piece_count; k++) {
        if (pieces[k].bytes || i-- > 0) continue;
        *packed = pieces[k].packed;
        *size = pieces[k].packed_size;
        return 1;
    }
    return 0;
}

void browser_inflate_add(const unsigned char *packed, void *bytes, size_t size)
{
    size_t i = find(packed);
    if (i == piece_count || pieces[i].bytes) {
        free(bytes);
        return;
    }
    pieces[i].bytes = bytes;
    pieces[i].size = size;
}

void browser_inflate_forget(const unsigned char *file, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < piece_count; i++) {
        if (pieces[i].packed >= file && pieces[i].packed < file + size)
            free(pieces[i].bytes);
        else
            pieces[kept++] = pieces[i];
    }
    piece_count = kept;
}
