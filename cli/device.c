/* SPDX-License-Identifier: MIT */
/*
 * The command device: which GPUs there are, and what gathers on them are planned for; or why there is none,
 * which is an answer, too, and no failure.
 */
#include <stdio.h>

#include "command.h"
#include "gpu_library.h"
#include "print.h"

enum { MOST_DEVICES = 128 };

struct findings {
    const struct gpu_library *library; /* NULL: there is none */
    int count;
    garner_cuda_device devices[MOST_DEVICES];
    const char *reason; /* why there are no devices; NULL: there are */
};

/* That there is nothing is the answer to the question. That it cannot be found out is a failure. */
static garner_status find_count(struct findings *f, garner_error *reason)
{
    garner_status status = gpu_library_load(&f->library, reason);
    if (status != GARNER_OK && f->library) return status;
    if (status == GARNER_OK) status = f->library->devices(&f->count, reason);
    if (status == GARNER_SYSTEM) f->reason = reason->message;
    return status == GARNER_SYSTEM ? GARNER_OK : status;
}

static garner_status find_devices(struct findings *f, garner_error *reason, garner_error *error)
{
    garner_status status = find_count(f, reason);
    if (status != GARNER_OK) *error = *reason;
    if (f->reason) f->count = 0;
    if (f->count > MOST_DEVICES) f->count = MOST_DEVICES;
    for (int i = 0; i < f->count && status == GARNER_OK; i++) {
        f->devices[i].size = sizeof f->devices[i];
        status = f->library->device_info(i, &f->devices[i], error);
    }
    return status;
}

static void print_text(const struct findings *f)
{
    fputs("library       ", stdout);
    print_foreign(stdout, f->library ? f->library->path : "none");
    fputs(f->reason ? "\ndevices       none: " : "\n", stdout);
    if (f->reason) print_foreign(stdout, f->reason);
    if (f->reason) putchar('\n');
    if (f->count > 0)
        printf("driver        for CUDA %d.%d\n", f->devices[0].driver / 1000,
               f->devices[0].driver % 1000 / 10);
    for (int i = 0; i < f->count; i++) {
        const garner_cuda_device *d = &f->devices[i];
        printf("\ncuda:%-8d ", i);
        print_foreign(stdout, d->name);
        printf(", compute capability %d.%d, %d multiprocessors\n", d->major, d->minor, d->multiprocessors);
        printf("memory        %.1f GiB, L2 %.0f MiB, %.0f KiB of shared memory for a block\n",
               (double)d->memory / (1 << 30), (double)d->l2 / (1 << 20), (double)d->shared / (1 << 10));
        printf("profile       %s (%s)%s\n", d->profile, d->profile_for,
               d->measured ? "" : ", never measured");
    }
}

static void print_json_device(int number, const garner_cuda_device *d)
{
    printf("%s{\"device\": \"cuda:%d\", \"name\": ", number ? ", " : "", number);
    print_json_string(stdout, d->name);
    printf(", \"capability\": \"%d.%d\", \"multiprocessors\": %d, \"memory\": %llu, \"l2\": %llu, "
           "\"shared\": %llu, ",
           d->major, d->minor, d->multiprocessors, (unsigned long long)d->memory, (unsigned long long)d->l2,
           (unsigned long long)d->shared);
    printf("\"profile\": \"%s\", \"measured\": %s}", d->profile, d->measured ? "true" : "false");
}

static void print_json(const struct findings *f)
{
    printf("{\"version\": \"%s\", \"library\": ", garner_version());
    if (f->library)
        print_json_string(stdout, f->library->path);
    else
        fputs("null", stdout);
    if (f->count > 0)
        printf(", \"driver\": \"%d.%d\"", f->devices[0].driver / 1000, f->devices[0].driver % 1000 / 10);
    else
        fputs(", \"driver\": null", stdout);
    fputs(", \"devices\": [", stdout);
    for (int i = 0; i < f->count; i++)
        print_json_device(i, &f->devices[i]);
    fputs("], \"reason\": ", stdout);
    if (f->reason)
        print_json_string(stdout, f->reason);
    else
        fputs("null", stdout);
    fputs("}\n", stdout);
}

garner_status device_command(const struct invocation *line, garner_error *error)
{
    static struct findings f; /* large for a stack */
    garner_error reason = {.status = GARNER_OK};
    f = (struct findings){0};
    const garner_status status = find_devices(&f, &reason, error);
    if (status != GARNER_OK) return status;
    (line->setting[OPTION_JSON].given ? print_json : print_text)(&f);
    return GARNER_OK;
}
