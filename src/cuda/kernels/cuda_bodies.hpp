/* SPDX-License-Identifier: MIT */
/* Each kernel by its line: the arguments that its source takes, its body, and the most threads of a block. */
#ifndef GARNER_CUDA_BODIES_HPP
#define GARNER_CUDA_BODIES_HPP

#include "any_nest.hpp"
#include "staged.hpp"
#include "vectors.hpp"

template <int SOURCE> struct source_of {
    typedef struct cuda_few arguments;
    enum { MOST_THREADS = SOURCE == CUDA_TABLE || SOURCE == CUDA_PANEL ? 1024 : 256 };
};
template <> struct source_of<CUDA_NEST> {
    typedef struct cuda_any arguments;
    enum { MOST_THREADS = 256 };
};
template <> struct source_of<CUDA_PACKED> {
    typedef struct cuda_any arguments;
    enum { MOST_THREADS = 256 };
};

template <int SOURCE, int INDEX, int VECTOR> struct body_of {
    static KERNEL_CODE void run(const struct cuda_few &few, const block &b)
    {
        move_vectors<SOURCE, INDEX, VECTOR>(few, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_TABLE, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_few &few, const block &b)
    {
        move_tables<INDEX, VECTOR>(few, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_PANEL, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_few &few, const block &b)
    {
        move_panels<INDEX, VECTOR>(few, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_NEST, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_any &any, const block &b)
    {
        move_nest<INDEX, VECTOR>(any, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_PACKED, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_any &any, const block &b)
    {
        move_packed(any, b);
    }
};

#endif
