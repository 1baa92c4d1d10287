/* SPDX-License-Identifier: MIT */
/* The runtime's tensors, and what it knows of tensors to come, as garner sees them. */
#ifndef GARNER_ORT_OPERAND_H
#define GARNER_ORT_OPERAND_H

#include "runtime.h"

/* A tensor that exists. Its shape stays the runtime's; strings have no data pointer. */
OrtStatus *ort_operand_read(const struct ort *ort, const OrtValue *value, garner_tensor *tensor);

/* Type and shape of a tensor to come, into `extents`; an open extent is -1. False if even that is unknown. */
bool ort_operand_expect(const struct ort *ort, const OrtTypeInfo *type, garner_tensor *tensor,
                        int64_t extents[GARNER_MAX_RANK]);

/* The same; an open extent counts as unknown. */
bool ort_operand_foresee(const struct ort *ort, const OrtTypeInfo *type, garner_tensor *tensor,
                         int64_t extents[GARNER_MAX_RANK]);

#endif
