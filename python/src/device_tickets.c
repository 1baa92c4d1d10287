/* SPDX-License-Identifier: MIT */
/* A short list; what does not fit is destroyed. */
#include "device_tickets.h"

#include <pthread.h>

enum { MOST_IDLE = 64 };

static struct {
    garner_cuda_ticket *ticket;
    int device;
} idle[MOST_IDLE];
static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

garner_status device_ticket_take(const struct device_library *library, int device, bool is_captured,
                                 garner_cuda_ticket **ticket, garner_error *error)
{
    *ticket = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = count - 1; i >= 0 && *ticket == NULL; i--)
        if (idle[i].device == device) {
            *ticket = idle[i].ticket;
            idle[i] = idle[--count];
        }
    pthread_mutex_unlock(&mutex);
    if (*ticket) return GARNER_OK;
    if (!is_captured) return library->ticket_create(ticket, device, error);
    *error = (garner_error){.status = GARNER_BAD_ARGUMENT};
    PyOS_snprintf(error->message, sizeof error->message,
                  "cuda: a CUDA graph is being captured before any gather ran on this device; run one within "
                  "garner.cuda.deferred() first, as a warm-up");
    return GARNER_BAD_ARGUMENT;
}

void device_ticket_give(const struct device_library *library, int device, garner_cuda_ticket *ticket)
{
    pthread_mutex_lock(&mutex);
    const bool fits = count < MOST_IDLE;
    if (fits) {
        idle[count].ticket = ticket;
        idle[count++].device = device;
    }
    pthread_mutex_unlock(&mutex);
    if (!fits) library->ticket_destroy(ticket);
}
