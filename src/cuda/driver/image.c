/* SPDX-License-Identifier: MIT */
/* Puts the compiler's file into the library: its path is GARNER_CUDA_IMAGE. Tests without a compiler have
 * another image. */
#include "image.h"

#ifdef GARNER_CUDA_IMAGE
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        ".globl garner_cuda_image\n"
        ".hidden garner_cuda_image\n"
        "garner_cuda_image:\n"
        ".incbin \"" GARNER_CUDA_IMAGE "\"\n"
        ".popsection\n");
#endif
