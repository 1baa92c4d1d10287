/* SPDX-License-Identifier: MIT */
/*
 * The bare loop that gathers on a GPU are compared with: one thread for each vector or element, which checks nothing. And
 * what the benchmark needs beside it: which sectors a gather touches, loads of random sectors, a comparison of two buffers,
 * and a kernel that only takes time.
 */
typedef unsigned long long u64;
typedef unsigned u32;

enum { MOST_DIMS = 4, MOST_AXES = 4 };

struct nest {
    u64 items;
    long long extent[MOST_DIMS], data[MOST_DIMS], index[MOST_DIMS], out[MOST_DIMS];
    long long stride[MOST_AXES], bound[MOST_AXES]; /* bound: 0 where no index is negative */
    u32 vectors;                                   /* of a run */
    int axes;
};

template <int BYTES> struct vector_of;
template <> struct vector_of<1> { typedef unsigned char type; };
template <> struct vector_of<2> { typedef unsigned short type; };
template <> struct vector_of<4> { typedef u32 type; };
template <> struct vector_of<8> { typedef u64 type; };
template <> struct vector_of<16> { typedef ulonglong2 type; };

/* Where the run of an item lies in data and in out, and which vector of it the item is. */
struct place {
    long long from, to;
    u32 within;
};

template <class INDEX>
__device__ __forceinline__ place find(const INDEX *indices, const nest &n, int rank, u64 item)
{
    u32 point = (u32)item;
    long long at = 0;
    place found = {0, 0, 0};
    if (n.vectors > 1) {
        point = n.items >> 32 ? (u32)(item / n.vectors) : (u32)item / n.vectors;
        found.within = (u32)(item - (u64)point * n.vectors);
    }
#pragma unroll
    for (int d = rank - 1; d >= 0; d--) {
        const u32 extent = (u32)n.extent[d], rest = d ? point / extent : 0, here = point - rest * extent;
        found.from += here * n.data[d];
        at += here * n.index[d];
        found.to += here * n.out[d];
        point = rest;
    }
    for (int k = 0; k < n.axes; k++) {
        const long long index = indices[at + k];
        found.from += (index < 0 ? index + n.bound[k] : index) * n.stride[k];
    }
    return found;
}

template <int RANK, int VECTOR, class INDEX>
__device__ void gather(const char *data, const INDEX *indices, char *out, const nest &n)
{
    typedef typename vector_of<VECTOR>::type vector;
    const u64 item = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n.items) return;
    const place found = find(indices, n, RANK, item);
    ((vector *)(out + found.to))[found.within] = ((const vector *)(data + found.from))[found.within];
}

#define GATHER(rank, vector, bytes, type)                                                                        \
    extern "C" __global__ void bare_##rank##_##vector##_##bytes(const char *data, const type *indices, char *out, \
                                                                const nest n)                                    \
    {                                                                                                            \
        gather<rank, vector, type>(data, indices, out, n);                                                       \
    }
#define VECTORS(rank, bytes, type) \
    GATHER(rank, 1, bytes, type)   \
    GATHER(rank, 2, bytes, type)   \
    GATHER(rank, 4, bytes, type)   \
    GATHER(rank, 8, bytes, type)   \
    GATHER(rank, 16, bytes, type)
#define RANKS(bytes, type)  \
    VECTORS(1, bytes, type) \
    VECTORS(2, bytes, type) \
    VECTORS(3, bytes, type) \
    VECTORS(4, bytes, type)
RANKS(4, int)
RANKS(8, long long)

/* Sets a bit for each sector of 32 bytes of data that the gather touches; no vector lies in two. */
template <class INDEX> __device__ void mark(const INDEX *indices, u32 *map, const nest &n, int rank, int vector)
{
    const u64 item = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n.items) return;
    const place found = find(indices, n, rank, item);
    const u64 sector = (u64)(found.from + (long long)found.within * vector) / 32;
    atomicOr(&map[sector / 32], 1u << (sector % 32));
}
extern "C" __global__ void mark_4(const int *indices, u32 *map, const nest n, int rank, int vector)
{
    mark(indices, map, n, rank, vector);
}
extern "C" __global__ void mark_8(const long long *indices, u32 *map, const nest n, int rank, int vector)
{
    mark(indices, map, n, rank, vector);
}

/* Adds up how many bits are set. */
extern "C" __global__ void ones(const u32 *map, u64 words, u64 *count)
{
    u64 found = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (u64)gridDim.x * blockDim.x)
        found += __popc(map[i]);
    if (found) atomicAdd(count, found);
}

/* Loads from so many random sectors of a table of so many, and stores nothing; `salt` says which. */
extern "C" __global__ void sectors(const char *data, u64 table, u64 loads, u64 salt, u32 *never)
{
    enum { FLIGHT = 4 };
    u32 value[FLIGHT] = {}, sum = 0;
    const u64 first = (u64)blockIdx.x * blockDim.x * FLIGHT + threadIdx.x;
#pragma unroll
    for (int i = 0; i < FLIGHT; i++) {
        u64 x = (first + i * blockDim.x + salt) * 0x9E3779B97F4A7C15ull;
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
        if (first + i * blockDim.x < loads) value[i] = *(const u32 *)(data + __umul64hi(x, table) * 32);
    }
    for (int i = 0; i < FLIGHT; i++)
        sum += value[i];
    if (sum == 0x5EC7035u) *never = sum; /* or the loads would be left out */
}

/* How many bytes of two buffers differ. */
extern "C" __global__ void differ(const unsigned char *a, const unsigned char *b, u64 bytes, u64 *count)
{
    u64 found = 0;
    const u64 threads = (u64)gridDim.x * blockDim.x, words = bytes / 16;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads) {
        const ulonglong2 x = ((const ulonglong2 *)a)[i], y = ((const ulonglong2 *)b)[i];
        if (x.x == y.x && x.y == y.y) continue;
        for (int k = 0; k < 16; k++)
            found += a[i * 16 + k] != b[i * 16 + k];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (u64 i = words * 16; i < bytes; i++)
            found += a[i] != b[i];
    if (found) atomicAdd(count, found);
}

/* Takes so many nanoseconds. */
extern "C" __global__ void spin(u64 nanoseconds)
{
    u64 start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}
