/* SPDX-License-Identifier: MIT */
/* The stand-in: one small function for each that the plug-in uses, put into tables by their places. */
#include "fake_runtime.h"

#include <stdio.h>
#include <string.h>

#include "garner.h"

struct fake_runtime fake;

enum { PLACES = 420 };
static void *api_places[PLACES], *ep_places[PLACES];
static struct OrtStatus statuses[8];
static struct fake_string made_strings[FAKE_STRINGS];
static OrtValue made_value;

/* ---- Statuses -------------------------------------------------------------------------------------- */

static OrtStatus *fake_CreateStatus(int code, const char *message)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (!statuses[i].used) {
            statuses[i] = (OrtStatus){.code = fake.lies ? code + 1 : code, .used = true};
            snprintf(statuses[i].message, sizeof statuses[i].message, "%s%s", message,
                     fake.garbles ? "?" : "");
            fake.statuses++;
            return &statuses[i];
        }
    return &statuses[0];
}

/* Whether this call is one that fails. */
static bool fails(const char *name)
{
    if (fake.failing && strcmp(name, fake.failing) != 0) return false;
    fake.calls++;
    return fake.fail_at && (fake.calls == fake.fail_at || (fake.forever && fake.calls > fake.fail_at));
}

#define MAY_FAIL \
    if (fails(__func__)) return fake_CreateStatus(ORT_FAIL, FAKE_FAILURE)

/* Or one that gives NULL. */
#define MAY_GIVE_NOTHING(given)            \
    if (++fake.gifts == fake.nothing_at) { \
        *(given) = NULL;                   \
        return NULL;                       \
    }

static int fake_GetErrorCode(const OrtStatus *status)
{
    return status->code;
}

static const char *fake_GetErrorMessage(const OrtStatus *status)
{
    return status->message;
}

static void fake_ReleaseStatus(OrtStatus *status)
{
    status->used = false;
    fake.statuses--;
}

/* ---- Tensors --------------------------------------------------------------------------------------- */

static int64_t number_of_graph[FAKE_RANK];

static OrtStatus *fake_GetTensorMutableData(OrtValue *value, void **data)
{
    MAY_FAIL;
    *data = value->data;
    return NULL;
}

/* Almost as GNU's C++ library lays strings out. */
struct almost_plain {
    char *bytes;
    size_t size;
    char local[16];
};

static void spoil(struct almost_plain *strings)
{
    if (fake.layout == FAKE_LETTER) strings[1].bytes[0] = '?';
    if (fake.layout == FAKE_END) strings[2].bytes[strings[2].size] = '?';
}

static OrtStatus *fake_GetTensorData(const OrtValue *value, const void **data)
{
    MAY_FAIL;
    if (value->data == number_of_graph) MAY_GIVE_NOTHING(data);
    if (value->data == made_strings) spoil(value->data);
    *data = value->data;
    return NULL;
}

static OrtStatus *fake_GetTensorElementTypeAndShapeDataReference(const OrtValue *value, int *type,
                                                                 const int64_t **extents, size_t *rank)
{
    MAY_FAIL;
    *type = value->is.type;
    *extents = value->is.extents;
    *rank = value->is.rank;
    return NULL;
}

static OrtStatus *fake_GetAllocatorWithDefaultOptions(OrtAllocator **allocator)
{
    MAY_FAIL;
    *allocator = NULL;
    return NULL;
}

static OrtStatus *fake_CreateTensorAsOrtValue(OrtAllocator *allocator, const int64_t *extents, size_t rank,
                                              int type, OrtValue **value)
{
    MAY_FAIL;
    (void)allocator;
    made_value = (OrtValue){{type, rank, {extents[0]}}, made_strings};
    *value = &made_value;
    fake.objects++;
    return NULL;
}

static void fake_ReleaseValue(OrtValue *value)
{
    (void)value;
    fake.objects--;
}

/* Strings that it has no room for, which only who looks at their layout makes, go elsewhere. */
static OrtStatus *fake_GetResizedStringTensorElementBuffer(OrtValue *value, size_t i, size_t size,
                                                           char **bytes)
{
    MAY_FAIL;
    static char elsewhere[1000];
    if (value->data == made_strings && fake.layout != FAKE_OWN) {
        struct almost_plain *almost = (struct almost_plain *)value->data + i;
        *almost = (struct almost_plain){size < sizeof almost->local ? almost->local : elsewhere, size, ""};
        *bytes = almost->bytes;
        return NULL;
    }
    struct fake_string *string = (struct fake_string *)value->data + i;
    string->size = size;
    *bytes = size <= FAKE_STRING ? string->bytes : elsewhere;
    return NULL;
}

static size_t count_of(const OrtValue *value)
{
    size_t count = 1;
    for (size_t d = 0; d < value->is.rank; d++)
        count *= (size_t)value->is.extents[d];
    return count;
}

static OrtStatus *fake_GetStringTensorDataLength(const OrtValue *value, size_t *size)
{
    MAY_FAIL;
    const struct fake_string *string = value->data;
    *size = 0;
    for (size_t i = 0; i < count_of(value); i++)
        *size += string[i].size;
    return NULL;
}

static OrtStatus *fake_GetStringTensorContent(const OrtValue *value, void *bytes, size_t size,
                                              size_t *offsets, size_t count)
{
    MAY_FAIL;
    const struct fake_string *string = value->data;
    size_t at = 0;
    for (size_t i = 0; i < count && at + string[i].size <= size; i++) {
        offsets[i] = at;
        memcpy((char *)bytes + at, string[i].bytes, string[i].size);
        at += string[i].size;
    }
    return NULL;
}

/* ---- Types ----------------------------------------------------------------------------------------- */

static OrtStatus *fake_CastTypeInfoToTensorInfo(const OrtTypeInfo *type,
                                                const OrtTensorTypeAndShapeInfo **tensor)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(tensor);
    *tensor = (const OrtTensorTypeAndShapeInfo *)type;
    return NULL;
}

static OrtStatus *fake_GetTensorElementType(const OrtTensorTypeAndShapeInfo *tensor, int *type)
{
    MAY_FAIL;
    *type = ((const OrtTypeInfo *)tensor)->type;
    return NULL;
}

static OrtStatus *fake_GetDimensionsCount(const OrtTensorTypeAndShapeInfo *tensor, size_t *rank)
{
    MAY_FAIL;
    *rank = ((const OrtTypeInfo *)tensor)->rank;
    return NULL;
}

static OrtStatus *fake_GetDimensions(const OrtTensorTypeAndShapeInfo *tensor, int64_t *extents, size_t rank)
{
    MAY_FAIL;
    for (size_t d = 0; d < rank; d++)
        extents[d] = d < FAKE_RANK ? ((const OrtTypeInfo *)tensor)->extents[d] : 1;
    return NULL;
}

static void fake_ReleaseTypeInfo(OrtTypeInfo *type)
{
    (void)type;
}

/* Complex numbers it does not have. */
static OrtStatus *fake_GetTensorDataType(int type, const OrtDataType **data_type)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(data_type);
    if (type == 14 || type == 15) return fake_CreateStatus(ORT_FAIL, "no such type");
    *data_type = (const OrtDataType *)&fake;
    return NULL;
}

/* ---- Kernels --------------------------------------------------------------------------------------- */

static OrtStatus *fake_KernelInfoGetAttribute_int64(const OrtKernelInfo *info, const char *name,
                                                    int64_t *value)
{
    MAY_FAIL;
    if (info->attribute == NULL || strcmp(info->attribute, name) != 0)
        return fake_CreateStatus(ORT_FAIL, "no such attribute");
    *value = info->value;
    return NULL;
}

static OrtStatus *fake_KernelInfo_GetInputTypeInfo(const OrtKernelInfo *info, size_t i, OrtTypeInfo **type)
{
    MAY_FAIL;
    *type = (OrtTypeInfo *)(uintptr_t)&info->input[i];
    return NULL;
}

static OrtStatus *fake_KernelContext_GetInput(const OrtKernelContext *context, size_t i,
                                              const OrtValue **input)
{
    MAY_FAIL;
    *input = context->input[i];
    return NULL;
}

static OrtStatus *fake_KernelContext_GetOutput(OrtKernelContext *context, size_t i, const int64_t *extents,
                                               size_t rank, OrtValue **output)
{
    MAY_FAIL;
    (void)i;
    context->out->is.rank = rank;
    memcpy(context->out->is.extents, extents, rank * sizeof *extents);
    *output = context->out;
    return NULL;
}

static OrtStatus *fake_KernelContext_ParallelFor(const OrtKernelContext *context,
                                                 void (*task)(void *, size_t), size_t count, size_t batches,
                                                 void *argument)
{
    MAY_FAIL;
    (void)context, (void)batches;
    if (count > fake.parallel) fake.parallel = count;
    for (size_t i = 0; i < count; i++)
        task(argument, i);
    return NULL;
}

#include "fake_graph.h"

/* ---- Options: one ---------------------------------------------------------------------------------- */

static OrtStatus *fake_GetSessionOptionsConfigEntries(const OrtSessionOptions *options,
                                                      OrtKeyValuePairs **entries)
{
    MAY_FAIL;
    (void)options;
    *entries = NULL;
    return NULL;
}

static void fake_GetKeyValuePairs(const OrtKeyValuePairs *pairs, const char *const **keys,
                                  const char *const **values, size_t *count)
{
    (void)pairs;
    *keys = &fake.option[0];
    *values = &fake.option[1];
    *count = fake.option[0] ? 1 : 0;
}

static void fake_ReleaseKeyValuePairs(OrtKeyValuePairs *pairs)
{
    (void)pairs;
}

static int fake_HardwareDevice_Type(const OrtHardwareDevice *device)
{
    return *(const int *)device;
}

/* ---- The interface of execution providers ---------------------------------------------------------- */

static OrtStatus *fake_CreateEpDevice(OrtEpFactory *factory, const OrtHardwareDevice *hardware,
                                      const OrtKeyValuePairs *metadata, const OrtKeyValuePairs *options,
                                      OrtEpDevice **device)
{
    MAY_FAIL;
    (void)factory, (void)metadata, (void)options;
    *device = (OrtEpDevice *)(uintptr_t)hardware;
    return NULL;
}

static OrtStatus *fake_EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo *support, const OrtNode *node)
{
    MAY_FAIL;
    (void)support, (void)node;
    fake.claimed++;
    return NULL;
}

static OrtStatus *fake_EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo *support, const OrtNode *node,
                                                       const OrtKernelDef **definition)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(definition);
    (void)support;
    *definition = is_slice(node) ? NULL : &fake.kernel[0];
    return NULL;
}

static OrtStatus *fake_CreateKernelRegistry(OrtKernelRegistry **registry)
{
    MAY_FAIL;
    *registry = (OrtKernelRegistry *)&fake;
    fake.objects++;
    return NULL;
}

static void fake_ReleaseKernelRegistry(OrtKernelRegistry *registry)
{
    (void)registry;
    fake.objects--;
}

static OrtStatus *fake_KernelRegistry_AddKernel(OrtKernelRegistry *registry, const OrtKernelDef *definition,
                                                OrtKernelCreateFunc create, void *state)
{
    MAY_FAIL;
    (void)registry;
    fake.kernel[fake.kernels] = *definition;
    fake.kernel[fake.kernels].create = create;
    fake.kernel[fake.kernels++].state = state;
    return NULL;
}

static struct OrtKernelDef building;

static OrtStatus *fake_CreateKernelDefBuilder(OrtKernelDefBuilder **builder)
{
    MAY_FAIL;
    building = (struct OrtKernelDef){0};
    *builder = (OrtKernelDefBuilder *)&building;
    fake.objects++;
    return NULL;
}

static void fake_ReleaseKernelDefBuilder(OrtKernelDefBuilder *builder)
{
    (void)builder;
    fake.objects--;
}

static OrtStatus *fake_KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder *builder, const char *type)
{
    MAY_FAIL;
    (void)builder;
    snprintf(building.type, sizeof building.type, "%s", type);
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_SetDomain(OrtKernelDefBuilder *builder, const char *domain)
{
    MAY_FAIL;
    (void)builder;
    return domain[0] == '\0' ? NULL : fake_CreateStatus(ORT_FAIL, "another domain");
}

static OrtStatus *fake_KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder *builder, int first, int last)
{
    MAY_FAIL;
    (void)builder;
    building.first = first;
    building.last = last;
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder *builder, const char *name)
{
    MAY_FAIL;
    (void)builder;
    return strcmp(name, "GarnerExecutionProvider") == 0 ? NULL
                                                        : fake_CreateStatus(ORT_FAIL, "another provider");
}

static OrtStatus *fake_KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder *builder, const char *name,
                                                          const OrtDataType *const *types, size_t count)
{
    MAY_FAIL;
    (void)builder, (void)types;
    building.types[strcmp(name, "T") == 0 ? 0 : 1] = count;
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_Build(OrtKernelDefBuilder *builder, OrtKernelDef **definition)
{
    MAY_FAIL;
    (void)builder;
    *definition = &building;
    fake.objects++;
    return NULL;
}

static void fake_ReleaseKernelDef(OrtKernelDef *definition)
{
    (void)definition;
    fake.objects--;
}

static const char *fake_KernelDef_GetOperatorType(const OrtKernelDef *definition)
{
    return definition->type;
}

static const OrtEpApi *fake_GetEpApi(void)
{
    return (const OrtEpApi *)ep_places;
}

/* ---- The door -------------------------------------------------------------------------------------- */

static const void *get_api(uint32_t version)
{
    return version <= fake.version ? api_places : NULL;
}

static const char *get_version_string(void)
{
    static char text[20];
    snprintf(text, sizeof text, "1.%u.7", fake.version);
    return text;
}

void fake_reset(void)
{
    fake = (struct fake_runtime){.version = ORT_API_VERSION};
    memset(statuses, 0, sizeof statuses);
#define FUNCTION(table, place, result, name, ...)                                                 \
    {                                                                                             \
        result (*function)(__VA_ARGS__) = fake_##name;                                            \
        memcpy(strcmp(#table, "OrtApi") == 0 ? &api_places[place] : &ep_places[place], &function, \
               sizeof function);                                                                  \
    }
#include "abi.def"
#undef FUNCTION
}

const OrtApiBase *fake_base(void)
{
    static const OrtApiBase base = {get_api, get_version_string};
    return &base;
}
