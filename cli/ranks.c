/* SPDX-License-Identifier: MIT */
/*
 * What mpirun leaves in the environment tells which MPI it is; the library for that one is loaded by its
 * path. Other launchers tell only that there are several processes, and GARNER_MPI which MPI they are of.
 */
#define _DEFAULT_SOURCE

#include "ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fail.h"
#include "message.h"
#include "mpi_command.h"
#include "own_folder.h"
#include "tensor.h"

#ifndef GARNER_MPI_INSTALLED
#define GARNER_MPI_INSTALLED "../lib/garner"
#endif

static const struct mpi {
    const char *name, *folder,
        *package;            /* of its library: the folder; Debian's package that it is built with */
    const char *size, *rank; /* variables that its mpirun sets */
} mpis[] = {
    {"Open MPI", "openmpi", "libopenmpi-dev", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"MPICH", "mpich", "libmpich-dev", "PMI_SIZE", "PMI_RANK"},
};

/* What starts processes of any MPI, and of none. */
static const struct launcher {
    const char *name, *size, *rank; /* size NULL: it does not say */
} launchers[] = {
    {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"PMIx", NULL, "PMIX_RANK"},
};

/* How this process was started, if it is one of several. */
struct start {
    const struct mpi *mpi; /* NULL: not known */
    const char *name;      /* of what started it */
    int64_t size, rank;    /* size 0: not known, and maybe 1 */
};

static int64_t variable(const char *name)
{
    const char *text = getenv(name);
    int64_t number;
    return text && options_integer(text, &number) ? number : 0;
}

/* An MPI's own mpirun, even if it runs inside a step of another launcher. */
static bool find_mpirun(struct start *start)
{
    for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++)
        if (variable(mpis[i].size) > 0) {
            *start = (struct start){&mpis[i], mpis[i].name, variable(mpis[i].size), variable(mpis[i].rank)};
            return true;
        }
    return false;
}

static bool find_launcher(struct start *start)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *l = &launchers[i];
        if (!getenv(l->rank) || (l->size && variable(l->size) <= 0)) continue;
        *start = (struct start){NULL, l->name, l->size ? variable(l->size) : 0, variable(l->rank)};
        return true;
    }
    return false;
}

/* Whether this process is one of several; not with GARNER_MPI=off, which lets each work for itself. */
static bool find_start(struct start *start)
{
    const char *wanted = getenv("GARNER_MPI");
    if (wanted && strcmp(wanted, "off") == 0) return false;
    if (!find_mpirun(start) && !find_launcher(start)) return false;
    for (size_t i = 0; wanted && i < sizeof mpis / sizeof *mpis; i++)
        if (strcmp(wanted, mpis[i].folder) == 0) start->mpi = &mpis[i];
    return start->size != 1;
}

bool ranks_share(const struct invocation *line)
{
    const struct setting *s = line->setting;
    struct start start;
    bool writes = line->command == COMMAND_CONVERT || line->command == COMMAND_GATHER ||
                  s[OPTION_OUT].given || s[OPTION_OUTPUT_DIR].given || s[OPTION_SVG].given;
    return writes && find_start(&start);
}

/* "4 ranks of Open MPI" */
enum { WHO = 64 };
static const char *who(char text[WHO], const struct start *start)
{
    if (start->size)
        snprintf(text, WHO, "%lld ranks of %s", (long long)start->size, start->name);
    else
        snprintf(text, WHO, "several ranks of %s", start->name);
    return text;
}

/* ---- The library ---- */

/* CMake says where, as words without quotes, which not every reader of its commands would understand. */
#ifndef GARNER_MPI_INSTALLED
#define GARNER_MPI_INSTALLED ../ lib / garner
#endif
#define TEXT(words) #words
#define TEXT_OF(macro) TEXT(macro)

static mpi_command_function *load(const char *path)
{
    mpi_command_function *function = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* MPI's own plug-ins look for its names */
    void *symbol = library ? dlsym(library, "garner_mpi_command") : NULL;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

/* Beside the command as it was built, then where it is installed. */
static mpi_command_function *find_library(const struct mpi *mpi)
{
    static const char *const folders[] = {"mpi", TEXT_OF(GARNER_MPI_INSTALLED)};
    char self[PATH_MAX], path[2 * PATH_MAX];
    mpi_command_function *function = NULL;
    if (!own_folder(self, sizeof self)) return NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !function; i++) {
        snprintf(path, sizeof path, "%s/%s/%s/libgarner_mpi.so", self, folders[i], mpi->folder);
        function = load(path);
    }
    return function;
}

/* ---- The command line ---- */

static garner_status check_line(const struct invocation *line, const struct start *start, garner_error *error)
{
    static const enum option_id others[] = {OPTION_BATCH_DIMS, OPTION_SPEC,   OPTION_STRICT,       OPTION_OOB,
                                            OPTION_THREADS,    OPTION_FORMAT, OPTION_FOLLOW_LINKS, OPTION_HOW,
                                            OPTION_MEMORY,     OPTION_DEVICE};
    const struct setting *s = line->setting;
    char text[WHO];
    if (line->command != COMMAND_GATHER)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "%s would write the same files: only gather works together under mpirun; "
                    "GARNER_MPI=off lets each rank work for itself",
                    who(text, start));
    if (!s[OPTION_OUT].given)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "gather under mpirun needs --out FILE, which all ranks write together");
    if (!start->mpi)
        return fail(error, GARNER_BAD_ARGUMENT,
                    "gather: %s would write the same file, and which MPI they are of is not known; "
                    "GARNER_MPI=openmpi or GARNER_MPI=mpich says it, GARNER_MPI=off lets each rank work for "
                    "itself",
                    who(text, start));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s[others[i]].given)
            return fail(error, GARNER_BAD_ARGUMENT, "gather under mpirun does not take --%s",
                        options[others[i]].name);
    if (s[OPTION_AXIS].given && s[OPTION_AXIS].number != 0)
        return fail(error, GARNER_BAD_ARGUMENT, "gather under mpirun is along axis 0, and --axis is %lld",
                    (long long)s[OPTION_AXIS].number);
    return GARNER_OK;
}

/* Where rows come from and go to: files alone. */
static garner_status locate(const struct invocation *line, struct tensor_place *data,
                            struct tensor_target *out, garner_error *error)
{
    garner_status status = tensor_locate(data, "DATA", line->operands[0], error);
    if (status == GARNER_OK &&
        (!data->path || strcmp(data->path, "-") == 0 || strcmp(line->operands[1], "-") == 0))
        status = fail(error, GARNER_BAD_ARGUMENT,
                      "gather under mpirun takes DATA from a file, and standard input for nothing");
    if (status == GARNER_OK) status = tensor_aim(out, "--out", line->setting[OPTION_OUT].text, error);
    if (status == GARNER_OK && (out->kind != STORE_NPY || strcmp(out->path, "-") == 0))
        status =
            fail(error, GARNER_BAD_ARGUMENT, "gather under mpirun writes a .npy file, and --out is '%.60s'",
                 line->setting[OPTION_OUT].text);
    return status;
}

/* ---- Together ---- */

static garner_status together(const struct invocation *line, mpi_command_function *run, struct mpi_job *job,
                              garner_error *error)
{
    struct array indices = {0};
    garner_status status = tensor_load(&indices, "INDICES", line->operands[1], line, error);
    if (status == GARNER_OK && indices.tensor.strides)
        status = fail(error, GARNER_UNSUPPORTED, "gather under mpirun takes INDICES that lie in C order");
    job->indices = &indices.tensor;
    status = run(job, status, error);
    job->indices = NULL;
    array_free(&indices);
    return status;
}

/* Rank 0 alone has a sentence for what all ranks refuse by themselves; mpirun ends it once another one has
 * left. */
static void leave_to_rank_0(garner_error *error)
{
    const struct timespec while_told = {.tv_nsec = 500000000};
    error->message[0] = 0;
    nanosleep(&while_told, NULL);
}

garner_status ranks_command(const struct invocation *line, garner_error *error)
{
    struct start start = {0};
    struct tensor_place data = {0};
    struct tensor_target out = {0};
    char text[WHO];
    mpi_command_function *run = NULL;
    find_start(&start);
    struct mpi_job job = {.rank = (int32_t)start.rank, .ranks = (int32_t)start.size, .tell = message_print};
    garner_status status = check_line(line, &start, error);
    if (status == GARNER_OK) status = locate(line, &data, &out, error);
    if (status == GARNER_OK && !(run = find_library(start.mpi)))
        status = fail(error, GARNER_SYSTEM,
                      "gather: %s run this, and garner has no library for it (libgarner_mpi.so, built where "
                      "Debian's %s is installed); GARNER_MPI=off lets each rank work for itself",
                      who(text, &start), start.mpi->package);
    if (status == GARNER_OK) {
        job.path = data.path, job.member = data.member, job.out = out.path;
        status = together(line, run, &job, error);
        error->message[0] = 0; /* it was told */
    } else if (job.rank != 0) {
        leave_to_rank_0(error);
    }
    free(data.path);
    free(out.path);
    return status;
}
