/* SPDX-License-Identifier: MIT */
/*
 * Signals and descriptors. Input files are mapped, so one that another process truncates is met as
 * SIGBUS; the handler may do little, and does it: one line with file and offset, and exit code 5. No signal
 * that ends the command leaves half a file behind.
 */
#define _POSIX_C_SOURCE 200809L

#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "exits.h"
#include "file.h"
#include "mapped_file.h"

/* A line that grows; what does not fit is left out. */
struct line {
    size_t size;
    char text[2048];
};

static void add(struct line *line, const char *text, size_t size)
{
    for (size_t i = 0; i < size && line->size < sizeof line->text; i++)
        line->text[line->size++] = text[i];
}

static void add_text(struct line *line, const char *text)
{
    add(line, text, strlen(text));
}

static void add_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    add(line, digits + at, sizeof digits - at);
}

static void tell_shrank(const void *address)
{
    static struct line line;
    static struct mapped_file file;
    add_text(&line, "garner: ");
    if (mapped_file_find(&file, address)) {
        add(&line, file.path, file.size);
        add_text(&line, ": cannot read at offset ");
        add_number(&line, file.offset);
        add_text(&line, ": the file");
    } else {
        add_text(&line, "an input file");
    }
    add_text(&line, " became shorter, or unreadable, while it was read\n");
    ssize_t ignored = write(STDERR_FILENO, line.text, line.size);
    (void)ignored;
}

/* Several threads may meet the end of a file: the first one speaks for all, and ends them. */
static void file_shrank(int number, siginfo_t *about, void *context)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    (void)number, (void)context;
    while (atomic_flag_test_and_set(&told))
        pause();
    tell_shrank(about->si_addr);
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
    action.sa_sigaction = file_shrank;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN; /* a closed pipe is an error of write, with a message */
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* so is a limit on the size of files */
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGALRM,
                                 SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        clear_up_after(ending[i]);
    fill_standard_descriptors();
}
