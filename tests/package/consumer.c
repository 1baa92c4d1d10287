/* SPDX-License-Identifier: MIT */
/*
 * A small program that uses the library as anybody would. It is built in every way that the library is
 * offered; it prints what it gathered and fails if that is wrong.
 */
#include <garner.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    float table[3][2] = {{1.0f, 1.25f}, {2.5f, 3.5f}, {4.5f, 5.75f}};
    int64_t rows[2] = {2, -3};
    float picked[2][2] = {{0}};
    const float expected[2][2] = {{4.5f, 5.75f}, {1.0f, 1.25f}};

    garner_tensor data = {.data = table, .shape = (int64_t[]){3, 2}, .rank = 2, .dtype = GARNER_F32};
    garner_tensor indices = {.data = rows, .shape = (int64_t[]){2}, .rank = 1, .dtype = GARNER_I64};
    garner_tensor out = {.data = picked, .shape = (int64_t[]){2, 2}, .rank = 2, .dtype = GARNER_F32};
    garner_error error;

    if (garner_gather(&data, &indices, 0, &out, &error) != GARNER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s: %g %g %g %g\n", garner_version(), (double)picked[0][0], (double)picked[0][1],
           (double)picked[1][0], (double)picked[1][1]);
    if (strcmp(garner_version(), GARNER_VERSION_STRING) != 0) return 1;
    return memcmp(picked, expected, sizeof expected) != 0;
}
