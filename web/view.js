// SPDX-License-Identifier: MIT
// The three tensors as tables: a window of each, arrows between them, and what belongs together lit.

const ORDER = ["indices", "data", "out"]; // as explain draws them
const TONES = 8;
const MOST_ARROWS = 40;
const MOST_ROWS = 12, MOST_COLUMNS = 12;
const MARKS = ["", "used", "zero"];

export const firstWindow = () => ({ slice: 0, row: 0, rows: MOST_ROWS, column: 0, columns: MOST_COLUMNS });

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

export class View {
  // `ask` fetches the cells of a panel's new window; `tell` hears which cell is looked at, or null.
  constructor(picture, { ask, tell }) {
    this.picture = picture;
    this.arrows = picture.querySelector("#arrows");
    this.ask = ask;
    this.tell = tell;
    this.windows = {};
    this.panels = {};
    for (const name of ORDER) this.panels[name] = this.makePanel(name);
    this.tuple = 1;
    this.bad = -1;
    new ResizeObserver(() => this.laterArrows()).observe(picture);
    for (const type of ["pointerover", "focusin"]) picture.addEventListener(type, (event) => this.meet(event));
    picture.addEventListener("pointerleave", () => this.light(this.focused()));
    picture.addEventListener("focusout", (event) => { if (!picture.contains(event.relatedTarget)) this.light(null); });
    picture.addEventListener("keydown", (event) => this.key(event));
    picture.addEventListener("click", (event) => { const cell = this.cellOf(event.target); if (cell) this.reveal(cell); });
  }

  makePanel(name) {
    this.windows[name] = firstWindow();
    const section = element("section", { className: `panel panel-${name}` });
    section.setAttribute("aria-label", name);
    section.addEventListener("wheel", (event) => this.wheel(event, name), { passive: false });
    this.picture.insertBefore(section, this.arrows);
    return section;
  }

  // ---- Drawing ----

  show(cells, { tuple, bad }) {
    this.tuple = tuple;
    this.bad = bad;
    this.picture.classList.remove("stale");
    for (const name of ORDER) {
      this.panels[name].hidden = !cells[name];
      if (cells[name]) this.draw(name, cells[name]);
    }
    this.light(this.focused());
    this.laterArrows();
  }

  stale() { this.picture.classList.add("stale"); }

  resetWindows() { for (const name of ORDER) this.windows[name] = firstWindow(); }

  // A window that the tensor has become too small for.
  clamp(name, found) {
    const window = this.windows[name];
    window.slice = found.slice;
    window.row = Math.max(0, Math.min(window.row, found.rows - window.rows));
    window.column = Math.max(0, Math.min(window.column, found.columns - window.columns));
  }

  draw(name, found) {
    const section = this.panels[name], had = this.focusPlace(section), tables = found.all ?? [found];
    const frame = JSON.stringify([found.rank, found.slices, found.rows, found.columns, ...tables.map((one) => [one.slice, one.row, one.column])]);
    section.found = found;
    this.clamp(name, found);
    if (section.frame === frame) { this.redraw(name, section, tables); return; }
    section.frame = frame;
    section.replaceChildren(element("h3", { textContent: found.title }));
    if (!found.cells.length || !found.cells[0].length)
      section.append(element("p", { className: "empty", textContent: "(empty)" }));
    else for (const slice of found.all ?? [found])
      section.append(...this.slices(name, slice, Boolean(found.all)), element("div", { className: "scroller" }, this.table(name, slice)));
    section.append(...this.sliders(name, found));
    if (had) this.focusAt(section, had);
  }

  // Other values in the same cells: what stays is left alone, so that there is little to lay out.
  redraw(name, section, tables) {
    const title = section.querySelector("h3"), cells = section.querySelectorAll("tbody td");
    if (title.textContent !== tables[0].title) title.textContent = tables[0].title;
    let i = 0;
    for (const found of tables)
      found.cells.forEach((row, r) => row.forEach((cell, c) => this.fill(cells[i++], name, found, cell, found.row + r, found.column + c)));
  }

  table(name, found) {
    const table = element("table");
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", found.title + (found.label ? ` ${found.label}` : ""));
    table.setAttribute("aria-rowcount", found.rows);
    table.setAttribute("aria-colcount", found.columns);
    if (found.rank > 0) table.append(this.columnNumbers(found));
    const body = element("tbody");
    found.cells.forEach((row, r) => body.append(this.row(name, found, row, found.row + r)));
    table.append(body);
    return table;
  }

  columnNumbers(found) {
    const row = element("tr");
    if (found.rank > 1) row.append(element("th", { ariaHidden: "true" })); // above the numbers of rows
    found.cells[0].forEach((cell, c) =>
      row.append(element("th", { scope: "col", textContent: String(found.column + c) })));
    return element("thead", {}, row);
  }

  row(name, found, cells, r) {
    const row = element("tr");
    if (found.rank > 1) row.append(element("th", { scope: "row", textContent: String(r) }));
    cells.forEach((cell, c) => row.append(this.cell(name, found, cell, r, found.column + c)));
    return row;
  }

  cell(name, found, content, r, c) {
    const cell = element("td", { tabIndex: -1 });
    cell.setAttribute("role", "gridcell");
    if (r === found.row && c === found.column && (!found.slice || !found.all)) cell.tabIndex = 0;
    this.fill(cell, name, found, content, r, c);
    return cell;
  }

  fill(cell, name, found, [text, mark, use, tuple, source], r, c) {
    const flat = (found.slice * found.rows + r) * found.columns + c, bad = name === "indices" && flat === this.bad;
    const names = `${MARKS[mark]}${mark === 1 ? ` t${use % TONES}` : ""}${bad ? " bad" : ""}`;
    cell.about = { panel: name, flat, use, tuple: name === "indices" ? Math.floor(flat / this.tuple) : tuple, source };
    if (cell.said !== text) cell.textContent = cell.said = text;
    if (cell.names === names) return;
    cell.className = cell.names = names;
    if (bad) cell.setAttribute("aria-invalid", "true");
    else cell.removeAttribute("aria-invalid");
  }

  // ---- Windows of large tensors ----

  // Above a slice: which one it is, and the way to the others if they are not shown.
  slices(name, found, all) {
    if (found.slices <= 1 || all) return found.label ? [element("p", { className: "slices", textContent: found.label })] : [];
    const step = (by, label, sign) => {
      const button = element("button", { type: "button", textContent: sign });
      button.setAttribute("aria-label", `${label} slice of ${name}`);
      button.disabled = found.slice + by < 0 || found.slice + by >= found.slices;
      button.addEventListener("click", () => this.move(name, { slice: found.slice + by }));
      return button;
    };
    return [element("div", { className: "slices" }, step(-1, "previous", "‹"), step(1, "next", "›"),
      element("span", { textContent: `${found.label}  ${found.slice + 1} of ${found.slices.toLocaleString("en")}` }))];
  }

  sliders(name, found) {
    const made = [];
    for (const [axis, most] of [["row", found.rows], ["column", found.columns]]) {
      const shown = this.windows[name][`${axis}s`];
      if (most <= shown) continue;
      const slider = element("input", { type: "range", min: 0, max: most - shown, value: found[axis] });
      slider.setAttribute("aria-label", `first ${axis} of ${name} that is shown`);
      slider.addEventListener("input", () => this.move(name, { [axis]: Number(slider.value) }));
      made.push(element("div", { className: "window" }, slider, element("span", {
        textContent: `${axis}s ${found[axis].toLocaleString("en")}–${(found[axis] + shown - 1).toLocaleString("en")} of ${most.toLocaleString("en")}`,
      })));
    }
    return made;
  }

  async move(name, to) {
    Object.assign(this.windows[name], to);
    const found = await this.ask(name, this.windows[name]);
    if (!found || found.error) return;
    const dragging = document.activeElement?.matches?.("input[type=range]") && this.panels[name].contains(document.activeElement)
      ? [...this.panels[name].querySelectorAll("input[type=range]")].indexOf(document.activeElement) : -1;
    this.draw(name, found);
    if (dragging >= 0) this.panels[name].querySelectorAll("input[type=range]")[dragging]?.focus();
    this.light(this.focused());
    this.laterArrows();
  }

  wheel(event, name) {
    const { found } = this.panels[name], window = this.windows[name];
    const by = Math.sign(event.deltaY) * 3;
    if (!found || event.ctrlKey || found.rows <= window.rows) return;
    const row = Math.max(0, Math.min(window.row + by, found.rows - window.rows));
    if (row === window.row) return;
    event.preventDefault();
    this.move(name, { row });
  }

  // Brings an element into its panel's window.
  async moveTo(name, flat) {
    const { found } = this.panels[name], window = this.windows[name];
    if (!found || flat < 0) return;
    const column = flat % found.columns, row = Math.floor(flat / found.columns) % found.rows;
    const slice = Math.floor(flat / found.columns / found.rows);
    const first = (at, from, count, most) => at >= from && at < from + count ? from : Math.max(0, Math.min(at - Math.floor(count / 2), most - count));
    const to = { slice, row: first(row, window.row, window.rows, found.rows), column: first(column, window.column, window.columns, found.columns) };
    if ((!found.all && to.slice !== window.slice) || to.row !== window.row || to.column !== window.column) await this.move(name, to);
  }

  // ---- What belongs together ----

  cellOf(target) { return target.closest?.("td")?.about ? target.closest("td") : null; }

  focused() { return this.picture.contains(document.activeElement) ? this.cellOf(document.activeElement) : null; }

  meet(event) {
    const cell = this.cellOf(event.target);
    if (cell) this.light(cell);
  }

  belongs(about, other) {
    const cells = { [about.panel]: about, [other.panel]: other };
    const { out, data, indices } = cells;
    if (about.panel === other.panel) return about.flat === other.flat;
    if (out && data) return out.source === data.flat;
    if (out && indices) return out.tuple === indices.tuple;
    return data.use >= 0 && data.use === indices.use;
  }

  light(cell) {
    const about = cell?.about ?? null;
    if (!about && !this.picture.classList.contains("lighting")) return;
    this.picture.classList.toggle("lighting", Boolean(about));
    for (const one of this.picture.querySelectorAll("td")) one.classList.toggle("lit", Boolean(about && one.about && this.belongs(about, one.about)));
    for (const path of this.arrows.children) path.classList.toggle("lit", Boolean(about && this.belongs(about, path.about)));
    if (about?.panel !== this.current?.panel || about?.flat !== this.current?.flat) this.tell(about);
    this.current = about;
  }

  // Shows where an element of out came from, or where one of data or indices went.
  async reveal(cell) {
    const { about } = cell;
    if (about.panel === "out") {
      await this.moveTo("indices", about.tuple * this.tuple);
      await this.moveTo("data", about.source);
    } else {
      const told = await this.tell(about);
      if (told && told.out >= 0) await this.moveTo("out", told.out);
    }
    const again = [...this.panels[about.panel].querySelectorAll("td")].find((one) => one.about?.flat === about.flat);
    this.light(again ?? null);
  }

  // ---- Keyboard ----

  focusPlace(section) {
    const cell = section.contains(document.activeElement) ? this.cellOf(document.activeElement) : null;
    return cell ? cell.about.flat : null;
  }

  focusAt(section, flat) {
    const cell = [...section.querySelectorAll("td")].find((one) => one.about?.flat === flat);
    if (cell) this.focus(cell);
  }

  focus(cell) {
    for (const other of cell.closest(".panel").querySelectorAll("td")) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus({ preventScroll: false });
  }

  async key(event) {
    const cell = this.cellOf(event.target);
    if (!cell) return;
    const { panel, flat } = cell.about, { found } = this.panels[panel], { columns, rows } = found;
    const row = Math.floor(flat / columns) % rows, column = flat % columns, begin = flat - row * columns - column;
    const steps = {
      ArrowLeft: column > 0 && flat - 1, ArrowRight: column + 1 < columns && flat + 1,
      ArrowUp: row > 0 && flat - columns, ArrowDown: row + 1 < rows && flat + columns,
      Home: flat - column, End: flat - column + columns - 1,
      PageUp: begin + Math.max(0, row - MOST_ROWS) * columns + column,
      PageDown: begin + Math.min(rows - 1, row + MOST_ROWS) * columns + column,
    };
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.reveal(cell); return; }
    if (event.key === "Escape") { cell.blur(); this.light(null); return; }
    if (!(event.key in steps)) return;
    event.preventDefault();
    const to = steps[event.key];
    if (to === false || to === flat) return;
    await this.moveTo(panel, to);
    this.focusAt(this.panels[panel], to);
  }

  // ---- Arrows ----

  // Once the frame is laid out anyway.
  laterArrows() {
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => this.drawArrows());
  }

  drawArrows() {
    const outs = [...this.panels.out.querySelectorAll("td.used")], drawn = [];
    const data = new Map([...this.panels.data.querySelectorAll("td.used")].filter((cell) => cell.about).map((cell) => [cell.about.flat, cell]));
    const few = outs.length <= MOST_ARROWS && !this.panels.out.hidden;
    this.picture.classList.toggle("arrowed", few);
    const from = this.picture.getBoundingClientRect(), left = from.left - this.picture.scrollLeft;
    const beside = this.panels.out.getBoundingClientRect().left >= this.panels.data.getBoundingClientRect().right;
    for (const out of few && beside ? outs : []) {
      const source = data.get(out.about.source);
      if (source) drawn.push(this.arrow(source, out, left, from.top));
    }
    this.arrows.replaceChildren(...drawn);
    if (this.current) for (const path of drawn) path.classList.toggle("lit", this.belongs(this.current, path.about));
  }

  arrow(source, out, left, top) {
    const a = source.getBoundingClientRect(), b = out.getBoundingClientRect();
    const x = a.right - left, y = a.top + a.height / 2 - top, X = b.left - left - 2, Y = b.top + b.height / 2 - top, bend = (X - x) / 2;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x} ${y}C${x + bend} ${y} ${X - bend} ${Y} ${X} ${Y}m-6 -3.5l6 3.5l-6 3.5`);
    path.setAttribute("class", `t${out.about.use % TONES}`);
    path.about = out.about;
    return path;
  }
}
