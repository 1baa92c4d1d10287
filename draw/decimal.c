/* SPDX-License-Identifier: MIT */
/* Digits of doubles, all of them. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No double has more digits than these; and room for them, a point and an exponent. */
enum { MOST_DIGITS = 767, EXACT_SIZE = MOST_DIGITS + 16 };

static void write_exactly(char text[EXACT_SIZE], double value)
{
    snprintf(text, EXACT_SIZE, "%.*e", MOST_DIGITS - 1, value);
}

/* 0.DIGITS times ten to the power of the exponent; the first digit is not 0, the others may have a point
 * among them. */
struct decimal {
    const char *at, *end;
    long exponent;
};

static struct decimal decimal_of(const char *text)
{
    struct decimal d = {.at = NULL};
    int after_point = 0;
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        if (*text == '.') {
            after_point = 1;
        } else if (d.at || *text != '0') {
            if (!d.at) d.at = text;
            d.exponent += !after_point;
        } else {
            d.exponent -= after_point;
        }
    }
    d.end = text;
    if (!d.at) d.at = text;
    if (*text == 'e' || *text == 'E') d.exponent += strtol(text + 1, NULL, 10);
    return d;
}

/* Behind the last digit there are zeros. */
static char next_digit(struct decimal *d)
{
    if (d->at < d->end && *d->at == '.') d->at++;
    return d->at < d->end ? *d->at++ : '0';
}

int decimal_compare(const char *text, double value)
{
    char exact[EXACT_SIZE];
    write_exactly(exact, value);
    struct decimal a = decimal_of(text), b = decimal_of(exact);
    if (a.at == a.end || b.at == b.end) return (a.at != a.end) - (b.at != b.end); /* one is zero */
    if (a.exponent != b.exponent) return a.exponent > b.exponent ? 1 : -1;
    while (a.at < a.end || b.at < b.end) {
        char left = next_digit(&a), right = next_digit(&b);
        if (left != right) return left > right ? 1 : -1;
    }
    return 0;
}

/* Adds one to the last of the digits; 1 if all were nines and have become zeros. */
static int count_up(char *digits, int count)
{
    while (count-- > 0) {
        if (digits[count] != '9') {
            digits[count]++;
            return 0;
        }
        digits[count] = '0';
    }
    return 1;
}

void decimal_round_up(char *text, size_t size, int digits, double value)
{
    char exact[EXACT_SIZE], kept[18];
    write_exactly(exact, value);
    char *mark = strchr(exact, 'e');
    int exponent = (int)strtol(mark + 1, NULL, 10);
    exact[1] = exact[0]; /* where the point was: all digits follow each other */
    memcpy(kept, exact + 1, (size_t)digits);
    const char *rest = exact + 1 + digits;
    if (rest + strspn(rest, "0") < mark && count_up(kept, digits)) {
        kept[0] = '1';
        exponent++;
    }
    snprintf(text, size, "%c%s%.*se%+03d", kept[0], digits > 1 ? "." : "", digits - 1, kept + 1, exponent);
}
