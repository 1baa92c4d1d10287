/* SPDX-License-Identifier: MIT */
/*
 * What info and explain say of a model, in text, JSON and pictures. The first byte of an input chooses which
 * of these it is, the rest is the model: an .xml with its .bin behind "</net>" if it begins with '<', else
 * ONNX. Whatever the model, the answer steers no terminal, no line of a drawing is wider than it may be, and
 * no picture has a tag that is not closed. Everything stays in memory.
 */
#define _GNU_SOURCE /* memfd_create */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain_model.h"
#include "explain_view.h"
#include "info.h"
#include "ir.h"
#include "model.h"
#include "onnx_model.h"

enum { WIDTH = 60, ROOM = 1 << 20 };
enum { ASK_INFO, ASK_JSON, ASK_TEXT, ASK_SVG, ASKS, ASK_GATHERS = ASKS /* a bit: of the gathers alone */ };

static char text[ROOM];  /* what is printed; what does not fit is lost */
static char picture[64]; /* the path of a file in memory */
static int picture_file = -1;

/* ---- What must hold of every answer ---- */

static void check_characters(const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)from[i] < ' ' && from[i] != '\n') || from[i] == 0x7f) __builtin_trap();
}

static void check_lines(const char *from)
{
    static char line[ROOM];
    while (*from) {
        size_t size = strcspn(from, "\n");
        memcpy(line, from, size);
        line[size] = 0;
        if (view_width(line) > WIDTH) __builtin_trap();
        from += size + (from[size] == '\n');
    }
}

static void check_json(const char *from, size_t size)
{
    int depth = 0, quoted = 0;
    for (size_t i = 0; i < size; i++) {
        if (quoted && from[i] == '\\')
            i++;
        else if (from[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (from[i] == '{' || from[i] == '[') - (from[i] == '}' || from[i] == ']');
        if (depth < 0) __builtin_trap();
    }
    if (depth || quoted) __builtin_trap();
}

/* Tags are closed, and nothing but tags begins with '<'. */
static void check_tags(const char *from, size_t size)
{
    int depth = 0;
    for (size_t i = 0; i < size; i++) {
        if (from[i] != '<') continue;
        const char *end = memchr(from + i, '>', size - i);
        if (!end) __builtin_trap();
        if (memchr(from + i + 1, '<', (size_t)(end - from) - i - 1)) __builtin_trap();
        depth += from[i + 1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
        if (depth < 0) __builtin_trap();
    }
    if (depth) __builtin_trap();
}

/* ---- Asking ---- */

static int open_model(struct model **model, const unsigned char *bytes, size_t size)
{
    struct graph graph;
    garner_error error;
    garner_status status;
    if (size && bytes[0] == '<') {
        const unsigned char *end = memmem(bytes, size, "</net>", 6);
        size_t xml = end ? (size_t)(end - bytes) + 6 : size;
        status = ir_read_bytes(&graph, "m.xml", bytes, xml, bytes + xml, size - xml, &error);
    } else {
        status = onnx_model_load_bytes(&graph, "m.onnx", bytes, size, 0, &error);
    }
    return !status && !model_from_graph(model, &graph, &error);
}

static void ask_in_words(struct model *model, int what, int gathers)
{
    garner_error error;
    unsigned flags = (what == ASK_JSON ? INFO_JSON : 0u) | (gathers ? INFO_GATHERS : 0u);
    FILE *out = fmemopen(text, sizeof text, "w");
    struct explain_paper paper = {.terminal = out, .width = WIDTH, .gathers = gathers};
    if (!out) return;
    garner_status status =
        what == ASK_TEXT ? explain_opened(model, &paper, &error) : info_opened(model, flags, out, &error);
    long size = ftell(out);
    int whole = fclose(out) == 0 && size >= 0 && size + 1 < ROOM;
    if (status || !whole) return;
    check_characters(text, (size_t)size);
    if (what == ASK_TEXT) check_lines(text);
    if (what == ASK_JSON) check_json(text, (size_t)size);
}

static void ask_for_picture(struct model *model, int gathers)
{
    garner_error error;
    struct stat about;
    if (ftruncate(picture_file, 0) || lseek(picture_file, 0, SEEK_SET)) __builtin_trap();
    if (explain_opened(model, &(struct explain_paper){.svg = picture, .gathers = gathers}, &error)) return;
    if (fstat(picture_file, &about) || about.st_size == 0) __builtin_trap();
    size_t size = (size_t)about.st_size;
    const char *drawn = mmap(NULL, size, PROT_READ, MAP_SHARED, picture_file, 0);
    if (drawn == MAP_FAILED) __builtin_trap();
    check_characters(drawn, size);
    check_tags(drawn, size);
    munmap((void *)(uintptr_t)drawn, size);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    picture_file = memfd_create("picture", MFD_CLOEXEC);
    snprintf(picture, sizeof picture, "/dev/fd/%d", picture_file);
    return picture_file < 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    struct model *model;
    if (!size || !open_model(&model, bytes + 1, size - 1)) return 0;
    int what = bytes[0] % ASKS, gathers = bytes[0] & ASK_GATHERS;
    if (what == ASK_SVG)
        ask_for_picture(model, gathers);
    else
        ask_in_words(model, what, gathers);
    model_free(model);
    return 0;
}
