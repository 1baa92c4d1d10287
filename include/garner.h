/* SPDX-License-Identifier: MIT */
/*
 * garner: the gather operators of ONNX and OpenVINO.
 *
 * This header is the whole interface and its manual. Read it from the top: the three simple calls
 * first, then exact operator versions, then plans, then threads. The library needs libc and threads
 * and nothing else; it has no global state to initialise, prints nothing, never aborts, and keeps
 * no "last error": every failure is written into a record that you own.
 *
 *     float   table[3][2] = {{1.0f, 1.2f}, {2.3f, 3.4f}, {4.5f, 5.7f}};
 *     int64_t rows[2]     = {2, -3};
 *     float   picked[2][2];
 *
 *     garner_tensor data    = {.data = table,  .shape = (int64_t[]){3, 2}, .rank = 2, .dtype = GARNER_F32};
 *     garner_tensor indices = {.data = rows,   .shape = (int64_t[]){2},    .rank = 1, .dtype = GARNER_I64};
 *     garner_tensor out     = {.data = picked, .shape = (int64_t[]){2, 2}, .rank = 2, .dtype = GARNER_F32};
 *     garner_error  error;
 *
 *     if (garner_gather(&data, &indices, 0, &out, &error) != GARNER_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Promises that hold for every function:
 *   - No input makes it read or write outside the three buffers, crash, hang or leak.
 *   - Every index is checked when it is loaded, and the value checked is the value used. Memory that
 *     another thread changes during a call can give a wrong element, never a stray access.
 *   - Shapes and strides are copied at entry. Nothing you pass is kept after the call returns, except
 *     that a plan keeps its own copies.
 *   - All functions may be called from any thread at any time; a plan may be shared between threads.
 *   - Executing needs no memory beyond the three buffers but the stack: at most 64 KiB of it in each thread,
 *     if the library is compiled with optimisation.
 *   - Elements are moved as bits: NaN payloads, -0.0 and sub-byte codes arrive as they were.
 *
 * Two variables of the environment are looked at, once. The library ignores a value that makes no sense; the
 * command `garner` refuses it. GARNER_NUM_THREADS is how many threads garner_threads(0) means: digits alone,
 * at most 2147483647; 0 is one for each CPU. GARNER_CPU keeps kernels to an instruction set and those below
 * it: "scalar", and on x86-64 "avx2", "avx512", "avx512-gather", as far as the CPU has them. Or it names a
 * profile, such as "neoverse-v1" or "zen4": gathers are then planned as for that CPU, with the instruction
 * sets that this one has. garner_cpu_profile_name lists them.
 */
#ifndef GARNER_H
#define GARNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GARNER_VERSION_MAJOR 0
#define GARNER_VERSION_MINOR 1
#define GARNER_VERSION_PATCH 0
#define GARNER_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define GARNER_API __attribute__((visibility("default")))
#define GARNER_MUST_USE __attribute__((warn_unused_result))
#else
#define GARNER_API
#define GARNER_MUST_USE
#endif

/* The largest rank of data, indices and out. */
#define GARNER_MAX_RANK 64

/* The version of the library that is running, as "0.1.0". */
GARNER_API const char *garner_version(void);

/* ---- Status and error record ------------------------------------------------------------------ */

typedef enum garner_status {
    GARNER_OK = 0,
    GARNER_OUT_OF_RANGE, /* an index lies outside its axis */
    GARNER_BAD_SHAPE,    /* rank, axis, batch_dims, extents, strides, overlap, or a buffer too small */
    GARNER_BAD_TYPE,     /* an element type that is unknown, or not allowed here */
    GARNER_TOO_LARGE,    /* a size that does not fit in 63 bits */
    GARNER_BAD_ARGUMENT, /* a NULL where none is allowed, an unknown spec, an unknown enum value */
    GARNER_NO_MEMORY,    /* an allocation failed */
    GARNER_CANCELLED,    /* the executor stopped before the work was done */
    GARNER_BAD_FILE,     /* used by the file formats: malformed */
    GARNER_UNSUPPORTED,  /* of file formats and GPUs: well formed, but not something garner handles */
    GARNER_SYSTEM        /* of file formats and GPUs: the operating system, or the driver, refused */
} garner_status;

/* The status as a word in lower case: "ok", "out_of_range", ... ; "unknown" for anything else. */
GARNER_API const char *garner_status_name(garner_status status);

/* Which fields of a garner_error apply. */
enum {
    GARNER_HAS_AXIS = 1,     /* axis */
    GARNER_HAS_POSITION = 2, /* position, rank and coordinates */
    GARNER_HAS_VALUE = 4,    /* value */
    GARNER_HAS_UNSIGNED = 8, /* with it: the index type is unsigned, so read value.u, not value.i */
    GARNER_HAS_BOUND = 16    /* bound */
};

/*
 * What went wrong. Pass a pointer to one, or NULL to learn the status alone. A successful call sets
 * status to GARNER_OK and message to "". Fields that `has` does not name are unspecified.
 */
typedef struct garner_error {
    garner_status status;
    uint32_t has;                         /* GARNER_HAS_... */
    int64_t axis;                         /* counted from 0: of data if an index is out of range, else of
                                             the tensor that the message names */
    int64_t position;                     /* lowest bad position in indices, counted in C order */
    int32_t rank;                         /* how many coordinates apply: the rank of indices */
    int64_t coordinates[GARNER_MAX_RANK]; /* the same position, as coordinates */
    union {
        int64_t i;
        uint64_t u;
    } value;           /* the index as it was given */
    int64_t bound;     /* the extent of that data axis */
    char message[512]; /* one sentence: the operator, what was given, what must hold */
} garner_error;

/* ---- Element types ---------------------------------------------------------------------------- */

/*
 * Element types carry ONNX's TensorProto numbers where ONNX has the type. Data and out may be of any
 * type; indices of i8 to i64 and u8 to u64, each read where it lies.
 *
 * Sub-byte types are packed densely through the flat order of elements; rows do not begin on a byte.
 *   u2 i2 u4 i4 nf4 f4e2m1   element 0 in the lowest bits of its byte
 *   u1                       element 0 in the highest bit of its byte
 *   u3                       8 elements in 3 bytes: two bytes of low bit pairs, one of high bits
 *   u6                       4 elements in 3 bytes: two bytes of low nibbles, one of high bit pairs
 *                            (in both, element 0 comes topmost)
 * Bits of the last byte that belong to no element are written as 0.
 *
 * Strings are garner_string views; gathering copies the views, never the characters.
 * GARNER_OPAQUE is any element of a fixed size, given by item_bytes: structs, fixed-width text, dates.
 */
typedef int32_t garner_dtype;
enum {
    GARNER_F32 = 1,
    GARNER_U8 = 2,
    GARNER_I8 = 3,
    GARNER_U16 = 4,
    GARNER_I16 = 5,
    GARNER_I32 = 6,
    GARNER_I64 = 7,
    GARNER_STR = 8,
    GARNER_BOOL = 9,
    GARNER_F16 = 10,
    GARNER_F64 = 11,
    GARNER_U32 = 12,
    GARNER_U64 = 13,
    GARNER_C64 = 14,
    GARNER_C128 = 15,
    GARNER_BF16 = 16,
    GARNER_F8E4M3FN = 17,
    GARNER_F8E4M3FNUZ = 18,
    GARNER_F8E5M2 = 19,
    GARNER_F8E5M2FNUZ = 20,
    GARNER_U4 = 21,
    GARNER_I4 = 22,
    GARNER_F4E2M1 = 23,
    GARNER_F8E8M0 = 24,
    GARNER_U2 = 25,
    GARNER_I2 = 26,
    GARNER_U1 = 48,
    GARNER_U3 = 49,
    GARNER_U6 = 50,
    GARNER_NF4 = 51,
    GARNER_OPAQUE = 63
};

/* A string element: `size` bytes at `bytes`, not terminated. 16 bytes on every machine. */
typedef struct garner_string {
    union {
        const char *bytes;
        uint64_t address; /* keeps the size the same where pointers are short */
    };
    uint64_t size;
} garner_string;

/* The type's name here ("f32"), or NULL if there is no such type. */
GARNER_API const char *garner_dtype_name(garner_dtype dtype);

/* The type of that name, or 0. Knows garner's names and those of NumPy, ONNX and OpenVINO. The bare
 * name "float" means f32 to ONNX and f64 to NumPy, so it is not taken. */
GARNER_API garner_dtype garner_dtype_from_name(const char *name);

/* Bits of one element: 1 to 128; 0 for GARNER_OPAQUE and for no type. */
GARNER_API int garner_dtype_bits(garner_dtype dtype);

/* Bytes that `count` elements take when dense, or -1 if there is no such type or the size does not
 * fit. item_bytes counts for GARNER_OPAQUE alone. */
GARNER_API int64_t garner_dtype_bytes(garner_dtype dtype, int64_t count, uint64_t item_bytes);

/* ---- Tensors ---------------------------------------------------------------------------------- */

/*
 * A view of memory that you own. Field meanings are DLPack's. Zero what you do not need. Data and indices
 * are never written to, so pointers to const may be cast for them.
 *
 * Element (i, j, ...) lies at data + byte_offset + (i * strides[0] + j * strides[1] + ...) * size.
 * Strides may be negative, zero, or anything else; pointers need no alignment. An out whose elements
 * share memory with each other, with data or with indices is refused. Packed sub-byte types must be
 * dense. A zero extent is legal anywhere, whatever the other extents are. Indices are checked also where out
 * has no elements; only a view of them that overlaps itself more than 64 times, and has more than 2^28
 * positions, is refused there.
 */
typedef struct garner_tensor {
    void *data;             /* may be NULL if there are no elements */
    const int64_t *shape;   /* rank extents; may be NULL if rank is 0 */
    const int64_t *strides; /* in elements; NULL: dense in C order */
    int32_t rank;           /* 0 to GARNER_MAX_RANK */
    garner_dtype dtype;
    uint64_t bytes;       /* how much may be reached from data; 0: not checked */
    uint64_t item_bytes;  /* size of an element of GARNER_OPAQUE */
    uint64_t byte_offset; /* where element 0 lies, from data; for views with negative strides */
} garner_tensor;

/* ---- The simple calls ------------------------------------------------------------------------- */

/*
 * out[p.., i.., q..] = data[p.., indices[i..], q..]            p before axis, q after it
 * Shape of out: data.shape[:axis] + indices.shape + data.shape[axis+1:]. Indices may be of rank 0.
 */
GARNER_API GARNER_MUST_USE garner_status garner_gather(const garner_tensor *data,
                                                       const garner_tensor *indices, int64_t axis,
                                                       const garner_tensor *out, garner_error *error);

/*
 * out[i, j, k] = data[i, indices[i, j, k], k]                  for axis 1 of rank 3, and so on
 * Shape of out: indices.shape. Off the axis, extents of indices may be smaller than those of data.
 */
GARNER_API GARNER_MUST_USE garner_status garner_gather_elements(const garner_tensor *data,
                                                                const garner_tensor *indices, int64_t axis,
                                                                const garner_tensor *out,
                                                                garner_error *error);

/*
 * out[b.., i.., :] = data[b.., indices[b.., i.., 0], indices[b.., i.., 1], ..., :]
 * The last axis of indices holds tuples of k indices, one for each of k data axes after the first
 * batch_dims ones. Shape of out: indices.shape[:-1] + data.shape[batch_dims + k:].
 */
GARNER_API GARNER_MUST_USE garner_status garner_gather_nd(const garner_tensor *data,
                                                          const garner_tensor *indices, int64_t batch_dims,
                                                          const garner_tensor *out, garner_error *error);

/* In all three: axis and indices count from the end when negative, [-s, s-1] for an extent of s, and any
 * other index is GARNER_OUT_OF_RANGE. The work is done in the calling thread; garner_run takes an executor.
 * Nothing is promised of what out holds after an error, or before the call has returned. */

/* ---- Exact operator versions ------------------------------------------------------------------ */

typedef enum garner_kind { GARNER_GATHER = 1, GARNER_GATHER_ELEMENTS = 2, GARNER_GATHER_ND = 3 } garner_kind;

/* What an index outside its range does. */
typedef enum garner_oob {
    GARNER_OOB_ERROR = 0, /* the call fails with GARNER_OUT_OF_RANGE */
    GARNER_OOB_ZERO,      /* its slice of out is filled with zero bits */
    GARNER_OOB_CLAMP,     /* it becomes the nearest of 0 and s-1 (an error if s is 0) */
    GARNER_OOB_WRAP       /* it is taken modulo s (an error if s is 0) */
} garner_oob;

/* What a negative index means. */
typedef enum garner_negative {
    GARNER_NEGATIVE_WRAPS = 0,  /* -1 is the last element: the range is [-s, s-1] */
    GARNER_NEGATIVE_IS_OUTSIDE, /* the range is [0, s-1]; with GARNER_OOB_CLAMP this is NumPy's "clip" */
} garner_negative;

/*
 * An operator. All zero but for kind is the lenient default: the newest ONNX meaning, every element
 * type, every index type, and batch_dims for Gather too. For one version of one specification start
 * from garner_op_from_spec, then set axis, batch_dims, strict, and oob if you want another policy.
 */
typedef struct garner_op {
    uint32_t size; /* sizeof(garner_op), or 0 for this first version */
    garner_kind kind;
    int64_t axis;       /* of Gather and GatherElements; 0 for GatherND, which has none */
    int64_t batch_dims; /* of Gather and GatherND; 0 for GatherElements, and where the version has none */
    garner_oob oob;
    garner_negative negative;
    int32_t spec;   /* set by garner_op_from_spec; 0: the lenient default */
    int32_t strict; /* non-zero: the specification's text to the letter (onnx-13 where spec is 0) */
} garner_op;

/*
 * Fills *op with the meaning of one version: "onnx-1", "onnx-11", "onnx-12", "onnx-13", "openvino-1",
 * "openvino-5", "openvino-6", "openvino-7", "openvino-8", each where the operator has it. NULL is the
 * lenient default. An unknown name is GARNER_BAD_ARGUMENT with a sentence that lists the known ones.
 */
GARNER_API GARNER_MUST_USE garner_status garner_op_from_spec(garner_op *op, const char *spec,
                                                             garner_kind kind, garner_error *error);

/* The i-th spec name of an operator, oldest first, or NULL beyond the last. */
GARNER_API const char *garner_spec_name(garner_kind kind, int i);

/* The operator's name in the specifications: "Gather", "GatherElements", "GatherND"; NULL for others. */
GARNER_API const char *garner_kind_name(garner_kind kind);

/* The shape, type and size of a result. */
typedef struct garner_shape {
    int32_t rank;
    garner_dtype dtype;
    uint64_t item_bytes; /* of GARNER_OPAQUE; 0 otherwise */
    int64_t count;       /* elements */
    int64_t bytes;       /* what a dense out takes */
    int64_t extents[GARNER_MAX_RANK];
} garner_shape;

/* Checks op, types and shapes, and computes the shape of out. Data pointers are not looked at. */
GARNER_API GARNER_MUST_USE garner_status garner_infer(const garner_op *op, const garner_tensor *data,
                                                      const garner_tensor *indices, garner_shape *shape,
                                                      garner_error *error);

/* ---- Threads ---------------------------------------------------------------------------------- */

/* One task. */
typedef void garner_task(void *argument, size_t i);

/*
 * Where the work runs. The library splits every gather into tasks, for any executor in the same way (its
 * own pools may take several as one), and asks the executor for the equivalent of
 *
 *     for (size_t i = 0; i < count; i++) task(argument, i);
 *
 * in any order, on any threads, each i once, returning when all are done. Tasks never wait for each
 * other. A NULL executor, or a NULL parallel_for, is that loop in the calling thread.
 *
 * To stop early, parallel_for returns non-zero (or leaves tasks out), or cancelled does: it is asked
 * before each task, from whichever thread runs it, and now and then while the indices are looked
 * through for the first that is out of range. The call then answers GARNER_CANCELLED.
 *
 * threads says on how many threads, the caller's among them, one parallel_for runs at most; 0, or NULL:
 * that is not known. Some gathers are faster with a few threads that have more to do each. It is a hint: a
 * wrong number makes nothing wrong.
 */
typedef struct garner_exec {
    uint32_t size; /* sizeof(garner_exec), or 0 for its first version, which ends with context */
    int (*parallel_for)(void *context, garner_task *task, void *argument, size_t count);
    int (*cancelled)(void *context); /* may be NULL */
    void *context;
    int (*threads)(void *context); /* may be NULL; see above */
} garner_exec;

/*
 * The executor of the process-wide thread pool, with at most `count` threads, the caller included, and
 * never more than 256; 0, or a negative number, means GARNER_NUM_THREADS from the environment, or one for
 * each CPU that this process may use. Threads are made by the first call that needs them, sleep when there is
 * nothing to do, and are joined at exit. Work too small to gain never reaches them. A call that finds the
 * pool busy runs in its own thread. A child of fork() makes its own threads when it first needs them; if a
 * signal handler forked in the middle of a call, that call ends in the child too, without further threads.
 */
GARNER_API garner_exec garner_threads(int count);

/* A pool of your own. */
typedef struct garner_pool garner_pool;

/* Makes a pool of 1 to 256 threads, the caller of each job included (0: as many as garner_threads(0)). */
GARNER_API GARNER_MUST_USE garner_status garner_pool_create(garner_pool **pool, int threads,
                                                            garner_error *error);

/* Its executor, valid as long as the pool; that of the process-wide pool for NULL. */
GARNER_API garner_exec garner_pool_exec(garner_pool *pool);

/* Joins its threads and frees it; nobody may be using it. NULL is fine. */
GARNER_API void garner_pool_destroy(garner_pool *pool);

/* One operator, once: infer, plan on the stack, execute. Allocates nothing. */
GARNER_API GARNER_MUST_USE garner_status garner_run(const garner_op *op, const garner_tensor *data,
                                                    const garner_tensor *indices, const garner_tensor *out,
                                                    const garner_exec *exec, garner_error *error);

/* ---- Plans: shapes once, pointers each time --------------------------------------------------- */

/* An immutable recipe for one operator on given shapes, strides and types. */
typedef struct garner_plan garner_plan;

/*
 * Validates, infers and chooses kernels. The tensors' data pointers are ignored; `out` may be NULL,
 * which means dense. On failure *plan is NULL. One allocation.
 */
GARNER_API GARNER_MUST_USE garner_status garner_plan_create(garner_plan **plan, const garner_op *op,
                                                            const garner_tensor *data,
                                                            const garner_tensor *indices,
                                                            const garner_tensor *out, garner_error *error);

/* The result's shape; valid as long as the plan. */
GARNER_API const garner_shape *garner_plan_output(const garner_plan *plan);

/*
 * Runs the plan on three buffers (the `data` fields of the tensors it was made for). Allocates
 * nothing; may run any number of times, from any number of threads at once.
 */
GARNER_API GARNER_MUST_USE garner_status garner_execute(const garner_plan *plan, const void *data,
                                                        const void *indices, void *out,
                                                        const garner_exec *exec, garner_error *error);

/*
 * Writes one line that says what was chosen, parts separated by ", ":
 *
 *   OPERATOR: (n: data,index,out) ..     the dims of the loop nest: extent, strides in bytes and indices
 *   axes (bound,stride) ..               the gathered axes
 *   run N B                              bytes moved for each point; elements and their type if packed
 *   strategy S                           rows, short-rows, panels, reused-indices, one-block, bits
 *   kernel LEVEL SOURCE-iBITS-RUN        "scalar unit-i64-256"; "any" for runs of any length
 *   prefetch none | D points to C        the prefetch distance, and into which cache: L1 or L2;
 *     | D rows to C                      of rows that share their indices: the distance in rows;
 *     | table+R B B/point to C           bytes of the table of R rows later with each point;
 *     | next table B B/row to C          bytes of the next rows' table with each row; joined by " and "
 *   stores cached | non-temporal | by memcpy
 *   panels ENTRIESxBYTES B               of a table, where the strategy packs them on the stack
 *   up to T threads panels ENTRIESxBYTES B in out by KERNEL
 *   N tasks                              or "1 task"; with 0 nothing after the run but this is said
 *
 * Bits have no prefetch and no stores. Parts may be added, so look for their first words. Always terminates
 * `buffer` if size > 0. Returns the length of the whole line, as snprintf does.
 */
GARNER_API size_t garner_plan_describe(const garner_plan *plan, char *buffer, size_t size);

/*
 * Where a plan reads and writes, for data that are not in memory: a result is garner_plan_points(plan) runs
 * of garner_plan_run(plan) bytes each, counted in the order of out. Of packed elements that do not lie on
 * whole bytes there are no runs: 0.
 */
typedef struct garner_point {
    int64_t from; /* bytes from element 0 of data to the run, or GARNER_NOWHERE: zero bits instead */
    int64_t to;   /* bytes from element 0 of out */
} garner_point;

#define GARNER_NOWHERE INT64_MIN

GARNER_API int64_t garner_plan_points(const garner_plan *plan);

/* The bytes of each of these runs. */
GARNER_API int64_t garner_plan_run(const garner_plan *plan);

/*
 * Fills in `count` points of a plan, from point number `first` on. Indices are loaded and checked as
 * garner_execute does, and refused with the same sentence; where out has no elements all of them are checked.
 */
GARNER_API GARNER_MUST_USE garner_status garner_plan_locate(const garner_plan *plan, const void *indices,
                                                            int64_t first, int64_t count,
                                                            garner_point *points, garner_error *error);

/* Frees a plan; NULL is fine. */
GARNER_API void garner_plan_destroy(garner_plan *plan);

/* ---- The machine ------------------------------------------------------------------------------ */

/* What the library found where it runs, and what it makes of it. */
typedef struct garner_cpu {
    uint32_t size;            /* sizeof(garner_cpu), or 0 for this first version; set it before the call */
    int32_t cpus;             /* that this process may use */
    int32_t threads;          /* what garner_threads(0) means: GARNER_NUM_THREADS, or cpus */
    const char *architecture; /* that the library was compiled for: "x86-64", "aarch64", ... */
    const char *detected;     /* the highest level of kernels that can run here */
    const char *level;        /* the highest that does: GARNER_CPU, or what pays, keeps it below `detected` */
    char features[128];       /* the CPU's instruction sets that matter here, separated by spaces */

    /* Since the second version, which has a size. */
    const char *profile;      /* the kind of CPU that gathers are planned for: "neoverse-v1", ... */
    const char *profile_cpus; /* which CPUs these are, in words */
    int32_t measured;         /* whether the profile's numbers were measured on such a CPU, or reasoned */
} garner_cpu;

/* Fills *cpu, as far as its size says. */
GARNER_API void garner_cpu_info(garner_cpu *cpu);

/* The i-th level of kernels as GARNER_CPU spells it, lowest first ("scalar"); NULL beyond the last. */
GARNER_API const char *garner_cpu_level_name(int i);

/* The i-th profile as GARNER_CPU spells it; NULL beyond the last. Any machine can plan by any of them. */
GARNER_API const char *garner_cpu_profile_name(int i);

#ifdef __cplusplus
}
#endif

#endif /* GARNER_H */
