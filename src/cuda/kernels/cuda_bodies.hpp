/* SPDX-License-Identifier: MIT */
/* Each kernel by its line: the arguments that its source takes, its body, and the most threads of a block. */
#ifndef GARNER_CUDA_BODIES_HPP
#define GARNER_CUDA_BODIES_HPP

#include "any_nest.hpp"
#include "long_runs.hpp"
#include "once.hpp"
#include "rows.hpp"
#include "short_runs.hpp"
#include "staged.hpp"
#include "vectors.hpp"

/* LEAST_BLOCKS run on a multiprocessor at a time, which bounds the registers of a thread. Where each thread
 * has one item it takes as many threads as there can be. */
template <int SOURCE> struct source_of {
    typedef struct cuda_task arguments;
    enum { MOST_THREADS = 256, LEAST_BLOCKS = 4 };
};
template <> struct source_of<CUDA_LINE_ONCE> {
    typedef struct cuda_task arguments;
    enum { MOST_THREADS = 256, LEAST_BLOCKS = 8 };
};
template <> struct source_of<CUDA_GRID_ONCE> : source_of<CUDA_LINE_ONCE> {
};
template <> struct source_of<CUDA_ROWS> : source_of<CUDA_LINE_ONCE> {
};
template <> struct source_of<CUDA_ELEMENTS> : source_of<CUDA_LINE_ONCE> {
};
template <> struct source_of<CUDA_LINE_LONG> {
    typedef struct cuda_task arguments;
    enum { MOST_THREADS = 256, LEAST_BLOCKS = 6 };
};
template <> struct source_of<CUDA_GRID_LONG> : source_of<CUDA_LINE_LONG> {
};
template <> struct source_of<CUDA_LONG_ROWS> : source_of<CUDA_LINE_LONG> {
};
template <> struct source_of<CUDA_TABLE> {
    typedef struct cuda_task arguments;
    enum { MOST_THREADS = 1024, LEAST_BLOCKS = 1 };
};
template <> struct source_of<CUDA_PANEL> : source_of<CUDA_TABLE> {
};
template <> struct source_of<CUDA_NEST> {
    typedef struct cuda_any arguments;
    enum { MOST_THREADS = 256, LEAST_BLOCKS = 1 };
};
template <> struct source_of<CUDA_PACKED> : source_of<CUDA_NEST> {
};

template <int SOURCE, int INDEX, int VECTOR> struct body_of {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_vectors<SOURCE, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_ROWS, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_rows<CUDA_ROWS, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_ELEMENTS, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_rows<CUDA_ELEMENTS, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_LONG_ROWS, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_long_rows<INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_LINE_ONCE, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_once<CUDA_LINE, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_GRID_ONCE, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_once<CUDA_GRID, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_LINE_LONG, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_long<CUDA_LINE, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_GRID_LONG, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_long<CUDA_GRID, INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_RUNS, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_short_runs<INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_TABLE, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_tables<INDEX, VECTOR>(task, b);
    }
};
template <int INDEX, int VECTOR> struct body_of<CUDA_PANEL, INDEX, VECTOR> {
    static KERNEL_CODE void run(const struct cuda_task &task, const block &b)
    {
        move_panels<INDEX, VECTOR>(task, b);
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
