/* SPDX-License-Identifier: MIT */
/*
 * Two builds of libgarner.so against each other, in one process: each cell of workloads.tsv is run by both in
 * turns, one thread. A run is the shortest of some samples of each build; the ratio is the median of five
 * runs, old time over new. Time is that of the thread on its CPU, so that other processes disturb it less.
 * Prints the cells that lost most first; fails if one lost more than 3 %. compare_builds OLD.so[:CPU]
 * NEW.so[:CPU] workloads.tsv [CELL...]; CPU is what GARNER_CPU says to that build alone, a profile or a
 * level.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "garner.h"

enum {
    RUNS = 5,
    SAMPLES = 7,
    SETS = 4,
    MOST_CELLS = 512,
    NAME_SIZE = 128,
    LEAST_NS = 1500000,
    FRESH = 32 << 20
};
static const double least_ratio = 0.97;

/* ---- A build of the library ------------------------------------------------------------------------ */

struct build {
    garner_status (*create)(garner_plan **, const garner_op *, const garner_tensor *, const garner_tensor *,
                            const garner_tensor *, garner_error *);
    garner_status (*execute)(const garner_plan *, const void *, const void *, void *, const garner_exec *,
                             garner_error *);
    void (*destroy)(garner_plan *);
    const garner_shape *(*output)(const garner_plan *);
    garner_dtype (*dtype)(const char *);
    int64_t (*bytes)(garner_dtype, int64_t, uint64_t);
};

_Noreturn static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "compare_builds: %s: %s\n", what, why);
    exit(2);
}

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) give_up(name, dlerror());
    return found;
}

#define LOAD(field, name) memcpy(&build.field, &(void *){find(library, name)}, sizeof build.field)
static struct build load_build(const char *path)
{
    struct build build;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) give_up(path, dlerror());
    LOAD(create, "garner_plan_create");
    LOAD(execute, "garner_execute");
    LOAD(destroy, "garner_plan_destroy");
    LOAD(output, "garner_plan_output");
    LOAD(dtype, "garner_dtype_from_name");
    LOAD(bytes, "garner_dtype_bytes");
    return build;
}

static void copy_file(const char *from, int to)
{
    char bytes[65536];
    size_t size;
    FILE *file = fopen(from, "rb");
    if (file == NULL) give_up(from, "it cannot be read");
    while ((size = fread(bytes, 1, sizeof bytes, file)) > 0)
        if (write(to, bytes, size) != (ssize_t)size) give_up(from, "it cannot be copied");
    fclose(file);
}

/* A build looks at GARNER_CPU once, at its first plan. */
static void plan_once(const struct build *build)
{
    const garner_tensor data = {.shape = (int64_t[]){1}, .rank = 1, .dtype = build->dtype("f32")};
    const garner_tensor indices = {.shape = (int64_t[]){1}, .rank = 1, .dtype = build->dtype("i64")};
    const garner_op op = {.kind = GARNER_GATHER};
    garner_plan *plan;
    if (build->create(&plan, &op, &data, &indices, NULL, NULL) != GARNER_OK)
        give_up("a first plan", "it was refused");
    build->destroy(plan);
}

/* PATH, or PATH:CPU; from a copy, or the same library on both sides would be loaded once. */
static struct build open_build(const char *given)
{
    char path[4096], copy[] = "/tmp/compare_builds_XXXXXX";
    const char *colon = strrchr(given, ':');
    const int length = colon ? (int)(colon - given) : (int)strlen(given);
    snprintf(path, sizeof path, "%.*s", length, given);
    const int file = mkstemp(copy);
    if (file < 0) give_up(copy, "it cannot be made");
    copy_file(path, file);
    close(file);
    if (colon) setenv("GARNER_CPU", colon + 1, 1);
    const struct build build = load_build(copy);
    unlink(copy);
    plan_once(&build);
    if (colon) unsetenv("GARNER_CPU");
    return build;
}

/* ---- A cell ---------------------------------------------------------------------------------------- */

struct view {
    int32_t rank;
    int64_t extent[8], count;
};

struct cell {
    char name[NAME_SIZE], op[32], dtype[16], index_dtype[16], dist[16];
    struct view data, indices;
    int64_t axis, batch_dims;
};

static struct view parse_view(const char *text)
{
    struct view view = {.rank = 0, .count = 1};
    for (char *end; *text != '-' && view.rank < 8; text = end + (*end == 'x')) {
        view.extent[view.rank] = strtoll(text, &end, 10);
        if (end == text) break;
        view.count *= view.extent[view.rank++];
    }
    return view;
}

static bool parse_cell(const char *line, struct cell *cell)
{
    char data[64], indices[64];
    if (*line == '#' || sscanf(line, "%127s %31s %15s %63s %63s %" SCNd64 " %" SCNd64 " %15s %15s",
                               cell->name, cell->op, cell->dtype, data, indices, &cell->axis,
                               &cell->batch_dims, cell->index_dtype, cell->dist) != 9)
        return false;
    cell->data = parse_view(data);
    cell->indices = parse_view(indices);
    return true;
}

static garner_kind kind_of(const struct cell *cell)
{
    return strcmp(cell->op, "gather") == 0      ? GARNER_GATHER
           : strcmp(cell->op, "gather_nd") == 0 ? GARNER_GATHER_ND
                                                : GARNER_GATHER_ELEMENTS;
}

/* ---- Its indices ----------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_number(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random_state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double random_unit(void)
{
    return (double)(random_number() >> 11) / 9007199254740992.0;
}

/* One index below the bound. "zipf" is a power of a uniform number, few of them often, over a shuffle. */
static int64_t draw_index(const char *dist, int64_t bound, int64_t i)
{
    if (strcmp(dist, "same") == 0) return bound / 2;
    if (strcmp(dist, "negative") == 0) return (int64_t)(random_number() % (uint64_t)(2 * bound)) - bound;
    if (strcmp(dist, "perm") == 0) return (int64_t)((uint64_t)i * UINT64_C(2654435761) % (uint64_t)bound);
    if (strcmp(dist, "zipf") == 0) {
        double unit = random_unit();
        uint64_t rank = (uint64_t)((double)bound * unit * unit * unit * unit * unit);
        return (int64_t)(rank * UINT64_C(2654435761) % (uint64_t)bound);
    }
    return (int64_t)(random_number() % (uint64_t)bound);
}

static int64_t bound_of(const struct cell *cell, int64_t i)
{
    if (kind_of(cell) != GARNER_GATHER_ND) return cell->data.extent[cell->axis];
    return cell->data.extent[cell->batch_dims + i % cell->indices.extent[cell->indices.rank - 1]];
}

static int64_t tuple_length; /* of the indices that are sorted */

static int compare_tuples(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (int64_t k = 0; k < tuple_length; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

static void draw_set(const struct cell *cell, char *indices)
{
    const int64_t n = cell->indices.count;
    int64_t *wide = malloc((size_t)n * sizeof *wide);
    if (wide == NULL) give_up(cell->name, "no memory for its indices");
    for (int64_t i = 0; i < n; i++)
        wide[i] = draw_index(cell->dist, bound_of(cell, i), i);
    tuple_length = kind_of(cell) == GARNER_GATHER_ND ? cell->indices.extent[cell->indices.rank - 1] : 1;
    if (strcmp(cell->dist, "sorted") == 0)
        qsort(wide, (size_t)(n / tuple_length), (size_t)tuple_length * sizeof *wide, compare_tuples);
    const bool narrow = strcmp(cell->index_dtype, "i32") == 0;
    for (int64_t i = 0; i < n && narrow; i++)
        ((int32_t *)(void *)indices)[i] = (int32_t)wide[i];
    if (!narrow) memcpy(indices, wide, (size_t)n * sizeof *wide);
    free(wide);
}

/* ---- Measuring ------------------------------------------------------------------------------------- */

struct job {
    const struct build *build;
    garner_plan *plan;
    char *data, *indices, *out;
    int64_t index_bytes;
    int sets;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds of a call, in the mean of `loops` of them. */
static double sample(const struct job *job, int64_t loops, int *set)
{
    const double begin = now();
    for (int64_t i = 0; i < loops; i++, *set = (*set + 1) % job->sets)
        if (job->build->execute(job->plan, job->data, job->indices + *set * job->index_bytes, job->out, NULL,
                                NULL) != GARNER_OK)
            give_up("a gather", "it was refused");
    return (now() - begin) / (double)loops;
}

/* The shortest of some samples of each, in turns; old over new. */
static double run_once(const struct job *job, int64_t loops)
{
    double best[2] = {1e300, 1e300};
    for (int i = 0; i < SAMPLES; i++)
        for (int k = 0; k < 2; k++) {
            int set = i % job->sets;
            const double time = sample(&job[(i + k) % 2], loops, &set);
            if (time < best[(i + k) % 2]) best[(i + k) % 2] = time;
        }
    return best[0] / best[1];
}

struct result {
    char name[NAME_SIZE];
    double ratio, low, high, ns;
};

static int compare_ratios(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct result measure(const struct job *job, const char *name)
{
    double ratio[RUNS];
    int set = 0;
    double once = sample(&job[0], 1, &set);
    for (int k = 0; k < 2; k++)
        once = sample(&job[k], 1, &set);
    int64_t loops = (int64_t)(LEAST_NS / once) + 1;
    once = sample(&job[1], loops, &set);
    loops = (int64_t)(LEAST_NS / once) + 1;
    for (int i = 0; i < RUNS; i++)
        ratio[i] = run_once(job, loops);
    qsort(ratio, RUNS, sizeof *ratio, compare_ratios);
    struct result result = {.ratio = ratio[RUNS / 2], .low = ratio[0], .high = ratio[RUNS - 1], .ns = once};
    snprintf(result.name, sizeof result.name, "%s", name);
    return result;
}

static char *map_bytes(int64_t bytes)
{
    char *at = mmap(NULL, (size_t)bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) give_up("a tensor", "no memory for it");
    madvise(at, (size_t)bytes + 4096, MADV_HUGEPAGE);
    memset(at, 1, (size_t)bytes + 4096); /* so that each page is one of its own */
    return at;
}

static struct result run_cell(const struct build build[2], const struct cell *cell)
{
    const garner_dtype index_type = build[0].dtype(cell->index_dtype);
    const garner_dtype type = strcmp(cell->dtype, "str") == 0 ? GARNER_C128 : build[0].dtype(cell->dtype);
    const garner_tensor data = {.shape = cell->data.extent, .rank = cell->data.rank, .dtype = type};
    const garner_tensor indices = {
        .shape = cell->indices.extent, .rank = cell->indices.rank, .dtype = index_type};
    const garner_op op = {.kind = kind_of(cell), .axis = cell->axis, .batch_dims = cell->batch_dims};
    const int64_t data_bytes = build[0].bytes(type, cell->data.count, 0),
                  index_bytes = build[0].bytes(index_type, cell->indices.count, 0);
    struct job job[2];
    for (int k = 0; k < 2; k++) {
        job[k] = (struct job){.build = &build[k], .index_bytes = index_bytes};
        job[k].sets = data_bytes >= FRESH ? SETS : 1;
        if (build[k].create(&job[k].plan, &op, &data, &indices, NULL, NULL) != GARNER_OK)
            give_up(cell->name, "it was refused");
    }
    const int64_t out_bytes = build[0].output(job[0].plan)->bytes;
    char *memory[3] = {map_bytes(data_bytes), map_bytes(index_bytes * job->sets), map_bytes(out_bytes)};
    for (int set = 0; set < job->sets; set++)
        draw_set(cell, memory[1] + set * index_bytes);
    for (int k = 0; k < 2; k++)
        job[k].data = memory[0], job[k].indices = memory[1], job[k].out = memory[2];
    const struct result result = measure(job, cell->name);
    munmap(memory[0], (size_t)data_bytes + 4096);
    munmap(memory[1], (size_t)(index_bytes * job->sets) + 4096);
    munmap(memory[2], (size_t)out_bytes + 4096);
    for (int k = 0; k < 2; k++)
        build[k].destroy(job[k].plan);
    return result;
}

static bool is_wanted(const char *name, char **wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, wanted[i]) == 0) return true;
    return count == 0;
}

static int compare_results(const void *a, const void *b)
{
    return compare_ratios(&((const struct result *)a)->ratio, &((const struct result *)b)->ratio);
}

int main(int count, char **word)
{
    static struct result result[MOST_CELLS];
    FILE *table = count < 4 ? NULL : fopen(word[3], "r");
    if (table == NULL) {
        fprintf(stderr, "usage: compare_builds OLD.so[:CPU] NEW.so[:CPU] workloads.tsv [CELL...]\n");
        return 2;
    }
    const struct build build[2] = {open_build(word[1]), open_build(word[2])};
    char line[512];
    struct cell cell;
    int cells = 0, lost = 0;
    while (cells < MOST_CELLS && fgets(line, sizeof line, table))
        if (parse_cell(line, &cell) && is_wanted(cell.name, word + 4, count - 4))
            result[cells++] = run_cell(build, &cell);
    fclose(table);
    if (cells < count - 4 || cells == 0)
        give_up(word[3], "it does not have all of the cells that were named");
    qsort(result, (size_t)cells, sizeof *result, compare_results);
    printf("old/new  lowest  highest  ns of new    cell\n");
    for (int i = 0; i < cells; i++, lost += result[i - 1].ratio < least_ratio)
        printf("%7.3f %7.3f %8.3f %10.0f    %s\n", result[i].ratio, result[i].low, result[i].high,
               result[i].ns, result[i].name);
    printf("%d of %d cells lost more than 3 %%\n", lost, cells);
    return lost ? 1 : 0;
}
