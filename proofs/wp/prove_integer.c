/* SPDX-License-Identifier: MIT */
/* Integers are loaded from, and stored into, no bytes but their own. */
#include <string.h>

#include "builtins.h"
#include "integer.h"

/* Memory on one side, and on the other a variable, which then may hold any number. */
#define memcpy(to, from, size) \
    (__builtin_types_compatible_p(__typeof__(to), void *) ? write_bytes(to, size) : read_bytes(from, size))

/*@ requires \valid_read((const char *)from + (0 .. size - 1));
    assigns \nothing; */
void read_bytes(const void *from, size_t size);

/*@ requires \valid((char *)to + (0 .. size - 1));
    assigns ((char *)to)[0 .. size - 1]; */
void write_bytes(void *to, size_t size);

/*@ axiomatic Widths {
      logic integer width(integer dtype); } // bytes of an element
    predicate is_width(integer bytes) = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; */

/* What the table of types says of integers. */
/*@ assigns \nothing;
    ensures is_width(width(dtype)) && \result == 8 * width(dtype); */
int garner_dtype_bits(garner_dtype dtype);

/*@ assigns \nothing; */
int integer_is_signed(garner_dtype dtype);

/*@ requires is_width(bytes) && \valid_read((const char *)at + (0 .. bytes - 1));
    assigns \nothing; */
uint64_t integer_load(const void *at, int bytes);

/*@ requires is_width(bytes) && \valid((char *)at + (0 .. bytes - 1));
    assigns ((char *)at)[0 .. bytes - 1]; */
void integer_store(void *at, int bytes, uint64_t bits);

/*@ assigns \nothing; */
int64_t integer_from_bits(uint64_t bits, int width);

/*@ assigns \nothing; */
static uint64_t extend(uint64_t bits, int width, int is_signed);

/*@ requires is_width(width(dtype)) && \valid_read((const char *)at + (0 .. width(dtype) - 1));
    assigns \nothing; */
int64_t integer_value(const void *at, garner_dtype dtype);

#include "../../formats/common/integer.c"
