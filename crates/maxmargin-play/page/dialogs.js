// Windows above the page: the points as a table, a table of the user's own, and the keys.

import { byId, el, options } from "./dom.js";
import { MOST_CLASSES, rangeOf } from "./state.js";

/**
 * @typedef {import("./state.js").GivenData} GivenData
 * @typedef {{names: string[], own: number, columns: number[][], labels: string[], classes: number[], note: string|null}} Table
 */

/** @param {string} title @param {...Node} children */
function open(title, ...children) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  dialog.replaceChildren(el("h2", { id: "dialog-title" }, title), ...children);
  dialog.showModal();
  return dialog;
}

/** @param {(close: () => void) => void} done @param {string} words */
function buttons(words, done) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  const close = () => dialog.close();
  return el("div", { class: "row" }, el("button", { click: close }, "Cancel"), el("button", { id: "ok", click: () => done(close) }, words));
}

/** The points as text that can be changed. @param {GivenData} data @param {(data: GivenData) => void} use */
export function tableDialog(data, use) {
  const text = el("textarea", { "aria-label": "Points, one a line: two numbers and a label", spellcheck: "false" });
  text.value = data.xy.map(([x, y], row) => `${x},${y},${data.labels[data.classes[row]]}`).join("\n");
  const problem = el("p", { class: "bad", role: "alert" });
  open("Points", el("p", { class: "hint" }, "One point a line: two numbers and a label, with commas or tabs between. Paste yours."), text, problem,
    buttons("Use these points", (close) => {
      const read = readTable(text.value, data.names);
      if (typeof read === "string") problem.textContent = read;
      else {
        use(read);
        close();
      }
    }));
}

/** Points of a text; or what is wrong with it. @param {string} text @param {[string, string]} names @returns {GivenData|string} */
export function readTable(text, names) {
  const xy = /** @type {[number, number][]} */ ([]);
  const classes = /** @type {number[]} */ ([]);
  const labels = /** @type {string[]} */ ([]);
  for (const [k, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const fields = line.split(line.includes("\t") ? "\t" : line.includes(",") ? "," : /\s+/).map((field) => field.trim());
    const [x, y] = [Number(fields[0]), Number(fields[1])];
    const isPoint = fields.length === 3 && fields.every((field) => field !== "") && [x, y].every((value) => Number.isFinite(value) && Math.abs(value) <= 1e9);
    if (!isPoint && xy.length === 0 && k === 0) continue; // the names of the columns
    if (!isPoint) return `line ${k + 1}: expected two numbers and a label`;
    const label = fields[2].slice(0, 60);
    if (!labels.includes(label)) labels.push(label);
    if (labels.length > MOST_CLASSES) return `line ${k + 1}: more than ${MOST_CLASSES} labels`;
    xy.push([x, y]);
    classes.push(labels.indexOf(label));
  }
  if (xy.length === 0) return "there are no points";
  // In the order in which the engine sorts them, so that colours stay what they were.
  const sorted = [...labels].sort((a, b) => (isNumber(a) && isNumber(b) ? Number(a) - Number(b) : isNumber(a) !== isNumber(b) ? (isNumber(a) ? -1 : 1) : a < b ? -1 : 1));
  return { kind: "points", xy, classes: classes.map((label) => sorted.indexOf(labels[label])), labels: sorted, names, range: rangeOf(xy) };
}

/** @param {string} label */
const isNumber = (label) => label.trim() !== "" && Number.isFinite(Number(label));

/** Two columns of a table of the user. @param {Table} table @param {string} name @param {(data: GivenData) => void} use */
export function columnsDialog(table, name, use) {
  const data = (/** @type {number} */ a, /** @type {number} */ b) => {
    const xy = table.classes.map((_, row) => /** @type {[number, number]} */ ([table.columns[a][row], table.columns[b][row]]));
    return /** @type {GivenData} */ ({ kind: "points", xy, classes: table.classes, labels: table.labels, names: [table.names[a], table.names[b]], range: rangeOf(xy) });
  };
  if (table.own === 2) return use(data(0, 1));
  const choices = table.names.map((column, k) => /** @type {[string, string]} */ ([String(k), column]));
  const [across, up] = [el("select", { id: "across" }), el("select", { id: "up" })];
  options(across, choices, "0");
  options(up, choices, "1");
  const problem = el("p", { class: "bad", role: "alert" });
  open(name, el("p", {}, `${table.classes.length} rows, ${table.own} columns, ${table.labels.length} labels. Which two columns, or which two directions through all of them?`),
    el("p", { class: "hint" }, "Directions are of columns scaled to variance 1."),
    ...(table.note ? [el("p", { class: "hint" }, table.note)] : []),
    el("p", {}, el("label", {}, "across ", across), " ", el("label", {}, "up ", up)), problem,
    buttons("Open", (close) => {
      if (across.value === up.value) problem.textContent = "choose two different ones";
      else {
        use(data(Number(across.value), Number(up.value)));
        close();
      }
    }));
}

const KEYS = /** @type {[string, string][]} */ ([
  ["1 … 6", "the class that a click draws"], ["Shift and drag", "paint points"], ["Alt or right button", "erase points"], ["arrows", "move the crosshair; with Shift ten times as far"], ["Enter", "draw a point at the crosshair"],
  ["N, P", "choose the next or previous point"], ["M", "move the chosen point to the crosshair"], ["Delete", "erase the chosen point"], ["Esc", "let go"],
  [", .", "one step of the solver back or on"], ["Home, End", "before the first step; the fit"], ["Space", "play the steps"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo and redo"], ["+ −", "C times or by ten"], ["?", "this help"]]);

export function helpDialog() {
  const list = el("table", {}, el("tbody", {}, ...KEYS.map(([keys, words]) => el("tr", {}, el("td", {}, el("kbd", {}, keys)), el("td", {}, words)))));
  const dialog = open("Help",
    el("p", {}, "Draw points, change the model: the real engine trains again at once, and proves its answer. The thick line is f = 0, the dashed ones are f = ±1."),
    el("p", {}, "A plain ring is a support vector on the margin, a broken one lies inside of it, a double one on the wrong side. A white cross marks a point that is predicted wrongly."),
    el("p", {}, "With the plane chosen (Tab):"), list, el("div", { class: "row" }, el("button", { id: "ok", click: () => dialog.close() }, "Close")));
}
