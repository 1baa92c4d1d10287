/* SPDX-License-Identifier: MIT */
/*
 * libgarner_cuda.so, loaded by its name when --device names a GPU: the command links nothing of it, so that
 * one command serves machines with and without GPUs.
 */
#ifndef GARNER_CLI_GPU_LIBRARY_H
#define GARNER_CLI_GPU_LIBRARY_H

#include "garner_cuda.h"

enum { GPU_LIBRARY_PATH = 8192 };

/* Its functions, by their names without garner_cuda_. */
struct gpu_library {
#define GPU_FUNCTION(name) __typeof__(garner_cuda_##name) *name;
#include "gpu_library.def"
    char path[GPU_LIBRARY_PATH]; /* as it was found; a name alone was found where the system looks */
};

/*
 * Loads it once: from GARNER_CUDA_LIBRARY if that is set; else beside the command, where it is installed, and
 * where the system looks for libraries. GARNER_SYSTEM says why there is none; *library is NULL if
 * that is because there is no such file, which is no failure of the system's.
 */
garner_status gpu_library_load(const struct gpu_library **library, garner_error *error);

#endif
