/* SPDX-License-Identifier: MIT */
/*
 * Collective gathers by all ranks at once, of random rows of a table that is as large as it is for a plain
 * gather, against what they can be at best. All take turns; medians, of shares too.
 *     local    a plain gather of each rank from memory of its own
 *     window   the same out of the memory that the ranks share: the limit of
 *     near     a gather within a node
 *     bare     an MPI_Alltoallv of the bytes that cross
 *     limit    bare, and the gathers without which nothing can cross (mpi_limit.h)
 *     by hand  the whole job without a check (mpi_by_hand.h)
 *     far      a gather with every rank as if it had a node of its own
 *     work     arithmetic that takes about as long as far; and the same between begin and end of far
 * Prints a line of a table: millions of rows per second and rank, of those that cross from bare to far;
 * shares; how much of the shorter of far and work is hidden behind the other. mpi_gather [ROW_BYTES [ROWS
 * [INDICES]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_limit.h"

enum { RUNS = 15 };
enum { LOCAL, WINDOW, NEAR, PACK, BARE, PLACE, OWN, BY_HAND, FAR, WORK, FAR_AND_WORK, JOBS };

static int rank, ranks;
static int64_t rows = 1 << 20, row_bytes = 256, count = 1 << 19;

/* ---- Timing ---- */

struct job {
    void (*run)(void *context);
    void *context;
    double seconds[RUNS];
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values)
{
    double sorted[RUNS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, RUNS, sizeof *sorted, by_size);
    return sorted[RUNS / 2];
}

/* The median of what each turn gives. */
static double median_of(const struct job *jobs, double (*turn)(const struct job *jobs, int i))
{
    double values[RUNS];
    for (int i = 0; i < RUNS; i++)
        values[i] = turn(jobs, i);
    return median(values);
}

static double limit_seconds(const struct job *jobs, int i)
{
    return jobs[PACK].seconds[i] + jobs[BARE].seconds[i] + jobs[PLACE].seconds[i] + jobs[OWN].seconds[i];
}

static double near_of_local(const struct job *jobs, int i)
{
    return 100 * jobs[LOCAL].seconds[i] / jobs[NEAR].seconds[i];
}

static double near_of_window(const struct job *jobs, int i)
{
    return 100 * jobs[WINDOW].seconds[i] / jobs[NEAR].seconds[i];
}

static double far_of_bare(const struct job *jobs, int i)
{
    return 100 * jobs[BARE].seconds[i] / jobs[FAR].seconds[i];
}

static double far_of_limit(const struct job *jobs, int i)
{
    return 100 * limit_seconds(jobs, i) / jobs[FAR].seconds[i];
}

static double far_of_by_hand(const struct job *jobs, int i)
{
    return 100 * jobs[BY_HAND].seconds[i] / jobs[FAR].seconds[i];
}

static double hidden(const struct job *jobs, int i)
{
    double far = jobs[FAR].seconds[i], work = jobs[WORK].seconds[i];
    return 100 * (far + work - jobs[FAR_AND_WORK].seconds[i]) / (far < work ? far : work);
}

/* Seconds that all ranks need for one job. */
static double take(const struct job *job)
{
    double all, mine;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    job->run(job->context);
    mine = MPI_Wtime() - mine;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Turn by turn; the first one is not counted. */
static void measure(struct job *jobs)
{
    for (int i = -1; i < RUNS; i++)
        for (int k = 0; k < JOBS; k++) {
            double seconds = take(&jobs[k]);
            if (i >= 0) jobs[k].seconds[i] = seconds;
        }
}

/* ---- What is timed ---- */

struct planned {
    garner_mpi_table *table;
    garner_mpi_plan *plan;
    void *out;
    int64_t work; /* between begin and end */
};

/* Arithmetic that takes time and no memory. */
static volatile uint64_t kept;

static void work(int64_t steps)
{
    uint64_t x = kept;
    for (int64_t i = 0; i < steps; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    kept = x;
}

static void run_plan(void *context)
{
    struct planned *p = context;
    if (garner_mpi_plan_begin(p->plan, p->out, NULL) != GARNER_OK) abort();
    work(p->work);
    if (garner_mpi_plan_end(p->plan, NULL) != GARNER_OK) abort();
}

static void run_work(void *context)
{
    work(((struct planned *)context)->work);
}

static void run_bare(void *context)
{
    by_hand_exchange(context);
}

static void run_by_hand(void *context)
{
    by_hand_gather(context);
}

/* Each row holds its number. */
static void fill(unsigned char *data, int64_t first, int64_t some)
{
    memset(data, 1, (size_t)(some * row_bytes));
    for (int64_t i = 0; i < some && row_bytes >= (int64_t)sizeof i; i++)
        memcpy(data + i * row_bytes, &(int64_t){first + i}, sizeof i);
}

static void open_table(struct planned *p, int apart, const garner_tensor *indices, void *out)
{
    garner_mpi_layout layout = {.apart = apart};
    garner_tensor whole = {.shape = (int64_t[]){rows, row_bytes}, .rank = 2, .dtype = GARNER_U8};
    p->out = out;
    if (garner_mpi_table_create(MPI_COMM_WORLD, &whole, &layout, &p->table, NULL) != GARNER_OK) abort();
    garner_mpi_part part = garner_mpi_table_part(p->table);
    fill(part.data, part.first, part.rows);
    if (garner_mpi_table_publish(p->table, NULL) != GARNER_OK) abort();
    if (garner_mpi_plan_create(p->table, indices, &p->plan, NULL) != GARNER_OK) abort();
}

static void close_table(struct planned *p)
{
    garner_mpi_plan_destroy(p->plan);
    garner_mpi_table_destroy(p->table);
}

/* Every way gives the same rows. */
static void check(const struct job *jobs, const struct limit_part *local)
{
    static const int whole[] = {WINDOW, NEAR, BY_HAND, FAR, FAR_AND_WORK};
    size_t bytes = (size_t)(count * row_bytes);
    unsigned char *wanted = malloc(bytes), *out = local->out.data;
    jobs[LOCAL].run(jobs[LOCAL].context);
    memcpy(wanted, out, bytes);
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
        memset(out, 0, bytes);
        jobs[whole[k]].run(jobs[whole[k]].context);
        if (memcmp(out, wanted, bytes) != 0) {
            fprintf(stderr, "mpi_gather: way %d gives other rows\n", whole[k]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    free(wanted);
}

static void print(const struct job *jobs, int64_t received)
{
    double near = (double)count / 1e6, far = (double)received / (double)row_bytes / 1e6;
    printf("| %lld B | %.2f | %.2f | %.2f | %.0f %% | %.0f %% |", (long long)row_bytes,
           near / median(jobs[LOCAL].seconds), near / median(jobs[WINDOW].seconds),
           near / median(jobs[NEAR].seconds), median_of(jobs, near_of_local),
           median_of(jobs, near_of_window));
    printf(" %.2f | %.2f | %.2f | %.2f | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n",
           far / median(jobs[BARE].seconds), far / median_of(jobs, limit_seconds),
           far / median(jobs[BY_HAND].seconds), far / median(jobs[FAR].seconds), median_of(jobs, far_of_bare),
           median_of(jobs, far_of_limit), median_of(jobs, far_of_by_hand), median_of(jobs, hidden));
    if (getenv("GARNER_BENCH_PARTS"))
        printf("ms: pack %.1f, bare %.1f, place %.1f, own %.1f, far %.1f, work %.1f, both %.1f\n",
               1e3 * median(jobs[PACK].seconds), 1e3 * median(jobs[BARE].seconds),
               1e3 * median(jobs[PLACE].seconds), 1e3 * median(jobs[OWN].seconds),
               1e3 * median(jobs[FAR].seconds), 1e3 * median(jobs[WORK].seconds),
               1e3 * median(jobs[FAR_AND_WORK].seconds));
}

/* As much work as takes a gather's time. */
static int64_t steps_for(const struct job *far)
{
    enum { PROBE = 10000000 };
    double begun = MPI_Wtime(), rate;
    work(PROBE);
    rate = PROBE / (MPI_Wtime() - begun);
    int64_t steps = (int64_t)(rate * take(far));
    MPI_Bcast(&steps, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return steps;
}

static void run(struct limit_part *local)
{
    struct planned near = {0}, far = {0}, busy;
    struct by_hand hand;
    struct limit limit;
    struct limit_part window;
    open_table(&near, 0, &local->indices, local->out.data);
    open_table(&far, 1, &local->indices, local->out.data);
    garner_mpi_part part = garner_mpi_table_part(far.table), shared = garner_mpi_table_part(near.table);
    by_hand_prepare(&hand, &part, rows, local->indices.data, count);
    hand.result = local->out.data;
    limit_prepare(&limit, &hand);
    limit_part_set(&window, (unsigned char *)shared.data - shared.first * row_bytes, rows, row_bytes,
                   local->indices.data, count, local->out.data);
    struct job jobs[JOBS] = {[LOCAL] = {limit_part_run, local, {0}},
                             [WINDOW] = {limit_part_run, &window, {0}},
                             [NEAR] = {run_plan, &near, {0}},
                             [PACK] = {limit_part_run, &limit.pack, {0}},
                             [BARE] = {run_bare, &hand, {0}},
                             [PLACE] = {limit_part_run, &limit.place, {0}},
                             [OWN] = {limit_part_run, &limit.gather, {0}},
                             [BY_HAND] = {run_by_hand, &hand, {0}},
                             [FAR] = {run_plan, &far, {0}},
                             [WORK] = {run_work, &busy, {0}},
                             [FAR_AND_WORK] = {run_plan, &busy, {0}}};
    busy = far;
    check(jobs, local);
    busy.work = steps_for(&jobs[FAR]);
    measure(jobs);
    if (rank == 0) print(jobs, garner_mpi_plan_traffic(far.plan).received);
    limit_free(&limit);
    by_hand_free(&hand);
    close_table(&far);
    close_table(&near);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) row_bytes = atoll(argv[1]);
    if (argc > 2) rows = atoll(argv[2]);
    if (argc > 3) count = atoll(argv[3]);
    int64_t *numbers = malloc((size_t)count * sizeof *numbers);
    unsigned char *data = malloc((size_t)(rows * row_bytes)), *out = malloc((size_t)(count * row_bytes));
    srand48(rank);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (int64_t)(drand48() * (double)rows);
    fill(data, 0, rows);
    memset(out, 1, (size_t)(count * row_bytes));
    struct limit_part local;
    limit_part_set(&local, data, rows, row_bytes, numbers, count, out);
    run(&local);
    free(numbers);
    free(data);
    free(out);
    MPI_Finalize();
    return 0;
}
