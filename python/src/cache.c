/* SPDX-License-Identifier: MIT */
/* The cache of plans: a table of sets with a few places each, a flag for each set. */
#include "cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETS = 32,
    PLACES = 4,     /* in a set */
    MOST_WORDS = 64 /* of a key; longer ones are not kept */
};

/* Everything that a plan depends on, as numbers. */
struct key {
    size_t words;
    uint64_t hash;
    uint64_t word[MOST_WORDS];
};

struct cached_entry {
    atomic_size_t holders; /* the cache, and calls */
    void *plan;
    void (*destroy)(void *plan);
    uint64_t hash;
    size_t words;
    uint64_t word[];
};

struct set {
    atomic_flag busy;
    unsigned next; /* the place that goes next */
    struct cached_entry *place[PLACES];
};

static struct set sets[SETS];

/* ---- Keys ------------------------------------------------------------------------------------ */

/* One too many is counted, and kept nowhere. */
static void add_word(struct key *key, uint64_t word)
{
    if (key->words < MOST_WORDS) key->word[key->words] = word;
    key->words++;
}

static void add_tensor(struct key *key, const garner_tensor *tensor)
{
    add_word(key, (uint64_t)tensor->dtype << 32 | (uint64_t)(tensor->strides != NULL) << 16 |
                      (uint64_t)tensor->rank);
    add_word(key, tensor->item_bytes);
    add_word(key, tensor->byte_offset);
    for (int32_t i = 0; i < tensor->rank; i++) {
        add_word(key, (uint64_t)tensor->shape[i]);
        if (tensor->strides) add_word(key, (uint64_t)tensor->strides[i]);
    }
}

/* Two products at a time, since each waits for the one before. Their high bits know all words: they are mixed
 * into the low ones, which choose the set. */
static uint64_t hash_of(const uint64_t *word, size_t words)
{
    static const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t even = words, odd = 0;
    for (size_t i = 0; i + 1 < words; i += 2) {
        even = (even ^ word[i]) * factor;
        odd = (odd ^ word[i + 1]) * other;
    }
    if (words % 2) even = (even ^ word[words - 1]) * factor;
    uint64_t hash = even ^ (odd >> 32 | odd << 32);
    hash = (hash ^ hash >> 29) * factor;
    return hash ^ hash >> 29;
}

/* False if the key has too many words. The tensors are data, indices, out. */
static bool make_key(struct key *key, int device, const garner_op *op, const garner_tensor *const *tensors)
{
    const garner_tensor *out = tensors[2];
    key->words = 0;
    add_word(key, (uint64_t)(device + 1) << 56 | (uint64_t)op->kind << 48 | (uint64_t)op->oob << 40 |
                      (uint64_t)op->negative << 32 | (uint64_t)(op->strict != 0) << 31 |
                      (uint64_t)(uint32_t)op->spec);
    add_word(key, (uint64_t)op->axis);
    add_word(key, (uint64_t)op->batch_dims);
    add_tensor(key, tensors[0]);
    add_tensor(key, tensors[1]);
    if (out) add_tensor(key, out);
    if (key->words > MOST_WORDS) return false;
    key->hash = hash_of(key->word, key->words);
    return true;
}

static bool is_for(const struct cached_entry *entry, const struct key *key)
{
    if (entry->hash != key->hash) return false;
    /* uncovered: no test knows two keys of one hash of 64 bits */
    return entry->words == key->words && memcmp(entry->word, key->word, key->words * sizeof *key->word) == 0;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void drop(struct cached_entry *entry)
{
    if (entry == NULL || atomic_fetch_sub_explicit(&entry->holders, 1, memory_order_acq_rel) != 1) return;
    entry->destroy(entry->plan);
    free(entry);
}

static struct set *enter(const struct key *key)
{
    struct set *set = &sets[key->hash % SETS];
    /* uncovered at times: seldom are two threads at one set in the same moment */
    return atomic_flag_test_and_set_explicit(&set->busy, memory_order_acquire) ? NULL : set;
}

static void leave(struct set *set)
{
    atomic_flag_clear_explicit(&set->busy, memory_order_release);
}

static struct cached_entry *look_up(const struct key *key)
{
    struct cached_entry *found = NULL;
    struct set *set = enter(key);
    if (set == NULL) return NULL; /* uncovered at times: as above */
    for (int i = 0; i < PLACES && !found; i++)
        if (set->place[i] && is_for(set->place[i], key)) found = set->place[i];
    if (found) atomic_fetch_add_explicit(&found->holders, 1, memory_order_relaxed);
    leave(set);
    return found;
}

/* Puts a plan into the cache, if that is possible now. */
static struct cached_entry *keep(const struct key *key, const struct cached_plan *made)
{
    size_t bytes = key->words * sizeof key->word[0];
    struct set *set = enter(key);
    /* uncovered at times: as above */
    struct cached_entry *entry = set ? malloc(sizeof *entry + bytes) : NULL, *old = NULL;
    if (entry) {
        atomic_init(&entry->holders, 2);
        entry->plan = made->plan;
        entry->destroy = made->destroy;
        entry->hash = key->hash;
        entry->words = key->words;
        memcpy(entry->word, key->word, bytes);
        old = set->place[set->next];
        set->place[set->next] = entry;
        set->next = (set->next + 1) % PLACES;
    }
    if (set) leave(set); /* uncovered at times: as above */
    drop(old);
    return entry;
}

garner_status cache_plan_for(struct cached_plan *found, const struct plan_maker *maker, const garner_op *op,
                             const garner_tensor *const *tensors, garner_error *error)
{
    struct key key;
    bool known = make_key(&key, maker->device, op, tensors);
    found->entry = known ? look_up(&key) : NULL;
    found->destroy = maker->destroy;
    if (found->entry) {
        found->plan = found->entry->plan;
        return GARNER_OK;
    }
    garner_status status = maker->create(&found->plan, op, tensors[0], tensors[1], tensors[2], error);
    if (status == GARNER_OK && known) found->entry = keep(&key, found);
    return status;
}

static garner_status create_on_host(void **plan, const garner_op *op, const garner_tensor *data,
                                    const garner_tensor *indices, const garner_tensor *out,
                                    garner_error *error)
{
    garner_plan *made = NULL;
    const garner_status status = garner_plan_create(&made, op, data, indices, out, error);
    *plan = made;
    return status;
}

static void destroy_on_host(void *plan)
{
    garner_plan_destroy(plan);
}

garner_status cache_plan(struct cached_plan *found, const garner_op *op, const garner_tensor *data,
                         const garner_tensor *indices, const garner_tensor *out, garner_error *error)
{
    static const struct plan_maker host = {create_on_host, destroy_on_host, -1};
    const garner_tensor *const tensors[] = {data, indices, out};
    return cache_plan_for(found, &host, op, tensors, error);
}

bool cache_hold(struct cached_plan *found)
{
    if (found->entry) atomic_fetch_add_explicit(&found->entry->holders, 1, memory_order_relaxed);
    return found->entry != NULL;
}

void cache_release(struct cached_plan *found)
{
    if (found->entry)
        drop(found->entry);
    else
        found->destroy(found->plan);
}
