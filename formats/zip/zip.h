/* SPDX-License-Identifier: MIT */
/*
 * Zip files, as far as .npz needs them: the central directory, zip64 included, members that are stored or
 * deflated, and their checksums. Every place that a file names is held against the file before it is used,
 * and no two members share bytes.
 */
#ifndef GARNER_FORMATS_ZIP_H
#define GARNER_FORMATS_ZIP_H

#include "garner.h"

/* ---- Checksums (zip_crc.c) ---- */

/* The tables behind CRC-32, made once for each file. */
struct zip_crc {
    uint32_t table[8][256];
};

void zip_crc_begin(struct zip_crc *crc);

/* The checksum of what `value` is the checksum of (0: nothing), followed by `bytes`. */
uint32_t zip_crc_add(const struct zip_crc *crc, uint32_t value, const void *bytes, uint64_t size);

/* ---- The directory (zip.c) ---- */

struct zip_place;

struct zip {
    const char *path;
    const unsigned char *bytes;
    uint64_t size;
    uint64_t directory, directory_end; /* where it lies */
    size_t count;                      /* of members */
    struct zip_place *places;          /* one for each */
    struct zip_crc crc;
};

/* A member, as the directory describes it. */
struct zip_member {
    const char *name; /* in the file; not terminated */
    size_t name_size;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, unpacked; /* bytes */
    uint64_t offset;           /* of its own header */
};

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

/* Reads the directory of a file in memory, which must outlive zip, as `path` must. Free with zip_close, also
 * after a failure. */
garner_status zip_open(struct zip *zip, const char *path, const unsigned char *bytes, uint64_t size,
                       garner_error *error);
void zip_close(struct zip *zip);

/* Member i, in the directory's order. */
struct zip_member zip_member(const struct zip *zip, size_t i);

/* Where the packed bytes of member i lie, after its own header was held against the directory. Encryption
 * and methods other than those above are GARNER_UNSUPPORTED. `label` begins the messages. */
garner_status zip_locate(const struct zip *zip, size_t i, const char *label, const unsigned char **packed,
                         garner_error *error);

/* ---- Deflate (zip_inflate.c) ---- */

struct zip_inflater;

/* Begins to inflate; GARNER_UNSUPPORTED in a build without zlib. Free with zip_inflate_end. */
garner_status zip_inflate_begin(struct zip_inflater **inflater, const char *label,
                                const unsigned char *packed, uint64_t size, garner_error *error);

/* The next `size` bytes, no fewer. */
garner_status zip_inflate(struct zip_inflater *inflater, void *bytes, uint64_t size, garner_error *error);

/* Whether the stream ends here, and with it the packed bytes. */
garner_status zip_inflate_finish(struct zip_inflater *inflater, garner_error *error);

/* NULL is fine. */
void zip_inflate_end(struct zip_inflater *inflater);

#endif
