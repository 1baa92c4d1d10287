/* SPDX-License-Identifier: MIT */
/*
 * The gathers of a model in the terminal: for each group a line with what gives the data, one with what gives
 * the indices, the gather, and what takes the result, joined by lanes as in the drawing of a whole model.
 */
#include <string.h>

#include "explain_model.h"
#include "explain_pen.h"
#include "gathers.h"

enum { MOST_GROUPS = 60 };

struct page {
    const struct gathers *gathers;
    struct pen pen;
    int width;
};

/* A text beside lanes, over as many lines as it takes: `first` in front of the first line, `more` of the
 * others. */
static void print_beside(const struct page *page, const char *first, const char *more, const char *style,
                         const char *text)
{
    for (int line = 0; *text; line++) {
        fputs(line ? more : first, page->pen.out);
        text = pen_line(&page->pen, style, text, page->width - view_width(line ? more : first));
    }
}

static const char *symbol_of(const struct gathers *gathers, size_t group, enum gather_side side)
{
    const struct neighbours *all = &gathers->groups[group].side[side];
    if (all->kinds != 1 || all->others) return "•";
    if (strcmp(all->kind[0].kind, "input") == 0) return "○";
    return strcmp(all->kind[0].kind, "constant") == 0 ? "□" : "•";
}

static void print_source(const struct page *page, size_t group, enum gather_side side)
{
    static const char *const roles[] = {"data: ", "indices: "};
    struct words words = {0}, first = {0};
    words_add(&words, "%s", roles[side]);
    gathers_side(&words, page->gathers, group, side);
    words_add(&first, side ? " │ %s  " : " %s    ", symbol_of(page->gathers, group, side));
    print_beside(page, first.text, side ? " │ │    " : " │      ", "0", words.text);
}

static void print_verdict(const struct page *page, size_t group, enum claim_runtime runtime)
{
    struct words words = {0};
    int taken = page->gathers->groups[group].claims[runtime][CLAIM_TAKEN] != 0;
    words_add(&words, "%s: ", claim_runtime_name(runtime));
    gathers_verdict(&words, page->gathers, group, runtime);
    print_beside(page, " │      ", " │        ", taken ? "32" : "0", words.text);
}

static void print_group(const struct page *page, size_t group)
{
    const struct gathers *gathers = page->gathers;
    struct words words = {0};
    int refused = gathers->groups[group].claims[CLAIM_OPENVINO][CLAIM_REFUSED] != 0;
    print_source(page, group, SIDE_DATA);
    print_source(page, group, SIDE_INDICES);
    fputs(" ├─┘\n", page->pen.out);
    gathers_title(&words, gathers, group);
    print_beside(page, refused ? " ✗    " : " ◆    ", " │      ", refused ? "1;31" : "1;32", words.text);
    words_clear(&words);
    gathers_formula(&words, gathers, group);
    print_beside(page, " │      ", " │        ", "2", words.text);
    for (int runtime = 0; runtime < CLAIM_RUNTIMES; runtime++)
        print_verdict(page, group, (enum claim_runtime)runtime);
    words_clear(&words);
    words_add(&words, "result: ");
    gathers_side(&words, gathers, group, SIDE_OUT);
    print_beside(page, " •    ", "        ", "0", words.text);
    fputs("\n", page->pen.out);
}

void gathers_draw(const struct gathers *gathers, FILE *terminal, int width, int colour)
{
    struct page page = {gathers, {terminal, colour}, width > 0 ? width : 80};
    struct words words = {0};
    chain_title(&words, gathers->chain);
    pen_wrap(&page.pen, "1", words.text, page.width);
    fputs("\n", terminal);
    for (size_t i = 0; i < gathers->group_count && i < MOST_GROUPS; i++)
        print_group(&page, i);
    if (gathers->group_count > MOST_GROUPS)
        fprintf(terminal, " ⋮ %zu more groups; info --gathers lists them\n\n",
                gathers->group_count - MOST_GROUPS);
    words_clear(&words);
    gathers_summary(&words, gathers);
    pen_wrap(&page.pen, "0", words.text, page.width);
    words_clear(&words);
    for (size_t i = 0; gathers_note(&words, gathers, i); i++) {
        pen_wrap(&page.pen, "0", words.text, page.width);
        words_clear(&words);
    }
}
