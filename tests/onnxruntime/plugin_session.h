/* SPDX-License-Identifier: MIT */
/* What tests of the plug-in do in the stand-in: load it, let it look at a graph, run a gather. */
#ifndef PLUGIN_SESSION_H
#define PLUGIN_SESSION_H

#include "counted_malloc.h"
#include "fake_runtime.h"
#include "garner.h"

OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **factories, size_t room, size_t *count);
OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);

static inline OrtStatus *open_factory(OrtEpFactory **factory)
{
    size_t count = 99;
    *factory = NULL;
    OrtStatus *status = CreateEpFactories("any", fake_base(), NULL, factory, 1, &count);
    assert_int_equal(count, status ? 0 : 1);
    return status;
}

/* Lets a provider look at a graph and counts the nodes that it claims; with the allocation of that number
 * failing, if it is not 0. */
static inline size_t claims_of(struct fake_runtime graph, int failing, OrtStatus **status)
{
    OrtEpFactory *factory;
    OrtEp *ep;
    graph.version = ORT_API_VERSION;
    fake_reset();
    fake = graph;
    assert_null(open_factory(&factory));
    assert_null(factory->CreateEp(factory, NULL, NULL, 0, NULL, NULL, &ep));
    counting_begin(failing);
    *status = ep->GetCapability(ep, NULL, NULL);
    counting_end();
    factory->ReleaseEp(factory, ep);
    assert_null(ReleaseEpFactory(factory));
    return fake.claimed;
}

static inline const struct OrtKernelDef *kernel_of(const char *type, int version)
{
    for (size_t i = 0; i < fake.kernels; i++)
        if (strcmp(fake.kernel[i].type, type) == 0 && fake.kernel[i].last == version) return &fake.kernel[i];
    return NULL;
}

/* Everything a session does, once, for rows of a table whose shapes the model states or not. The first
 * failure. */
static inline OrtStatus *session(bool stated, OrtKernelContext *context, int runs)
{
    OrtEpFactory *factory;
    OrtEp *ep = NULL;
    OrtKernelImpl *kernel = NULL;
    OrtStatus *status = open_factory(&factory);
    if (status) return status;
    struct OrtKernelInfo info = {.attribute = "axis", .value = 0};
    for (int i = 0; i < 2; i++) {
        info.input[i] = context->input[i]->is;
        if (!stated) info.input[i].extents[0] = -1;
    }
    status = factory->CreateEp(factory, NULL, NULL, 0, NULL, NULL, &ep);
    if (!status) status = ep->GetCapability(ep, NULL, NULL);
    const struct OrtKernelDef *definition = kernel_of("Gather", 13);
    if (!status) status = definition->create(definition->state, &info, &kernel);
    for (int run = 0; run < runs && !status; run++) {
        status = kernel->Compute(kernel, context);
        if (run == 0 && which_fails == 0)
            allocations = 0; /* what comes after the first run is the steady state */
    }
    if (kernel) kernel->Release(kernel);
    if (ep) factory->ReleaseEp(factory, ep);
    assert_null(ReleaseEpFactory(factory));
    return status;
}

static float table[4][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, rows[3][2];
static int64_t chosen[3] = {3, 0, -2};
static OrtValue table_value = {{GARNER_F32, 2, {4, 2}}, table}, chosen_value = {{GARNER_I64, 1, {3}}, chosen};
static OrtValue rows_value = {{GARNER_F32, 2, {0}}, rows};
static OrtKernelContext small = {{&table_value, &chosen_value}, &rows_value};

static inline void assert_rows(void)
{
    static const float wanted[3][2] = {{6, 7}, {0, 1}, {4, 5}};
    assert_int_equal(rows_value.is.rank, 2);
    assert_int_equal(rows_value.is.extents[0], 3);
    assert_memory_equal(rows, wanted, sizeof wanted);
}

#endif
