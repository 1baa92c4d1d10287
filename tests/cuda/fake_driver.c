/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for NVIDIA's driver, libcuda.so.1: two devices, whose memory is memory of the host and whose
 * kernels are the library's own in a loop. It refuses what the driver refuses: a kernel with too many threads
 * or too much shared memory, a context that is not current, a stream or an event that is none.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_driver.h"
#include "host_loop.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST_BYTES = 1 << 30, MOST_EVENTS = 512 };
/* Nothing stays in so small an L2, and few threads run at a time: what is chosen for large data is chosen for
 * the small ones of tests, too. */
enum { MULTIPROCESSORS = 4, L2 = 1024, RESIDENT = 64, COMPUTE_CAPABILITY = 9 };
enum { DEVICES = 2, SHARED = 227 * 1024, MOST_MEMORIES = 256, MOST_KERNELS = 256 };
enum { BAD_VALUE = 1, NO_MEMORY = 2, BAD_DEVICE = 101, BAD_CONTEXT = 201, BAD_HANDLE = 400, NOT_FOUND = 500 };

static int contexts[DEVICES]; /* their addresses are the contexts */
static _Thread_local void *stack[8];
static _Thread_local int depth;

struct memory {
    unsigned char *begin;
    size_t bytes;
    int device; /* FAKE_PINNED, FAKE_MANAGED */
};
static struct memory memories[MOST_MEMORIES];
static struct {
    int launches, shared;
} state_of[MOST_KERNELS];
static struct event {
    bool used;
    struct timespec recorded;
} events[MOST_EVENTS];
static int backwards, capturing, failure, waited, calls_left;
static void *last_stream;
static char failing[64]; /* "": nothing */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int fails(const char *symbol)
{
    if (strcmp(failing, symbol) != 0 || --calls_left > 0) return 0;
    failing[0] = '\0';
    return failure;
}
#define MAY_FAIL                       \
    do {                               \
        int result_ = fails(__func__); \
        if (result_) return result_;   \
    } while (0)

EXPORT void fake_fail_call(const char *symbol, int number, int result)
{
    snprintf(failing, sizeof failing, "%s", symbol ? symbol : "");
    calls_left = number;
    failure = result;
}

EXPORT void fake_fail_next(const char *symbol, int result)
{
    fake_fail_call(symbol, 1, result);
}

EXPORT int fake_has_failed(void)
{
    return !failing[0];
}

EXPORT int fake_launch_count(const char *kernel)
{
    for (int i = 0; i < host_kernel_count(); i++)
        if (strcmp(host_kernel_at(i)->name, kernel) == 0) return state_of[i].launches;
    return -1;
}

EXPORT void fake_set_backwards(int value)
{
    backwards = value;
}

EXPORT void fake_set_capture(int value)
{
    capturing = value;
}

static int add_memory(void **memory, size_t bytes, int device)
{
    pthread_mutex_lock(&mutex);
    int result = NO_MEMORY;
    for (int i = 0; i < MOST_MEMORIES && result; i++) {
        if (memories[i].begin || posix_memalign(memory, 256, bytes ? bytes : 1)) continue;
        memories[i] = (struct memory){*memory, bytes, device};
        result = 0;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static int remove_memory(const void *memory)
{
    for (int i = 0; i < MOST_MEMORIES; i++)
        if (memories[i].begin == memory && memory) {
            free(memories[i].begin);
            memories[i].begin = NULL;
            return 0;
        }
    return BAD_VALUE;
}

EXPORT void *fake_last_stream(void)
{
    return last_stream;
}

EXPORT int fake_wait_count(void)
{
    return waited;
}

EXPORT int fake_in_use(void)
{
    int count = 0;
    for (int i = 0; i < MOST_MEMORIES; i++)
        count += memories[i].begin != NULL;
    for (int i = 0; i < MOST_EVENTS; i++)
        count += events[i].used;
    return count;
}

EXPORT void *fake_allocate(size_t bytes, int device)
{
    void *memory = NULL;
    return add_memory(&memory, bytes, device) == 0 ? memory : NULL;
}

EXPORT void fake_free(void *memory)
{
    remove_memory(memory);
}

/* ---- Devices and contexts ---- */

EXPORT int cuInit(unsigned flags)
{
    MAY_FAIL;
    return flags == 0 ? 0 : BAD_VALUE;
}

EXPORT int cuDriverGetVersion(int *version)
{
    MAY_FAIL;
    *version = 13000;
    return 0;
}

EXPORT int cuGetErrorString(int result, const char **text)
{
    *text = result == NO_MEMORY       ? "out of memory"
            : result == BAD_HANDLE    ? "invalid resource handle"
            : result == FAKE_NAMELESS ? NULL
                                      : "a fake error";
    return *text ? 0 : BAD_VALUE;
}

EXPORT int cuDeviceGetCount(int *count)
{
    MAY_FAIL;
    const char *wanted = getenv("FAKE_DEVICES"); /* of tests that have only the environment */
    *count = wanted ? atoi(wanted) : DEVICES;
    return 0;
}

EXPORT int cuDeviceGet(int *device, int number)
{
    MAY_FAIL;
    *device = number + 10; /* not the same as its number */
    return number >= 0 && number < DEVICES ? 0 : BAD_DEVICE;
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    MAY_FAIL;
    snprintf(name, (size_t)size, "Fake %d", device - 10);
    return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    MAY_FAIL;
    (void)device;
    *value = attribute == 16   ? MULTIPROCESSORS
             : attribute == 38 ? L2
             : attribute == 39 ? RESIDENT
             : attribute == 75 ? COMPUTE_CAPABILITY
             : attribute == 97 ? SHARED
                               : 0;
    return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    MAY_FAIL;
    (void)device;
    *bytes = MOST_BYTES;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    MAY_FAIL;
    *context = &contexts[device - 10];
    return 0;
}

EXPORT int cuCtxGetCurrent(void **context)
{
    MAY_FAIL;
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}

static int current(void)
{
    return depth ? (int)((int *)stack[depth - 1] - contexts) : -1;
}

EXPORT int cuCtxGetDevice(int *device)
{
    MAY_FAIL;
    *device = current();
    return depth ? 0 : BAD_CONTEXT;
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    MAY_FAIL;
    if (depth == 8) return BAD_CONTEXT;
    stack[depth++] = context;
    return 0;
}

EXPORT int cuCtxPopCurrent_v2(void **context)
{
    MAY_FAIL;
    if (depth == 0) return BAD_CONTEXT;
    *context = stack[--depth];
    return 0;
}

/* ---- Memory ---- */

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    void *memory;
    MAY_FAIL;
    if (bytes == 0) return BAD_VALUE;
    if (bytes > MOST_BYTES) return NO_MEMORY;
    if (!depth) return BAD_CONTEXT;
    const int result = add_memory(&memory, bytes, current());
    *address = (uint64_t)(uintptr_t)memory;
    return result;
}

EXPORT int cuMemFree_v2(uint64_t address)
{
    MAY_FAIL;
    return remove_memory((void *)(uintptr_t)address);
}

EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    MAY_FAIL;
    if (!depth || flags != 3) return BAD_VALUE;
    return add_memory(memory, bytes, FAKE_PINNED);
}

EXPORT int cuMemFreeHost(void *memory)
{
    MAY_FAIL;
    return remove_memory(memory);
}

EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    if (bytes) memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    if (bytes) memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

/* Addresses that the driver does not know are memory of the host. */
EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    MAY_FAIL;
    if (!depth) return BAD_CONTEXT;
    if (stream == (void *)4) return BAD_HANDLE;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream)
{
    if (!depth) return BAD_CONTEXT;
    if (stream == (void *)4) return BAD_HANDLE;
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}

EXPORT int cuPointerGetAttributes(unsigned count, int *attributes, void **values, uint64_t address)
{
    const unsigned char *at = (const unsigned char *)(uintptr_t)address;
    int kind = 0, device = -2, managed = 0;
    MAY_FAIL;
    for (int i = 0; i < MOST_MEMORIES; i++)
        if (memories[i].begin && at >= memories[i].begin && at < memories[i].begin + memories[i].bytes) {
            managed = memories[i].device == FAKE_MANAGED;
            kind = memories[i].device == FAKE_PINNED ? 1 : 2;
            device = memories[i].device == FAKE_PINNED ? 0 : managed ? 1 : memories[i].device;
        }
    for (unsigned i = 0; i < count; i++)
        *(int *)values[i] = attributes[i] == 2   ? kind
                            : attributes[i] == 8 ? managed
                            : attributes[i] == 9 ? device
                                                 : 0;
    return 0;
}

/* ---- Kernels ---- */

EXPORT int cuModuleLoadData(void **module, const void *image)
{
    MAY_FAIL;
    *module = &contexts;
    return image && depth ? 0 : BAD_VALUE;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    MAY_FAIL;
    if (module != &contexts) return BAD_HANDLE;
    for (int i = 0; i < host_kernel_count(); i++)
        if (strcmp(host_kernel_at(i)->name, name) == 0) {
            *function = &state_of[i];
            return 0;
        }
    return NOT_FOUND;
}

EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
    MAY_FAIL;
    (void)attribute;
    for (int i = 0; i < host_kernel_count(); i++)
        if (function == &state_of[i]) state_of[i].shared = value;
    return value <= SHARED ? 0 : BAD_VALUE;
}

EXPORT int cuLaunchKernel(void *function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                          unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared,
                          void *stream, void **arguments, void **extra)
{
    const int number = (int)((char *)function - (char *)state_of) / (int)sizeof state_of[0];
    MAY_FAIL;
    if (!function || !depth || extra || blocks_y != 1 || blocks_z != 1 || threads_y != 1 || threads_z != 1 ||
        blocks_x == 0)
        return BAD_VALUE;
    if (stream == (void *)4) return BAD_HANDLE;
    const struct host_kernel *kernel = host_kernel_at(number);
    if (threads_x == 0 || threads_x > (unsigned)kernel->most_threads || threads_x % 32) return BAD_VALUE;
    if (shared > 48 * 1024 && shared > (unsigned)state_of[number].shared) return BAD_VALUE;
    const struct host_grid grid = {blocks_x, (int)threads_x, shared, backwards};
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 16, shared ? shared : 1)) return NO_MEMORY;
    kernel->run(arguments[0], &grid, memory);
    free(memory);
    pthread_mutex_lock(&mutex);
    last_stream = stream;
    state_of[number].launches++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

/* ---- Streams and events ---- */

EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
    MAY_FAIL;
    *status = capturing;
    return stream == (void *)4 ? BAD_HANDLE : 0; /* one that was destroyed */
}

static bool is_event(const void *event)
{
    for (int i = 0; i < MOST_EVENTS; i++)
        if (event == &events[i]) return events[i].used;
    return false;
}

EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    MAY_FAIL;
    (void)stream, (void)flags;
    return is_event(event) && !capturing ? 0 : BAD_HANDLE;
}

EXPORT int cuStreamSynchronize(void *stream)
{
    MAY_FAIL;
    waited++;
    return stream == (void *)4 || capturing ? BAD_HANDLE : 0;
}

EXPORT int cuEventCreate(void **event, unsigned flags)
{
    MAY_FAIL;
    int result = flags & ~2U || !depth ? BAD_VALUE : NO_MEMORY;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < MOST_EVENTS && result == NO_MEMORY; i++)
        if (!events[i].used) {
            events[i].used = true;
            *event = &events[i];
            result = 0;
        }
    pthread_mutex_unlock(&mutex);
    return result;
}

EXPORT int cuEventDestroy_v2(void *event)
{
    MAY_FAIL;
    if (!is_event(event)) return BAD_HANDLE;
    ((struct event *)event)->used = false;
    return 0;
}

EXPORT int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    MAY_FAIL;
    if (!is_event(event) || capturing || !depth) return BAD_HANDLE;
    clock_gettime(CLOCK_MONOTONIC, &((struct event *)event)->recorded);
    return 0;
}

EXPORT int cuEventSynchronize(void *event)
{
    MAY_FAIL;
    waited++;
    return is_event(event) ? 0 : BAD_HANDLE;
}

/* In milliseconds. What is launched is done at once, so the time is the host's. */
EXPORT int cuEventElapsedTime(float *elapsed, void *begin, void *end)
{
    if (!is_event(begin) || !is_event(end)) return BAD_HANDLE;
    const struct timespec from = ((struct event *)begin)->recorded, to = ((struct event *)end)->recorded;
    *elapsed = (float)(1e3 * (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec));
    return 0;
}
