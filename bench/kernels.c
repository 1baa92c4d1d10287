/* SPDX-License-Identifier: MIT */
/*
 * Times each kernel alone, by size of the table that it gathers from, against its own ceiling: the same
 * indices and moves, by memcpy and without any check. One line for each line of kernels.def; kernels of any
 * run have one for each of some lengths. Whole table in seconds, so that a change of one kernel is judged at
 * once.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernel_list.h"

enum {
    CLASSES = 4,
    SAMPLES = 9,
    MOST_AXES = 4,
    GROUP = 8,
    MOST_POINTS = 4096,      /* of one call, */
    OUT_BYTES = 128 * 1024,  /* and as many bytes */
    INDICES = 512 * 1024,    /* of all calls: enough not to meet the same lines again */
    SHORT_POINTS = 32,       /* of a short row */
    PANEL_BYTES = 64,        /* of an entry of a panel, */
    PANEL_ENTRIES = 768,     /* which has no more entries */
    TABLE_COLUMNS = 64,      /* of the table whose axis 0 COLUMNS gathers */
    PREFETCH_TABLE = 1 << 20 /* runs of larger tables are prefetched */
};

static const struct {
    const char *name;
    int64_t bytes;
} classes[CLASSES] = {
    {"16 KiB", 16 << 10}, {"256 KiB", 256 << 10}, {"8 MiB", 8 << 20}, {"256 MiB", 256 << 20}};

static const int64_t any_runs[] = {24, 128, 256, 1024, 4096};

/* ---- Ceilings: a function for each line of kernels.def, whose last three parameters are constants ---- */

GARNER_INLINE int64_t load_index(const char *at, int width)
{
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, at, sizeof narrow);
    if (width == 4) return narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

GARNER_INLINE int64_t find_offset(const struct segment *s, int64_t i, enum source source, int width,
                                  int64_t run)
{
    const int axes = source_axes(source);
    int64_t offset = 0;
    if (source_is_resolved(source)) return load_index(s->index + i * 8, 8);
    for (int k = 0; k < axes; k++) {
        const int64_t index = load_index(s->index + (i * axes + k) * width, width);
        offset += index * ((source == UNIT && run > 0) || source == SHORT_UNIT ? run : s->axis[k].stride);
    }
    if (source == PANEL) return offset + i % (PANEL_BYTES / run) * run;
    if (source == SHORT_COLUMNS) return offset + i % SHORT_POINTS * run;
    if (source == COLUMNS) return offset + i * (run > 0 ? run : s->data_stride);
    return source == PATTERN ? offset + s->pattern[i] : offset;
}

/* Prefetches a long run that comes later, as the kernels do; without it memory would be the limit. */
GARNER_INLINE void prefetch_point(const struct segment *s, int64_t i, enum source source, int width,
                                  int64_t run)
{
    const char *from = s->data + find_offset(s, i, source, width, run);
    const int64_t length = run > 0 ? run : s->run;
    for (int64_t line = 0; line < length; line += 64)
        __builtin_prefetch(from + line, 0, 2);
    __builtin_prefetch(from + length - 1, 0, 2);
}

/* Groups, as the kernels have, so that one point's move does not wait for the index of the next. */
GARNER_INLINE int64_t move_unchecked(const struct segment *given, enum source source, int width, int64_t run)
{
    const struct axis axis[] = {given->axis[0], given->axis[1], given->axis[2], given->axis[3]};
    struct segment s = *given;
    const int64_t length = run > 0 ? run : s.run;
    s.axis = axis;
    for (int64_t i = 0; i + GROUP <= s.n; i += GROUP, s.out += GROUP * length) {
        int64_t offset[GROUP];
        _Pragma("GCC unroll 8") for (int g = 0; g < GROUP; g++)
        {
            offset[g] = find_offset(&s, i + g, source, width, run);
            if (s.prefetch_distance && i + GROUP + s.prefetch_distance <= s.n)
                prefetch_point(&s, i + g + s.prefetch_distance, source, width, run);
        }
        _Pragma("GCC unroll 8") for (int g = 0; g < GROUP; g++)
        {
            memcpy(s.out + g * length, s.data + offset[g], (size_t)length);
            __asm__ volatile("" ::: "memory"); /* no vector is made of single elements */
        }
    }
    return s.n;
}

#define CEILING_NAME(level, source, index, run) ceiling_##level##_##source##_##index##_##run
#define KERNEL(level, source, index, run, body)                                                          \
    static int64_t CEILING_NAME(level, source, index, run)(const struct segment *like, const char *data, \
                                                           const char *indices, char *out, int64_t n)    \
    {                                                                                                    \
        const struct segment segment = segment_at(like, data, indices, out, n);                          \
        return move_unchecked(&segment, source, index, run);                                             \
    }
#include "cpu/kernels/kernels.def"
#undef KERNEL

static kernel_function *const ceilings[] = {
#define KERNEL(level, source, index, run, body) CEILING_NAME(level, source, index, run),
#include "cpu/kernels/kernels.def"
#undef KERNEL
};

/* ---- One workload ---- */

struct memory {
    char *data, *indices, *out;
    int64_t pattern[MOST_POINTS];
};

struct workload {
    struct segment segment;
    struct axis axis[MOST_AXES];
    int64_t pitch;   /* bytes of a point's indices */
    int64_t windows; /* calls before the same indices come again */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Cuts the table into axes of about the same extent. */
static void cut_table(struct workload *w, int axes, int64_t entries)
{
    int64_t stride = w->segment.run;
    const int64_t extent = (int64_t)pow((double)entries, 1.0 / axes);
    for (int k = axes - 1; k >= 0; k--) {
        const int64_t bound = axes == 1 ? entries : extent > 0 ? extent : 1;
        w->axis[k] = (struct axis){bound, stride, bound};
        stride *= bound;
    }
}

static void fill_indices(const struct workload *w, const struct kernel_line *line, int axes, char *at)
{
    uint64_t state = 88172645463325252u;
    const int64_t points = w->windows * w->segment.n;
    for (int64_t i = 0; i < points; i++)
        for (int k = 0; k < axes; k++, at += line->index) {
            const int64_t index = (int64_t)(next_random(&state) % (uint64_t)w->axis[k].bound);
            const int64_t value = source_is_resolved(line->source) ? index * w->segment.run : index;
            const int32_t narrow = (int32_t)value;
            memcpy(at, line->index == 4 ? (const void *)&narrow : (const void *)&value, (size_t)line->index);
        }
}

static void make_workload(struct workload *w, struct memory *memory, const struct kernel_line *line,
                          int64_t run, int64_t bytes)
{
    const int axes = source_axes(line->source);
    int64_t entries = bytes / run, n = OUT_BYTES / run < MOST_POINTS ? OUT_BYTES / run : MOST_POINTS;
    if (line->source == COLUMNS && n > TABLE_COLUMNS) n = TABLE_COLUMNS;
    n -= n % GROUP;
    if (line->source == PATTERN) entries -= SHORT_POINTS;
    if (line->source == TINY && entries > TINY_ENTRIES) entries = TINY_ENTRIES;
    *w = (struct workload){.pitch = axes * line->index};
    w->windows = INDICES / axes / n;
    if (entries / n < w->windows) w->windows = entries / n + 1;
    w->segment =
        (struct segment){.data = memory->data, .out = memory->out, .n = n, .out_stride = run, .run = run};
    w->segment.rows = 1;
    w->segment.row_points = SHORT_POINTS;
    w->segment.axis = w->axis;
    w->segment.pattern = memory->pattern;
    if (bytes > PREFETCH_TABLE && (run > 32 || axes > 1))
        w->segment.prefetch_distance = run < 256 ? 16 : run < 4096 ? 4096 / run : 1;
    cut_table(w, axes, entries > 1 ? entries : 1);
    if (line->source == COLUMNS || line->source == SHORT_COLUMNS) {
        w->segment.data_stride = run;
        const int64_t columns = line->source == COLUMNS ? n : SHORT_POINTS;
        const int64_t bound = entries > columns ? entries / columns : 1;
        w->axis[0] = (struct axis){.bound = bound, .stride = columns * run, .wrap = bound};
    }
    if (line->source == PANEL) {
        const int64_t bound = entries * run / PANEL_BYTES;
        w->segment.row_index_stride = PANEL_BYTES / run * line->index;
        w->segment.row_out_stride = PANEL_BYTES;
        w->segment.row_points = (uint8_t)(PANEL_BYTES / run);
        w->axis[0] = (struct axis){.stride = PANEL_BYTES};
        w->axis[0].bound = w->axis[0].wrap = bound < PANEL_ENTRIES ? bound : PANEL_ENTRIES;
    }
    fill_indices(w, line, axes, memory->indices);
    for (int64_t i = 0; i < n; i++)
        memory->pattern[i] = i % SHORT_POINTS * run;
}

/* ---- Timing ---- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds of a point over so many calls, each with the next window of indices. */
static double time_calls(struct workload *w, const char *indices, kernel_function *function, int64_t calls)
{
    static int64_t window;
    const double start = now();
    for (int64_t i = 0; i < calls; i++, window++) {
        const struct segment *s = &w->segment;
        const char *at = indices + window % w->windows * s->n * w->pitch;
        if (function(s, s->data, at, s->out, s->n) != s->n) {
            fprintf(stderr, "a kernel stopped early\n");
            exit(1);
        }
    }
    return (now() - start) / (double)(calls * w->segment.n);
}

struct result {
    double kernel, ceiling; /* ns of a point, the least of the samples */
};

/* Samples of both in turn, each about half a millisecond long. */
static struct result measure(struct workload *w, const char *indices, kernel_function *kernel,
                             kernel_function *ceiling)
{
    struct result best = {INFINITY, INFINITY};
    const double once = time_calls(w, indices, kernel, 2) * (double)w->segment.n;
    const int64_t calls = 1 + (int64_t)(5e5 / once);
    for (int i = 0; i < SAMPLES; i++) {
        best.kernel = fmin(best.kernel, time_calls(w, indices, kernel, calls));
        best.ceiling = fmin(best.ceiling, time_calls(w, indices, ceiling, calls));
    }
    return best;
}

/* ---- The table ---- */

struct summary {
    double least, logarithms;
    int count;
};

static void print_header(void)
{
    printf("ns of a point, and what part of the ceiling's speed that is, by size of the table\n%-28s", "");
    for (int c = 0; c < CLASSES; c++)
        printf("  %15s", classes[c].name);
    printf("\n");
}

static void time_kernel(struct memory *memory, int line_number, int64_t run, struct summary *summary)
{
    const struct kernel_line *line = &kernel_lines[line_number];
    char name[64];
    snprintf(name, sizeof name, "%s %s", garner_level_name(line->level), line->name);
    printf("%-20s %5" PRId64 " B", name, run);
    for (int c = 0; c < CLASSES; c++) {
        struct workload workload;
        make_workload(&workload, memory, line, run, classes[c].bytes);
        const struct result result =
            measure(&workload, memory->indices, kernel_of_line(line)->function, ceilings[line_number]);
        const double ratio = result.ceiling / result.kernel;
        printf("  %9.2f %5.2f", result.kernel, ratio);
        fflush(stdout);
        summary->least = fmin(summary->least, ratio);
        summary->logarithms += log(ratio);
        summary->count++;
    }
    printf("\n");
}

static void time_line(struct memory *memory, int line_number, struct summary *summary)
{
    const int runs = sizeof any_runs / sizeof any_runs[0];
    if (kernel_lines[line_number].run > 0)
        time_kernel(memory, line_number, kernel_lines[line_number].run, summary);
    else
        for (int i = 0; i < runs; i++)
            time_kernel(memory, line_number, any_runs[i], summary);
}

static void *allocate(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench_kernels");
        exit(5);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 1, bytes);
    return memory;
}

/* ---- The command line ---- */

struct options {
    const char *filter, *level;
};

static int refuse(const char *word)
{
    fprintf(stderr, "bench_kernels: unexpected '%s'; usage: bench_kernels [--filter TEXT] [--level NAME]\n",
            word);
    return 2;
}

static int read_options(int count, char **words, struct options *options)
{
    for (int i = 1; i < count; i += 2) {
        const char **option = strcmp(words[i], "--filter") == 0  ? &options->filter
                              : strcmp(words[i], "--level") == 0 ? &options->level
                                                                 : NULL;
        if (option == NULL || i + 1 == count) return refuse(words[i]);
        *option = words[i + 1];
    }
    return 0;
}

static bool is_chosen(const struct kernel_line *line, const struct options *options)
{
    const char *level = garner_level_name(line->level);
    if (line->level > garner_cpu_detected()) return false;
    if (options->level && strcmp(options->level, level) != 0) return false;
    return options->filter == NULL || strstr(line->name, options->filter) != NULL;
}

int main(int count, char **words)
{
    struct options options = {0};
    const int wrong = read_options(count, words, &options);
    if (wrong) return wrong;
    static struct memory memory;
    struct summary summary = {.least = INFINITY};
    memory.data = allocate((size_t)classes[CLASSES - 1].bytes + 4096);
    memory.indices = allocate((size_t)INDICES * MOST_AXES * 8);
    memory.out = allocate(OUT_BYTES + 4096);
    print_header();
    for (int i = 0; i < kernel_line_count; i++)
        if (is_chosen(&kernel_lines[i], &options)) time_line(&memory, i, &summary);
    if (summary.count == 0) {
        fprintf(stderr, "bench_kernels: no kernel of this machine is meant\n");
        return 2;
    }
    printf("least %.2f, geometric mean %.2f of the ceiling\n", summary.least,
           exp(summary.logarithms / summary.count));
    return 0;
}
