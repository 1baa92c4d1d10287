/* SPDX-License-Identifier: MIT */
/* Reads a session's options, and says of each graph, subgraphs too, which nodes it takes. */
#include "provider.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion.h"
#include "ort_operand.h"

struct provider {
    OrtEp ep; /* first: the runtime knows no other part */
    const struct ort *ort;
    const struct registry *registry;
    int64_t min_bytes; /* -1: not given */
};

/* ---- Options ---------------------------------------------------------------------------------- */

#define OPTION_PREFIX \
    "ep.garnerexecutionprovider." /* the runtime's way: lower case, in the session's entries */

static bool read_bytes(const char *text, int64_t *bytes)
{
    char *end;
    errno = 0;
    *bytes = strtoll(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static OrtStatus *take_option(struct provider *provider, const char *name, const char *value)
{
    char message[256];
    if (strcmp(name, "min_bytes") != 0)
        snprintf(message, sizeof message, EP_NAME ": there is no option %.60s; there is min_bytes", name);
    else if (read_bytes(value, &provider->min_bytes))
        return NULL;
    else
        snprintf(message, sizeof message,
                 EP_NAME ": min_bytes is %.60s; it must be a whole number of bytes, from 0 to %" PRId64,
                 value, INT64_MAX);
    return provider->ort->CreateStatus(ORT_INVALID_ARGUMENT, message);
}

static OrtStatus *read_options(struct provider *provider, const OrtSessionOptions *options)
{
    const struct ort *ort = provider->ort;
    OrtKeyValuePairs *entries;
    const char *const *keys, *const *values;
    size_t count;
    OrtStatus *status = NULL;
    RETURN_FAILURE(ort->GetSessionOptionsConfigEntries(options, &entries));
    ort->GetKeyValuePairs(entries, &keys, &values, &count);
    for (size_t i = 0; i < count && status == NULL; i++)
        if (strncmp(keys[i], OPTION_PREFIX, strlen(OPTION_PREFIX)) == 0)
            status = take_option(provider, keys[i] + strlen(OPTION_PREFIX), values[i]);
    ort->ReleaseKeyValuePairs(entries);
    return status;
}

/* ---- Which nodes ------------------------------------------------------------------------------ */

/* Whether a node's output is as large as was asked for, as far as the model tells. */
static bool is_large_enough(const struct provider *provider, const OrtNode *node)
{
    const struct ort *ort = provider->ort;
    const OrtValueInfo *output = NULL;
    const OrtTypeInfo *type = NULL;
    garner_tensor tensor;
    int64_t extents[GARNER_MAX_RANK], count = 1;
    if (provider->min_bytes <= 0) return true;
    if (ort_failed(ort, ort->Node_GetOutputs(node, &output, 1)) || output == NULL ||
        ort_failed(ort, ort->GetValueInfoTypeInfo(output, &type)) ||
        !ort_operand_foresee(ort, type, &tensor, extents))
        return true;
    for (int32_t d = 0; d < tensor.rank; d++)
        if (__builtin_mul_overflow(count, extents[d], &count)) return true;
    int64_t bytes = garner_dtype_bytes(tensor.dtype, count, 0);
    return bytes < 0 || bytes >= provider->min_bytes;
}

/* Whether a node is worth the claim. With 0 bytes all are that a rewrite is not worth more of. */
static bool is_worth_it(const struct provider *provider, const OrtNode *node)
{
    return provider->min_bytes == 0 ||
           (is_large_enough(provider, node) && !fusion_only_copies(provider->ort, node));
}

static OrtStatus *claim(const struct provider *provider, OrtEpGraphSupportInfo *support,
                        const OrtNode *const *nodes, size_t count)
{
    const struct ort *ort = provider->ort;
    struct fusion last = {0};
    for (size_t i = 0; i < count; i++) {
        const OrtKernelDef *kernel = NULL;
        RETURN_FAILURE(ort->EpGraphSupportInfo_LookUpKernel(support, nodes[i], &kernel));
        if (kernel && is_worth_it(provider, nodes[i]) && !fusion_is_expected(ort, nodes[i], &last))
            RETURN_FAILURE(ort->EpGraphSupportInfo_AddSingleNode(support, nodes[i]));
    }
    return NULL;
}

static OrtStatus *get_capability(OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *support)
{
    const struct provider *provider = (const struct provider *)ep;
    const struct ort *ort = provider->ort;
    size_t count;
    RETURN_FAILURE(ort->Graph_GetNumNodes(graph, &count));
    if (count == 0) return NULL;
    const OrtNode **nodes = calloc(count, sizeof *nodes);
    if (nodes == NULL) return ort_no_memory(ort);
    OrtStatus *status = ort->Graph_GetNodes(graph, nodes, count);
    if (status == NULL) status = claim(provider, support, nodes, count);
    free(nodes);
    return status;
}

/* ---- Made and freed --------------------------------------------------------------------------- */

static const char *get_name(const OrtEp *ep)
{
    (void)ep;
    return EP_NAME;
}

static OrtStatus *get_kernel_registry(OrtEp *ep, const OrtKernelRegistry **kernels)
{
    *kernels = ((const struct provider *)ep)->registry->kernels;
    return NULL;
}

static OrtStatus *is_concurrent_run_supported(OrtEp *ep, bool *supported)
{
    (void)ep;
    *supported = true;
    return NULL;
}

OrtStatus *provider_create(const struct ort *ort, const struct registry *registry,
                           const OrtSessionOptions *options, OrtEp **ep)
{
    struct provider *provider = calloc(1, sizeof *provider);
    *ep = NULL;
    if (provider == NULL) return ort_no_memory(ort);
    provider->ep = (OrtEp){.ort_version_supported = ORT_API_VERSION,
                           .GetName = get_name,
                           .GetCapability = get_capability,
                           .GetKernelRegistry = get_kernel_registry,
                           .IsConcurrentRunSupported = is_concurrent_run_supported};
    provider->ort = ort;
    provider->registry = registry;
    provider->min_bytes = -1;
    OrtStatus *status = read_options(provider, options);
    if (status)
        free(provider);
    else
        *ep = &provider->ep;
    return status;
}

void provider_release(OrtEp *ep)
{
    free(ep);
}
