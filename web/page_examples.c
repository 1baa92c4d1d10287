/* SPDX-License-Identifier: MIT */
/* The worked examples of the specifications, as what one would type. */
#include "page.h"
#include "print.h"

struct extents {
    int32_t rank;
    int64_t extents[8];
};

struct example {
    const char *text, *number;
    garner_kind kind;
    const char *spec;
    int axis, batch_dims;
    struct extents data, indices;
    const float *elements;
    const int64_t *values;
};

/* clang-format off */
#define SCALAR {0, {0}}
#define SHAPE(...) {(int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}}
#define FLOATS(...) (const float[]){__VA_ARGS__}
#define VALUES(...) (const int64_t[]){__VA_ARGS__}
#define EXAMPLE(text, number, kind, spec, axis, batch_dims, data, elements, indices, values, out, expected) \
    {text, number, GARNER_##kind, spec, axis, batch_dims, data, indices, elements, values},
#define LAYER(...) /* which states shapes alone */
/* clang-format on */

static const struct example examples[] = {
#include "specifications.def"
};

static void answer_literal(FILE *answer, const char *name, garner_dtype dtype, const struct extents *shape,
                           const void *elements)
{
    struct print_style style = {.format = PRINT_TEXT, .bare = true};
    garner_tensor tensor = {
        .data = (void *)(uintptr_t)elements, .shape = shape->extents, .rank = shape->rank, .dtype = dtype};
    fprintf(answer, ", \"%s\": \"", name);
    (void)print_tensor(answer, &tensor, &style, NULL);
    fputs("\"", answer);
}

PAGE_CALL(page_examples) void page_examples(void)
{
    FILE *answer = answer_begin();
    if (!answer) return;
    fputs("[", answer);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        fputs(i ? ",\n{" : "{", answer);
        answer_member(answer, "text", e->text, 1);
        answer_member(answer, "number", e->number, 0);
        answer_member(answer, "spec", e->spec, 0);
        fprintf(answer, ", \"kind\": %d, \"axis\": %d, \"batch_dims\": %d", (int)e->kind, e->axis,
                e->batch_dims);
        answer_literal(answer, "data", GARNER_F32, &e->data, e->elements);
        answer_literal(answer, "indices", GARNER_I64, &e->indices, e->values);
        fputs("}", answer);
    }
    fputs("]", answer);
}
