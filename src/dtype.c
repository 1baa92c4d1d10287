/* SPDX-License-Identifier: MIT */
/* The table of element types, expanded from dtype.def, and the public questions about it. */
#include "dtype.h"

#include <string.h>

const struct dtype garner_dtypes[DTYPES] = {
#define DTYPE(NAME, name, number, bits, per_unit, unit_bytes, packing, index, others)               \
    [number] = {#name,   others, bits, per_unit, unit_bytes, (packing) == WHOLE ? (unit_bytes) : 1, \
                packing, index},
#include "dtype.def"
#undef DTYPE
};

#define DTYPE(NAME, name, number, bits, per_unit, unit_bytes, packing, index, others) \
    _Static_assert(GARNER_##NAME == (number), "garner.h and dtype.def agree on " #name);
#include "dtype.def"
#undef DTYPE

const char *garner_dtype_name(garner_dtype dtype)
{
    const struct dtype *type = dtype_row(dtype);
    return type ? type->name : NULL;
}

int garner_dtype_bits(garner_dtype dtype)
{
    const struct dtype *type = dtype_row(dtype);
    return type ? type->bits : 0;
}

int64_t garner_dtype_bytes(garner_dtype dtype, int64_t count, uint64_t item_bytes)
{
    const struct dtype *type = dtype_row(dtype);
    int64_t bytes, item;
    if (type == NULL || count < 0) return -1;
    item = type->item ? type->item : (int64_t)item_bytes;
    return item > 0 && dtype_size(type, count, item, &bytes) ? bytes : -1;
}

/* Whether `word` is one of the words of `list`, which are separated by single spaces. */
static bool lists_word(const char *list, const char *word, size_t length)
{
    while (*list != '\0') {
        size_t here = strcspn(list, " ");
        if (here == length && memcmp(list, word, length) == 0) return true;
        list += here + (list[here] == ' ');
    }
    return false;
}

garner_dtype garner_dtype_from_name(const char *name)
{
    if (name == NULL || strchr(name, ' ') != NULL) return 0;
    size_t length = strlen(name);
    for (garner_dtype i = 1; i < DTYPES; i++) {
        if (garner_dtypes[i].name == NULL) continue;
        if (strcmp(garner_dtypes[i].name, name) == 0 || lists_word(garner_dtypes[i].others, name, length))
            return i;
    }
    return 0;
}
