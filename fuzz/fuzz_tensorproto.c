/* SPDX-License-Identifier: MIT */
/* .pb files: any bytes are refused, or are one tensor that lies within them. */
#include "stored_input.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    return look_at_store("x.pb", bytes, size);
}
