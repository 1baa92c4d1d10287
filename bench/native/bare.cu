/* SPDX-License-Identifier: MIT */
/*
 * The bare loop that gathers on a GPU are compared with: one thread for each vector or element, which checks nothing. And
 * what the benchmark needs beside it: a comparison of two buffers, and a kernel that only takes time.
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

template <int RANK, int VECTOR, class INDEX>
__device__ void gather(const char *data, const INDEX *indices, char *out, const nest &n)
{
    typedef typename vector_of<VECTOR>::type vector;
    const u64 item = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n.items) return;
    u32 point = (u32)item, within = 0;
    long long from = 0, at = 0, to = 0;
    if (n.vectors > 1) {
        point = n.items >> 32 ? (u32)(item / n.vectors) : (u32)item / n.vectors;
        within = (u32)(item - (u64)point * n.vectors);
    }
    for (int d = RANK - 1; d >= 0; d--) {
        const u32 extent = (u32)n.extent[d], rest = d ? point / extent : 0, here = point - rest * extent;
        from += here * n.data[d];
        at += here * n.index[d];
        to += here * n.out[d];
        point = rest;
    }
    for (int k = 0; k < n.axes; k++) {
        const long long index = indices[at + k];
        from += (index < 0 ? index + n.bound[k] : index) * n.stride[k];
    }
    ((vector *)(out + to))[within] = ((const vector *)(data + from))[within];
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
