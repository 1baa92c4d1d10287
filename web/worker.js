// SPDX-License-Identifier: MIT
// The core beside the page, so that nothing it does keeps the page from answering. One message in, one answer out.
import { createCore, KINDS, PANELS } from "./core.js";

let core = null;
let held = [null, null]; // what lies in the slots, as text, so that only what changes is read again
let answers = [null, null];

function put(slot, what) {
  const key = JSON.stringify(what);
  if (held[slot] !== key) {
    held[slot] = null;
    answers[slot] = core.put(slot, what);
    if (!answers[slot].error) held[slot] = key;
  }
  return answers[slot];
}

function cellsOf(windows, gather) {
  const cells = {};
  for (const panel of PANELS)
    if (windows[panel] && (panel !== "out" || !gather.error)) cells[panel] = core.cells(panel, windows[panel]);
  return cells;
}

const calls = {
  async start({ bytes }) {
    core = await createCore(bytes);
    held = [null, null];
    const versions = {};
    for (const [name, kind] of Object.entries(KINDS)) versions[name] = core.versions(kind);
    return { versions, examples: core.examples() };
  },

  // All that changes when something is typed.
  show({ op, data, indices, windows }) {
    const began = performance.now();
    const inputs = [put(0, data), put(1, indices)];
    for (const [slot, input] of inputs.entries())
      if (input.error) return { inputs, error: input.error, field: ["data", "indices"][slot] };
    const gather = core.gather(op);
    const answer = { inputs, gather, error: gather.error, cells: cellsOf(windows, gather) };
    if (!gather.error) {
      try { answer.result = core.resultText(); } catch (error) { answer.result = error.message; }
    }
    answer.took = performance.now() - began;
    return answer;
  },

  cells({ panel, window }) { return core.cells(panel, window); },
  about({ panel, flat }) { return core.about(panel, flat); },
  json() { return core.resultJson(); },
  picture() { return core.picture(); },
  save() { return core.save(); },
  raw({ slot }) { return core.raw(slot); },
  modelPicture({ file, gathers }) { return core.modelPicture(file, gathers); },
  beside({ name, bytes }) { core.beside(name, bytes); },
  open({ name, bytes }) { held = [null, null]; return core.open(name, bytes); }, // one that fails empties the slots
  close({ file }) { held = [null, null]; core.close(file); },

  // A tensor of a file as a literal, "" if it has none.
  written({ what }) {
    const slot = 0;
    held[slot] = null;
    const answer = core.put(slot, what);
    if (answer.error) throw new Error(answer.error.message);
    return core.written(slot);
  },
};

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    self.postMessage({ id, value: await calls[call](args ?? {}) });
  } catch (error) {
    self.postMessage({ id, failure: error.message ?? String(error) });
  }
};
