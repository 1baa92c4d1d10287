// SPDX-License-Identifier: MIT
// Files that are dropped: what is in them, and what can be opened of it. The browser reads the XML, since DOMParser is its.
import { KINDS } from "./core.js";

const LARGEST_FILE = 256 * 1024 * 1024;
const MOST_LITERAL = 4096; // elements: what is smaller becomes a literal, which the address can hold
const LARGEST_XML = 64 * 1024 * 1024, MOST_ATTRIBUTES = 255;
const MADE_UP = 1 << 16; // elements of what a model's file does not hold
const OPERATORS = Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [kind, name]));

const endsWith = (name, ...endings) => endings.some((ending) => name.toLowerCase().endsWith(ending));
const isModel = (name) => endsWith(name, ".onnx", ".xml");
const isTensors = (name) => endsWith(name, ".npy", ".npz", ".safetensors", ".pb");

// ---- XML as the core reads it (web/system/browser_xml.c) ----

export function xmlRecords(name, text) {
  if (text.length > LARGEST_XML) throw new Error(`${name}: an IR of more than ${LARGEST_XML / 1048576} MiB, which is the page's limit`);
  if (/<!DOCTYPE/i.test(text)) throw new Error(`${name}: a document type declaration (DOCTYPE), which no IR has`);
  const parsed = new DOMParser().parseFromString(text, "application/xml");
  if (parsed.querySelector("parsererror")) throw new Error(`${name}: this is not XML as it should be`);
  const parts = [];
  const zero = (value) => `${value.replaceAll("\0", "")}\0`;
  const open = (node) => {
    if (node.attributes.length > MOST_ATTRIBUTES) throw new Error(`${name}: an element with more than ${MOST_ATTRIBUTES} attributes`);
    parts.push("o", node.attributes.length, zero(node.nodeName));
    for (const attribute of node.attributes) parts.push(zero(attribute.name), zero(attribute.value));
  };
  for (let node = parsed.documentElement, down = true; node;) { // without recursion: files may be deep
    if (down && node.nodeType === Node.ELEMENT_NODE) open(node);
    if (node.nodeType === Node.TEXT_NODE || node.nodeType === Node.CDATA_SECTION_NODE) parts.push("t", zero(node.data));
    if (down && node.firstChild) { node = node.firstChild; continue; }
    if (node.nodeType === Node.ELEMENT_NODE) parts.push("c");
    if (node === parsed.documentElement) break;
    down = Boolean(node.nextSibling);
    node = node.nextSibling ?? node.parentNode;
  }
  return bytesOf(parts);
}

// Texts as UTF-8, numbers as bytes.
function bytesOf(parts) {
  const encoder = new TextEncoder(), encoded = parts.map((part) => typeof part === "number" ? Uint8Array.of(part) : encoder.encode(part));
  const whole = new Uint8Array(encoded.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of encoded) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// ---- What a model's file does not hold is made up ----

function madeUpShape(shape) {
  const made = shape.map((extent) => extent < 0 ? 3 : extent);
  const size = () => made.reduce((product, extent) => product * extent, 1);
  while (size() > MADE_UP) {
    const largest = made.indexOf(Math.max(...made));
    made[largest] = Math.max(1, made[largest] >> 1);
  }
  return made;
}

function nested(shape, next) {
  if (!shape.length) return String(next());
  return `[${Array.from({ length: shape[0] }, () => nested(shape.slice(1), next)).join(",")}]`;
}

// Shapes of data and indices that go together, as long as the model leaves them open.
export function madeUp(gather, dataShape) {
  const data = dataShape ?? madeUpShape(gather.data.shape ?? [3, 4]);
  const axis = gather.axis < 0 ? gather.axis + data.length : gather.axis;
  const batch = gather.batch_dims < 0 ? gather.batch_dims + (gather.indices.shape ?? []).length : gather.batch_dims;
  const shape = madeUpShape(gather.indices.shape ?? [2]);
  if (gather.kind === KINDS["gather-elements"]) shape.forEach((extent, i) => { if (i !== axis) shape[i] = Math.min(extent, data[i] ?? extent); });
  else for (let i = 0; i < batch; i++) shape[i] = data[i] ?? shape[i];
  let count = 0;
  const tuple = gather.kind === KINDS["gather-nd"] ? shape[shape.length - 1] : 1;
  const bound = (at) => gather.kind === KINDS["gather-nd"] ? data[batch + at % tuple] ?? 1 : data[axis] ?? 1;
  const next = () => { const at = count++; return Math.floor(at / tuple * 7 + at % tuple * 3) % Math.max(1, bound(at)); };
  const written = nested(shape, next);
  return { data: `iota(${data.join(",")})${gather.data.dtype && gather.data.dtype !== "i64" ? `:${gather.data.dtype}` : ""}`,
    indices: gather.indices.dtype && gather.indices.dtype !== "i64" ? `${written}:${gather.indices.dtype}` : written };
}

// ---- The files that are open ----

export class Files {
  // `fill(changes, note)` changes the page's state.
  constructor(client, list, { fill, warn }) {
    Object.assign(this, { client, list, fill, warn });
    this.open = new Map(); // by name
  }

  // What a field says: a literal, or a tensor of a file that is open.
  resolve(text) {
    if (!text.startsWith("file:")) return { literal: text };
    const [name, member] = text.slice(5).split(/#(?=[^#]*$)/);
    const file = this.open.get(name);
    if (!file) throw new Error(`${name} is a file that this address does not hold: drop it on the page`);
    const at = member === undefined ? 0 : (file.tensors ?? []).findIndex((one) => one.name === member);
    const constant = file.constants?.get(member);
    if (constant) return { file: file.file, ...constant };
    if (at < 0 || !file.tensors?.length) throw new Error(`${name} has no tensor ${member}`);
    return { file: file.file, member: at };
  }

  // Files that were dropped or chosen, on a field or anywhere.
  async take(files, field) {
    const all = [...files];
    for (const file of all.filter((one) => !isModel(one.name) && !isTensors(one.name)))
      await this.guard(file, async (bytes) => this.client.call("beside", { name: file.name, bytes }));
    for (const file of all.filter((one) => isModel(one.name) || isTensors(one.name)))
      await this.guard(file, async (bytes) => this.takeOne(file.name, bytes, field));
    if (!all.some((one) => isModel(one.name) || isTensors(one.name)) && all.length)
      this.warn(`${all[0].name}: no known kind of file; those known are .npy, .npz, .safetensors, .pb, .onnx and .xml`);
  }

  async guard(file, use) {
    try {
      if (file.size > LARGEST_FILE) throw new Error(`${file.name}: a file of more than ${LARGEST_FILE / 1048576} MiB, which is the page's limit`);
      await use(new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      this.warn(error.message);
    }
  }

  async takeOne(name, bytes, field) {
    if (endsWith(name, ".xml")) bytes = xmlRecords(name, new TextDecoder().decode(bytes));
    const before = this.open.get(name);
    if (before) await this.client.call("close", { file: before.file });
    this.open.delete(name);
    const found = await this.client.call("open", { name, bytes });
    found.constants = new Map();
    this.open.set(name, found);
    this.show(name, found);
    if (found.tensors?.length === 1) await this.useTensor(name, found, 0, field ?? "data");
  }

  forgetAll() {
    this.open.clear();
    this.list.replaceChildren();
    this.list.parentElement.hidden = true;
  }

  // Small tensors become literals.
  async useTensor(name, found, member, field) {
    const about = found.tensors[member];
    if (about.error) return this.warn(about.error);
    const text = about.count <= MOST_LITERAL ? await this.client.call("written", { what: { file: found.file, member } }) : "";
    return this.fill({ [field]: text || `file:${name}${about.name ? `#${about.name}` : ""}` });
  }

  async constantText(name, found, gather, slot) {
    const about = slot ? gather.indices : gather.data;
    const what = { node: gather.node, slot };
    const count = about.shape.reduce((product, extent) => product * extent, 1);
    const text = count <= MOST_LITERAL ? await this.client.call("written", { what: { file: found.file, ...what } }) : "";
    if (!text) found.constants.set(about.name, what);
    return text || `file:${name}#${about.name}`;
  }

  async useGather(name, found, gather) {
    const notes = [], dataShape = gather.data.constant ? gather.data.shape : undefined, changes = madeUp(gather, dataShape);
    if (gather.data.constant) changes.data = await this.constantText(name, found, gather, 0);
    if (gather.indices.constant) changes.indices = await this.constantText(name, found, gather, 1);
    for (const role of ["data", "indices"])
      if (!gather[role].constant) notes.push(`${role} (${gather[role].name} ${gather[role].type}) comes when the model runs: here it is made up`);
    this.fill({ op: OPERATORS[gather.kind], spec: gather.spec, axis: String(gather.axis), batch_dims: String(gather.batch_dims), oob: "", strict: "", ...changes },
      notes.join("; "));
  }

  // ---- The list ----

  show(name, found) {
    const box = document.createElement("article");
    box.className = "file";
    box.dataset.name = name;
    const title = Object.assign(document.createElement("h3"), { textContent: name });
    box.append(title, ...(found.tensors ? this.tensors(name, found) : this.model(name, found)));
    [...this.list.children].find((one) => one.dataset.name === name)?.remove();
    this.list.prepend(box);
    this.list.parentElement.hidden = false;
  }

  button(text, label, act) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => act().catch?.((error) => this.warn(error.message)));
    return button;
  }

  item(text, small, ...buttons) {
    const item = document.createElement("li"), span = Object.assign(document.createElement("span"), { textContent: text });
    if (small) span.append(document.createElement("br"), Object.assign(document.createElement("small"), { textContent: small }));
    item.append(span, ...buttons);
    return item;
  }

  tensors(name, found) {
    const list = document.createElement("ul");
    found.tensors.forEach((about, i) => {
      if (about.error) list.append(this.item(about.error, ""));
      else list.append(this.item(`${about.name} ${about.dtype}[${about.shape.join(",")}]`, "", ...["data", "indices"].map((field) =>
        this.button(`as ${field}`, `${about.name || name} as ${field}`, () => this.useTensor(name, found, i, field)))));
    });
    return [list];
  }

  model(name, found) {
    const line = (text) => Object.assign(document.createElement("p"), { textContent: text });
    const list = document.createElement("ul");
    for (const gather of found.gathers) {
      const group = found.groups[gather.group];
      const small = gather.refusal ?? [gather.formula, `data: ${group.data}; indices: ${group.indices}; result: ${group.out}`].filter(Boolean).join("  ·  ");
      const opens = gather.kind && gather.data && gather.indices;
      list.append(this.item(gather.name ? `${gather.name}: ${gather.what}` : gather.what, small,
        ...(opens ? [this.button("open", `open ${gather.name || gather.what}`, () => this.useGather(name, found, gather))] : [])));
    }
    const picture = document.createElement("details");
    picture.append(Object.assign(document.createElement("summary"), { textContent: "The whole model as a picture" }));
    picture.addEventListener("toggle", () => this.drawModel(picture, name, found), { once: true });
    return [line(`${found.title} · ${found.summary}`), list, ...found.notes.map(line), picture];
  }

  async drawModel(box, name, found) {
    try {
      const bytes = await this.client.call("modelPicture", { file: found.file, gathers: false });
      const image = Object.assign(document.createElement("img"), { alt: `the nodes of ${name}`, src: URL.createObjectURL(new Blob([bytes], { type: "image/svg+xml" })) });
      box.append(image);
    } catch (error) {
      this.warn(error.message);
    }
  }
}
