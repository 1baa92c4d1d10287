/* SPDX-License-Identifier: MIT */
/* Deflate, through zlib where the build has it. Never more is inflated than was asked for. */
#include "zip.h"

#include <limits.h>
#include <stdlib.h>

#include "fail.h"

#ifdef GARNER_HAVE_ZLIB

#define ZLIB_CONST
#include <zlib.h>

struct zip_inflater {
    z_stream stream;
    const char *label;
    uint64_t left; /* packed bytes that the stream has not been given */
    int ended;
};

garner_status zip_inflate_begin(struct zip_inflater **inflater, const char *label,
                                const unsigned char *packed, uint64_t size, garner_error *error)
{
    struct zip_inflater *begun = calloc(1, sizeof *begun);
    *inflater = NULL;
    if (!begun) return fail_memory(error, label, sizeof *begun);
    begun->label = label;
    begun->left = size;
    begun->stream.next_in = packed;
    if (inflateInit2(&begun->stream, -MAX_WBITS) != Z_OK) {
        free(begun);
        return fail_memory(error, label, sizeof *begun);
    }
    *inflater = begun;
    return GARNER_OK;
}

/* zlib counts in unsigned int; both sides are handed over in pieces of that. */
static int inflate_piece(struct zip_inflater *inflater, unsigned room)
{
    z_stream *stream = &inflater->stream;
    if (!stream->avail_in) {
        stream->avail_in = inflater->left < UINT_MAX ? (unsigned)inflater->left : UINT_MAX;
        inflater->left -= stream->avail_in;
    }
    stream->avail_out = room;
    int code = inflate(stream, Z_NO_FLUSH);
    inflater->ended = code == Z_STREAM_END;
    return code == Z_BUF_ERROR ? Z_OK : code;
}

static garner_status refuse(const struct zip_inflater *inflater, const char *what, garner_error *error)
{
    return fail_at(error, GARNER_BAD_FILE, inflater->label, "corrupt: %s", what);
}

garner_status zip_inflate(struct zip_inflater *inflater, void *bytes, uint64_t size, garner_error *error)
{
    unsigned char *at = bytes;
    while (size) {
        unsigned room = size < UINT_MAX ? (unsigned)size : UINT_MAX;
        inflater->stream.next_out = at;
        int code = inflater->ended ? Z_STREAM_END : inflate_piece(inflater, room);
        unsigned got = (unsigned)(inflater->stream.next_out - at);
        at += got;
        size -= got;
        if (code == Z_MEM_ERROR) return fail_memory(error, inflater->label, 1 << 15);
        if (code != Z_OK && code != Z_STREAM_END)
            return refuse(inflater, "the deflated bytes are malformed", error);
        if (size && !got) return refuse(inflater, "the deflated bytes end before the member does", error);
    }
    return GARNER_OK;
}

garner_status zip_inflate_finish(struct zip_inflater *inflater, garner_error *error)
{
    unsigned char more;
    while (!inflater->ended) {
        inflater->stream.next_out = &more;
        uInt before = inflater->stream.avail_in;
        uint64_t left = inflater->left;
        int code = inflate_piece(inflater, 1);
        if (code != Z_OK && code != Z_STREAM_END)
            return refuse(inflater, "the deflated bytes are malformed", error);
        if (inflater->stream.next_out != &more)
            return refuse(inflater, "it inflates to more than the directory says", error);
        if (!inflater->ended && inflater->stream.avail_in == before && inflater->left == left)
            return refuse(inflater, "the deflated bytes have no end", error);
    }
    if (inflater->left || inflater->stream.avail_in)
        return refuse(inflater, "bytes follow the end of what was deflated", error);
    return GARNER_OK;
}

void zip_inflate_end(struct zip_inflater *inflater)
{
    if (inflater) inflateEnd(&inflater->stream);
    free(inflater);
}

#else

garner_status zip_inflate_begin(struct zip_inflater **inflater, const char *label,
                                const unsigned char *packed, uint64_t size, garner_error *error)
{
    (void)packed, (void)size;
    *inflater = NULL;
    return fail_at(error, GARNER_UNSUPPORTED, label,
                   "is deflated, and this garner was built without zlib; it reads members that are stored");
}

/* Nobody has an inflater to pass to these. */
garner_status zip_inflate(struct zip_inflater *inflater, void *bytes, uint64_t size, garner_error *error)
{
    (void)inflater, (void)bytes, (void)size;
    return fail(error, GARNER_UNSUPPORTED, "this garner was built without zlib");
}

garner_status zip_inflate_finish(struct zip_inflater *inflater, garner_error *error)
{
    return zip_inflate(inflater, NULL, 0, error);
}

void zip_inflate_end(struct zip_inflater *inflater)
{
    (void)inflater;
}

#endif
