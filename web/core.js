// SPDX-License-Identifier: MIT
// The C core as functions: texts and bytes go into its memory, answers come out. Works in pages, workers and Node.

export const KINDS = { "gather": 1, "gather-elements": 2, "gather-nd": 3 };
export const POLICIES = ["error", "zero", "clamp", "wrap"];
export const PANELS = ["data", "indices", "out"];

// So many slices are shown at once, if they have so many rows together.
const MOST_SLICES = 6, MOST_SLICE_ROWS = 18;

// More than this is not inflated of one file, whatever it claims.
const MOST_INFLATED = 256 * 1024 * 1024;

// What libc asks of the system: an empty environment, and an end.
function system(memory) {
  const empty = (first, second) => {
    const view = new DataView(memory().buffer);
    view.setUint32(first, 0, true);
    view.setUint32(second, 0, true);
    return 0;
  };
  return {
    wasi_snapshot_preview1: {
      environ_get: () => 0,
      environ_sizes_get: empty,
      proc_exit: (code) => { throw new Error(`the core stopped with ${code}`); },
    },
  };
}

export async function createCore(bytes) {
  let instance = null;
  ({ instance } = await WebAssembly.instantiate(bytes, system(() => instance.exports.memory)));
  instance.exports._initialize();
  return new Core(instance.exports);
}

class Core {
  constructor(calls) { this.calls = calls; }

  // ---- Across the border ----

  // A copy in the core's memory, which it or `free` releases.
  give(bytes) {
    const at = this.calls.page_alloc(bytes.length);
    if (!at) throw new Error(`there is no memory for ${bytes.length} bytes: the page's limit is 512 MiB`);
    new Uint8Array(this.calls.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  withText(text, use) {
    const at = this.give(new TextEncoder().encode(text));
    try { return use(at); } finally { this.calls.page_free(at); }
  }

  bytes() {
    const at = this.calls.page_answer();
    return new Uint8Array(this.calls.memory.buffer, at, this.calls.page_answer_size()).slice();
  }

  text() { return new TextDecoder().decode(this.bytes()); }

  json() {
    const text = this.text();
    if (!text) return { error: { message: "there is not enough memory for an answer" } };
    return JSON.parse(text);
  }

  // ---- The gather ----

  versions(kind) {
    const names = [];
    for (;;) {
      this.calls.page_version(kind, names.length);
      const name = this.text();
      if (!name) return names;
      names.push(name);
    }
  }

  examples() { this.calls.page_examples(); return this.json(); }

  // What a slot (0: data, 1: indices) is to hold: {literal}, {file, member} or {file, node}.
  put(slot, what) {
    if (what.literal !== undefined) this.withText(what.literal, (at) => this.calls.page_literal(slot, at));
    else if (what.node !== undefined) this.calls.page_constant(slot, what.file, what.node);
    else this.calls.page_member(slot, what.file, what.member);
    return this.json();
  }

  gather(op) {
    this.withText(op.spec, (at) =>
      this.calls.page_gather(KINDS[op.op], at, op.axis, op.batch_dims, op.strict ? 1 : 0, POLICIES.indexOf(op.oob)));
    return this.json();
  }

  // A window of a tensor: one slice, or all of them in `all` where they are few and small.
  cells(panel, window) {
    const of = (slice) => {
      const { row, rows, column, columns } = window;
      this.calls.page_cells(PANELS.indexOf(panel), slice, row, row + rows, column, column + columns);
      return this.json();
    };
    const found = of(window.slice), { slices } = found;
    if (slices > 1 && slices <= MOST_SLICES && slices * Math.min(found.rows, window.rows) <= MOST_SLICE_ROWS)
      found.all = Array.from({ length: slices }, (_, slice) => slice === found.slice ? { ...found } : of(slice));
    return found;
  }

  about(panel, flat) {
    this.calls.page_about(PANELS.indexOf(panel), flat);
    const text = this.text();
    return text ? JSON.parse(text) : null;
  }

  // Bytes of what a call answers; throws its sentence where it refuses.
  answerOf(call, ...args) {
    if (this.calls[call](...args)) throw new Error(this.json().error.message);
    return this.bytes();
  }

  resultText() { return new TextDecoder().decode(this.answerOf("page_result", 0)); }
  resultJson() { return new TextDecoder().decode(this.answerOf("page_result", 1)); }
  picture() { return this.answerOf("page_picture"); }
  save() { return this.answerOf("page_save"); }
  modelPicture(file, gathers) { return this.answerOf("page_model_picture", file, gathers ? 1 : 0); }
  written(slot) { this.calls.page_written(slot); return this.text(); }
  raw(slot) { return this.answerOf("page_raw", slot); }

  // ---- Files ----

  beside(name, bytes) {
    const at = this.give(bytes);
    this.withText(name, (text) => this.calls.page_beside(text, at, bytes.length));
  }

  // Opens a file and lists what is in it: {file, tensors} or {file, title, gathers, ...}.
  async open(name, bytes) {
    const at = this.give(bytes);
    const file = this.withText(name, (text) => this.calls.page_open(text, at, bytes.length));
    if (file < 0) throw new Error(this.json().error.message);
    try {
      return { file, ...await this.list(file, name, bytes) };
    } catch (error) {
      this.calls.page_close(file);
      throw error;
    }
  }

  close(file) { this.calls.page_close(file); }

  async list(file, name, bytes) {
    this.calls.page_list(file);
    let found = this.json();
    if (found.error) throw new Error(found.error.message);
    if (!found.wanted?.length) return found;
    let left = MOST_INFLATED;
    for (const [offset, size] of found.wanted) {
      const whole = await inflate(bytes.subarray(offset, offset + size), left, name);
      if (!whole) continue; // the core says which member that was
      left -= whole.length;
      this.calls.page_inflated(file, offset, this.give(whole), whole.length);
    }
    this.calls.page_list(file);
    found = this.json();
    return found;
  }
}

// What was deflated, as the browser inflates it; null if it is damaged.
async function inflate(packed, most, name) {
  const parts = [];
  let size = 0;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > most) break;
      parts.push(value);
    }
  } catch {
    return null;
  }
  if (size > most) {
    reader.cancel().catch(() => {});
    throw new Error(`${name}: inflates to more than ${MOST_INFLATED / 1048576} MiB, which is the page's limit`);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
