/* SPDX-License-Identifier: MIT */
/*
 * What a thread of a kernel can do, on the device and in a loop of the host: load, store, wait for its block,
 * report. The bodies of the kernels are written in these words alone, so that g++ compiles them too, and
 * every access of theirs can be checked by its sanitizers on a machine without a GPU.
 */
#ifndef GARNER_CUDA_THREAD_HPP
#define GARNER_CUDA_THREAD_HPP

#include "kernel_arguments.h"

#if defined(__CUDACC__)
#define KERNEL_CODE __device__ __forceinline__
#define KERNEL_COLD static __device__ __noinline__
#else
#define KERNEL_CODE inline
#define KERNEL_COLD static
#endif

/* The block that a body runs in. */
struct block {
    int64_t number, blocks;
    int threads;
    char *shared;
};

/* Lets each thread of the block do something. */
template <class WORK> KERNEL_CODE void each_thread(const block &b, WORK work)
{
#if defined(__CUDACC__)
    work((int)threadIdx.x);
#else
    for (int thread = 0; thread < b.threads; thread++)
        work(thread);
#endif
}

/* Waits until all threads of the block are here; in a loop of the host they are. */
KERNEL_CODE void wait_for_block()
{
#if defined(__CUDACC__)
    __syncthreads();
#endif
}

/* Lets each thread do something, and then waits for all of them. */
template <class WORK> KERNEL_CODE void all_threads(const block &b, WORK work)
{
    each_thread(b, work);
    wait_for_block();
}

/* ---- Vectors ---- */

template <int BYTES> struct vector_of;
template <> struct vector_of<1> {
    typedef uint8_t type;
};
template <> struct vector_of<2> {
    typedef uint16_t type;
};
template <> struct vector_of<4> {
    typedef uint32_t type;
};
template <> struct vector_of<8> {
    typedef unsigned long long type;
};
#if defined(__CUDACC__)
template <> struct vector_of<16> {
    typedef ulonglong2 type;
};
#else
struct alignas(16) two_words {
    unsigned long long x, y;
};
template <> struct vector_of<16> {
    typedef two_words type;
};
#endif

/* After this the compiler does not know that a number is the one that it was: it computes what follows from
 * it once more, rather than to keep that in registers. */
KERNEL_CODE uint32_t forget(uint32_t number)
{
    __asm__("" : "+r"(number));
    return number;
}

/* Loads what this launch never writes. To let it be evicted first was measured, and is slower: neighbours use
 * the rest of its sector. */
template <class VECTOR> KERNEL_CODE VECTOR load(const void *at)
{
#if defined(__CUDACC__)
    return __ldg((const VECTOR *)at);
#else
    return *(const VECTOR *)at;
#endif
}

/* The same of what no other thread loads. */
template <class VECTOR> KERNEL_CODE VECTOR load_once(const void *at)
{
#if defined(__CUDACC__)
    return __ldcs((const VECTOR *)at);
#else
    return *(const VECTOR *)at;
#endif
}

/* A few numbers that lie one after the other, aligned as a whole up to 16 bytes. */
template <class NUMBER, int COUNT>
struct alignas(sizeof(NUMBER) * COUNT < 16 ? sizeof(NUMBER) * COUNT : 16) pack {
    NUMBER at[COUNT];
};

/* Stores what nobody reads soon. */
template <class VECTOR> KERNEL_CODE void store(void *at, VECTOR value)
{
#if defined(__CUDACC__)
    __stcs((VECTOR *)at, value);
#else
    *(VECTOR *)at = value;
#endif
}

/* The same for packs, a vector at a time. */
template <class NUMBER, int COUNT> KERNEL_CODE pack<NUMBER, COUNT> load_pack(const void *at)
{
    constexpr int bytes = alignof(pack<NUMBER, COUNT>), vectors = (int)sizeof(pack<NUMBER, COUNT>) / bytes;
    typedef typename vector_of<bytes>::type vector;
    union {
        vector part[vectors];
        pack<NUMBER, COUNT> whole;
    } both;
    for (int i = 0; i < vectors; i++)
        both.part[i] = load<vector>((const char *)at + i * bytes);
    return both.whole;
}

template <class NUMBER, int COUNT> KERNEL_CODE void store_pack(void *at, const pack<NUMBER, COUNT> &value)
{
    constexpr int bytes = sizeof(pack<NUMBER, COUNT>);
    union {
        typename vector_of<bytes>::type vector;
        pack<NUMBER, COUNT> whole;
    } both;
    both.whole = value;
    store(at, both.vector);
}

KERNEL_CODE uint32_t divide(uint32_t a, const struct divisor &d)
{
#if defined(__CUDACC__)
    return (__umulhi(a, d.magic) + a) >> d.shift;
#else
    return ((uint32_t)((uint64_t)a * d.magic >> 32) + a) >> d.shift;
#endif
}

/* ---- Reports ---- */

/* Lets all that was written before be seen before what is written after it; and for reading the same. */
KERNEL_CODE void fence()
{
#if defined(__CUDACC__)
    __threadfence_system();
#endif
}

/* Whether a refused index comes before the recorded one. The launch is read first, and written last. */
KERNEL_CODE bool precedes(const struct cuda_task &task, int64_t point, int64_t component,
                          const volatile struct cuda_record *record)
{
    const int64_t launch = record->launch;
    if (task.launch != launch) return task.launch < launch;
    fence();
    if (point != record->point) return point < record->point;
    return component < record->component;
}

KERNEL_CODE void write_record(const struct cuda_task &task, int64_t point, int64_t component, int64_t value)
{
    volatile struct cuda_record *record = task.record;
    if (!precedes(task, point, component, record)) return;
    record->launch = NO_LAUNCH; /* or others would compare their points with half of a record */
    fence();
    record->point = point;
    record->component = component;
    record->value = value;
    record->plan = task.plan;
    fence();
    record->launch = task.launch;
}

#if defined(__CUDACC__)
static __device__ unsigned report_lock; /* one for all launches: nobody reports often */

/* Whether no other thread that reports in this moment has a lower point. */
static __device__ bool is_lowest(int64_t point)
{
    const unsigned together = __activemask();
    const int lane = (int)(threadIdx.x % 32);
    bool lowest = true;
    for (unsigned others = together; others != 0; others &= others - 1) {
        const int other = __ffs((int)others) - 1;
        const long long there = __shfl_sync(together, (long long)point, other);
        lowest = lowest && (there > point || (there == point && other >= lane));
    }
    return lowest;
}
#endif

/* Reports a refused index, if it is the first so far. */
KERNEL_COLD void report(const struct cuda_task &task, int64_t point, int64_t component, int64_t value)
{
#if defined(__CUDACC__)
    if (!is_lowest(point) || !precedes(task, point, component, task.record)) return;
    while (atomicCAS(&report_lock, 0u, 1u) != 0u)
        __nanosleep(200);
    fence();
    write_record(task, point, component, value);
    fence();
    atomicExch(&report_lock, 0u);
#else
    write_record(task, point, component, value);
#endif
}

#endif
