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
#include "machine.h"
#include "workload.h"

/* "L1d 64 KiB" */
static void print_caches(bool json)
{
    struct machine_cache caches[MACHINE_CACHES];
    int count = machine_caches(caches);
    if (count == 0 && !json) fputs("not known", stdout);
    for (int i = 0; i < count; i++) {
        const struct machine_cache *c = &caches[i];
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

/* What a plan says of itself; free it. NULL: no memory, or the gather is refused. */
static char *described(const struct workload *w)
{
    garner_plan *plan;
    garner_tensor data = workload_view(&w->data), indices = workload_view(&w->indices);
    if (garner_plan_create(&plan, &w->op, &data, &indices, NULL, NULL) != GARNER_OK) return NULL;
    size_t size = garner_plan_describe(plan, NULL, 0) + 1;
    char *text = malloc(size);
    if (text) garner_plan_describe(plan, text, size);
    garner_plan_destroy(plan);
    return text;
}

/* The part of the description that says how: from the kernel on. */
static const char *kernel_part(const char *text)
{
    static const char mark[] = "kernel ";
    const char *found = text ? strstr(text, mark) : NULL;
    return found ? found + strlen(mark) : text ? text : "";
}

static void print_kernels(bool json)
{
    for (size_t i = 0; i < workload_count; i++) {
        garner_tensor data = workload_view(&workloads[i].data),
                      indices = workload_view(&workloads[i].indices);
        char *plan = described(&workloads[i]);
        fputs(json ? i ? ", {" : "{" : "  ", stdout);
        workload_print(stdout, &workloads[i].op, &data, &indices, json);
        printf(json ? ", \"plan\": \"%s\"}" : "\n    %s\n", json ? plan ? plan : "" : kernel_part(plan));
        free(plan);
    }
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

static void print_text(const garner_cpu *cpu)
{
    char levels[ENVIRONMENT_LEVELS];
    printf("architecture  %s\ninstructions  ", cpu->architecture);
    print_list(cpu->features, false);
    printf("\nkernels       %s", cpu->level);
    if (strcmp(cpu->level, cpu->detected) != 0) printf(", where %s could run", cpu->detected);
    fputs(" (", stdout);
    print_variable("GARNER_CPU", false);
    printf("; it takes %s)\nCPUs          %d that this process may use\nthreads       %d (",
           environment_level_list(levels), cpu->cpus, cpu->threads);
    print_variable("GARNER_NUM_THREADS", false);
    fputs(")\ncaches        ", stdout);
    print_caches(false);
    fputs("\n\nkernels for typical gathers\n", stdout);
    print_kernels(false);
}

static void print_json(const garner_cpu *cpu)
{
    printf("{\"version\": \"%s\", \"architecture\": \"%s\", \"features\": [", garner_version(),
           cpu->architecture);
    print_list(cpu->features, true);
    printf("], \"detected\": \"%s\", \"level\": \"%s\", \"levels\": [", cpu->detected, cpu->level);
    print_json_levels();
    printf("], \"cpus\": %d, \"threads\": %d, \"environment\": {", cpu->cpus, cpu->threads);
    print_variable("GARNER_CPU", true);
    fputs(", ", stdout);
    print_variable("GARNER_NUM_THREADS", true);
    fputs("}, \"caches\": [", stdout);
    print_caches(true);
    fputs("], \"kernels\": [", stdout);
    print_kernels(true);
    fputs("]}\n", stdout);
}

garner_status cpu_command(const struct invocation *line, garner_error *error)
{
    garner_cpu cpu = {.size = sizeof cpu};
    (void)error;
    garner_cpu_info(&cpu);
    if (line->setting[OPTION_JSON].given)
        print_json(&cpu);
    else
        print_text(&cpu);
    return GARNER_OK;
}
