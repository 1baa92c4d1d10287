/* SPDX-License-Identifier: MIT */
/*
 * Runs the model of lookup.py in ONNX Runtime, its gathers in garner: onnxruntime PLUGIN MODEL, where PLUGIN
 * is libgarner_onnxruntime.so. What is garner's part is in add_garner.
 */
#include <onnxruntime_c_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const OrtApi *ort;

static void check(OrtStatus *status)
{
    if (status == NULL) return;
    fprintf(stderr, "onnxruntime: %s\n", ort->GetErrorMessage(status));
    exit(1);
}

/* Gives a session's options the provider of that name. */
static void add_provider(OrtEnv *env, OrtSessionOptions *options, const char *name)
{
    const OrtEpDevice *const *devices;
    size_t count;
    check(ort->GetEpDevices(env, &devices, &count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(ort->EpDevice_EpName(devices[i]), name) == 0)
            check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, NULL, NULL, 0));
}

static void add_garner(OrtEnv *env, OrtSessionOptions *options, const char *plugin)
{
    check(ort->RegisterExecutionProviderLibrary(env, "GarnerExecutionProvider", plugin));
    add_provider(env, options, "GarnerExecutionProvider");
    add_provider(env, options, "CPUExecutionProvider");
}

static void print_strings(OrtValue *value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[80];
        size_t size;
        check(ort->GetStringTensorElementLength(value, i, &size));
        check(ort->GetStringTensorElement(value, size, i, text));
        printf("%.*s%c", (int)size, text, i % 2 ? '\n' : ' ');
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: onnxruntime PLUGIN MODEL\n");
        return 2;
    }
    OrtEnv *env;
    OrtSessionOptions *options;
    OrtSession *session;
    ort = OrtGetApiBase()->GetApi(24);
    if (ort == NULL) {
        fprintf(stderr, "onnxruntime: %s is too old: 1.24 or newer is needed\n",
                OrtGetApiBase()->GetVersionString());
        return 1;
    }
    check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "example", &env));
    check(ort->CreateSessionOptions(&options));
    add_garner(env, options, argv[1]);
    check(ort->CreateSession(env, argv[2], options, &session));

    OrtMemoryInfo *memory;
    OrtValue *rows, *text = NULL;
    int64_t wanted[] = {2, 0, -1}, extent = 3;
    check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    check(ort->CreateTensorWithDataAsOrtValue(memory, wanted, sizeof wanted, &extent, 1,
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &rows));
    const OrtValue *const inputs[] = {rows};
    check(ort->Run(session, NULL, (const char *[]){"rows"}, inputs, 1, (const char *[]){"text"}, 1, &text));
    print_strings(text, 6);

    ort->ReleaseValue(text);
    ort->ReleaseValue(rows);
    ort->ReleaseMemoryInfo(memory);
    ort->ReleaseSession(session);
    ort->ReleaseSessionOptions(options);
    ort->ReleaseEnv(env);
    return 0;
}
