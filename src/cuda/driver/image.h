/* SPDX-License-Identifier: MIT */
/* The kernels as the CUDA compiler made them, for several kinds of devices; the driver takes the one that
 * fits. */
#ifndef GARNER_CUDA_IMAGE_H
#define GARNER_CUDA_IMAGE_H

extern const unsigned char garner_cuda_image[];

#endif
