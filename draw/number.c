/* SPDX-License-Identifier: MIT */
/*
 * One table of floating-point layouts, and the arithmetic between bits, doubles and decimal text that
 * follows from it. Doubles hold every narrower type exactly, so they are the common ground.
 */
#include "number.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "decimal.h"

/* What the codes beyond the finite numbers are. */
enum special {
    IEEE,   /* the top exponent holds inf and NaNs */
    FN,     /* no inf; NaN is all ones */
    FNUZ,   /* no inf, no -0: that code is the one NaN */
    FINITE, /* neither inf nor NaN */
    SCALE   /* powers of two: no sign, no zero; NaN is all ones */
};

struct number_format {
    garner_dtype dtype;
    int exponent, mantissa, bias;
    enum special special;
    int digits; /* decimal digits that survive in every normal number */
};

static const struct number_format formats[] = {
    {GARNER_F64, 11, 52, 1023, IEEE, 15}, {GARNER_F32, 8, 23, 127, IEEE, 6},
    {GARNER_F16, 5, 10, 15, IEEE, 3},     {GARNER_BF16, 8, 7, 127, IEEE, 2},
    {GARNER_F8E4M3FN, 4, 3, 7, FN, 1},    {GARNER_F8E4M3FNUZ, 4, 3, 8, FNUZ, 1},
    {GARNER_F8E5M2, 5, 2, 15, IEEE, 1},   {GARNER_F8E5M2FNUZ, 5, 2, 16, FNUZ, 1},
    {GARNER_F8E8M0, 8, 0, 127, SCALE, 1}, {GARNER_F4E2M1, 2, 1, 1, FINITE, 1},
};

const struct number_format *number_format(garner_dtype dtype)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].dtype == dtype) return &formats[i];
    return NULL;
}

/* ---- Layout ---- */

static uint64_t ones(int count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static int magnitude_bits(const struct number_format *f)
{
    return f->exponent + f->mantissa;
}

static uint64_t sign_bit(const struct number_format *f)
{
    return f->special == SCALE ? 0 : UINT64_C(1) << magnitude_bits(f);
}

static uint64_t infinity_bits(const struct number_format *f)
{
    return ones(f->exponent) << f->mantissa;
}

static uint64_t largest_bits(const struct number_format *f)
{
    switch (f->special) {
    case IEEE:
        return infinity_bits(f) - 1;
    case FN:
    case SCALE:
        return ones(magnitude_bits(f)) - 1;
    default:
        return ones(magnitude_bits(f));
    }
}

/* The NaN that is written as plain nan, or 0 if the type has none. */
static uint64_t usual_nan(const struct number_format *f)
{
    switch (f->special) {
    case IEEE:
        return infinity_bits(f) | UINT64_C(1) << (f->mantissa - 1);
    case FN:
    case SCALE:
        return ones(magnitude_bits(f));
    case FNUZ:
        return sign_bit(f);
    default:
        return 0;
    }
}

static bool is_nan(const struct number_format *f, uint64_t bits)
{
    if (f->special == FNUZ) return bits == sign_bit(f);
    uint64_t magnitude = bits & ones(magnitude_bits(f));
    return f->special == IEEE ? magnitude > infinity_bits(f) : magnitude > largest_bits(f);
}

static bool is_infinite(const struct number_format *f, uint64_t bits)
{
    return f->special == IEEE && (bits & ones(magnitude_bits(f))) == infinity_bits(f);
}

static int smallest_exponent(const struct number_format *f)
{
    return f->special == SCALE ? -f->bias : 1 - f->bias;
}

/* ---- Bits <-> doubles ---- */

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double power_of_two(int exponent)
{
    return double_from_bits((uint64_t)(exponent + 1023) << 52);
}

double number_value(const struct number_format *f, uint64_t bits)
{
    if (f->dtype == GARNER_F64) return double_from_bits(bits);
    bool negative = (bits & sign_bit(f)) != 0;
    if (is_nan(f, bits) || is_infinite(f, bits))
        return double_from_bits(UINT64_C(0x7FF) << 52 | (uint64_t)is_nan(f, bits) << 51 |
                                (uint64_t)negative << 63);
    uint64_t fraction = bits & ones(f->mantissa);
    int exponent = (int)(bits >> f->mantissa & ones(f->exponent));
    if (f->special == SCALE) return power_of_two(exponent - f->bias);
    if (exponent > 0)
        fraction |= UINT64_C(1) << f->mantissa;
    else
        exponent = 1;
    double value = (double)fraction * power_of_two(exponent - f->bias - f->mantissa);
    return negative ? -value : value;
}

/*
 * Rounds a finite value >= 0 to nearest, and sets *tie if it lies halfway between two codes; then
 * `beyond` decides: above the middle (> 0), below it (< 0), or exactly there, where the even fraction wins.
 * Codes count up with the value, so a carry out of the fraction is right by itself.
 */
static uint64_t narrow(const struct number_format *f, double value, int beyond, bool *tie)
{
    *tie = false;
    if (f->dtype == GARNER_F64) return bits_from_double(value);
    if (value < power_of_two(-1000)) return 0;
    uint64_t bits = bits_from_double(value);
    int exponent = (int)(bits >> 52) - 1023, smallest = smallest_exponent(f);
    uint64_t whole = (bits & ones(52)) | UINT64_C(1) << 52;
    int floor = exponent < smallest ? smallest : exponent;
    int drop = 52 - f->mantissa + (floor - exponent);
    if (drop > 62) return 0;
    uint64_t kept = whole >> drop, rest = whole & ones(drop), half = UINT64_C(1) << (drop - 1);
    uint64_t code = ((uint64_t)(floor - smallest) << f->mantissa) + kept;
    if (f->special == SCALE && code > 0) code--; /* code 0 is a number, not zero */
    *tie = rest == half;
    if (rest > half || (*tie && (beyond > 0 || (beyond == 0 && (kept & 1))))) code++;
    return code;
}

/* ---- Reading ---- */

static const char *scan_digits(const char *text, const char *end)
{
    while (text < end && *text >= '0' && *text <= '9')
        text++;
    return text;
}

static const char *scan_word(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - text) >= length && memcmp(text, word, length) == 0 ? text + length : NULL;
}

static const char *scan_exponent(const char *text, const char *end)
{
    if (text == end || (*text != 'e' && *text != 'E')) return text;
    const char *digits = text + 1;
    if (digits < end && (*digits == '+' || *digits == '-')) digits++;
    const char *after = scan_digits(digits, end);
    return after == digits ? NULL : after;
}

static const char *scan_nan_bits(const char *text, const char *end)
{
    const char *digits = scan_word(text, end, "(0x");
    if (!digits) return text;
    const char *after = digits + strspn(digits, "0123456789abcdefABCDEF");
    bool closed = after < end && after > digits && after - digits <= 16 && *after == ')';
    return closed ? after + 1 : NULL;
}

const char *number_scan(const char *text, const char *end, int *integer)
{
    *integer = 0;
    if (text < end && (*text == '-' || *text == '+')) text++;
    const char *after = scan_word(text, end, "nan");
    if (after) return scan_nan_bits(after, end);
    after = scan_word(text, end, "inf");
    if (after) return after;
    after = scan_digits(text, end);
    ptrdiff_t digits = after - text;
    const char *point = after;
    if (after < end && *after == '.') {
        after = scan_digits(after + 1, end);
        digits += after - point - 1;
    }
    if (digits == 0) return NULL;
    const char *last = scan_exponent(after, end);
    *integer = last == point;
    return last;
}

static const char *parse_nan(const struct number_format *f, const char *text, const char *end, uint64_t *bits)
{
    if (usual_nan(f) == 0) return "is no value of this type, which has no nan";
    *bits = usual_nan(f);
    if (text == end) return NULL;
    *bits = strtoull(text + 1, NULL, 16);
    bool fits = *bits <= (ones(magnitude_bits(f)) | sign_bit(f));
    return fits && is_nan(f, *bits) ? NULL : "gives bits that are no nan of this type";
}

/* Where the nearest double lies halfway between two codes, the digits beyond it decide. */
static uint64_t parse_finite(const struct number_format *f, const char *text, double nearest)
{
    bool tie;
    uint64_t code = narrow(f, nearest, 0, &tie);
    return tie ? narrow(f, nearest, decimal_compare(text, nearest), &tie) : code;
}

static const char *parse_magnitude(const struct number_format *f, const char *text, uint64_t *bits)
{
    if (*text == 'i') {
        if (f->special != IEEE) return "is no value of this type, which has no inf";
        *bits = infinity_bits(f);
        return NULL;
    }
    double nearest = strtod(text, NULL);
    if (nearest > double_from_bits(largest_bits(&formats[0]))) return "is too large for this type";
    if (f->special == SCALE && nearest < power_of_two(-f->bias)) return "is too small for this type";
    *bits = parse_finite(f, text, nearest);
    return *bits > largest_bits(f) ? "is too large for this type" : NULL;
}

const char *number_parse(const struct number_format *f, const char *text, const char *end, uint64_t *bits)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    const char *after_nan = scan_word(text, end, "nan");
    if (after_nan) return negative ? "has a sign" : parse_nan(f, after_nan, end, bits);
    if (negative && f->special == SCALE) return "is no value of this type, which has no sign";
    void *locale = c_locale_begin();
    const char *wrong = parse_magnitude(f, text, bits);
    c_locale_end(locale);
    if (!wrong && negative && (f->special != FNUZ || *bits != 0)) *bits |= sign_bit(f);
    return wrong;
}

const char *number_count(const struct number_format *f, uint64_t number, uint64_t *bits)
{
    bool tie;
    const double value = (double)number;
    if (f->special == SCALE && value < power_of_two(-f->bias)) return "is too small for this type";
    *bits = narrow(f, value, 0, &tie);
    return *bits > largest_bits(f) ? "is too large for this type" : NULL;
}

/* ---- Writing ---- */

/* Lays out "d.ddde+xx" as people write it: 1500.0, 0.00015, 1.5e-05; trailing zeros go. */
static int arrange(char *buffer, const char *scientific)
{
    char digits[NUMBER_TEXT_SIZE];
    const char *mark = strchr(scientific, 'e');
    int exponent = (int)strtol(mark + 1, NULL, 10), count = 0;
    for (const char *c = scientific; c < mark; c++)
        if (*c != '.') digits[count++] = *c;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -4 || exponent >= 16)
        return snprintf(buffer, NUMBER_TEXT_SIZE, "%c%s%.*se%+03d", digits[0], count > 1 ? "." : "",
                        count - 1, digits + 1, exponent);
    if (exponent < 0)
        return snprintf(buffer, NUMBER_TEXT_SIZE, "0.%.*s%.*s", -exponent - 1, "000", count, digits);
    if (count > exponent + 1)
        return snprintf(buffer, NUMBER_TEXT_SIZE, "%.*s.%.*s", exponent + 1, digits, count - exponent - 1,
                        digits + exponent + 1);
    return snprintf(buffer, NUMBER_TEXT_SIZE, "%.*s%.*s.0", count, digits, exponent + 1 - count,
                    "000000000000000");
}

/* Whether text means these bits, read straight into the type and read as a double first. */
static bool reads_back(const struct number_format *f, const char *text, uint64_t bits)
{
    bool tie;
    double nearest = strtod(text, NULL);
    return narrow(f, nearest, 0, &tie) == bits && parse_finite(f, text, nearest) == bits;
}

/* A power of two has more room above it than below, so its shortest text may be the one above. */
static bool try_upward(char *text, size_t size, const struct number_format *f, int digits, double value,
                       uint64_t bits)
{
    if (bits & ones(f->mantissa)) return false;
    decimal_round_up(text, size, digits, value);
    return reads_back(f, text, bits);
}

static int text_of_magnitude(char *buffer, const struct number_format *f, uint64_t bits)
{
    char text[NUMBER_TEXT_SIZE];
    double value = number_value(f, bits);
    if (magnitude_bits(f) < 8 || f->special == SCALE) {
        f = &formats[0];
        bits = bits_from_double(value);
    }
    /* So many digits survive in a normal number that none shorter is missed: zeros are cut later. */
    bool normal = bits >> f->mantissa != 0;
    for (int digits = normal ? f->digits : 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (reads_back(f, text, bits)) break;
        if (try_upward(text, sizeof text, f, digits, value, bits)) break;
    }
    return arrange(buffer, text);
}

int number_text(char buffer[NUMBER_TEXT_SIZE], const struct number_format *f, uint64_t bits)
{
    if (is_nan(f, bits)) {
        if (bits == usual_nan(f)) return snprintf(buffer, NUMBER_TEXT_SIZE, "nan");
        return snprintf(buffer, NUMBER_TEXT_SIZE, "nan(0x%llx)", (unsigned long long)bits);
    }
    int sign = (bits & sign_bit(f)) != 0;
    buffer[0] = '-';
    if (is_infinite(f, bits)) return sign + snprintf(buffer + sign, NUMBER_TEXT_SIZE - 1, "inf");
    void *locale = c_locale_begin();
    int size = text_of_magnitude(buffer + sign, f, bits & ones(magnitude_bits(f)));
    c_locale_end(locale);
    return sign + size;
}
