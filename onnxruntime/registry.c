/* SPDX-License-Identifier: MIT */
/* Tells the runtime what there are kernels for: each version of each operator, a line. */
#include "registry.h"

/* A version serves the opsets from `first` to the last before the next one. What the last version serves ends
 * with it: a later one would mean something new. */
static const struct line {
    garner_kind kind;
    int first, last;
    const char *spec, *index_constraint;
} lines[VERSIONS] = {
    {GARNER_GATHER, 1, 10, "onnx-1", "Tind"},
    {GARNER_GATHER, 11, 12, "onnx-11", "Tind"},
    {GARNER_GATHER, 13, 13, "onnx-13", "Tind"},
    {GARNER_GATHER_ELEMENTS, 11, 12, "onnx-11", "Tind"},
    {GARNER_GATHER_ELEMENTS, 13, 13, "onnx-13", "Tind"},
    {GARNER_GATHER_ND, 11, 11, "onnx-11", "indices"},
    {GARNER_GATHER_ND, 12, 12, "onnx-12", "indices"},
    {GARNER_GATHER_ND, 13, 13, "onnx-13", "indices"},
};

/* Element types as the runtime calls them. */
struct types {
    const OrtDataType *type[ORT_TYPES];
    size_t count;
};

/* Some of its types a runtime does not offer to kernels: they cannot come. */
static void add_type(struct types *types, const struct ort *ort, int type)
{
    const OrtDataType *found = NULL;
    if (!ort_failed(ort, ort->GetTensorDataType(type, &found)) && found) types->type[types->count++] = found;
}

static OrtStatus *describe(OrtKernelDefBuilder *builder, const struct ort *ort, const struct line *line)
{
    struct types any = {.count = 0}, index = {.count = 0};
    for (int type = 1; type < ORT_TYPES; type++)
        add_type(&any, ort, type);
    add_type(&index, ort, ORT_INT32);
    add_type(&index, ort, ORT_INT64);
    RETURN_FAILURE(ort->KernelDefBuilder_SetOperatorType(builder, garner_kind_name(line->kind)));
    RETURN_FAILURE(ort->KernelDefBuilder_SetDomain(builder, ""));
    RETURN_FAILURE(ort->KernelDefBuilder_SetSinceVersion(builder, line->first, line->last));
    RETURN_FAILURE(ort->KernelDefBuilder_SetExecutionProvider(builder, EP_NAME));
    RETURN_FAILURE(ort->KernelDefBuilder_AddTypeConstraint(builder, "T", any.type, any.count));
    return ort->KernelDefBuilder_AddTypeConstraint(builder, line->index_constraint, index.type, index.count);
}

static OrtStatus *add(OrtKernelRegistry *kernels, const struct ort *ort, const struct line *line,
                      struct version *version)
{
    OrtKernelDefBuilder *builder;
    OrtKernelDef *definition = NULL;
    *version = (struct version){ort, line->kind, line->spec};
    RETURN_FAILURE(ort->CreateKernelDefBuilder(&builder));
    OrtStatus *status = describe(builder, ort, line);
    if (status == NULL) status = ort->KernelDefBuilder_Build(builder, &definition);
    if (status == NULL)
        status = ort->KernelRegistry_AddKernel(kernels, definition, ort_kernel_create, version);
    if (definition) ort->ReleaseKernelDef(definition);
    ort->ReleaseKernelDefBuilder(builder);
    return status;
}

OrtStatus *registry_open(struct registry *registry, const struct ort *ort)
{
    RETURN_FAILURE(ort->CreateKernelRegistry(&registry->kernels));
    for (int i = 0; i < VERSIONS; i++)
        RETURN_FAILURE(add(registry->kernels, ort, &lines[i], &registry->version[i]));
    return NULL;
}

void registry_close(struct registry *registry, const struct ort *ort)
{
    if (registry->kernels) ort->ReleaseKernelRegistry(registry->kernels);
}
