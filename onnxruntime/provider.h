/* SPDX-License-Identifier: MIT */
/* The execution provider of one session: claims the nodes that have a kernel here. */
#ifndef GARNER_ONNXRUNTIME_PROVIDER_H
#define GARNER_ONNXRUNTIME_PROVIDER_H

#include "registry.h"

/*
 * Makes one with the options that the session gives it:
 *     min_bytes   nodes whose output is known to be smaller are left to the runtime (0: none)
 * An option of another name, or a value that is no such number, is refused. ort and registry must outlive it.
 */
OrtStatus *provider_create(const struct ort *ort, const struct registry *registry,
                           const OrtSessionOptions *options, OrtEp **ep);
void provider_release(OrtEp *ep);

#endif
