/* SPDX-License-Identifier: MIT */
/* Gathers views of strings, and copies the strings that they show. */
#include "ort_strings.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A string of GNU's C++ library: a view first, and room for a short string. */
struct plain_string {
    char *bytes;
    size_t size;
    char local[16]; /* of a longer string this is its capacity, and its bytes lie elsewhere */
};

int64_t ort_strings_step(const struct ort *ort)
{
    return ort->plain_strings ? (int64_t)(sizeof(struct plain_string) / sizeof(garner_string)) : 1;
}

/* ---- Are they plain? -------------------------------------------------------------------------- */

/* Strings of these sizes are looked at: on both sides of the longest that is short. There are more of them
 * than that, so that what is looked at is the tensor's memory whatever the size of a string is. */
static const size_t probe_sizes[] = {0, 1, 15, 16, 100};
enum { PROBES = sizeof probe_sizes / sizeof probe_sizes[0], PROBE_STRINGS = 8 * PROBES };

static bool looks_plain(const struct plain_string *string, size_t size, char letter)
{
    bool local = (uintptr_t)string->bytes == (uintptr_t)string->local;
    if (string->size != size || local != (size < sizeof string->local)) return false;
    for (size_t i = 0; i < size; i++)
        if (string->bytes[i] != letter) return false;
    return string->bytes[size] == '\0';
}

static bool probe(const struct ort *ort, OrtValue *value)
{
    const void *data;
    char *bytes;
    for (size_t i = 0; i < PROBE_STRINGS; i++) {
        size_t size = probe_sizes[i % PROBES];
        if (ort_failed(ort, ort->GetResizedStringTensorElementBuffer(value, i, size, &bytes))) return false;
        memset(bytes, 'a' + (int)(i % PROBES), size);
    }
    if (ort_failed(ort, ort->GetTensorData(value, &data))) return false;
    for (size_t i = 0; i < PROBES; i++)
        if (!looks_plain((const struct plain_string *)data + i, probe_sizes[i], (char)('a' + i)))
            return false;
    return true;
}

bool ort_strings_are_plain(const struct ort *ort)
{
    static const int64_t extent = PROBE_STRINGS;
    OrtAllocator *allocator;
    OrtValue *value = NULL;
    if (ort_failed(ort, ort->GetAllocatorWithDefaultOptions(&allocator)) ||
        ort_failed(ort, ort->CreateTensorAsOrtValue(allocator, &extent, 1, ORT_STRING, &value)))
        return false;
    bool plain = probe(ort, value);
    ort->ReleaseValue(value);
    return plain;
}

/* ---- Views of data ---------------------------------------------------------------------------- */

/* What data's strings look like through the interface: all their bytes, and a view of each. To be freed as
 * one. */
static OrtStatus *read_views(const struct strings *strings, int64_t count, garner_string **views)
{
    const struct ort *ort = strings->ort;
    size_t size, n = (size_t)count;
    RETURN_FAILURE(ort->GetStringTensorDataLength(strings->data, &size));
    *views = malloc(n * sizeof **views + n * sizeof(size_t) + size + 1);
    if (*views == NULL) return ort_no_memory(ort);
    size_t *offsets = (size_t *)(*views + n);
    char *bytes = (char *)(offsets + n);
    RETURN_FAILURE(ort->GetStringTensorContent(strings->data, bytes, size, offsets, n));
    for (size_t i = 0; i < n; i++)
        (*views)[i] = (garner_string){.bytes = bytes + offsets[i],
                                      .size = (i + 1 < n ? offsets[i + 1] : size) - offsets[i]};
    return NULL;
}

/* ---- Copying ---------------------------------------------------------------------------------- */

enum { STRINGS_PER_TASK = 2048, AHEAD = 8 };

struct copying {
    const struct strings *strings;
    const garner_string *from;
    struct plain_string *plain; /* out's strings, if they are */
    int64_t count;
    _Atomic(OrtStatus *) failure;
};

/* Whether a string fits where a short one lies already. */
static inline bool put_short(struct plain_string *to, const garner_string *from)
{
    if (from->size >= sizeof to->local || to->bytes != to->local) return false;
    memcpy(to->local, from->bytes, from->size);
    to->local[from->size] = '\0';
    to->size = from->size;
    return true;
}

static OrtStatus *put(const struct strings *strings, size_t i, const garner_string *from)
{
    char *bytes;
    RETURN_FAILURE(strings->ort->GetResizedStringTensorElementBuffer(strings->out, i, from->size, &bytes));
    memcpy(bytes, from->bytes, from->size);
    return NULL;
}

static void copy_task(void *argument, size_t task)
{
    struct copying *copying = argument;
    int64_t first = (int64_t)task * STRINGS_PER_TASK, left = copying->count - first;
    int64_t last = first + (left < STRINGS_PER_TASK ? left : STRINGS_PER_TASK);
    OrtStatus *failure = NULL, *none = NULL;
    for (int64_t i = first; i < last && failure == NULL; i++) {
        if (i + AHEAD < last) __builtin_prefetch(copying->from[i + AHEAD].bytes);
        if (copying->plain == NULL || !put_short(&copying->plain[i], &copying->from[i]))
            failure = put(copying->strings, (size_t)i, &copying->from[i]);
    }
    if (failure && !atomic_compare_exchange_strong(&copying->failure, &none, failure))
        ort_failed(copying->strings->ort, failure); /* one is enough */
}

static OrtStatus *copy(const struct strings *strings, const garner_string *from, int64_t count)
{
    const struct ort *ort = strings->ort;
    struct copying copying = {.strings = strings, .from = from, .count = count};
    if (ort->plain_strings) {
        void *out;
        RETURN_FAILURE(ort->GetTensorMutableData(strings->out, &out));
        copying.plain = out;
    }
    size_t tasks = (size_t)((count + STRINGS_PER_TASK - 1) / STRINGS_PER_TASK);
    if (tasks == 1)
        copy_task(&copying, 0);
    else if (tasks > 1 &&
             strings->exec->parallel_for(strings->exec->context, copy_task, &copying, tasks) != 0)
        return ort->CreateStatus(ORT_FAIL, EP_NAME ": the runtime's threads did not copy the strings");
    return atomic_load(&copying.failure);
}

/* ---- All of it -------------------------------------------------------------------------------- */

static OrtStatus *gather_views(const struct strings *strings, const garner_plan *plan, const void *views,
                               const void *indices)
{
    const garner_shape *shape = garner_plan_output(plan);
    garner_error error;
    garner_string *from = malloc(shape->bytes > 0 ? (size_t)shape->bytes : 1);
    if (from == NULL) return ort_no_memory(strings->ort);
    OrtStatus *status = garner_execute(plan, views, indices, from, strings->exec, &error) == GARNER_OK
                            ? copy(strings, from, shape->count)
                            : ort_refuse(strings->ort, &error);
    free(from);
    return status;
}

OrtStatus *ort_strings_gather(const struct strings *strings, const garner_plan *plan, int64_t data_count,
                              const void *indices)
{
    const struct ort *ort = strings->ort;
    if (ort->plain_strings) {
        const void *data;
        RETURN_FAILURE(ort->GetTensorData(strings->data, &data));
        return gather_views(strings, plan, data, indices);
    }
    garner_string *views = NULL;
    OrtStatus *status = read_views(strings, data_count, &views);
    if (status == NULL) status = gather_views(strings, plan, views, indices);
    free(views);
    return status;
}
