/* SPDX-License-Identifier: MIT */
/*
 * The table of operator versions: every difference between two versions of a specification is a
 * column here, and there is no other place that knows a version.
 */
#include "op.h"

#include <string.h>

#include "error.h"
#include "line.h"

#define TYPE(name) (UINT64_C(1) << GARNER_##name)

/* What the ONNX texts list from opset 1 to 12; opset 13 added bf16. */
#define ONNX_1                                                                                     \
    (TYPE(F32) | TYPE(U8) | TYPE(I8) | TYPE(U16) | TYPE(I16) | TYPE(I32) | TYPE(I64) | TYPE(STR) | \
     TYPE(BOOL) | TYPE(F16) | TYPE(F64) | TYPE(U32) | TYPE(U64) | TYPE(C64) | TYPE(C128))
#define ONNX_13 (ONNX_1 | TYPE(BF16))

/* What OpenVINO calls "any supported type". */
#define OPENVINO                                                                                           \
    (TYPE(BOOL) | TYPE(BF16) | TYPE(F16) | TYPE(F32) | TYPE(F64) | TYPE(I4) | TYPE(I8) | TYPE(I16) |       \
     TYPE(I32) | TYPE(I64) | TYPE(U1) | TYPE(U2) | TYPE(U3) | TYPE(U4) | TYPE(U6) | TYPE(U8) | TYPE(U16) | \
     TYPE(U32) | TYPE(U64) | TYPE(NF4) | TYPE(F8E4M3FN) | TYPE(F8E5M2) | TYPE(F8E8M0) | TYPE(F4E2M1) |     \
     TYPE(STR))
#define ANY UINT64_MAX

#define ONLY_64 TYPE(I64)
#define I32_I64 (TYPE(I32) | TYPE(I64))
#define INTEGER (I32_I64 | TYPE(I8) | TYPE(I16) | TYPE(U8) | TYPE(U16) | TYPE(U32) | TYPE(U64))

#define WRAPS GARNER_NEGATIVE_WRAPS
#define OUTSIDE GARNER_NEGATIVE_IS_OUTSIDE
#define FAILS GARNER_OOB_ERROR
#define ZEROS GARNER_OOB_ZERO

#define GATHER GARNER_GATHER
#define ELEMENTS GARNER_GATHER_ELEMENTS
#define ND GARNER_GATHER_ND

/*
 * Row kind - 1 is that operator's lenient default; the others follow, oldest first for each operator.
 * A row's number is what garner_op.spec holds. Where a text is silent docs/semantics.md gives the
 * reason for the choice.
 */
/* clang-format off */
static const struct rules versions[] = {
/*   spec          kind      data     strict data  indices  batch_dims     extents off axis  merged  outside  negative under strict */
    {NULL,         GATHER,   ANY,     ANY,         INTEGER, BATCH_SIGNED,  EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {NULL,         ELEMENTS, ANY,     ANY,         INTEGER, BATCH_NONE,    EXTENT_AT_MOST,   false,  FAILS,   WRAPS},
    {NULL,         ND,       ANY,     ANY,         INTEGER, BATCH_LEADING, EXTENT_EQUAL,     false,  FAILS,   WRAPS},

    {"onnx-1",     GATHER,   ONNX_1,  ONNX_1,      I32_I64, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"onnx-11",    GATHER,   ONNX_1,  ONNX_1,      I32_I64, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"onnx-13",    GATHER,   ONNX_13, ONNX_13,     I32_I64, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"openvino-1", GATHER,   ANY,     OPENVINO,    INTEGER, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   OUTSIDE},
    {"openvino-7", GATHER,   ANY,     OPENVINO,    INTEGER, BATCH_SIGNED,  EXTENT_EQUAL,     false,  FAILS,   OUTSIDE},
    {"openvino-8", GATHER,   ANY,     OPENVINO,    INTEGER, BATCH_SIGNED,  EXTENT_EQUAL,     false,  ZEROS,   WRAPS},

    {"onnx-11",    ELEMENTS, ONNX_1,  ONNX_1,      I32_I64, BATCH_NONE,    EXTENT_AT_MOST,   false,  FAILS,   WRAPS},
    {"onnx-13",    ELEMENTS, ONNX_13, ONNX_13,     I32_I64, BATCH_NONE,    EXTENT_AT_MOST,   false,  FAILS,   WRAPS},
    {"openvino-6", ELEMENTS, ANY,     OPENVINO,    I32_I64, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   OUTSIDE},

    {"onnx-11",    ND,       ONNX_1,  ONNX_1,      ONLY_64, BATCH_NONE,    EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"onnx-12",    ND,       ONNX_1,  ONNX_1,      ONLY_64, BATCH_LEADING, EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"onnx-13",    ND,       ONNX_13, ONNX_13,     ONLY_64, BATCH_LEADING, EXTENT_EQUAL,     false,  FAILS,   WRAPS},
    {"openvino-5", ND,       ANY,     OPENVINO,    INTEGER, BATCH_LEADING, EXTENT_EQUAL,     true,   FAILS,   OUTSIDE},
    {"openvino-8", ND,       ANY,     OPENVINO,    INTEGER, BATCH_LEADING, EXTENT_EQUAL,     false,  FAILS,   OUTSIDE},
};
/* clang-format on */

static const char *const names[] = {
    [GATHER] = "Gather",
    [ELEMENTS] = "GatherElements",
    [ND] = "GatherND",
};

static const int row_count = sizeof versions / sizeof versions[0];

/* What `strict` means where the caller names no version. */
static const char strict_default[] = "onnx-13";

const char *garner_kind_name(garner_kind kind)
{
    return kind == GATHER || kind == ELEMENTS || kind == ND ? names[kind] : NULL;
}

const char *garner_spec_name(garner_kind kind, int i)
{
    for (int row = 0; row < row_count && i >= 0; row++)
        if (versions[row].kind == kind && versions[row].spec != NULL && i-- == 0) return versions[row].spec;
    return NULL;
}

/* The row of that version; -1 if the operator has none of that name. */
static int find_row(const char *spec, garner_kind kind)
{
    for (int row = 0; row < row_count; row++)
        if (versions[row].kind == kind && versions[row].spec != NULL && strcmp(versions[row].spec, spec) == 0)
            return row;
    return -1;
}

static GARNER_COLD garner_status fail_spec(garner_error *error, const char *spec, garner_kind kind)
{
    char known[160];
    struct line line = {known, sizeof known, 0};
    const char *name;
    for (int i = 0; (name = garner_spec_name(kind, i)) != NULL; i++)
        garner_line_add(&line, "%s%s", i ? ", " : "", name);
    return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: spec '%.64s' is not one of %s", names[kind], spec,
                       known);
}

static GARNER_COLD garner_status fail_kind(garner_error *error, garner_kind kind)
{
    return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_op: kind %d is none of the three operators",
                       (int)kind);
}

garner_status garner_op_from_spec(garner_op *op, const char *spec, garner_kind kind, garner_error *error)
{
    garner_error spare;
    error = error_begin(error, &spare);
    if (op == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_op_from_spec: op is NULL");
    if (garner_kind_name(kind) == NULL) return fail_kind(error, kind);
    int row = spec ? find_row(spec, kind) : 0;
    if (row < 0) return fail_spec(error, spec, kind);
    *op = (garner_op){.size = sizeof *op, .kind = kind, .spec = row};
    if (row > 0) op->oob = versions[row].oob;
    return GARNER_OK;
}

enum op_fault { OP_FINE, OP_SIZE, OP_KIND, OP_OOB, OP_NEGATIVE, OP_SPEC };

/* `value` is that of the field. */
static GARNER_COLD garner_status fail_op(enum op_fault fault, garner_kind kind, int value,
                                         garner_error *error)
{
    switch (fault) {
    case OP_SIZE:
        return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_op: size %u is neither 0 nor %zu",
                           (unsigned)value, sizeof(garner_op));
    case OP_OOB:
        return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: oob %d is none of the four policies", names[kind],
                           value);
    case OP_NEGATIVE:
        return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: negative %d is neither of the two meanings",
                           names[kind], value);
    case OP_SPEC:
        return garner_fail(error, GARNER_BAD_ARGUMENT, "%s: spec number %d is not one of this operator's",
                           names[kind], value);
    default:
        return fail_kind(error, kind);
    }
}

/* A caller's struct, each field read once. */
static inline garner_op own_op(const garner_op *given)
{
    garner_op own = *given;
    PIN(own.size);
    PIN(own.kind);
    PIN(own.axis);
    PIN(own.batch_dims);
    PIN(own.oob);
    PIN(own.negative);
    PIN(own.spec);
    PIN(own.strict);
    return own;
}

/* The row of a spec number; without one, the newest version if the caller is strict about it. */
static inline int choose_row(const garner_op *given)
{
    if (given->spec != 0) return given->spec;
    return given->strict ? find_row(strict_default, given->kind) : (int)given->kind - 1;
}

void garner_op_default(struct op *op, garner_kind kind, int64_t axis, int64_t batch_dims)
{
    const struct rules *rules = &versions[kind - 1];
    *op = (struct op){
        .rules = rules,
        .name = names[kind],
        .axis = axis,
        .batch_dims = batch_dims,
        .data_types = rules->data_types,
    };
}

garner_status garner_op_resolve(struct op *op, const garner_op *original, garner_error *error)
{
    if (original == NULL) return garner_fail(error, GARNER_BAD_ARGUMENT, "garner_op: op is NULL");
    const garner_op given = own_op(original);
    const garner_kind kind = given.kind;
    if (given.size != 0 && given.size != sizeof given) return fail_op(OP_SIZE, kind, (int)given.size, error);
    if (kind != GATHER && kind != ELEMENTS && kind != ND) return fail_op(OP_KIND, kind, 0, error);
    if ((unsigned)given.oob > GARNER_OOB_WRAP) return fail_op(OP_OOB, kind, (int)given.oob, error);
    if ((unsigned)given.negative > OUTSIDE) return fail_op(OP_NEGATIVE, kind, (int)given.negative, error);
    if (given.spec < 0 || given.spec >= row_count || (given.spec > 0 && versions[given.spec].kind != kind))
        return fail_op(OP_SPEC, kind, given.spec, error);
    const struct rules *rules = &versions[choose_row(&given)];
    op->rules = rules;
    op->name = names[kind];
    op->axis = given.axis;
    op->batch_dims = given.batch_dims;
    op->oob = given.oob;
    op->negative = given.strict && rules->strict_negative == OUTSIDE ? OUTSIDE : given.negative;
    op->data_types = given.strict ? rules->strict_data_types : rules->data_types;
    return GARNER_OK;
}
