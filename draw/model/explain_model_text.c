/* SPDX-License-Identifier: MIT */
/*
 * A model in the terminal: one row for each input, constant and node, in the order of running. To its left
 * run lanes, one for each tensor that is still needed; where a node takes tensors their lanes meet.
 */
#include <string.h>

#include "chain.h"
#include "explain_model.h"
#include "explain_pen.h"

enum { MOST_ITEMS = 160, HEAD = 100, TAIL = 40, MOST_LANES = 12, GAP = 2 };

/* The lanes that are open: each holds a value, or GRAPH_NONE. Tensors beyond the last lane have none. */
struct lanes {
    size_t value[MOST_LANES];
    int used; /* how many have ever been open */
};

struct page {
    const struct chain *chain;
    struct pen pen;
    int width, lanes;
    int name_width, type_width; /* of columns; 0: everything under each other */
};

/* ---- Lanes ---- */

static int lane_of(const struct lanes *lanes, size_t value)
{
    for (int i = 0; i < lanes->used; i++)
        if (lanes->value[i] == value) return i;
    return -1;
}

static int open_lane(struct lanes *lanes, size_t value)
{
    int at = lane_of(lanes, GRAPH_NONE);
    if (at < 0 && lanes->used < MOST_LANES) at = lanes->used++;
    if (at >= 0) lanes->value[at] = value;
    return at;
}

/* What meets in front of an item: for each lane whether something comes from above and goes on below. */
struct junction {
    int up[MOST_LANES], down[MOST_LANES], joined[MOST_LANES];
    int first, last; /* the lanes that are joined; first > last: none */
    int own;         /* the item's lane; -1: it has none */
};

static void join(struct junction *junction, int lane)
{
    junction->joined[lane] = 1;
    if (lane < junction->first) junction->first = lane;
    if (lane > junction->last) junction->last = lane;
}

static struct junction junction_none(void)
{
    return (struct junction){.first = MOST_LANES, .last = -1, .own = -1};
}

/* Ends the lanes of what the item takes for the last time, and opens its own. */
static struct junction advance(struct lanes *lanes, const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    const struct graph_node *node = item->kind == CHAIN_NODE ? &chain->graph->nodes[item->node] : NULL;
    struct junction junction = junction_none();
    for (int k = 0; k < lanes->used; k++)
        junction.up[k] = lanes->value[k] != GRAPH_NONE;
    for (size_t k = 0; node && k < node->input_count; k++) {
        size_t value = node->inputs[k];
        int lane = value == GRAPH_NONE ? -1 : lane_of(lanes, value);
        if (lane < 0) continue;
        join(&junction, lane);
        if (chain->last[value] == i) lanes->value[lane] = GRAPH_NONE;
    }
    junction.own = open_lane(lanes, item->value);
    if (junction.last >= 0 && junction.own >= 0) join(&junction, junction.own);
    for (int k = 0; k < lanes->used; k++)
        junction.down[k] = lanes->value[k] != GRAPH_NONE || k == junction.own;
    return junction;
}

/* Opens a lane for each further output of an item; they part below it. */
static struct junction part(struct lanes *lanes, const struct chain *chain, size_t i,
                            const struct junction *above)
{
    const struct chain_item *item = &chain->items[i];
    const struct graph_node *node = item->kind == CHAIN_NODE ? &chain->graph->nodes[item->node] : NULL;
    struct junction junction = junction_none();
    memcpy(junction.up, above->down, sizeof junction.up);
    for (size_t k = 0; node && k < node->output_count; k++) {
        size_t value = node->outputs[k];
        if (value == GRAPH_NONE || value == item->value || chain->last[value] == GRAPH_NONE) continue;
        int lane = open_lane(lanes, value);
        if (lane >= 0) join(&junction, lane);
    }
    if (junction.last >= 0 && above->own >= 0) join(&junction, above->own);
    return junction;
}

/* A tensor that nobody takes ends where it begins. */
static void leave(struct lanes *lanes, const struct chain *chain, size_t i, const struct junction *junction)
{
    size_t value = chain->items[i].value;
    if (junction->own >= 0 && (value == GRAPH_NONE || chain->last[value] == GRAPH_NONE))
        lanes->value[junction->own] = GRAPH_NONE;
}

static int count_lanes(const struct chain *chain)
{
    struct lanes lanes = {.used = 0};
    for (size_t i = 0; i < chain->count; i++) {
        struct junction junction = advance(&lanes, chain, i);
        (void)part(&lanes, chain, i, &junction);
        leave(&lanes, chain, i, &junction);
    }
    return lanes.used;
}

/* ---- Printing ---- */

/* The line above an item where lanes meet. A lane that is merely crossed stays whole. */
static void print_junction(const struct page *page, const struct junction *junction)
{
    /* up 1, down 2, left 4, right 8 */
    static const char *const boxes[16] = {" ", "╵", "╷", "│", "╴", "┘", "┐", "┤",
                                          "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
    if (junction->first >= junction->last) return;
    fputs(" ", page->pen.out);
    for (int k = 0; k <= junction->last || k < page->lanes; k++) {
        int inside = k >= junction->first && k <= junction->last;
        int box = junction->up[k] | junction->down[k] << 1;
        if (inside && (!box || junction->joined[k]))
            box |= (k > junction->first) << 2 | (k < junction->last) << 3;
        fputs(boxes[box], page->pen.out);
        if (k + 1 < page->lanes) fputs(inside && k < junction->last ? "─" : " ", page->pen.out);
    }
    fputs("\n", page->pen.out);
}

/* The lanes in front of a line of text; `symbol` stands in the item's own, or NULL. */
static void print_lanes(const struct page *page, const int *open, int own, const char *style,
                        const char *symbol)
{
    fputs(" ", page->pen.out);
    for (int k = 0; k < page->lanes; k++) {
        if (k == own && symbol)
            pen_write(&page->pen, style, symbol);
        else
            fputs(open[k] ? "│" : " ", page->pen.out);
        fputs(" ", page->pen.out);
    }
    pen_repeat(&page->pen, " ", GAP - 1);
}

/* A text, cut to what the line has room for; returns its columns. */
static int print_cut(const struct page *page, const char *style, const char *text, int room)
{
    char shown[1024];
    if (room < 1) return 0;
    view_shorten(shown, sizeof shown, text, room);
    return pen_write(&page->pen, style, shown);
}

/* A text below its item, over as many lines as it takes. */
static void print_below(const struct page *page, const int *open, const char *style, const char *text)
{
    int room = page->width - 2 * page->lanes - 2 * GAP;
    for (int indent = 0; *text; indent = GAP) {
        print_lanes(page, open, -1, "", NULL);
        pen_repeat(&page->pen, " ", GAP + indent);
        text = pen_line(&page->pen, style, text, room - indent);
    }
}

struct look {
    const char *symbol, *style;
};

static struct look look_of(const struct chain *chain, size_t i)
{
    const struct chain_item *item = &chain->items[i];
    if (item->kind == CHAIN_INPUT) return (struct look){"○", "36"};
    if (item->kind == CHAIN_CONSTANT) return (struct look){"□", "2"};
    if (chain_is_refused(chain, i)) return (struct look){"✗", "31"};
    if (chain->graph->nodes[item->node].kind == GRAPH_UNSUPPORTED) return (struct look){"•", "0"};
    return chain->graph->nodes[item->node].spec ? (struct look){"◆", "32"} : (struct look){"◇", "33"};
}

/* The texts of an item. */
struct texts {
    struct words name, type, what, spec, output, formula;
};

static void texts_read(struct texts *texts, const struct chain *chain, size_t i)
{
    struct words *all[] = {&texts->name, &texts->type,   &texts->what,
                           &texts->spec, &texts->output, &texts->formula};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        words_clear(all[k]);
    chain_name(&texts->name, chain, i);
    chain_type(&texts->type, chain, i);
    chain_what(&texts->what, chain, i);
    chain_spec(&texts->spec, chain, i);
    chain_output(&texts->output, chain, i);
    chain_formula(&texts->formula, chain, i);
    if (texts->spec.used) words_add(&texts->what, " (%s)", texts->spec.text);
    if (!texts->output.used) return;
    int same = strcmp(texts->output.text, texts->name.text) == 0;
    words_add(&texts->what, same ? " → output" : " → output %s", texts->output.text);
}

static void print_item(const struct page *page, const struct texts *texts, const struct junction *junction,
                       const int *after, struct look look)
{
    int room = page->width - 2 * page->lanes - GAP, columns = page->name_width > 0;
    print_lanes(page, junction->down, junction->own, look.style, look.symbol);
    int used = print_cut(page, texts->output.used ? "1;4" : "1", texts->name.text, room / 2);
    if (columns || texts->type.used)
        used += pen_repeat(&page->pen, " ", columns ? page->name_width + GAP - used : GAP);
    used += print_cut(page, "0", texts->type.text, room - used);
    if (columns) {
        pen_repeat(&page->pen, " ", page->name_width + page->type_width + 2 * GAP - used);
        pen_write(&page->pen, look.style, texts->what.text);
    }
    fputs("\n", page->pen.out);
    if (!columns) print_below(page, after, look.style, texts->what.text);
    print_below(page, after, "2", texts->formula.text);
}

/* Which items are shown: all, or the first and the last ones. */
static int is_shown(const struct chain *chain, size_t i)
{
    return chain->count <= MOST_ITEMS || i < HEAD || i >= chain->count - TAIL;
}

static void print_items(const struct page *page)
{
    const struct chain *chain = page->chain;
    struct lanes lanes = {.used = 0};
    struct texts texts;
    for (size_t i = 0; i < chain->count; i++) {
        struct junction junction = advance(&lanes, chain, i), below = part(&lanes, chain, i, &junction);
        leave(&lanes, chain, i, &junction);
        for (int k = 0; k < lanes.used; k++)
            below.down[k] = lanes.value[k] != GRAPH_NONE;
        if (!is_shown(chain, i)) {
            if (i == HEAD) fprintf(page->pen.out, " ⋮ %zu more\n", chain->count - HEAD - TAIL);
            continue;
        }
        texts_read(&texts, chain, i);
        print_junction(page, &junction);
        print_item(page, &texts, &junction, below.last >= 0 ? below.up : below.down, look_of(chain, i));
        print_junction(page, &below);
    }
}

/* ---- The whole ---- */

static void widen(int *width, const struct words *words)
{
    int needed = view_width(words->text);
    if (*width < needed) *width = needed;
}

/* Columns if all fit beside each other, otherwise none. */
static void measure(struct page *page)
{
    int what = 0;
    struct texts texts;
    for (size_t i = 0; i < page->chain->count; i++) {
        if (!is_shown(page->chain, i)) continue;
        texts_read(&texts, page->chain, i);
        widen(&page->name_width, &texts.name);
        widen(&page->type_width, &texts.type);
        widen(&what, &texts.what);
    }
    page->lanes = count_lanes(page->chain);
    if (2 * page->lanes + page->name_width + page->type_width + what + 3 * GAP > page->width)
        page->name_width = page->type_width = 0;
}

void chain_draw(const struct chain *chain, FILE *terminal, int width, int colour)
{
    struct page page = {.chain = chain, .pen = {terminal, colour}, .width = width > 0 ? width : 80};
    struct words words = {0};
    chain_title(&words, chain);
    print_cut(&page, "1", words.text, page.width);
    fputs("\n\n", terminal);
    measure(&page);
    print_items(&page);
    fputs(chain->count ? "\n" : "", terminal);
    words_clear(&words);
    for (size_t i = 0; chain_summary(&words, chain, i); i++) {
        if (words.used) pen_wrap(&page.pen, "0", words.text, page.width);
        words_clear(&words);
    }
}
