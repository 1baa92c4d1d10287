/* SPDX-License-Identifier: MIT */
/*
 * The command garner, called again and again in one process, with another call failing each time: what a
 * failure leaks, a leak checker then finds at the end, which takes it seconds and would take hours after
 * each. Reads command lines from standard input, words separated by tabs; failing_call.c must be preloaded.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define main garner_main
#include "../../cli/main.c"
#undef main

enum { MOST_WORDS = 40, MOST_CALLS = 100000, SYSTEM_FAILED = 5 };

static void (*begin)(const char *plan, const char *objects, int report);
static long (*end)(void);
static int (*happened)(void);

static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol) {
        fputs("failing_commands: failing_call.c is not preloaded\n", stderr);
        exit(2);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static int run(int count, char **words, const char *plan, int report)
{
    char *copy[MOST_WORDS + 1];
    memcpy(copy, words, sizeof copy);
    begin(plan, "", report);
    int code = garner_main(count, copy);
    end();
    return code;
}

/* Returns how many calls failed; -1 if an exit code was neither right nor that of a failure. */
static long fail_each(int count, char **words, int report)
{
    const int right = run(count, words, "none:0", report);
    for (int n = 1; n < MOST_CALLS; n++) {
        char plan[32];
        snprintf(plan, sizeof plan, "*:%d", n);
        const int code = run(count, words, plan, report);
        if (code != right && code != SYSTEM_FAILED)
            return fprintf(stderr, "exit code %d for %s\n", code, plan), -1;
        if (happened()) continue;
        if (run(count, words, "none:0", report) != right)
            return fputs("the next call is wrong\n", stderr), -1;
        return n - 1;
    }
    return fputs("it does not end\n", stderr), -1;
}

int main(void)
{
    static char line[1 << 14];
    const int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int told = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10),
              said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    find(&begin, "failing_begin");
    find(&end, "failing_end");
    find(&happened, "failing_happened");
    while (fgets(line, sizeof line, stdin)) {
        static char name[] = "garner";
        char *words[MOST_WORDS + 1] = {name}, *rest = NULL;
        int count = 1;
        for (char *word = strtok_r(line, "\t\n", &rest); word && count < MOST_WORDS;
             word = strtok_r(NULL, "\t\n", &rest))
            words[count++] = word;
        dup2(quiet, STDOUT_FILENO);
        dup2(quiet, STDERR_FILENO);
        const long failed = fail_each(count, words, quiet);
        fflush(stdout);
        dup2(said, STDERR_FILENO);
        dprintf(told, "%ld\t%s\n", failed, words[1]);
        if (failed < 0) return 1;
    }
    return 0;
}
