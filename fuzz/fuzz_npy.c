/* SPDX-License-Identifier: MIT */
/* .npy files: any bytes are refused, or are tensors that lie within them. */
#include "stored_input.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return look_at_store("x.npy", bytes, size);
}
