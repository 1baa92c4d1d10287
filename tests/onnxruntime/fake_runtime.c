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
            snprintf(statuses[i].message, sizeof statuses[i].message, "%s", message);
            fake.statuses++;
            return &statuses[i];
        }
    return &statuses[0];
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

static OrtStatus *fake_GetTensorMutableData(OrtValue *value, void **data)
{
    *data = value->data;
    return NULL;
}

static OrtStatus *fake_GetTensorData(const OrtValue *value, const void **data)
{
    *data = value->data;
    return NULL;
}

static OrtStatus *fake_GetTensorElementTypeAndShapeDataReference(const OrtValue *value, int *type,
                                                                 const int64_t **extents, size_t *rank)
{
    *type = value->is.type;
    *extents = value->is.extents;
    *rank = value->is.rank;
    return NULL;
}

static OrtStatus *fake_GetAllocatorWithDefaultOptions(OrtAllocator **allocator)
{
    *allocator = NULL;
    return NULL;
}

static OrtStatus *fake_CreateTensorAsOrtValue(OrtAllocator *allocator, const int64_t *extents, size_t rank,
                                              int type, OrtValue **value)
{
    (void)allocator;
    made_value = (OrtValue){{type, rank, {extents[0]}}, made_strings};
    *value = &made_value;
    return NULL;
}

static void fake_ReleaseValue(OrtValue *value)
{
    (void)value;
}

/* Strings that it has no room for, which only who looks at their layout makes, go elsewhere. */
static OrtStatus *fake_GetResizedStringTensorElementBuffer(OrtValue *value, size_t i, size_t size,
                                                           char **bytes)
{
    static char elsewhere[1000];
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
    const struct fake_string *string = value->data;
    *size = 0;
    for (size_t i = 0; i < count_of(value); i++)
        *size += string[i].size;
    return NULL;
}

static OrtStatus *fake_GetStringTensorContent(const OrtValue *value, void *bytes, size_t size,
                                              size_t *offsets, size_t count)
{
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
    *tensor = (const OrtTensorTypeAndShapeInfo *)type;
    return NULL;
}

static OrtStatus *fake_GetTensorElementType(const OrtTensorTypeAndShapeInfo *tensor, int *type)
{
    *type = ((const OrtTypeInfo *)tensor)->type;
    return NULL;
}

static OrtStatus *fake_GetDimensionsCount(const OrtTensorTypeAndShapeInfo *tensor, size_t *rank)
{
    *rank = ((const OrtTypeInfo *)tensor)->rank;
    return NULL;
}

static OrtStatus *fake_GetDimensions(const OrtTensorTypeAndShapeInfo *tensor, int64_t *extents, size_t rank)
{
    memcpy(extents, ((const OrtTypeInfo *)tensor)->extents, rank * sizeof *extents);
    return NULL;
}

static void fake_ReleaseTypeInfo(OrtTypeInfo *type)
{
    (void)type;
}

/* Complex numbers it does not have. */
static OrtStatus *fake_GetTensorDataType(int type, const OrtDataType **data_type)
{
    if (type == 14 || type == 15) return fake_CreateStatus(ORT_FAIL, "no such type");
    *data_type = (const OrtDataType *)&fake;
    return NULL;
}

/* ---- Kernels --------------------------------------------------------------------------------------- */

static OrtStatus *fake_KernelInfoGetAttribute_int64(const OrtKernelInfo *info, const char *name,
                                                    int64_t *value)
{
    if (info->attribute == NULL || strcmp(info->attribute, name) != 0)
        return fake_CreateStatus(ORT_FAIL, "no such attribute");
    *value = info->value;
    return NULL;
}

static OrtStatus *fake_KernelInfo_GetInputTypeInfo(const OrtKernelInfo *info, size_t i, OrtTypeInfo **type)
{
    *type = (OrtTypeInfo *)(uintptr_t)&info->input[i];
    return NULL;
}

static OrtStatus *fake_KernelContext_GetInput(const OrtKernelContext *context, size_t i,
                                              const OrtValue **input)
{
    *input = context->input[i];
    return NULL;
}

static OrtStatus *fake_KernelContext_GetOutput(OrtKernelContext *context, size_t i, const int64_t *extents,
                                               size_t rank, OrtValue **output)
{
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
    (void)context, (void)batches;
    if (count > fake.parallel) fake.parallel = count;
    for (size_t i = 0; i < count; i++)
        task(argument, i);
    return NULL;
}

/* ---- Graphs: one Gather, or one for each column of the same data ------------------------------------ */

/* Nodes and values are known by where they lie here. */
enum { MOST_COLUMNS = 16 };
static char nodes_of_graph[MOST_COLUMNS], producer_of_data, reader_of_outs;
static char data_of_graph, indices_of_graph[MOST_COLUMNS], end_of_slice, axis_of_slice, axis_of_nodes;
static const int64_t axis_1 = 1;

static bool is_slice(const OrtNode *node)
{
    return fake.ends_in_slice && (const char *)node == &nodes_of_graph[fake.columns - 1];
}

static size_t node_count(void)
{
    return fake.columns ? fake.columns : 1;
}

static OrtStatus *fake_Graph_GetNumNodes(const OrtGraph *graph, size_t *count)
{
    (void)graph;
    *count = node_count();
    return NULL;
}

static OrtStatus *fake_Graph_GetNodes(const OrtGraph *graph, const OrtNode **nodes, size_t count)
{
    (void)graph;
    for (size_t i = 0; i < count; i++)
        nodes[i] = (const OrtNode *)&nodes_of_graph[i];
    return NULL;
}

static OrtStatus *fake_Node_GetOperatorType(const OrtNode *node, const char **type)
{
    bool is_producer = (const char *)node == &producer_of_data;
    bool is_reader = (const char *)node == &reader_of_outs;
    *type = is_producer ? fake.producer : is_reader ? fake.reader : is_slice(node) ? "Slice" : "Gather";
    return NULL;
}

static OrtStatus *fake_Node_GetSinceVersion(const OrtNode *node, int *version)
{
    (void)node;
    *version = 13;
    return NULL;
}

static OrtStatus *fake_Node_GetNumInputs(const OrtNode *node, size_t *count)
{
    *count = is_slice(node) ? 4 : 2;
    return NULL;
}

static OrtStatus *fake_Node_GetInputs(const OrtNode *node, const OrtValueInfo **inputs, size_t count)
{
    (void)count;
    inputs[0] = (const OrtValueInfo *)&data_of_graph;
    inputs[1] = (const OrtValueInfo *)&indices_of_graph[(const char *)node - nodes_of_graph];
    if (!is_slice(node)) return NULL;
    inputs[2] = (const OrtValueInfo *)&end_of_slice;
    inputs[3] = (const OrtValueInfo *)&axis_of_slice;
    return NULL;
}

static OrtStatus *fake_Node_GetAttributeByName(const OrtNode *node, const char *name,
                                               const OrtOpAttr **attribute)
{
    (void)node;
    *attribute = NULL;
    if (fake.columns == 0 || strcmp(name, "axis") != 0)
        return fake_CreateStatus(ORT_FAIL, "no such attribute");
    *attribute = (const OrtOpAttr *)&axis_of_nodes;
    return NULL;
}

static OrtStatus *fake_ReadOpAttr(const OrtOpAttr *attribute, int type, void *value, size_t room,
                                  size_t *size)
{
    (void)attribute;
    if (type != ORT_ATTRIBUTE_INT || room < sizeof axis_1) return fake_CreateStatus(ORT_FAIL, "another type");
    memcpy(value, &axis_1, *size = sizeof axis_1);
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueProducer(const OrtValueInfo *value, const OrtNode **producer,
                                                  size_t *output)
{
    (void)value, (void)output;
    *producer = fake.producer ? (const OrtNode *)&producer_of_data : NULL;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueNumConsumers(const OrtValueInfo *value, size_t *count)
{
    *count = (const char *)value == &data_of_graph ? node_count() : fake.reader ? 1 : 0;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueConsumers(const OrtValueInfo *value, const OrtNode **nodes,
                                                   int64_t *inputs, size_t count)
{
    memset(inputs, 0, count * sizeof *inputs);
    if ((const char *)value == &data_of_graph) return fake_Graph_GetNodes(NULL, nodes, count);
    nodes[0] = (const OrtNode *)&reader_of_outs;
    return NULL;
}

static OrtStatus *fake_ValueInfo_IsGraphOutput(const OrtValueInfo *value, bool *is_output)
{
    (void)value;
    *is_output = fake.reader == NULL;
    return NULL;
}

static OrtStatus *fake_ValueInfo_IsConstantInitializer(const OrtValueInfo *value, bool *is_constant)
{
    *is_constant = fake.columns > 0 && (const char *)value != &data_of_graph;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetInitializerValue(const OrtValueInfo *value, const OrtValue **tensor)
{
    static int64_t number;
    static OrtValue scalar = {{GARNER_I64, 0, {0}}, &number};
    number = (const char *)value == &end_of_slice    ? INT64_MAX
             : (const char *)value == &axis_of_slice ? -1
                                                     : (const char *)value - indices_of_graph;
    *tensor = &scalar;
    return NULL;
}

static OrtStatus *fake_Node_GetOutputs(const OrtNode *node, const OrtValueInfo **outputs, size_t count)
{
    (void)node, (void)count;
    outputs[0] = (const OrtValueInfo *)&fake;
    return NULL;
}

static OrtStatus *fake_GetValueInfoTypeInfo(const OrtValueInfo *value, const OrtTypeInfo **type)
{
    static struct OrtTypeInfo data;
    data = (struct OrtTypeInfo){fake.data_type ? fake.data_type : GARNER_F32, 2, {2, fake.extent}};
    *type = (const char *)value == &data_of_graph ? &data : &fake.node_output;
    return NULL;
}

/* ---- Options: one ---------------------------------------------------------------------------------- */

static OrtStatus *fake_GetSessionOptionsConfigEntries(const OrtSessionOptions *options,
                                                      OrtKeyValuePairs **entries)
{
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
    (void)factory, (void)metadata, (void)options;
    *device = (OrtEpDevice *)(uintptr_t)hardware;
    return NULL;
}

static OrtStatus *fake_EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo *support, const OrtNode *node)
{
    (void)support, (void)node;
    fake.claimed++;
    return NULL;
}

static OrtStatus *fake_EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo *support, const OrtNode *node,
                                                       const OrtKernelDef **definition)
{
    (void)support;
    *definition = is_slice(node) ? NULL : &fake.kernel[0];
    return NULL;
}

static OrtStatus *fake_CreateKernelRegistry(OrtKernelRegistry **registry)
{
    *registry = (OrtKernelRegistry *)&fake;
    return NULL;
}

static void fake_ReleaseKernelRegistry(OrtKernelRegistry *registry)
{
    (void)registry;
}

static OrtStatus *fake_KernelRegistry_AddKernel(OrtKernelRegistry *registry, const OrtKernelDef *definition,
                                                OrtKernelCreateFunc create, void *state)
{
    (void)registry;
    fake.kernel[fake.kernels] = *definition;
    fake.kernel[fake.kernels].create = create;
    fake.kernel[fake.kernels++].state = state;
    return NULL;
}

static struct OrtKernelDef building;

static OrtStatus *fake_CreateKernelDefBuilder(OrtKernelDefBuilder **builder)
{
    building = (struct OrtKernelDef){0};
    *builder = (OrtKernelDefBuilder *)&building;
    return NULL;
}

static void fake_ReleaseKernelDefBuilder(OrtKernelDefBuilder *builder)
{
    (void)builder;
}

static OrtStatus *fake_KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder *builder, const char *type)
{
    (void)builder;
    snprintf(building.type, sizeof building.type, "%s", type);
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_SetDomain(OrtKernelDefBuilder *builder, const char *domain)
{
    (void)builder;
    return domain[0] == '\0' ? NULL : fake_CreateStatus(ORT_FAIL, "another domain");
}

static OrtStatus *fake_KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder *builder, int first, int last)
{
    (void)builder;
    building.first = first;
    building.last = last;
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder *builder, const char *name)
{
    (void)builder;
    return strcmp(name, "GarnerExecutionProvider") == 0 ? NULL
                                                        : fake_CreateStatus(ORT_FAIL, "another provider");
}

static OrtStatus *fake_KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder *builder, const char *name,
                                                          const OrtDataType *const *types, size_t count)
{
    (void)builder, (void)types;
    building.types[strcmp(name, "T") == 0 ? 0 : 1] = count;
    return NULL;
}

static OrtStatus *fake_KernelDefBuilder_Build(OrtKernelDefBuilder *builder, OrtKernelDef **definition)
{
    (void)builder;
    *definition = &building;
    return NULL;
}

static void fake_ReleaseKernelDef(OrtKernelDef *definition)
{
    (void)definition;
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
