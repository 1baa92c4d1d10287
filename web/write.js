// SPDX-License-Identifier: MIT
// The gather as a command, as Python and as C: what one pastes elsewhere to get the same result.
import { TITLES, integer, takesAxis, takesBatchDims } from "./state.js";

const NUMPY = {
  f64: "np.float64", f32: "np.float32", f16: "np.float16", i64: "np.int64", i32: "np.int32", i16: "np.int16", i8: "np.int8",
  u64: "np.uint64", u32: "np.uint32", u16: "np.uint16", u8: "np.uint8", bool: "np.bool_", c64: "np.complex64",
  c128: "np.complex128", str: "str", bf16: "ml_dtypes.bfloat16", i4: "ml_dtypes.int4", u4: "ml_dtypes.uint4",
  i2: "ml_dtypes.int2", u2: "ml_dtypes.uint2", f8e4m3fn: "ml_dtypes.float8_e4m3fn", f8e4m3fnuz: "ml_dtypes.float8_e4m3fnuz",
  f8e5m2: "ml_dtypes.float8_e5m2", f8e5m2fnuz: "ml_dtypes.float8_e5m2fnuz", f8e8m0: "ml_dtypes.float8_e8m0fnu",
  f4e2m1: "ml_dtypes.float4_e2m1fn",
};
const C_TYPES = {
  f64: "double", f32: "float", i64: "int64_t", i32: "int32_t", i16: "int16_t", i8: "int8_t",
  u64: "uint64_t", u32: "uint32_t", u16: "uint16_t", u8: "uint8_t",
};
const MOST_WRITTEN = 4096; // elements in a C program

const isFile = (text) => text.startsWith("file:");
const isIota = (text) => /^\s*iota\(/.test(text);
const untyped = (text) => text.replace(/:\s*[A-Za-z]\w*\s*$/, "");
const options = (state) => [
  ["axis", takesAxis(state.op) && integer(state.axis)], ["batch_dims", takesBatchDims(state.op) && integer(state.batch_dims)],
].filter(([, value]) => value);
const isPlain = (state) => !state.spec && !state.oob && !state.strict;

// ---- A command ----

const quote = (text) => /^[\w./:#,()@%+=-]+$/.test(text) && !/[()#]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function asCommand(state) {
  const words = ["garner", state.op, quote(state.data.trim()), quote(state.indices.trim())];
  for (const [name, value] of options(state)) words.push(`--${name.replace("_", "-")} ${value}`);
  if (state.spec) words.push(`--spec ${state.spec}`);
  if (state.strict) words.push("--strict");
  if (state.oob) words.push(`--oob ${state.oob}`);
  return words.join(" ");
}

// ---- Python ----

const word = /"(?:[^"\\]|\\.)*"|-?\bnan\([^)]*\)|-?\b(?:nan|inf|true|false)\b/g;
const PYTHON_WORDS = { true: "True", false: "False", nan: "np.nan", inf: "np.inf", "-inf": "-np.inf" };
const pythonList = (text) => untyped(text).trim().replace(word, (found) => PYTHON_WORDS[found] ?? found);

function pythonTensor(text, info) {
  if (isFile(text)) {
    const [path, member] = text.slice(5).split(/#(?=[^#]*$)/);
    return member ? `garner.load(${JSON.stringify(path)})[${JSON.stringify(member)}]` : `garner.load(${JSON.stringify(path)})`;
  }
  const type = NUMPY[info.dtype];
  if (isIota(text)) return `np.arange(${info.count}).astype(${type}).reshape(${JSON.stringify(info.shape)})`;
  return `np.array(${pythonList(text)}, dtype=${type})`;
}

export function asPython(state, inputs) {
  const [data, indices] = inputs, missing = inputs.find((input) => !NUMPY[input.dtype]);
  if (missing) return `# NumPy has no type like ${missing.dtype}: save the tensor with garner convert, and use garner.load`;
  const keywords = options(state).map(([name, value]) => `, ${name}=${value}`);
  if (state.spec) keywords.push(`, spec="${state.spec}"`);
  if (state.strict) keywords.push(", strict=True");
  if (state.oob) keywords.push(`, oob="${state.oob}"`);
  const imports = ["import garner", ...(NUMPY[data.dtype].startsWith("ml_") ? ["import ml_dtypes"] : []), "import numpy as np"];
  return `${imports.join("\n")}\n\ndata = ${pythonTensor(state.data, data)}\nindices = ${pythonTensor(state.indices, indices)}\n` +
    `print(garner.${state.op.replace("-", "_")}(data, indices${keywords.join("")}))\n`;
}

// ---- C ----

// One element as C writes it.
function cElement(text, dtype) {
  const sign = text.startsWith("-") ? "-" : "";
  if (/^[+-]?nan/.test(text)) return "NAN";
  if (/^[+-]?inf/.test(text)) return `${sign}INFINITY`;
  if (dtype === "f32" || dtype === "f64") return (/[.e]/.test(text) ? text : `${text}.0`) + (dtype === "f32" ? "f" : "");
  if (text === "-9223372036854775808") return "INT64_MIN";
  return dtype === "u64" ? `UINT64_C(${text})` : text;
}

const elements = (text) => untyped(text).match(/"(?:[^"\\]|\\.)*"|[^[\],\s]+/g) ?? [];

// The array of a tensor: by its elements where C has the type, else by its bytes.
function cArray(name, text, info, bytes) {
  const type = C_TYPES[info.dtype];
  if (info.dtype === "str") {
    const strings = elements(text).map((one) => `{.bytes = ${one}, .size = sizeof ${one} - 1}`);
    return `    garner_string ${name}_elements[] = {${strings.join(", ")}};`;
  }
  if (type && isIota(text))
    return `    ${type} ${name}_elements[${info.count}];\n    for (int i = 0; i < ${info.count}; i++)\n        ${name}_elements[i] = (${type})i;`;
  if (type) return `    ${type} ${name}_elements[] = {${elements(text).map((one) => cElement(one, info.dtype)).join(", ")}};`;
  return `    unsigned char ${name}_elements[] = {${[...bytes].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(", ")}}; /* ${info.dtype} */`;
}

function cTensor(name, info, shape = info.shape) {
  const extents = shape.length ? `.shape = (int64_t[]){${shape.join(", ")}}, ` : "";
  return `    garner_tensor ${name} = {.data = ${name}_elements, ${extents}.rank = ${shape.length}, .dtype = GARNER_${info.dtype.toUpperCase()}};`;
}

function cPrint(dtype, count) {
  const format = { str: '%.*s', f32: "%.9g", f64: "%.17g" }[dtype];
  const value = dtype === "str" ? "(int)out_elements[i].size, (const char *)out_elements[i].bytes"
    : format ? "(double)out_elements[i]" : dtype === "u64" ? "(unsigned long long)out_elements[i]" : C_TYPES[dtype] ? "(long long)out_elements[i]" : "out_elements[i]";
  const written = format ?? (dtype === "u64" ? "%llu" : C_TYPES[dtype] ? "%lld" : "%02x");
  return `    for (size_t i = 0; i < ${count}; i++)\n        printf("${written} ", ${value});\n    printf("\\n");`;
}

function cCall(state) {
  if (isPlain(state) && !(state.op === "gather" && integer(state.batch_dims))) {
    const attribute = state.op === "gather-nd" ? integer(state.batch_dims) : integer(state.axis);
    return [`    if (garner_${state.op.replace("-", "_")}(&data, &indices, ${attribute}, &out, &error) != GARNER_OK) {`];
  }
  const kind = state.op.replace("-", "_").toUpperCase();
  const lines = ["    garner_op op;", `    garner_status status = garner_op_from_spec(&op, ${state.spec ? `"${state.spec}"` : "NULL"}, GARNER_${kind}, &error);`];
  for (const [name, value] of options(state)) lines.push(`    op.${name} = ${value};`);
  if (state.strict) lines.push("    op.strict = 1;");
  if (state.oob) lines.push(`    op.oob = GARNER_OOB_${state.oob.toUpperCase()};`);
  lines.push("    if (status == GARNER_OK) status = garner_run(&op, &data, &indices, &out, NULL, &error);", "    if (status != GARNER_OK) {");
  return lines;
}

// `raw` gives the bytes of an input, which types need that C has not.
export async function asC(state, inputs, out, raw) {
  const [data, indices] = inputs;
  if (isFile(state.data) || isFile(state.indices) || [data, indices, out].some((one) => one.count > MOST_WRITTEN))
    return `/* This ${TITLES[state.op]} has more than ${MOST_WRITTEN} elements, or lies in a file: too much to be written down in C. */\n`;
  if ([data, indices, out].some((one) => one.count === 0)) return "/* C has no arrays without elements: there is nothing to gather. */\n";
  const type = C_TYPES[data.dtype] ?? (data.dtype === "str" ? "garner_string" : "unsigned char");
  const bytes = type === "unsigned char" ? await raw(0) : [];
  const room = type === "unsigned char" ? Math.ceil(out.count * bytes.length / data.count) + 3 : out.count;
  const math = /\b(nan|inf)/.test(state.data) ? "#include <math.h>\n" : "";
  return [`${math}#include <stdio.h>\n\n#include "garner.h"\n\nint main(void)\n{`,
    cArray("data", state.data, data, bytes), cArray("indices", state.indices, indices, []), `    ${type} out_elements[${room}];\n`,
    cTensor("data", data), cTensor("indices", indices), cTensor("out", data, out.shape), "    garner_error error;",
    ...cCall(state), '        fprintf(stderr, "%s\\n", error.message);\n        return 1;\n    }',
    cPrint(data.dtype, type === "unsigned char" ? Math.ceil(out.count * bytes.length / data.count) : out.count), "    return 0;\n}\n"].join("\n");
}
