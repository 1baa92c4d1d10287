# SPDX-License-Identifier: MIT
"""libgarner_cuda.so on a GPU against torch, CuPy and JAX on the same buffers, a plain copy, and a bare loop."""
