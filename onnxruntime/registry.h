/* SPDX-License-Identifier: MIT */
/* Which operators, versions and types have a kernel here. */
#ifndef GARNER_ONNXRUNTIME_REGISTRY_H
#define GARNER_ONNXRUNTIME_REGISTRY_H

#include "ort_kernel.h"

enum { VERSIONS = 8 };

struct registry {
    OrtKernelRegistry *kernels;
    struct version version[VERSIONS]; /* the state of each kernel's maker */
};

OrtStatus *registry_open(struct registry *registry, const struct ort *ort);
void registry_close(struct registry *registry, const struct ort *ort);

#endif
