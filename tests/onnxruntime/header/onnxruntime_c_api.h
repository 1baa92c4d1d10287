/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for ONNX Runtime's header, with what the C example uses, so that the example is compiled and run
 * where the real one is not installed. Each function lies at its place; what lies between is left out.
 */
#ifndef STAND_IN_FOR_ONNXRUNTIME_C_API_H
#define STAND_IN_FOR_ONNXRUNTIME_C_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct OrtEnv OrtEnv;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtStatus OrtStatus;
typedef struct OrtValue OrtValue;

enum { ORT_LOGGING_LEVEL_WARNING = 2, OrtArenaAllocator = 1, OrtMemTypeDefault = 0 };
enum { ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7 };

typedef union OrtApi {
#define AT(place, result, name, ...) \
    struct {                         \
        void *before_##name[place];  \
        result (*name)(__VA_ARGS__); \
    }
    AT(2, const char *, GetErrorMessage, const OrtStatus *);
    AT(3, OrtStatus *, CreateEnv, int, const char *, OrtEnv **);
    AT(7, OrtStatus *, CreateSession, const OrtEnv *, const char *, const OrtSessionOptions *, OrtSession **);
    AT(9, OrtStatus *, Run, OrtSession *, const OrtRunOptions *, const char *const *, const OrtValue *const *,
       size_t, const char *const *, size_t, OrtValue **);
    AT(10, OrtStatus *, CreateSessionOptions, OrtSessionOptions **);
    AT(49, OrtStatus *, CreateTensorWithDataAsOrtValue, const OrtMemoryInfo *, void *, size_t,
       const int64_t *, size_t, int, OrtValue **);
    AT(69, OrtStatus *, CreateCpuMemoryInfo, int, int, OrtMemoryInfo **);
    AT(92, void, ReleaseEnv, OrtEnv *);
    AT(94, void, ReleaseMemoryInfo, OrtMemoryInfo *);
    AT(95, void, ReleaseSession, OrtSession *);
    AT(96, void, ReleaseValue, OrtValue *);
    AT(100, void, ReleaseSessionOptions, OrtSessionOptions *);
    AT(127, OrtStatus *, GetStringTensorElementLength, const OrtValue *, size_t, size_t *);
    AT(128, OrtStatus *, GetStringTensorElement, const OrtValue *, size_t, size_t, void *);
    AT(301, OrtStatus *, RegisterExecutionProviderLibrary, OrtEnv *, const char *, const char *);
    AT(303, OrtStatus *, GetEpDevices, const OrtEnv *, const OrtEpDevice *const **, size_t *);
    AT(304, OrtStatus *, SessionOptionsAppendExecutionProvider_V2, OrtSessionOptions *, OrtEnv *,
       const OrtEpDevice *const *, size_t, const char *const *, const char *const *, size_t);
    AT(312, const char *, EpDevice_EpName, const OrtEpDevice *);
#undef AT
} OrtApi;

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} OrtApiBase;

const OrtApiBase *OrtGetApiBase(void);

#endif
