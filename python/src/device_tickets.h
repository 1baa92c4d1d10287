/* SPDX-License-Identifier: MIT */
/* Tickets that nobody uses at the moment: making one takes pinned memory, which takes long. */
#ifndef GARNER_PYTHON_DEVICE_TICKETS_H
#define GARNER_PYTHON_DEVICE_TICKETS_H

#include "device_library.h"

/* A ticket of a device, kept from before or new. While a stream is captured none can be made. */
garner_status device_ticket_take(const struct device_library *library, int device, bool is_captured,
                                 garner_cuda_ticket **ticket, garner_error *error);

/* Keeps a ticket that was waited for. */
void device_ticket_give(const struct device_library *library, int device, garner_cuda_ticket *ticket);

#endif
