// SPDX-License-Identifier: MIT
// All that the page shows follows from its state, and the address holds all of it.

export const DEFAULTS = {
  op: "gather", spec: "", axis: "0", batch_dims: "0", strict: "", oob: "",
  data: "iota(5,4):f32", indices: "[[3,0],[-1,3]]",
};

// Characters that an address may hold as they are, and that literals are made of.
const plain = { "%5B": "[", "%5D": "]", "%2C": ",", "%3A": ":", "%28": "(", "%29": ")", "%2F": "/" };
const encode = (text) => encodeURIComponent(text).replace(/%(5B|5D|2C|3A|28|29|2F)/g, (code) => plain[code]);

export function toHash(state) {
  const said = Object.keys(DEFAULTS)
    .filter((name) => ["op", "data", "indices"].includes(name) || state[name] !== DEFAULTS[name])
    .map((name) => `${name}=${encode(state[name])}`);
  return `#${said.join("&")}`;
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

export function fromHash(hash) {
  const state = { ...DEFAULTS };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at);
    if (at > 0 && Object.hasOwn(DEFAULTS, name)) state[name] = decode(part.slice(at + 1));
  }
  if (!["gather", "gather-elements", "gather-nd"].includes(state.op)) state.op = DEFAULTS.op;
  return state;
}

export const TITLES = { "gather": "Gather", "gather-elements": "GatherElements", "gather-nd": "GatherND" };
export const takesAxis = (op) => op !== "gather-nd";
export const takesBatchDims = (op) => op !== "gather-elements";

// An attribute as a number; NaN if it is no integer.
export function integer(text) {
  return /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : NaN;
}
