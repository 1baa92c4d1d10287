/* SPDX-License-Identifier: MIT */
/*
 * The table of counts: a line for each version and index type, a column for each element type. A dot
 * stands where the version does not allow the types.
 */
#include "coverage.h"

#include <stdio.h>
#include <string.h>

static int64_t counts[REF_VERSIONS][REF_TYPES][REF_INDEX_TYPES];

static int place_of(garner_dtype dtype, const garner_dtype *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == dtype) return i;
    return -1;
}

void coverage_count(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype)
{
    const int type = place_of(dtype, ref_types, REF_TYPES);
    const int index_type = place_of(index_dtype, ref_index_types, REF_INDEX_TYPES);
    if (type >= 0 && index_type >= 0) counts[version - ref_versions][type][index_type]++;
}

bool coverage_allowed(const struct ref_version *version, garner_dtype dtype, garner_dtype index_dtype)
{
    const struct ref_op op = {.version = version};
    const struct ref_view data = {.dtype = dtype, .item_bytes = 1, .rank = 1, .shape = {1}};
    const struct ref_view indices = {.dtype = index_dtype, .rank = 1, .shape = {1}};
    struct ref_result result;
    return ref_infer(&op, &data, &indices, &result) == GARNER_OK;
}

static int print_line(int v, int i)
{
    int missing = 0;
    const struct ref_version *version = &ref_versions[v];
    printf("%-14s %-10s %-3s", garner_kind_name(version->kind), version->spec ? version->spec : "lenient",
           ref_type_name(ref_index_types[i]));
    for (int t = 0; t < REF_TYPES; t++) {
        const bool allowed = coverage_allowed(version, ref_types[t], ref_index_types[i]);
        if (allowed)
            printf(" %3lld", (long long)counts[v][t][i]);
        else
            printf("   .");
        missing += allowed && counts[v][t][i] == 0;
    }
    printf("\n");
    return missing;
}

int coverage_print(void)
{
    int missing = 0;
    printf("cases for each operator version x index type (lines) x element type (columns):\n");
    for (int t = 0; t < REF_TYPES; t++)
        printf("%s%s", t ? " " : "columns: ", ref_type_name(ref_types[t]));
    printf("\n");
    for (int v = 0; v < REF_VERSIONS; v++)
        for (int i = 0; i < REF_INDEX_TYPES; i++)
            if (coverage_allowed(&ref_versions[v], GARNER_F32, ref_index_types[i]))
                missing += print_line(v, i);
    printf("combinations without a case: %d\n", missing);
    fflush(stdout);
    return missing;
}
