/* SPDX-License-Identifier: MIT */
/*
 * Signals and descriptors. Input files are mapped, so one that another process truncates is met as
 * SIGBUS; the handler may do little, and does it: one line, and exit code 5. No signal that ends the command
 * leaves half a file behind.
 */
#define _POSIX_C_SOURCE 200809L

#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "exits.h"
#include "file.h"

static void file_shrank(int signal)
{
    static const char text[] = "garner: an input file became shorter, or unreadable, while it was read\n";
    (void)signal;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    file_abandon();
    _exit(EXIT_SYSTEM);
}

/* Ends as it would have without us; the signal waits until this returns. Workers block signals, so this is
 * the thread that writes. */
static void clear_up(int number)
{
    file_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

/* A file opened later must not land on a standard descriptor that was closed at start. What stands in
 * for it cannot be written, so output to a closed standard output still fails. */
static void fill_standard_descriptors(void)
{
    for (int i = 0; i <= STDERR_FILENO; i++) {
        int descriptor = fcntl(i, F_GETFD) < 0 ? open("/dev/null", O_RDONLY) : i;
        if (descriptor != i && descriptor >= 0) close(descriptor);
    }
}

/* What whoever started us wanted ignored stays so. */
static void clear_up_after(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
    action.sa_handler = clear_up;
    sigaction(number, &action, NULL);
}

void signals_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = file_shrank;
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = SIG_IGN; /* a closed pipe is an error of write, with a message */
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* so is a limit on the size of files */
    clear_up_after(SIGHUP);
    clear_up_after(SIGINT);
    clear_up_after(SIGQUIT);
    clear_up_after(SIGTERM);
    fill_standard_descriptors();
}
