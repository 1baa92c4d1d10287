/* SPDX-License-Identifier: MIT */
/* Signals and forks, on every system that has them. */
#define _GNU_SOURCE
#include "system_threads.h"

#if !defined(_WIN32)
#include <pthread.h>

/* Signals are for the program's own threads, but for those that a thread's own access raises, as to a mapped
 * file that has become shorter: where they are blocked nobody can handle them, and the program ends. */
void garner_signals_block(garner_signals *before)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    sigdelset(&all, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void garner_signals_restore(const garner_signals *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void garner_forks_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    pthread_atfork(before, in_parent, in_child);
}
#endif
