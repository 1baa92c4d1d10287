/* SPDX-License-Identifier: MIT */
/*
 * Plans for every CPU of profiles.def, made on any machine: of the benchmark's cells, and of random nests. A
 * kernel is its line in kernels.def here, whether this machine could run it or not.
 */
#ifndef GARNER_PLAN_DUMP_H
#define GARNER_PLAN_DUMP_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cpu_work.h"
#include "plan.h"
#include "random_nest.h"

enum { RANDOM_NESTS = 200000 };

static int64_t no_kernel(const struct segment *s, const char *data, const char *index, char *out, int64_t n)
{
    (void)s, (void)data, (void)index, (void)out;
    return n;
}

/* All kernels by their names alone. */
static const kernel_table named_kernels[LEVELS] = {
#define KERNEL(level, source, index, run, body) \
    [level][source][INDEX_SLOT(index)][RUN_SLOT(run)] = {{level, source, index, run}, no_kernel},
#include "cpu/kernels/kernels.def"
#undef KERNEL
};
static const kernel_table *const kernel_names[LEVELS] = {
    [SCALAR] = &named_kernels[SCALAR],
    [AVX2] = &named_kernels[AVX2],
    [AVX512] = &named_kernels[AVX512],
    [AVX512_GATHER] = &named_kernels[AVX512_GATHER],
};

/* Everything that was decided, as numbers; what the strategy leaves unset is 0. */
enum { DECISIONS = 35 };

static int64_t kernel_number(const struct kernel *kernel)
{
    if (kernel == NULL) return -1;
    const struct kernel_id id = kernel->id;
    return (((int64_t)id.level * SOURCES + id.source) * 16 + id.index) * 512 + id.run;
}

static inline void decisions_of(int64_t number[DECISIONS], const struct cpu_work *work)
{
    const struct segment *s = &work->segment;
    const int64_t all[DECISIONS] = {
        work->tasks,
        work->strategy,
        kernel_number(work->kernel),
        kernel_number(work->panel_kernel),
        work->rows,
        work->columns,
        work->row_share,
        work->column_share,
        work->slice,
        work->column_tasks,
        work->slices,
        work->scratch_rows,
        work->slots,
        work->table_share,
        work->table_share_to_l1,
        work->block_rows,
        s->data_stride,
        s->out_stride,
        s->run,
        at_least(s->prefetch_distance, s->prefetch_rows), /* where both are set they are the same */
        s->points_to_l1,
        s->indices_to_l1,
        s->table_to_l1,
        s->by_strips,
        s->row_by_row,
        s->non_temporal,
        s->by_memcpy,
        s->overlap_vectors,
        s->row_points,
        s->next_part,
        s->table_bytes_per_point,
        s->rows,
        s->row_data_stride,
        s->row_out_stride,
        s->row_index_stride,
    };
    memcpy(number, all, sizeof all);
}

/* Plans nest number `number` for a CPU. */
static inline void plan_random(struct cpu_work *work, struct nest *nest, uint64_t number,
                               const struct cpu_target *target)
{
    memset(work, 0, sizeof *work);
    draw_nest(nest, number);
    garner_cpu_plan_for(work, nest, target);
}

/* FNV-1a over the decisions of all random nests, 8 bytes at a time. */
static inline uint64_t digest_random(const struct cpu_target *target)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < RANDOM_NESTS; i++) {
        struct nest nest;
        struct cpu_work work;
        int64_t number[DECISIONS];
        plan_random(&work, &nest, i, target);
        decisions_of(number, &work);
        for (int k = 0; k < DECISIONS; k++)
            digest = (digest ^ (uint64_t)number[k]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

/* The same in words and numbers, a line for each nest. */
static inline void print_random(const struct cpu_target *target)
{
    for (uint64_t i = 0; i < RANDOM_NESTS; i++) {
        struct nest nest;
        struct cpu_work work;
        int64_t number[DECISIONS];
        char text[1000];
        struct line line = {text, sizeof text, 0};
        plan_random(&work, &nest, i, target);
        decisions_of(number, &work);
        garner_cpu_describe_for(&work, &nest, target, &line);
        printf("%s %" PRIu64 ":", target->profile.name, i);
        for (int d = 0; d < nest.rank; d++)
            printf(" (%" PRId64 ": %" PRId64 ",%" PRId64 ",%" PRId64 ")", nest.dim[d].n, nest.dim[d].data,
                   nest.dim[d].index, nest.dim[d].out);
        for (int k = 0; k < nest.axes; k++)
            printf(" [%" PRId64 ",%" PRId64 "]", nest.axis[k].bound, nest.axis[k].stride);
        printf(", run %" PRId64 "%s; decided", nest.run, text);
        for (int k = 0; k < DECISIONS; k++)
            printf(" %" PRId64, number[k]);
        putchar('\n');
    }
}

/* ---- Cells ---- */

/* "8x1000x64", or "-" for a scalar; false if it is neither. */
static inline bool read_shape(garner_tensor *tensor, int64_t shape[8], const char *text)
{
    *tensor = (garner_tensor){.shape = shape};
    if (strcmp(text, "-") == 0) return true;
    for (int length = 0; tensor->rank < 8; text += length + 1) {
        if (sscanf(text, "%" SCNd64 "%n", &shape[tensor->rank++], &length) != 1) return false;
        if (text[length] != 'x') return text[length] == '\0';
    }
    return false;
}

static inline garner_kind read_kind(const char *text)
{
    return strcmp(text, "gather") == 0            ? GARNER_GATHER
           : strcmp(text, "gather_elements") == 0 ? GARNER_GATHER_ELEMENTS
                                                  : GARNER_GATHER_ND;
}

/* A plan for a line of workloads.tsv, made for this machine; NULL if it is none. `name` is the cell's. */
static inline garner_plan *read_cell(const char *line, char name[64])
{
    char op[32], type[16], data_text[64], indices_text[64], index_type[16];
    int64_t axis, batch_dims, data_shape[8], indices_shape[8];
    garner_tensor data, indices;
    garner_plan *plan;
    if (sscanf(line, "%63s %31s %15s %63s %63s %" SCNd64 " %" SCNd64 " %15s", name, op, type, data_text,
               indices_text, &axis, &batch_dims, index_type) != 8 ||
        !read_shape(&data, data_shape, data_text) || !read_shape(&indices, indices_shape, indices_text))
        return NULL;
    const bool opaque = strcmp(type, "str") == 0; /* a string is a struct of 16 bytes */
    data.dtype = opaque ? GARNER_OPAQUE : garner_dtype_from_name(type);
    data.item_bytes = opaque ? 16 : 0;
    indices.dtype = garner_dtype_from_name(index_type);
    const garner_op wanted = {.kind = read_kind(op), .axis = axis, .batch_dims = batch_dims};
    return garner_plan_create(&plan, &wanted, &data, &indices, NULL, NULL) == GARNER_OK ? plan : NULL;
}

/* What a CPU does with the nest of a plan, from the strategy on. */
static inline void describe_cell(char *text, size_t size, const garner_plan *plan,
                                 const struct cpu_target *target)
{
    struct cpu_work work;
    struct line line = {text, size, 0};
    text[0] = '\0';
    memset(&work, 0, sizeof work);
    garner_cpu_plan_for(&work, &plan->nest, target);
    garner_cpu_describe_for(&work, &plan->nest, target, &line);
}

/* All that is kept of a CPU's plans: the digest, then the cells; false if the file of cells cannot be read.
 */
static inline bool write_plans(FILE *out, FILE *cells, const struct cpu_target *target)
{
    char line[512];
    rewind(cells);
    fprintf(out, "%d random nests: %016" PRIx64 "\n", RANDOM_NESTS, digest_random(target));
    while (fgets(line, sizeof line, cells)) {
        char name[64], text[1000];
        if (line[0] == '#' || line[0] == '\n') continue;
        garner_plan *plan = read_cell(line, name);
        if (plan == NULL) return false;
        describe_cell(text, sizeof text, plan, target);
        fprintf(out, "%s%s\n", name, text);
        garner_plan_destroy(plan);
    }
    return !ferror(cells);
}

#endif
