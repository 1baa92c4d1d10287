// SPDX-License-Identifier: MIT
// The page: what is typed becomes state, the state becomes a picture and an address.
import { Client } from "./client.js";
import { KINDS } from "./core.js";
import { Files } from "./files.js";
import { fromHash, integer, takesAxis, takesBatchDims, TITLES, toHash } from "./state.js";
import { View } from "./view.js";
import { asC, asCommand, asPython } from "./write.js";

const find = (id) => document.getElementById(id);
const form = find("controls"), fields = form.elements;

const client = new Client(fetch(new URL("./garner.wasm", import.meta.url)).then((answer) => {
  if (!answer.ok) throw new Error(`garner.wasm: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}));

let state = fromHash(location.hash);
let versions = {};
let examples = [];
let shown = null; // the last answer that has a picture
let note = "";

const view = new View(find("picture"), {
  ask: (panel, window) => client.call("cells", { panel, window }).catch(() => null),
  tell: tellLine,
});
const files = new Files(client, find("file-list"), { fill: (changes, about) => change(changes, about), warn: showError });

// ---- State and controls ----

function fillForm() {
  for (const name of ["data", "indices", "axis", "batch_dims"]) if (fields[name].value !== state[name]) fields[name].value = state[name];
  fields.op.value = state.op;
  const names = [["", "newest, every type"], ...(versions[state.op] ?? []).map((name) => [name, name])];
  if (state.spec && !names.some(([value]) => value === state.spec)) names.push([state.spec, state.spec]);
  fields.spec.replaceChildren(...names.map(([value, text]) => new Option(text, value)));
  fields.spec.value = state.spec;
  fields.oob.value = state.oob;
  fields.strict.checked = Boolean(state.strict);
  find("axis-label").hidden = !takesAxis(state.op);
  find("batch_dims-label").hidden = !takesBatchDims(state.op);
}

let addressTimer = 0;
function writeAddress(now) {
  clearTimeout(addressTimer);
  const write = () => { if (toHash(state) !== location.hash) history.replaceState(null, "", toHash(state)); };
  if (now) write();
  else addressTimer = setTimeout(write, 120);
}

// Something else is looked at: an example, a file, another operator.
function change(changes, about = "") {
  const versioned = changes.op !== undefined && changes.spec === undefined && !versions[changes.op]?.includes(state.spec);
  state = { ...state, ...(versioned ? { spec: "" } : {}), ...changes };
  note = about;
  fillForm();
  view.resetWindows();
  writeAddress(true);
  refresh();
}

form.addEventListener("input", ({ target }) => {
  if (target.name === "op") { change({ op: target.value }); return; }
  if (!(target.name in state)) return;
  state = { ...state, [target.name]: target.type === "checkbox" ? (target.checked ? "1" : "") : target.value };
  note = "";
  writeAddress();
  refresh();
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {
  if (location.hash === toHash(state) || !location.hash.includes("=")) return;
  state = fromHash(location.hash);
  note = "";
  fillForm();
  view.resetWindows();
  refresh();
});

// ---- The picture ----

function request() {
  const op = { ...state, axis: takesAxis(state.op) ? integer(state.axis) : 0, batch_dims: takesBatchDims(state.op) ? integer(state.batch_dims) : 0, strict: Boolean(state.strict) };
  for (const name of ["axis", "batch_dims"])
    if (Number.isNaN(op[name])) throw Object.assign(new Error(`${name}: '${state[name]}' is not an integer`), { field: name });
  const inputs = {};
  for (const name of ["data", "indices"]) {
    try { inputs[name] = files.resolve(state[name]); } catch (error) { throw Object.assign(error, { field: name }); }
  }
  return { op, ...inputs, windows: view.windows };
}

// One question at a time; what is typed meanwhile is asked afterwards, and only the last of it.
let busy = false, again = false;
async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  do {
    again = false;
    const began = performance.now();
    try {
      const answer = await client.call("show", request());
      document.documentElement.dataset.core = answer.took?.toFixed(1) ?? "";
      showAnswer(answer);
    } catch (error) {
      showError(error.message, error.field);
    }
    document.documentElement.dataset.took = (performance.now() - began).toFixed(1);
  } while (again);
  busy = false;
  document.documentElement.dataset.ready = "true";
}

function showAnswer(answer) {
  showInputs(answer);
  if (answer.error && !answer.cells) { showError(answer.error.message, answer.field); return; }
  if (answer.error) showError(answer.error.message, answer.error.position === undefined ? undefined : "indices");
  else clearError();
  shown = answer.error ? null : answer;
  find("title").textContent = answer.error ? TITLES[state.op] : answer.gather.title;
  find("formula").textContent = answer.error ? "" : answer.gather.formula;
  const said = answer.error ? [] : [`out = ${answer.result}`, ...answer.gather.summary, ...(note ? [note] : [])];
  find("summary").replaceChildren(...said.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  view.show(answer.cells, { tuple: answer.gather.tuple ?? 1, bad: answer.error?.position ?? -1 });
  writeCode();
  markExample();
}

function showInputs(answer) {
  ["data", "indices"].forEach((name, slot) => {
    const input = answer.inputs[slot], info = find(`${name}-info`);
    info.textContent = input.error ? input.error.message : `${input.dtype}[${input.shape.join(",")}], ${input.count.toLocaleString("en")} element${input.count === 1 ? "" : "s"}`;
    info.classList.toggle("wrong", Boolean(input.error));
  });
}

function showError(message, field) {
  clearError();
  Object.assign(find("error"), { textContent: message, hidden: false });
  if (field) fields[field].setAttribute("aria-invalid", "true");
  view.stale();
}

function clearError() {
  find("error").hidden = true;
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
}

let lineOf = null;
async function tellLine(about) {
  lineOf = about;
  if (!about || !shown) { find("line").textContent = ""; return null; }
  const told = await client.call("about", { panel: about.panel, flat: about.flat }).catch(() => null);
  if (told && lineOf === about) find("line").textContent = told.line;
  return told;
}

// ---- Tabs ----

function makeTabs(list, names, choose) {
  const buttons = names.map(([value, text]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, value });
    button.setAttribute("role", "tab");
    return button;
  });
  const select = (value) => {
    for (const button of buttons) {
      button.setAttribute("aria-selected", String(button.value === value));
      button.tabIndex = button.value === value ? 0 : -1;
    }
    choose(value);
  };
  for (const button of buttons) button.addEventListener("click", () => select(button.value));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length];
    next.focus();
    select(next.value);
  });
  list.replaceChildren(...buttons);
  return select;
}

// ---- Examples ----

const stateOf = (example) => ({
  op: Object.keys(KINDS).find((name) => KINDS[name] === example.kind), spec: example.spec, axis: String(example.axis),
  batch_dims: String(example.batch_dims), oob: "", strict: "", data: example.data, indices: example.indices,
});

function labelOf(example) {
  const said = [example.number.replace(/^_gather_elements_/, "").replaceAll("_", " ")];
  if (example.kind !== KINDS["gather-nd"]) said.push(`axis ${example.axis}`);
  if (example.batch_dims) said.push(`batch_dims ${example.batch_dims}`);
  return said.join(" · ");
}

function listExamples(op) {
  const texts = new Map();
  for (const example of examples.filter((one) => one.kind === KINDS[op])) {
    if (!texts.has(example.text)) texts.set(example.text, []);
    texts.get(example.text).push(example);
  }
  const parts = [];
  for (const [text, list] of [...texts].reverse()) { // the newest first
    const chips = Object.assign(document.createElement("div"), { className: "chips" });
    for (const example of list) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: labelOf(example) });
      button.example = stateOf(example);
      button.setAttribute("aria-label", `${text}, example ${labelOf(example)}`);
      button.addEventListener("click", () => change(button.example));
      chips.append(button);
    }
    parts.push(Object.assign(document.createElement("h3"), { textContent: text }), chips);
  }
  find("example-list").replaceChildren(...parts);
  markExample();
}

function markExample() {
  for (const button of find("example-list").querySelectorAll("button"))
    button.setAttribute("aria-current", String(Object.entries(button.example).every(([name, value]) => state[name] === value)));
}

// ---- Taking it along ----

let language = "command", code = "";
const MOST_SHOWN = 4000; // characters: laying out more takes longer than everything else

function showCode(text) {
  code = text;
  find("code").textContent = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}… (${(text.length - MOST_SHOWN).toLocaleString("en")} more characters are copied, too)` : text;
}

async function writeCode() {
  if (!shown) { showCode(language === "command" ? asCommand(state) : "(there is no result)"); return; }
  const { inputs, gather } = shown, now = state;
  const text = language === "command" ? `${asCommand(now)}\n` : language === "python" ? asPython(now, inputs)
    : await asC(now, inputs, gather.out, (slot) => client.call("raw", { slot }));
  if (now === state) showCode(text);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    getSelection().selectAllChildren(find("code"));
    say("selected: copy it with your keyboard");
  }
}

let sayTimer = 0;
function say(text) {
  find("copied").textContent = text;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { find("copied").textContent = ""; }, 2500);
}

async function save(call, name, type) {
  try {
    const url = URL.createObjectURL(new Blob([await client.call(call)], { type }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  } catch (error) {
    showError(error.message);
  }
}

find("copy").addEventListener("click", () => copy(code));
find("copy-link").addEventListener("click", () => { writeAddress(true); copy(location.href); });
find("save-svg").addEventListener("click", () => save("picture", `${state.op}.svg`, "image/svg+xml"));
find("save-npy").addEventListener("click", () => save("save", "out.npy", "application/octet-stream"));

// ---- Dropping ----

find("file").addEventListener("change", async ({ target }) => { await files.take(target.files); target.value = ""; });
const isFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => { if (isFiles(event)) { event.preventDefault(); find("drop").hidden = false; } });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) find("drop").hidden = true; });
addEventListener("drop", (event) => {
  if (!isFiles(event)) return;
  event.preventDefault();
  find("drop").hidden = true;
  files.take(event.dataTransfer.files, event.target.closest?.("textarea")?.name);
});

// ---- Light and dark ----

const THEMES = ["auto", "light", "dark"];
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("theme").textContent = `Theme: ${theme}`;
  try { localStorage.setItem("theme", theme); } catch { /* it is not kept, then */ }
}
find("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "auto";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});
let kept = "auto";
try { kept = localStorage.getItem("theme") ?? "auto"; } catch { /* nothing is kept */ }
setTheme(THEMES.includes(kept) ? kept : "auto");

// ---- Beginning ----

client.onRestart = () => files.forgetAll();
fillForm();
refresh();
client.started.then((found) => {
  ({ versions, examples } = found);
  fillForm();
  makeTabs(document.querySelector("#examples .tabs"), Object.entries(TITLES), listExamples)(state.op);
  makeTabs(document.querySelector("#use .tabs"), [["command", "Command"], ["python", "Python"], ["c", "C"]],
    (value) => { language = value; writeCode(); })(language);
}).catch((error) => showError(error.message));
