/* SPDX-License-Identifier: MIT */
/*
 * The reader of zip files alone, on files that the test writes byte by byte: directories, zip64, members and
 * their own headers, what deflated bytes may end like, checksums. Each file ends at a page that may not be
 * touched.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "guarded.h"
#include "zip.h"

enum { LOCAL = 30, RECORD = 46, END = 22 };

static garner_error error;

/* ---- Writing one ---- */

struct archive {
    unsigned char bytes[2048], directory[1024];
    size_t size, directory_size;
    unsigned count;
    size_t records[4]; /* where each begins in the directory */
};

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void add(struct archive *archive, const char *name, unsigned method, const void *packed, size_t size,
                size_t unpacked, uint32_t crc)
{
    unsigned char *local = archive->bytes + archive->size,
                  *record = archive->directory + archive->directory_size;
    size_t length = strlen(name);
    memset(local, 0, LOCAL);
    memset(record, 0, RECORD);
    memcpy(local, "PK\3\4", 4);
    memcpy(record, "PK\1\2", 4);
    const struct {
        size_t local, record;
        uint64_t value;
        int bytes;
    } fields[] = {
        {8, 10, method, 2}, {14, 16, crc, 4}, {18, 20, size, 4}, {22, 24, unpacked, 4}, {26, 28, length, 2}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        put(local + fields[i].local, fields[i].value, fields[i].bytes);
        put(record + fields[i].record, fields[i].value, fields[i].bytes);
    }
    put(record + 42, archive->size, 4);
    memcpy(local + LOCAL, name, length);
    memcpy(record + RECORD, name, length);
    memcpy(local + LOCAL + length, packed, size);
    archive->records[archive->count++] = archive->directory_size;
    archive->size += LOCAL + length + size;
    archive->directory_size += RECORD + length;
}

/* The whole file, in front of the guard page. */
static const unsigned char *finish(const struct archive *archive, size_t *size)
{
    *size = archive->size + archive->directory_size + END;
    unsigned char *file = guard_place(&guard, *size, GUARD_AFTER), *end = file + *size - END;
    memcpy(file, archive->bytes, archive->size);
    memcpy(file + archive->size, archive->directory, archive->directory_size);
    memset(end, 0, END);
    memcpy(end, "PK\5\6", 4);
    put(end + 8, archive->count, 2);
    put(end + 10, archive->count, 2);
    put(end + 12, archive->directory_size, 4);
    put(end + 16, archive->size, 4);
    return file;
}

/* Two stored members: "a" of 3 bytes, "bc" of none. */
static void add_two(struct archive *archive)
{
    memset(archive, 0, sizeof *archive);
    add(archive, "a", ZIP_STORED, "xyz", 3, 3, 0xEB8EBA67u);
    add(archive, "bc", ZIP_STORED, "", 0, 0, 0);
}

static garner_status open_archive(const struct archive *archive, struct zip *zip)
{
    size_t size;
    const unsigned char *bytes = finish(archive, &size);
    memset(&error, 0, sizeof error);
    return zip_open(zip, "x.npz", bytes, size, &error);
}

static void expect_refused(const struct archive *archive, const char *what)
{
    struct zip zip;
    assert_int_equal(open_archive(archive, &zip), GARNER_BAD_FILE);
    zip_close(&zip);
    char sentence[160];
    snprintf(sentence, sizeof sentence, "x.npz: malformed .npz: %s", what);
    assert_string_equal(error.message, sentence);
}

/* ---- The directory ---- */

static void test_members(void **state)
{
    (void)state;
    struct archive archive;
    struct zip zip;
    const unsigned char *packed;
    add_two(&archive);
    assert_int_equal(open_archive(&archive, &zip), GARNER_OK);
    assert_int_equal(zip.count, 2);
    struct zip_member first = zip_member(&zip, 0), second = zip_member(&zip, 1);
    assert_int_equal(first.name_size, 1);
    assert_memory_equal(first.name, "a", 1);
    assert_int_equal(first.packed, 3);
    assert_int_equal(second.name_size, 2);
    assert_int_equal(second.unpacked, 0);
    assert_int_equal(zip_locate(&zip, 0, "x.npz: a", &packed, &error), GARNER_OK);
    assert_memory_equal(packed, "xyz", 3);
    assert_int_equal(zip_crc_add(&zip.crc, 0, packed, 3), first.crc);
    assert_int_equal(zip_locate(&zip, 1, "x.npz: bc", &packed, &error), GARNER_OK);
    zip_close(&zip);
}

static void test_no_members(void **state)
{
    (void)state;
    struct archive archive = {.size = 0};
    struct zip zip;
    assert_int_equal(open_archive(&archive, &zip), GARNER_OK);
    assert_int_equal(zip.count, 0);
    zip_close(&zip);
}

/* No beginning of a file is a file. */
static void test_truncated_anywhere(void **state)
{
    (void)state;
    struct archive archive;
    struct zip zip;
    size_t size;
    add_two(&archive);
    const unsigned char *whole = finish(&archive, &size);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, whole, size);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *place = guard_place(&guard, cut, GUARD_AFTER);
        memcpy(place, copy, cut);
        assert_int_equal(zip_open(&zip, "x.npz", place, cut, &error), GARNER_BAD_FILE);
        zip_close(&zip);
    }
    free(copy);
}

static void test_no_zip(void **state)
{
    (void)state;
    struct zip zip;
    assert_int_equal(zip_open(&zip, "x.npz", (const unsigned char *)"", 0, &error), GARNER_BAD_FILE);
    assert_string_equal(error.message, "x.npz: not a .npz file: it is empty");
    assert_int_equal(zip_open(&zip, "x.npz", (const unsigned char *)"\x93NUMPY", 6, &error), GARNER_BAD_FILE);
    assert_string_equal(error.message, "x.npz: not a .npz file: it is no zip file");
}

static void test_bad_directories(void **state)
{
    (void)state;
    struct archive archive;
    add_two(&archive);
    put(archive.directory + archive.records[1], 0, 4);
    expect_refused(&archive, "the zip directory ends too early");
    add_two(&archive);
    put(archive.directory + archive.records[1] + 28, 3, 2); /* a name beyond the directory */
    expect_refused(&archive, "the zip directory ends too early");
    add_two(&archive);
    archive.directory_size += 2;
    expect_refused(&archive, "the zip directory is longer than its entries");
    add_two(&archive);
    put(archive.directory + archive.records[0] + 42, 0xFFFFFFF0u, 4);
    expect_refused(&archive, "a member lies outside the file");
    add_two(&archive);
    put(archive.directory + archive.records[0] + 20, 0xFFFFFFFFu, 4);
    expect_refused(&archive, "a zip64 field is missing or short");
    add_two(&archive);
    put(archive.directory + archive.records[1] + 42, 1, 4); /* begins inside the first */
    expect_refused(&archive, "two members overlap");
    add_two(&archive);
    put(archive.directory + archive.records[0] + 24, 4, 4);
    expect_refused(&archive, "a stored member has two sizes");
    add_two(&archive);
    archive.directory[archive.records[1] + RECORD] = 0;
    expect_refused(&archive, "a member's name has a zero byte");
}

static void test_bombs(void **state)
{
    (void)state;
    struct archive archive = {.size = 0};
    add(&archive, "a", ZIP_DEFLATED, "\3\0", 2, 2 * 1032 + 1032, 0);
    expect_refused(&archive, "a member claims to inflate more than 1032 times, which deflate cannot");
}

/* ---- A member's own header ---- */

static void expect_not_located(const struct archive *archive, garner_status status, const char *what)
{
    struct zip zip;
    const unsigned char *packed;
    assert_int_equal(open_archive(archive, &zip), GARNER_OK);
    assert_int_equal(zip_locate(&zip, 0, "x.npz: a", &packed, &error), status);
    assert_non_null(strstr(error.message, what));
    zip_close(&zip);
}

static void test_headers_that_disagree(void **state)
{
    (void)state;
    static const size_t places[] = {8, 14, 18, 22, LOCAL}; /* method, checksum, sizes, name */
    struct archive archive;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        add_two(&archive);
        archive.bytes[places[i]] ^= 1;
        expect_not_located(&archive, GARNER_BAD_FILE,
                           "the zip directory and the member's own header disagree");
    }
    add_two(&archive);
    archive.bytes[2] = 1;
    expect_not_located(&archive, GARNER_BAD_FILE, "no member begins where the zip directory says");
    add_two(&archive);
    put(archive.bytes + 28, 500, 2); /* an extra field that long */
    expect_not_located(&archive, GARNER_BAD_FILE, "the member runs into the next one");
}

static void test_unsupported(void **state)
{
    (void)state;
    struct archive archive = {.size = 0};
    add(&archive, "a", 12, "xyz", 3, 3, 0);
    expect_not_located(&archive, GARNER_UNSUPPORTED, "is packed by method 12 of zip");
    add_two(&archive);
    archive.bytes[6] = archive.directory[archive.records[0] + 8] = 1;
    expect_not_located(&archive, GARNER_UNSUPPORTED, "is encrypted");
}

/* ---- Zip64 ---- */

/* One stored member "a" of 3 bytes, all of whose numbers lie in zip64 fields, behind a field of another kind;
 * and the records of zip64 at the end. Returns the size. */
static size_t make_zip64(unsigned char *file, int marked)
{
    const uint64_t large = 0xFFFFFFFFu;
    unsigned char *at = file;
    memset(file, 0, 512);
    memcpy(at, "PK\3\4", 4);
    put(at + 14, 0xEB8EBA67u, 4);
    put(at + 18, large, 4), put(at + 22, large, 4);
    put(at + 26, 1, 2), put(at + 28, 8 + 20, 2);
    at[LOCAL] = 'a';
    at += LOCAL + 1;
    put(at, 9, 2), put(at + 2, 4, 2), at += 8;
    put(at, 1, 2), put(at + 2, 16, 2), put(at + 4, 3, 8), put(at + 12, 3, 8), at += 20;
    memcpy(at, "xyz", 3), at += 3;
    const size_t directory = (size_t)(at - file);
    memcpy(at, "PK\1\2", 4);
    put(at + 16, 0xEB8EBA67u, 4);
    put(at + 20, large, 4), put(at + 24, large, 4), put(at + 42, large, 4);
    put(at + 28, 1, 2), put(at + 30, 8 + 28, 2);
    at[RECORD] = 'a';
    at += RECORD + 1;
    put(at, 9, 2), put(at + 2, 4, 2), at += 8;
    put(at, 1, 2), put(at + 2, 24, 2), put(at + 4, 3, 8), put(at + 12, 3, 8), put(at + 20, 0, 8), at += 28;
    const size_t end = (size_t)(at - file);
    memcpy(at, "PK\6\6", 4);
    put(at + 4, 44, 8), put(at + 24, 1, 8), put(at + 32, 1, 8), put(at + 40, end - directory, 8),
        put(at + 48, directory, 8);
    at += 56;
    memcpy(at, "PK\6\7", 4);
    put(at + 8, end, 8), put(at + 16, 1, 4);
    at += 20;
    memcpy(at, "PK\5\6", 4);
    put(at + 8, marked ? 0xFFFF : 1, 2), put(at + 10, marked ? 0xFFFF : 1, 2);
    put(at + 12, marked ? large : end - directory, 4), put(at + 16, marked ? large : directory, 4);
    return (size_t)(at + END - file);
}

static garner_status open_whole(const unsigned char *bytes, size_t size)
{
    struct zip zip;
    const unsigned char *packed;
    unsigned char *place = guard_place(&guard, size, GUARD_AFTER);
    memcpy(place, bytes, size);
    garner_status status = zip_open(&zip, "x.npz", place, size, &error);
    for (size_t i = 0; i < zip.count && !status; i++)
        status = zip_locate(&zip, i, "x.npz: a", &packed, &error);
    if (!status && zip.count) assert_in_range(packed[0], 0, 255); /* it can be read */
    zip_close(&zip);
    return status;
}

/* As it is, with any byte another, and with any number of bytes missing at the front or the end. */
static void test_zip64(void **state)
{
    (void)state;
    static const unsigned char flips[] = {1, 2, 8, 0x80, 0xff};
    unsigned char file[512];
    for (int marked = 0; marked < 2; marked++) {
        const size_t size = make_zip64(file, marked);
        int refused = 0;
        if (open_whole(file, size)) fail_msg("%s", error.message);
        for (size_t at = 0; at < size; at++)
            for (size_t i = 0; i < sizeof flips; i++) {
                file[at] ^= flips[i];
                refused += open_whole(file, size) != GARNER_OK;
                file[at] ^= flips[i];
            }
        assert_true(refused > (int)size);
        for (size_t cut = 1; cut < size; cut++) {
            assert_int_not_equal(open_whole(file, size - cut), GARNER_OK);
            assert_int_not_equal(open_whole(file + cut, size - cut), GARNER_OK);
        }
    }
}

/* The end record is looked for as far as a comment reaches, and no further. */
static void test_long_comments(void **state)
{
    (void)state;
    enum { LONGEST = 0xFFFF };
    struct archive archive;
    struct zip zip;
    size_t size;
    add_two(&archive);
    const unsigned char *whole = finish(&archive, &size);
    unsigned char *file = calloc(1, size + LONGEST + 1);
    assert_non_null(file);
    memcpy(file, whole, size);
    put(file + size - 2, LONGEST, 2);
    assert_int_equal(zip_open(&zip, "x.npz", file, size + LONGEST, &error), GARNER_OK);
    zip_close(&zip);
    assert_int_equal(zip_open(&zip, "x.npz", file, size + LONGEST + 1, &error), GARNER_BAD_FILE);
    zip_close(&zip);
    free(file);
}

/* ---- Deflate ---- */

/* "xyz" in one block that is stored within deflate, with what follows it. */
static garner_status inflate_three(const void *deflated, size_t size, size_t wanted)
{
    struct zip_inflater *inflater;
    unsigned char bytes[16];
    unsigned char *packed = guard_place(&guard, size, GUARD_AFTER);
    memcpy(packed, deflated, size);
    garner_status status = zip_inflate_begin(&inflater, "x.npz: a", packed, size, &error);
    if (status == GARNER_UNSUPPORTED) SKIP_LOUDLY("built without zlib");
    if (!status) status = zip_inflate(inflater, bytes, wanted, &error);
    if (!status && wanted == 3) assert_memory_equal(bytes, "xyz", 3);
    if (!status) status = zip_inflate_finish(inflater, &error);
    zip_inflate_end(inflater);
    return status;
}

static void test_inflate(void **state)
{
    (void)state;
    static const char block[] = "\1\3\0\xFC\xFFxyz!";
    assert_int_equal(inflate_three(block, 8, 3), GARNER_OK);
    assert_int_equal(inflate_three(block, 8, 4), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "end before the member does"));
    assert_int_equal(inflate_three(block, 8, 2), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "more than the directory says"));
    assert_int_equal(inflate_three(block, 9, 3), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "bytes follow the end"));
    for (size_t cut = 0; cut < 8; cut++)
        assert_int_equal(inflate_three(block, cut, 3), GARNER_BAD_FILE);
    assert_int_equal(inflate_three("\7zzzzzzz", 8, 3), GARNER_BAD_FILE);
    assert_non_null(strstr(error.message, "malformed"));
}

/* ---- Checksums ---- */

static void test_checksums(void **state)
{
    (void)state;
    struct zip_crc crc;
    unsigned char bytes[1000];
    zip_crc_begin(&crc);
    assert_int_equal(zip_crc_add(&crc, 0, "", 0), 0);
    assert_int_equal(zip_crc_add(&crc, 0, "123456789", 9), 0xCBF43926u); /* the check value of CRC-32 */
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 13);
    uint32_t whole = zip_crc_add(&crc, 0, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        uint32_t first = zip_crc_add(&crc, 0, bytes, cut);
        assert_int_equal(zip_crc_add(&crc, first, bytes + cut, sizeof bytes - cut), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_no_members),
        cmocka_unit_test(test_truncated_anywhere),
        cmocka_unit_test(test_no_zip),
        cmocka_unit_test(test_bad_directories),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_headers_that_disagree),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_zip64),
        cmocka_unit_test(test_long_comments),
        cmocka_unit_test(test_inflate),
        cmocka_unit_test(test_checksums),
    };
    return cmocka_run_group_tests(tests, make_guard, drop_guard);
}
