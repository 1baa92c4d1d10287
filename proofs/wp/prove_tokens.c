/* SPDX-License-Identifier: MIT */
/* Tokens of text headers are read inside the header alone, whatever it holds, and each that is taken makes
 * what is left shorter. */
#include <string.h>

#include "builtins.h"
#include "fail.h"
#include "npy_header.h"
#include "safetensors.h"
#include "utf8.h"

#define fail_at(...) refuse_in_words()
#define strchr(list, c) find_in(list)

/*@ assigns \nothing;
    ensures \result != 0; */
garner_status refuse_in_words(void);

/*@ axiomatic Places { // what C says of two places in one text
      axiom before: \forall char *a, *b; \base_addr(a) == \base_addr(b) ==> (a < b <==> a - b < 0); }
    logic integer left{L}(struct tokens *t) = t->end - t->at;
    predicate is_text{L}(struct tokens *t) = \base_addr(t->at) == \base_addr(t->end) &&
      0 <= left(t) <= INT64_MAX && \valid_read(t->at + (0 .. left(t) - 1));
    predicate advanced{A, B}(struct tokens *t) = \at(t->end, B) == \at(t->end, A) &&
      \base_addr{B}(\at(t->at, B)) == \base_addr{A}(\at(t->at, A)) && left{B}(t) <= left{A}(t);
    predicate taken{A, B}(struct tokens *t) = advanced{A, B}(t) && left{B}(t) < left{A}(t);
    predicate is_part{L}(char *text, integer size, struct tokens *t) =
      \base_addr(text) == \base_addr(t->at) && 0 <= size <= t->at - text; */

/* Of lists of no more than 32 characters. */
/*@ assigns \nothing;
    ensures \result == \null || \exists integer i; 0 <= i < 32 && \result == list + i; */
char *find_in(const char *list);

/*@ assigns \nothing;
    ensures \result != 0; */
garner_status tokens_malformed(const struct tokens *tokens, const char *what);

/*@ requires \valid(tokens) && is_text(tokens);
    assigns tokens->at;
    ensures is_text(tokens) && advanced{Pre, Post}(tokens); */
void tokens_skip(struct tokens *tokens);

/*@ requires \valid(tokens) && is_text(tokens);
    assigns tokens->at;
    ensures is_text(tokens) && advanced{Pre, Post}(tokens);
    ensures \result == 0 || \result == 1;
    ensures \result == 1 ==> taken{Pre, Post}(tokens); */
int tokens_take(struct tokens *tokens, char wanted);

/*@ requires \valid(tokens) && is_text(tokens);
    assigns tokens->at;
    ensures is_text(tokens) && advanced{Pre, Post}(tokens);
    ensures \result == 0 ==> taken{Pre, Post}(tokens); */
garner_status tokens_expect(struct tokens *tokens, char wanted);

/*@ requires \valid(tokens) && is_text(tokens) && \valid(value);
    assigns tokens->at, *value;
    ensures is_text(tokens) && advanced{Pre, Post}(tokens);
    ensures tokens->at == \old(tokens->at) || taken{Pre, Post}(tokens);
    ensures \result != 0 ==> *value >= 0; */
int tokens_digits(struct tokens *tokens, int64_t *value);

/*@ requires left >= 1 && \valid_read(bytes + (0 .. left - 1)) && \valid(code);
    assigns *code;
    ensures 0 <= \result <= left; */
size_t utf8_decode(const char *bytes, size_t left, uint32_t *code);

/* ---- .npy ---- */

/*@ requires \valid(scan) && is_text(scan);
    assigns scan->at;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result != 0 ==> taken{Pre, Post}(scan); */
static char open_string(struct tokens *scan);

/*@ requires \valid(scan) && is_text(scan) && \valid(text) && \valid(size) && \separated(scan, text, size);
    assigns scan->at, *text, *size;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan) && is_part(*text, *size, scan); */
garner_status npy_string(struct tokens *scan, const char **text, size_t *size);

/*@ requires \valid(scan) && is_text(scan) && \valid(value);
    assigns scan->at, *value;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan); */
static garner_status extent(struct tokens *scan, int64_t *value);

/*@ assigns \nothing; */
garner_status accept_any(struct tokens *scan, void *context, int64_t value);

/*@ requires \valid(scan) && is_text(scan) && accept == &accept_any;
    assigns scan->at;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan); */
garner_status npy_tuple(struct tokens *scan, garner_status (*accept)(struct tokens *, void *, int64_t),
                        void *context);

/* ---- .safetensors ---- */

/*@ requires \valid(scan) && is_text(scan) && \valid(done) && \separated(scan, done);
    assigns scan->at, *done;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan); */
garner_status safetensors_next(struct tokens *scan, char end, int *done);

/*@ assigns \nothing;
    ensures -1 <= \result <= 15; */
static int hexadecimal_digit(char c);

/*@ requires \valid_read(text + (0 .. 3));
    assigns \nothing;
    ensures -1 <= \result <= 0xFFFF; */
static int hexadecimal(const char *text);

/*@ requires left >= 1 && \valid_read(text + (0 .. left - 1));
    assigns \nothing;
    ensures 0 <= \result <= left; */
static size_t escape_length(const char *text, size_t left);

/*@ requires \valid(scan) && is_text(scan) && \valid(text) && \valid(size) && \separated(scan, text, size);
    assigns scan->at, *text, *size;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan) && is_part(*text, *size, scan); */
garner_status safetensors_string(struct tokens *scan, const char **text, size_t *size);

/*@ requires \valid(scan) && is_text(scan) && \valid(value);
    assigns scan->at, *value;
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan) && *value >= 0; */
garner_status safetensors_integer(struct tokens *scan, int64_t *value);

/*@ requires \valid(scan) && is_text(scan) && \valid(count) && \valid(values + (0 .. most - 1));
    requires \separated(scan, count, values + (0 .. most - 1)) && most <= 64;
    assigns scan->at, *count, values[0 .. most - 1];
    ensures is_text(scan) && advanced{Pre, Post}(scan);
    ensures \result == 0 ==> taken{Pre, Post}(scan); */
garner_status safetensors_integers(struct tokens *scan, int64_t *values, size_t most, size_t *count);

#include "../../formats/common/tokens.c"
#include "../../formats/common/utf8.c"
#include "../../formats/npy/npy_scan.c"
#include "../../formats/safetensors/safetensors_scan.c"
