# SPDX-License-Identifier: MIT
"""Whole models inside the runtimes, in two steps that share nothing but a folder. `export` builds architectures of
transformers and torchvision with random weights and writes them as ONNX and as IR; large weights are described, not
written. `measure` fills them with seeded numbers and runs each model in each runtime, alone and with garner."""
