/* SPDX-License-Identifier: MIT */
/* The directory of a zip file is read inside the file alone, whatever it holds; each record makes what is
 * left shorter; and what is said of a member was held against the file. */
#include <stdlib.h>
#include <string.h>

#include "builtins.h"
#include "fail.h"
#include "zip.h"

#define fail_at(...) refuse_in_words()
#define memchr(bytes, c, size) look_through(bytes, size)
#define memcmp(a, b, size) compare_bytes(a, b, size)

/*@ assigns \nothing;
    ensures \result != 0; */
garner_status refuse_in_words(void);

/*@ requires \valid_read((const char *)bytes + (0 .. size - 1));
    assigns \nothing; */
const void *look_through(const char *bytes, size_t size);

/*@ requires \valid_read(a + (0 .. size - 1)) && \valid_read(b + (0 .. size - 1));
    assigns \nothing; */
int compare_bytes(const unsigned char *a, const char *b, size_t size);

/*@ predicate is_file(struct zip *zip) = zip->size <= INT64_MAX && \valid_read(zip->bytes + (0 .. zip->size - 1));
    predicate is_directory(struct zip *zip) = is_file(zip) &&
      zip->directory <= zip->directory_end <= zip->size;
    predicate is_name(struct zip_member *m) = m->name_size <= UINT32_MAX &&
      \valid_read(m->name + (0 .. m->name_size - 1));
    predicate lies_inside(struct zip_member *m, struct zip *zip) = is_name(m) &&
      m->offset + 30 + m->name_size + m->packed <= zip->directory; */

/*@ requires 0 <= size <= 8 && \valid_read(bytes + (0 .. size - 1));
    assigns \nothing; */
static uint64_t number(const unsigned char *bytes, int size);

/*@ requires \valid_read(bytes + (0 .. 1));
    assigns \nothing;
    ensures \result <= UINT32_MAX; */
static unsigned u16(const unsigned char *bytes);

/*@ requires \valid_read(bytes + (0 .. 3));
    assigns \nothing; */
static uint32_t u32(const unsigned char *bytes);

/*@ requires \valid_read(bytes + (0 .. 3));
    assigns \nothing; */
static int begins_with(const unsigned char *bytes, char third, char fourth);

/*@ assigns \nothing; */
static int agrees(uint64_t value, int bytes, uint64_t value64);

/*@ assigns \nothing;
    ensures \result != 0; */
static garner_status malformed(const struct zip *zip, const char *what, garner_error *error);

/*@ requires \valid_read(zip) && is_file(zip) && \valid(end) && \separated(zip, end);
    assigns *end;
    ensures \result == 0 ==> *end + 22 <= zip->size; */
static garner_status find_end(const struct zip *zip, uint64_t *end, garner_error *error);

/*@ requires \valid(zip) && is_file(zip) && \valid(count) && \separated(zip, count);
    assigns zip->directory, zip->directory_end, *count;
    ensures \result == 0 ==> is_directory(zip) && *count * 46 <= zip->directory_end - zip->directory; */
static garner_status read_end(struct zip *zip, uint64_t *count, garner_error *error);

/*@ requires \valid_read(extra + (0 .. size - 1)) && \valid(values + (0 .. 2));
    requires \separated(values + (0 .. 2), extra + (0 .. size - 1));
    assigns values[0 .. 2]; */
static int read_zip64(const unsigned char *extra, size_t size, uint64_t values[3]);

/*@ requires \valid_read(record + (0 .. 45 + name)) && 0 <= name <= UINT32_MAX;
    requires \valid(member) && \valid_read(values + (0 .. 2));
    requires \separated(member, values + (0 .. 2));
    assigns *member;
    ensures is_name(member); */
static void describe(const unsigned char *record, size_t name, const uint64_t values[3],
                     struct zip_member *member);

/*@ requires \valid_read(record + (0 .. left - 1)) && left <= INT64_MAX;
    requires \valid(member) && \valid(wrong) && \separated(member, wrong);
    assigns *member, *wrong;
    ensures \result <= left;
    ensures \result != 0 ==> is_name(member); */
static uint64_t read_record(const unsigned char *record, uint64_t left, struct zip_member *member,
                            const char **wrong);

/*@ requires \valid_read(zip) && is_directory(zip) && \valid_read(member) && is_name(member);
    assigns \nothing;
    ensures \result == \null ==> lies_inside(member, zip); */
static const char *check_member(const struct zip *zip, const struct zip_member *member);

/*@ requires \valid_read(member) && is_name(member) && \valid_read(local + (0 .. 30 + name + extra - 1));
    requires name <= UINT32_MAX && extra <= UINT32_MAX;
    assigns \nothing; */
static int same_header(const unsigned char *local, size_t name, size_t extra,
                       const struct zip_member *member);

#include "../../formats/zip/zip.c"

/*@ requires \valid_read(zip) && is_file(zip) && at <= zip->size && \valid(end) && \valid(start);
    requires \separated(zip, end, start) && *start == at;
    assigns *end, *start;
    ensures *start <= at; */
static garner_status read_end64(const struct zip *zip, uint64_t at, struct end *end, uint64_t *start,
                                garner_error *error);
