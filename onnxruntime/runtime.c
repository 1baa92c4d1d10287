/* SPDX-License-Identifier: MIT */
/* Opens the runtime's function tables by version, and refuses in words where they are too old or not what
 * they should be. */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

/* Takes one table's functions out of their places. */
static void take(struct ort *ort, const char *table, const void *places)
{
    const char *const first = places;
#define FUNCTION(from, place, result, name, ...) \
    if (strcmp(table, #from) == 0) memcpy(&ort->name, first + (place) * sizeof(void *), sizeof ort->name);
#include "abi.def"
#undef FUNCTION
}

/* Version 1 of the interface is in every runtime, and can say no. */
static OrtStatus *refuse_old(const OrtApiBase *base)
{
    const void *oldest = base->GetApi(1);
    OrtStatus *(*create)(int, const char *);
    char message[200];
    memcpy(&create, oldest, sizeof create);
    snprintf(message, sizeof message,
             EP_NAME ": garner %s needs ONNX Runtime 1.%d or newer, and this is %.40s", garner_version(),
             ORT_API_VERSION, base->GetVersionString());
    return create(ORT_FAIL, message);
}

/* Whether the tables are what they seem: a status, and a kernel's definition, come back as they were made. */
static bool answers(const struct ort *ort)
{
    static const char word[] = "probe";
    OrtKernelDefBuilder *builder = NULL;
    OrtKernelDef *definition = NULL;
    OrtStatus *status = ort->CreateStatus(ORT_INVALID_ARGUMENT, word);
    bool fine = status != NULL && ort->GetErrorCode(status) == ORT_INVALID_ARGUMENT &&
                strcmp(ort->GetErrorMessage(status), word) == 0;
    ort_failed(ort, status);
    fine = fine && !ort_failed(ort, ort->CreateKernelDefBuilder(&builder)) &&
           !ort_failed(ort, ort->KernelDefBuilder_SetOperatorType(builder, word)) &&
           !ort_failed(ort, ort->KernelDefBuilder_SetDomain(builder, "")) &&
           !ort_failed(ort, ort->KernelDefBuilder_SetSinceVersion(builder, 1, 1)) &&
           !ort_failed(ort, ort->KernelDefBuilder_SetExecutionProvider(builder, EP_NAME)) &&
           !ort_failed(ort, ort->KernelDefBuilder_Build(builder, &definition)) &&
           strcmp(ort->KernelDef_GetOperatorType(definition), word) == 0;
    if (definition) ort->ReleaseKernelDef(definition);
    if (builder) ort->ReleaseKernelDefBuilder(builder);
    return fine;
}

OrtStatus *ort_open(struct ort *ort, const OrtApiBase *base)
{
    const void *table = base->GetApi(ORT_API_VERSION);
    if (table == NULL) return refuse_old(base);
    take(ort, "OrtApi", table);
    take(ort, "OrtEpApi", ort->GetEpApi());
    if (answers(ort)) return NULL;
    return ort->CreateStatus(ORT_FAIL, EP_NAME ": this ONNX Runtime does not answer as its interface says");
}

OrtStatus *ort_refuse(const struct ort *ort, const garner_error *error)
{
    bool ours = error->status == GARNER_NO_MEMORY || error->status == GARNER_CANCELLED;
    return ort->CreateStatus(ours ? ORT_FAIL : ORT_INVALID_ARGUMENT, error->message);
}

OrtStatus *ort_no_memory(const struct ort *ort)
{
    return ort->CreateStatus(ORT_FAIL, EP_NAME ": out of memory");
}

bool ort_failed(const struct ort *ort, OrtStatus *status)
{
    if (status == NULL) return false;
    ort->ReleaseStatus(status);
    return true;
}

garner_dtype ort_dtype(int type)
{
    static const garner_dtype late[] = {GARNER_U2, GARNER_I2,
                                        GARNER_F8E8M0}; /* the numbers part after f4e2m1 */
    if (type < 1 || type >= ORT_TYPES) return 0;
    return type <= GARNER_F4E2M1 ? type : late[type - GARNER_F4E2M1 - 1];
}
