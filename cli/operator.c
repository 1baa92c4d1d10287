/* SPDX-License-Identifier: MIT */
/* From words of the command line to a garner_op. */
#include "operator.h"

#include <limits.h>
#include <string.h>

#include "fail.h"
#include "suggest.h"

static const struct {
    enum command_id command;
    garner_kind kind;
} operators[] = {
    {COMMAND_GATHER, GARNER_GATHER},
    {COMMAND_GATHER_ELEMENTS, GARNER_GATHER_ELEMENTS},
    {COMMAND_GATHER_ND, GARNER_GATHER_ND},
};

garner_kind operator_kind(enum command_id command)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].command == command) return operators[i].kind;
    return 0;
}

static garner_status check_options(const struct invocation *line, enum command_id command,
                                   garner_error *error)
{
    static const enum option_id checked[] = {OPTION_AXIS, OPTION_BATCH_DIMS};
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
        if (line->setting[checked[i]].given && !(options[checked[i]].commands >> command & 1))
            return fail(error, GARNER_BAD_ARGUMENT, "%s does not take --%s", commands[command].name,
                        options[checked[i]].name);
    return GARNER_OK;
}

static garner_status unknown(const struct invocation *line, const char *name, garner_error *error)
{
    const char *command = commands[line->command].name, *nearest = NULL;
    int best = INT_MAX;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        int distance = suggest_distance(name, commands[operators[i].command].name);
        if (distance >= best) continue;
        best = distance;
        nearest = commands[operators[i].command].name;
    }
    if (suggest_near(name, best))
        return fail(error, GARNER_BAD_ARGUMENT, "%s: '%.60s' is no operator; did you mean %s?", command, name,
                    nearest);
    return fail(error, GARNER_BAD_ARGUMENT,
                "%s: '%.60s' is no operator; those are gather, gather-elements and gather-nd%s", command,
                name, line->command == COMMAND_EXPLAIN ? "; nor is it a model, .onnx or .xml" : "");
}

garner_status operator_find(garner_kind *kind, const struct invocation *line, garner_error *error)
{
    const char *name = line->operands[0];
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        enum command_id command = operators[i].command;
        *kind = operators[i].kind;
        if (options_same_word(name, commands[command].name) || strcmp(name, garner_kind_name(*kind)) == 0)
            return check_options(line, command, error);
    }
    return unknown(line, name, error);
}

garner_status operator_make(garner_op *op, const struct invocation *line, garner_kind kind,
                            garner_error *error)
{
    const struct setting *s = line->setting;
    garner_status status = garner_op_from_spec(op, s[OPTION_SPEC].text, kind, error);
    if (status != GARNER_OK) return status;
    op->axis = s[OPTION_AXIS].number;
    op->batch_dims = s[OPTION_BATCH_DIMS].number;
    op->strict = s[OPTION_STRICT].given;
    if (s[OPTION_OOB].given) op->oob = (garner_oob)s[OPTION_OOB].number;
    return GARNER_OK;
}
