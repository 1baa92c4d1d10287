/* SPDX-License-Identifier: MIT */
/* A program that uses libgarner_files as it is installed: writes a .npy by hand, and gathers from it. */
#include <stdio.h>
#include <string.h>

#include "garner_table.h"

int main(void)
{
    static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
    unsigned char bytes[134] = "\x93NUMPY\x01", picked[4];
    int64_t rows[2] = {2, -3};
    garner_table *table;
    garner_error error;
    garner_op op = {.kind = GARNER_GATHER};
    garner_tensor indices = {.data = rows, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){2, 2}, .rank = 2, .dtype = GARNER_U8};
    bytes[8] = 118;
    memcpy(bytes + 10, header, sizeof header - 1);
    memset(bytes + 9 + sizeof header, ' ', 118 - sizeof header);
    bytes[127] = '\n';
    memcpy(bytes + 128, "\1\2\3\4\5\6", 6);
    FILE *file = fopen("consumed.npy", "wb");
    if (!file || fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes || fclose(file) != 0) return 1;
    if (garner_table_open("consumed.npy", NULL, NULL, &table, &error) != GARNER_OK ||
        garner_table_gather(table, &op, &indices, &out, &error) != GARNER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    garner_table_close(table);
    printf("%s: %d %d %d %d\n", garner_version(), picked[0], picked[1], picked[2], picked[3]);
    return memcmp(picked, "\5\6\1\2", 4) != 0;
}
