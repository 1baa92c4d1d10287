/* SPDX-License-Identifier: MIT */
/* The table of element types, expanded from dtype.def, and the public questions about it. */
#include "dtype.h"

#include <string.h>

static const struct dtype types[64] = {
#define DTYPE(NAME, name, number, bits, per_unit, unit_bytes, packing, index, others) \
    [number] = {#name, others, bits, per_unit, unit_bytes, packing, index},
#include "dtype.def"
#undef DTYPE
};

#define DTYPE(NAME, name, number, bits, per_unit, unit_bytes, packing, index, others) \
    _Static_assert(GARNER_##NAME == (number), "garner.h and dtype.def agree on " #name);
#include "dtype.def"
#undef DTYPE

const struct dtype *garner_dtype_row(garner_dtype dtype)
{
    if (dtype < 0 || dtype >= 64 || types[dtype].name == NULL) return NULL;
    return &types[dtype];
}

bool garner_dtype_size(const struct dtype *type, int64_t count, uint64_t item_bytes, int64_t *bytes)
{
    if (type == NULL || count < 0) return false;
    if (type->bits != 0) return multiply_fits(divide_up(count, type->per_unit), type->unit_bytes, bytes);
    if (item_bytes == 0 || item_bytes > INT64_MAX) return false;
    return multiply_fits(count, (int64_t)item_bytes, bytes);
}

const char *garner_dtype_name(garner_dtype dtype)
{
    const struct dtype *type = garner_dtype_row(dtype);
    return type ? type->name : NULL;
}

int garner_dtype_bits(garner_dtype dtype)
{
    const struct dtype *type = garner_dtype_row(dtype);
    return type ? type->bits : 0;
}

int64_t garner_dtype_bytes(garner_dtype dtype, int64_t count, uint64_t item_bytes)
{
    int64_t bytes;
    return garner_dtype_size(garner_dtype_row(dtype), count, item_bytes, &bytes) ? bytes : -1;
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
    for (garner_dtype i = 1; i < 64; i++) {
        if (types[i].name == NULL) continue;
        if (strcmp(types[i].name, name) == 0 || lists_word(types[i].others, name, length)) return i;
    }
    return 0;
}
