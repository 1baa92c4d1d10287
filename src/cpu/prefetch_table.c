/* SPDX-License-Identifier: MIT */
/* Tables of later rows, which are asked for while the points of a row are moved: a row that uses much of its
 * table meets each line of it soon, and in an order that no CPU foresees. */
#include "cpu_work.h"

enum {
    KIB = 1024,
    LEAST_ONWARD = X86 ? 1 : 2, /* bytes of a table for each point of a row from which on asking helps */
    LEAST_JOINED = X86 ? 8 : 4, /* the same where short rows are joined, */
    MOST_JOINED = 128           /* and the most bytes of which enough are used there */
};

/* Which tables are worth asking for: of no more than so many bytes, no more than `pace` of them for each
 * point. No bytes: none is. */
struct bounds {
    int64_t bytes, pace;
};

/* The same for each cache that a table may be asked into. What is small goes into the nearest one, which a
 * row and the next one's table share; the second one keeps the points of a row waiting less. */
struct onward {
    struct bounds nearest, second;
};

/* An x86 CPU that is short-sighted gains by all that is used, the more the further away it is. One that sees
 * far gains by what comes from memory, and otherwise where rows share their indices. */
static struct onward onward_on_x86(const struct nest *nest, int64_t spanned)
{
    const struct bounds none = {0, 0};
    if (is_short_sighted()) return (struct onward){{512 * KIB, spanned > SHARED ? 64 : 16}, none};
    if (spanned > SHARED) return (struct onward){{8 * KIB, 16}, {512 * KIB, 16}};
    const bool shares = nest->dim[nest->rank - 2].index == 0;
    return (struct onward){shares && spanned > NEAR ? (struct bounds){512 * KIB, 8} : none, none};
}

/* An aarch64 CPU that is short-sighted gains where half of a table is used. One that sees far has few ways
 * from the nearest cache on, which points of the same row need, the longer the further away a table lies. */
static struct onward onward_on_arm(const struct nest *nest, int64_t spanned)
{
    const struct bounds none = {0, 0};
    if (is_short_sighted()) return (struct onward){{32 * KIB, 2 * nest->run}, none};
    const struct bounds little = {16 * KIB, at_most(32, 4 * nest->run)};
    if (spanned <= 1024 * KIB) return (struct onward){little, none}; /* all is in the second cache anyway */
    if (spanned <= 8 * 1024 * KIB) return (struct onward){little, {64 * KIB, 32}};
    return (struct onward){{16 * KIB, spanned <= SHARED ? 7 : 3}, {256 * KIB, 32}};
}

static struct onward choose_onward(const struct nest *nest, int64_t spanned)
{
    return X86 ? onward_on_x86(nest, spanned) : onward_on_arm(nest, spanned);
}

static bool is_within(const struct bounds *bounds, int64_t bytes, int64_t pace)
{
    return bytes <= bounds->bytes && pace <= bounds->pace;
}

/* Whether elements are moved row by row along the axis on which they lie side by side. */
static bool goes_along_rows(const struct cpu_work *work, const struct nest *nest)
{
    return work->strategy == ROWS && work->kernel && work->kernel->source == UNIT &&
           nest->run <= MOST_ELEMENT;
}

/* How many bytes of a later row's table are asked for with each point of a row; 0: none. And whether into the
 * nearest cache. */
static int64_t choose_pace(const struct cpu_work *work, const struct nest *nest, const struct onward *onward,
                           int64_t touched, bool *nearest)
{
    const int64_t bytes = table_bytes(nest), pace = divide_up(bytes, nest->dim[nest->rank - 1].n);
    if (nest->dim[nest->rank - 2].data < bytes) return 0;
    if (is_joined(work)) {
        const bool asks = is_short_sighted() && touched > NEAR;
        return asks && pace >= LEAST_JOINED && pace <= MOST_JOINED ? pace : 0;
    }
    if (!goes_along_rows(work, nest) || pace < LEAST_ONWARD) return 0;
    const bool small = is_within(&onward->nearest, bytes, pace);
    if (!small && !is_within(&onward->second, bytes, pace)) return 0;
    *nearest = small;
    return pace;
}

/* How much of the next table each of several rows that choose from the same one asks for; 0: nothing. */
static int64_t choose_share(const struct cpu_work *work, const struct nest *nest, const struct onward *onward)
{
    if (nest->rank < 3 || work->strategy != ROWS || nest->run > MOST_ELEMENT) return 0;
    const struct dim *inner = &nest->dim[nest->rank - 1], *before = inner - 1;
    const int64_t bytes = table_bytes(nest);
    if (before->data != 0 || before[-1].data < bytes) return 0;
    const struct bounds *bounds = X86 && is_short_sighted() ? &onward->nearest : &onward->second;
    return is_within(bounds, bytes, divide_up(bytes, before->n * inner->n)) ? divide_up(bytes, before->n) : 0;
}

void garner_cpu_look_onward(struct cpu_work *work, const struct nest *nest, int64_t touched)
{
    struct segment *s = &work->segment;
    if (nest->rank == 1) return; /* there is no later row */
    const struct onward onward = choose_onward(nest, spanned_bytes(nest));
    work->table_share = choose_share(work, nest, &onward);
    s->table_bytes_per_point = (int32_t)choose_pace(work, nest, &onward, touched, &s->table_to_l1);
    if (!s->table_bytes_per_point) return;
    s->next_table = nest->dim[nest->rank - 2].data;
    if (!is_joined(work)) s->points_to_l1 = s->indices_to_l1 = s->table_to_l1;
}
