/* SPDX-License-Identifier: MIT */
/* Kernels: what a node of a model becomes. */
#ifndef GARNER_ORT_KERNEL_H
#define GARNER_ORT_KERNEL_H

#include "runtime.h"

/* One version of one operator, in the runtime that it is made for: the state of ort_kernel_create. */
struct version {
    const struct ort *ort;
    garner_kind kind;
    const char *spec;
};

/* An OrtKernelCreateFunc. */
OrtStatus *ort_kernel_create(void *version, const OrtKernelInfo *info, OrtKernelImpl **kernel);

#endif
