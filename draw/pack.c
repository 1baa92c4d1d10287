/* SPDX-License-Identifier: MIT */
/*
 * A packed element is one or two fields of bits: a table says where each field of element i lies, and
 * both directions follow it.
 */
#include "pack.h"

/* A run of bits inside one byte, and where it belongs in the code. */
struct field {
    int64_t byte;
    int shift; /* within the byte, from the lowest bit */
    int width;
    int place; /* within the code, from the lowest bit */
};

/* u3 and u6 keep the low and the high part of a code in different bytes of a unit of three. */
static int split_fields(struct field fields[2], int64_t i, int per_unit, int low, int high)
{
    int64_t unit = i / per_unit * 3;
    int at = (int)(i % per_unit), per_byte = 8 / low;
    fields[0] = (struct field){unit + at / per_byte, 8 - low * (at % per_byte + 1), low, 0};
    fields[1] = (struct field){unit + 2, 8 - high * (at + 1), high, low};
    return 2;
}

static int fields_of(struct field fields[2], garner_dtype dtype, int64_t i)
{
    if (dtype == GARNER_U3) return split_fields(fields, i, 8, 2, 1);
    if (dtype == GARNER_U6) return split_fields(fields, i, 4, 4, 2);
    int bits = garner_dtype_bits(dtype), per_byte = 8 / bits, at = (int)(i % per_byte);
    if (dtype == GARNER_U1) at = per_byte - 1 - at;
    fields[0] = (struct field){i / per_byte, bits * at, bits, 0};
    return 1;
}

unsigned pack_get(garner_dtype dtype, const unsigned char *bytes, int64_t i)
{
    struct field fields[2];
    unsigned code = 0;
    for (int n = fields_of(fields, dtype, i); n-- > 0;) {
        unsigned bits = (unsigned)bytes[fields[n].byte] >> fields[n].shift & ((1u << fields[n].width) - 1);
        code |= bits << fields[n].place;
    }
    return code;
}

void pack_put(garner_dtype dtype, unsigned char *bytes, int64_t i, unsigned code)
{
    struct field fields[2];
    for (int n = fields_of(fields, dtype, i); n-- > 0;) {
        unsigned bits = code >> fields[n].place & ((1u << fields[n].width) - 1);
        bytes[fields[n].byte] = (unsigned char)(bytes[fields[n].byte] | bits << fields[n].shift);
    }
}
