/* SPDX-License-Identifier: MIT */
/* Nothing is shown in the first second; after it the line changes a few times a second. */
#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

void progress_step(struct progress *p, size_t done, size_t count)
{
    if (!p->watched) return;
    if (seconds_since(&p->shown) < (p->lines ? 0.2 : 1.0)) return;
    fprintf(stderr, "\rgarner: %3d%%", (int)(100.0 * (double)done / (double)count));
    fflush(stderr);
    clock_gettime(CLOCK_MONOTONIC, &p->shown);
    p->lines++;
}

/* 12345678 as 12.3M. */
static const char *short_number(char text[16], double number)
{
    static const char units[] = " kMGT";
    int unit = 0;
    for (; number >= 999.5 && unit < 4; unit++)
        number /= 1000;
    snprintf(text, 16, unit && number < 99.95 ? "%.1f%.1s" : "%.0f%.1s", number, unit ? &units[unit] : "");
    return text;
}

void progress_rows(struct progress *p, int64_t done, int64_t all)
{
    char rows[16], rate[16];
    if (!p->watched || seconds_since(&p->shown) < (p->lines ? 0.2 : 1.0)) return;
    double passed = seconds_since(&p->begun), speed = (double)done / passed;
    double left = done > 0 ? (double)(all - done) / speed : 0;
    fprintf(stderr, "\rgarner: %3d%%  %s rows  %s rows/s  %d:%02d left\033[K",
            (int)(100.0 * (double)done / (double)all), short_number(rows, (double)done),
            short_number(rate, speed), (int)(left / 60), (int)left % 60);
    fflush(stderr);
    clock_gettime(CLOCK_MONOTONIC, &p->shown);
    p->lines++;
}

static void counted_task(void *argument, size_t i)
{
    struct progress *p = argument;
    p->task(p->argument, i);
    size_t done = atomic_fetch_add(&p->done, 1) + 1;
    if (atomic_flag_test_and_set(&p->busy)) return;
    progress_step(p, done, p->count);
    atomic_flag_clear(&p->busy);
}

static int counted_for(void *context, garner_task *task, void *argument, size_t count)
{
    struct progress *p = context;
    p->task = task;
    p->argument = argument;
    p->count = count;
    if (p->inner.parallel_for) return p->inner.parallel_for(p->inner.context, counted_task, p, count);
    for (size_t i = 0; i < count; i++)
        counted_task(p, i);
    return 0;
}

garner_exec progress_begin(struct progress *p, garner_exec inner)
{
    memset(p, 0, sizeof *p);
    p->watched = isatty(STDERR_FILENO);
    if (!p->watched) return inner;
    p->inner = inner;
    clock_gettime(CLOCK_MONOTONIC, &p->begun);
    atomic_flag_clear(&p->busy);
    clock_gettime(CLOCK_MONOTONIC, &p->shown);
    return (garner_exec){.parallel_for = counted_for, .context = p};
}

void progress_end(struct progress *p)
{
    if (p->lines) fputs("\r\033[K", stderr);
    p->lines = 0;
}
