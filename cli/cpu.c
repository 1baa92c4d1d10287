/* SPDX-License-Identifier: MIT */
/*
 * The command cpu: what was found about the machine, what the environment says about it, and which kernels
 * typical gathers get here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "environment.h"
#include "fail.h"
#include "machine_caches.h"
#include "workload.h"

/* What is printed, found out before the first word of it. */
struct findings {
    garner_cpu cpu;
    struct machine_cache caches[MACHINE_CACHES];
    int cache_count;
};

/* "L1d 64 KiB" */
static void print_caches(const struct findings *f, bool json)
{
    if (f->cache_count == 0 && !json) fputs("not known", stdout);
    for (int i = 0; i < f->cache_count; i++) {
        const struct machine_cache *c = &f->caches[i];
        bool large = c->bytes >= 1 << 20;
        if (i) fputs(", ", stdout);
        if (json)
            printf("{\"level\": %d, \"type\": \"%s\", \"bytes\": %lld}", c->level,
                   c->type == 'd' ? "data" : "unified", (long long)c->bytes);
        else
            printf("L%d%s %lld %s", c->level, c->type == 'd' ? "d" : "",
                   (long long)c->bytes >> (large ? 20 : 10), large ? "MiB" : "KiB");
    }
}

/* ---- Kernels ---- */

/* What a plan says of itself, to be freed. */
static garner_status describe(char **text, const struct workload *w, garner_error *error)
{
    garner_plan *plan;
    garner_tensor data = workload_view(&w->data), indices = workload_view(&w->indices);
    *text = NULL;
    garner_status status = garner_plan_create(&plan, &w->op, &data, &indices, NULL, error);
    if (status != GARNER_OK) return status;
    size_t size = garner_plan_describe(plan, NULL, 0) + 1;
    *text = malloc(size);
    if (*text) garner_plan_describe(plan, *text, size);
    garner_plan_destroy(plan);
    return *text ? GARNER_OK : fail_memory(error, "cpu", size);
}

/* The part of the description that says how: from the kernel on. */
static const char *kernel_part(const char *text)
{
    static const char mark[] = "kernel ";
    const char *found = strstr(text, mark);
    return found ? found + strlen(mark) : text;
}

static garner_status print_kernels(bool json, garner_error *error)
{
    for (size_t i = 0; i < workload_count; i++) {
        char *plan;
        garner_status status = describe(&plan, &workloads[i], error);
        if (status != GARNER_OK) return status;
        garner_tensor data = workload_view(&workloads[i].data),
                      indices = workload_view(&workloads[i].indices);
        fputs(json ? i ? ", {" : "{" : "  ", stdout);
        workload_print(stdout, &workloads[i].op, &data, &indices, json);
        printf(json ? ", \"plan\": \"%s\"}" : "\n    %s\n", json ? plan : kernel_part(plan));
        free(plan);
    }
    return GARNER_OK;
}

/* ---- Both ways to print it all ---- */

static void print_list(const char *words, bool json)
{
    if (!json) {
        fputs(*words ? words : "none that matter here", stdout);
        return;
    }
    for (const char *at = words; *at; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        printf("%s\"%.*s\"", at == words ? "" : ", ", length, at);
        at += length;
    }
}

static void print_json_levels(void)
{
    for (int i = 0; i < environment_levels(); i++)
        printf("%s\"%s\"", i ? ", " : "", garner_cpu_level_name(i));
}

/* A variable that is known to make sense: main has looked. */
static void print_variable(const char *name, bool json)
{
    const char *value = getenv(name);
    bool given = value && *value;
    if (json)
        printf(given ? "\"%s\": \"%s\"" : "\"%s\": null", name, value);
    else
        printf(given ? "%s is %s" : "%s is not set", name, value);
}

static void print_profiles(bool json)
{
    for (int i = 0; garner_cpu_profile_name(i); i++)
        printf(json ? "%s\"%s\"" : "%s%s", i ? ", " : "", garner_cpu_profile_name(i));
}

/* "neoverse-v1 (Neoverse V1, Cortex-X1 and X2)", and whether that was measured. */
static void print_profile(const garner_cpu *cpu)
{
    printf("\nprofile       %s (%s)%s\n              of ", cpu->profile, cpu->profile_cpus,
           cpu->measured ? "" : ", never measured");
    print_profiles(false);
}

static garner_status print_text(const struct findings *f, garner_error *error)
{
    const garner_cpu *cpu = &f->cpu;
    char levels[ENVIRONMENT_LEVELS];
    printf("architecture  %s\ninstructions  ", cpu->architecture);
    print_list(cpu->features, false);
    printf("\nkernels       %s", cpu->level);
    if (strcmp(cpu->level, cpu->detected) != 0) printf(", where %s could run", cpu->detected);
    fputs(" (", stdout);
    print_variable("GARNER_CPU", false);
    printf("; it takes %s)", environment_level_list(levels));
    print_profile(cpu);
    printf("\nCPUs          %d that this process may use\nthreads       %d (", cpu->cpus, cpu->threads);
    print_variable("GARNER_NUM_THREADS", false);
    fputs(")\ncaches        ", stdout);
    print_caches(f, false);
    fputs("\n\nkernels for typical gathers\n", stdout);
    return print_kernels(false, error);
}

static garner_status print_json(const struct findings *f, garner_error *error)
{
    const garner_cpu *cpu = &f->cpu;
    printf("{\"version\": \"%s\", \"architecture\": \"%s\", \"features\": [", garner_version(),
           cpu->architecture);
    print_list(cpu->features, true);
    printf("], \"detected\": \"%s\", \"level\": \"%s\", \"levels\": [", cpu->detected, cpu->level);
    print_json_levels();
    printf("], \"profile\": \"%s\", \"measured\": %s, \"profiles\": [", cpu->profile,
           cpu->measured ? "true" : "false");
    print_profiles(true);
    printf("], \"cpus\": %d, \"threads\": %d, \"environment\": {", cpu->cpus, cpu->threads);
    print_variable("GARNER_CPU", true);
    fputs(", ", stdout);
    print_variable("GARNER_NUM_THREADS", true);
    fputs("}, \"caches\": [", stdout);
    print_caches(f, true);
    fputs("], \"kernels\": [", stdout);
    garner_status status = print_kernels(true, error);
    fputs("]}\n", stdout);
    return status;
}

garner_status cpu_command(const struct invocation *line, garner_error *error)
{
    struct findings f = {.cpu = {.size = sizeof f.cpu}};
    garner_cpu_info(&f.cpu);
    garner_status status = machine_caches(f.caches, &f.cache_count, error);
    if (status != GARNER_OK) return status;
    return (line->setting[OPTION_JSON].given ? print_json : print_text)(&f, error);
}
