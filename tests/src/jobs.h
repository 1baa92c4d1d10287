/* SPDX-License-Identifier: MIT */
/*
 * Jobs for the tests of the pool: a parallel_for whose tasks count how often each was run, and a gather
 * that is worth several tasks.
 */
#ifndef GARNER_TESTS_JOBS_H
#define GARNER_TESTS_JOBS_H

#include "garner.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_TASKS = 256 };

struct tally {
    atomic_int runs[MOST_TASKS];
};

static inline void tally_task(void *argument, size_t i)
{
    atomic_fetch_add(&((struct tally *)argument)->runs[i], 1);
}

/* Runs `count` tasks; whether each of them was run once, and no other. */
static inline bool job_is_done(const garner_exec *exec, size_t count)
{
    struct tally tally = {0};
    bool good = exec->parallel_for(exec->context, tally_task, &tally, count) == 0;
    for (size_t i = 0; i < MOST_TASKS; i++)
        good = good && atomic_load(&tally.runs[i]) == (i < count);
    return good;
}

/* Rows of 256 bytes, 1 MiB of them: a few tasks. Whether the right ones came. */
static inline bool gather_is_right(const garner_exec *exec)
{
    enum { ROWS = 16, PICKS = 4096, WORDS = 32 };
    static _Thread_local uint64_t table[ROWS][WORDS], out[PICKS][WORDS];
    static _Thread_local int32_t picks[PICKS];
    for (int i = 0; i < PICKS; i++)
        picks[i] = i * 7 % (2 * ROWS) - ROWS;
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < WORDS; i++)
            table[row][i] = (uint64_t)row * 1000 + (uint64_t)i;
    for (int i = 0; i < PICKS; i++)
        out[i][0] = out[i][WORDS - 1] = 77777;
    const garner_op op = {.kind = GARNER_GATHER};
    const garner_tensor data = {
        .data = table, .shape = (int64_t[]){ROWS, WORDS}, .rank = 2, .dtype = GARNER_U64};
    const garner_tensor indices = {
        .data = picks, .shape = (int64_t[]){PICKS}, .rank = 1, .dtype = GARNER_I32};
    const garner_tensor picked = {
        .data = out, .shape = (int64_t[]){PICKS, WORDS}, .rank = 2, .dtype = GARNER_U64};
    if (garner_run(&op, &data, &indices, &picked, exec, NULL) != GARNER_OK) return false;
    bool good = true;
    for (int i = 0; i < PICKS; i++) {
        const uint64_t row = (uint64_t)((picks[i] + ROWS) % ROWS);
        good = good && out[i][0] == row * 1000 && out[i][WORDS - 1] == row * 1000 + WORDS - 1;
    }
    return good;
}

#endif
