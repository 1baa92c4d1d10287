/* SPDX-License-Identifier: MIT */
/*
 * The stand-in's graph, a part of fake_runtime.c: one Gather, or one for each column of the same data, and
 * what the fields of `fake` make of that.
 */

/* Nodes and values are known by where they lie here. */
enum { MOST_COLUMNS = 16 };
static char nodes_of_graph[MOST_COLUMNS], producer_of_data, readers_of_outs[2];
static char data_of_graph, indices_of_graph[MOST_COLUMNS], end_of_slice, axis_of_slice, step_of_slice,
    axis_of_nodes;

static bool is_slice(const OrtNode *node)
{
    return fake.ends_in_slice && (const char *)node == &nodes_of_graph[fake.columns - 1];
}

static bool is_nd(const OrtNode *node)
{
    return fake.ends_in_nd && (const char *)node == &nodes_of_graph[fake.columns - 1];
}

static size_t node_count(void)
{
    return fake.is_empty ? 0 : fake.columns ? fake.columns : 1;
}

static OrtStatus *fake_Graph_GetNumNodes(const OrtGraph *graph, size_t *count)
{
    MAY_FAIL;
    (void)graph;
    *count = node_count();
    return NULL;
}

static OrtStatus *fake_Graph_GetNodes(const OrtGraph *graph, const OrtNode **nodes, size_t count)
{
    MAY_FAIL;
    (void)graph;
    for (size_t i = 0; i < count; i++)
        nodes[i] = (const OrtNode *)&nodes_of_graph[i];
    return NULL;
}

static OrtStatus *fake_Node_GetOperatorType(const OrtNode *node, const char **type)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(type);
    bool is_producer = (const char *)node == &producer_of_data;
    const char *place = (const char *)node;
    *type = is_producer                    ? fake.producer
            : place == &readers_of_outs[0] ? fake.reader
            : place == &readers_of_outs[1] ? fake.second_reader
            : is_slice(node)               ? "Slice"
            : is_nd(node)                  ? "GatherND"
                                           : "Gather";
    return NULL;
}

static OrtStatus *fake_Node_GetSinceVersion(const OrtNode *node, int *version)
{
    MAY_FAIL;
    (void)node;
    *version = fake.since_version ? fake.since_version : 13;
    return NULL;
}

static OrtStatus *fake_Node_GetNumInputs(const OrtNode *node, size_t *count)
{
    MAY_FAIL;
    *count = fake.inputs ? fake.inputs : is_slice(node) ? 4 : 2;
    return NULL;
}

static OrtStatus *fake_Node_GetInputs(const OrtNode *node, const OrtValueInfo **inputs, size_t count)
{
    MAY_FAIL;
    inputs[0] = (const OrtValueInfo *)&data_of_graph;
    inputs[1] = (const OrtValueInfo *)&indices_of_graph[(const char *)node - nodes_of_graph];
    if (!is_slice(node)) return NULL;
    inputs[2] = (const OrtValueInfo *)&end_of_slice;
    if (count > 3) inputs[3] = (const OrtValueInfo *)&axis_of_slice;
    if (count > 4) inputs[4] = (const OrtValueInfo *)&step_of_slice;
    return NULL;
}

static OrtStatus *fake_Node_GetAttributeByName(const OrtNode *node, const char *name,
                                               const OrtOpAttr **attribute)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(attribute);
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
    MAY_FAIL;
    (void)attribute;
    const int64_t axis = fake.axis ? fake.axis : 1;
    if (type != ORT_ATTRIBUTE_INT || room < sizeof axis) return fake_CreateStatus(ORT_FAIL, "another type");
    memcpy(value, &axis, *size = sizeof axis);
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueProducer(const OrtValueInfo *value, const OrtNode **producer,
                                                  size_t *output)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(producer);
    (void)value, (void)output;
    *producer = fake.producer ? (const OrtNode *)&producer_of_data : NULL;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueNumConsumers(const OrtValueInfo *value, size_t *count)
{
    MAY_FAIL;
    *count = (const char *)value == &data_of_graph ? node_count()
             : fake.second_reader                  ? 2
             : fake.reader                         ? 1
                                                   : 0;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetValueConsumers(const OrtValueInfo *value, const OrtNode **nodes,
                                                   int64_t *inputs, size_t count)
{
    MAY_FAIL;
    for (size_t i = 0; i < count; i++)
        inputs[i] = (const char *)value == &data_of_graph && fake.reads_as_indices;
    if ((const char *)value == &data_of_graph) return fake_Graph_GetNodes(NULL, nodes, count);
    for (size_t i = 0; i < count; i++)
        nodes[i] = (const OrtNode *)&readers_of_outs[i];
    return NULL;
}

static OrtStatus *fake_ValueInfo_IsGraphOutput(const OrtValueInfo *value, bool *is_output)
{
    MAY_FAIL;
    (void)value;
    *is_output = fake.reader == NULL && !fake.unread;
    return NULL;
}

static OrtStatus *fake_ValueInfo_IsConstantInitializer(const OrtValueInfo *value, bool *is_constant)
{
    MAY_FAIL;
    *is_constant = fake.columns > 0 && (const char *)value != &data_of_graph;
    return NULL;
}

static OrtStatus *fake_ValueInfo_GetInitializerValue(const OrtValueInfo *value, const OrtValue **tensor)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(tensor);
    static OrtValue scalar = {.data = number_of_graph};
    scalar.is = fake.number.type ? fake.number : (struct OrtTypeInfo){GARNER_I64, 0, {0}};
    number_of_graph[0] = (const char *)value == &end_of_slice    ? INT64_MAX
                         : (const char *)value == &axis_of_slice ? -1
                         : (const char *)value == &step_of_slice ? fake.step
                                                                 : (const char *)value - indices_of_graph;
    *tensor = &scalar;
    return NULL;
}

static OrtStatus *fake_Node_GetOutputs(const OrtNode *node, const OrtValueInfo **outputs, size_t count)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(outputs);
    (void)node, (void)count;
    outputs[0] = (const OrtValueInfo *)&fake;
    return NULL;
}

static OrtStatus *fake_GetValueInfoTypeInfo(const OrtValueInfo *value, const OrtTypeInfo **type)
{
    MAY_FAIL;
    MAY_GIVE_NOTHING(type);
    static struct OrtTypeInfo data;
    data = (struct OrtTypeInfo){
        fake.data_type ? fake.data_type : GARNER_F32, fake.data_rank ? fake.data_rank : 2, {2, fake.extent}};
    *type = (const char *)value == &data_of_graph ? &data : &fake.node_output;
    return NULL;
}
