/* SPDX-License-Identifier: MIT */
/*
 * The usual table of edit distances, with swapped neighbours counted as one edit because that is how
 * people mistype.
 */
#include "suggest.h"

#include <string.h>

enum { LONGEST = 31, FAR = 1000 };

static char fold(char c)
{
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int suggest_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    int edits[LONGEST + 1][LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST) return FAR;
    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                edits[i][j] = (int)(i + j);
                continue;
            }
            int change = edits[i - 1][j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
            edits[i][j] = least(change, 1 + least(edits[i - 1][j], edits[i][j - 1]));
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
                edits[i][j] = least(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    return edits[rows][columns];
}

int suggest_near(const char *typed, int distance)
{
    size_t length = strlen(typed);
    return distance <= (length < 3 ? 1 : length < 6 ? 2 : 3);
}
