// The rail at the left: what is drawn, what is trained, what is shown.

import { byId, el, options } from "./dom.js";
import { marker } from "./palette.js";
import { showSheets } from "./sheets.js";
import { FORMULAS, GENERATED, KERNELS, METHODS, MOST_CLASSES, NOISE, SETS, SHOWN, hasC, hasKernel, isLinear } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./engine.js").Result} Result
 * @typedef {(change: (state: State) => State, kind?: string) => void} Change
 */

const SOLVERS = /** @type {[string, string][]} */ ([
  ["smo", "SMO"], ["dual-ascent", "dual ascent"], ["newton", "Newton, primal"],
  ["kernel-newton", "Newton, kernel"], ["sgd", "SGD, linear"], ["interior-point", "interior point"], ["", "by the data"]]);

/** What can be shown, in words. */
const SHOWS = /** @type {[keyof typeof SHOWN, string][]} */ ([
  ["regions", "regions"], ["margins", "margins f = ±1"], ["rings", "rings: support vectors"], ["slack", "slack arrows ξ/‖w‖"],
  ["hulls", "hulls and nearest points"], ["without", "boundary without the far cloud"]]);

/** A slider on a scale of powers of ten. @param {{id: string, name: string, low: number, high: number, get: (state: State) => number|null, set: (state: State, value: number) => State}} spec @param {Change} change */
function slider(spec, change) {
  const input = el("input", { type: "range", min: spec.low, max: spec.high, step: 0.05, id: spec.id, "aria-label": spec.name });
  const out = el("output", { for: spec.id });
  const ticks = el("div", { class: "ticks", "aria-hidden": "true" });
  for (let power = spec.low; power <= spec.high; power += 2) ticks.append(el("span", {}, power < 0 ? `10${sup(power)}` : String(10 ** power).replace(/0000$/, "0⁴").replace(/^100⁴$/, "10⁴")));
  input.addEventListener("input", () => change((state) => spec.set(state, onScale(Number(input.value))), spec.id));
  const box = el("div", { class: "slider" }, el("div", { class: "name" }, el("span", {}, spec.name), out), input, ticks);
  return { box, input, out, spec };
}

/** @param {number} power */
const sup = (power) => String(power).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);

/** 1, 10 and 100 come out exactly; between them three digits are enough. @param {number} power */
export function onScale(power) {
  const value = 10 ** power;
  return Math.abs(power - Math.round(power)) < 1e-9 ? Number(`1e${Math.round(power)}`) : Number(value.toPrecision(3));
}

/** @param {Change} change @param {(state: State, name: string) => State} open @param {{brush: number, erases: boolean}} tool @param {() => void} redraw */
export function makeControls(change, open, tool, redraw) {
  const sliders = [
    slider({ id: "C", name: "C", low: -2, high: 4, get: (state) => state.c, set: (state, c) => ({ ...state, c }) }, change),
    slider({ id: "gamma", name: "γ", low: -3, high: 2, get: (state) => state.gamma, set: (state, gamma) => ({ ...state, gamma }) }, change),
  ];
  const hard = el("input", { type: "checkbox", id: "hard" });
  hard.addEventListener("change", () => change((state) => ({ ...state, c: hard.checked ? null : 1 }), "hard"));
  const hardLabel = el("label", { class: "check" }, hard, "hard margin: no slack");
  const auto = el("input", { type: "checkbox", id: "auto-gamma" });
  const numbers = (/** @type {string} */ id, /** @type {string} */ words, /** @type {string} */ step, /** @type {number} */ low, /** @type {number} */ high, /** @type {(state: State, value: number) => State} */ set) => {
    const input = el("input", { type: "number", id, step, min: low, max: high });
    input.addEventListener("change", () => {
      const value = Number(input.value);
      if (input.value !== "" && Number.isFinite(value)) change((state) => set(state, Math.min(high, Math.max(low, value))), id);
    });
    return { input, label: el("label", {}, words, input) };
  };
  const degree = numbers("degree", "degree q", "1", 1, 10, (state, value) => ({ ...state, degree: Math.round(value) }));
  const coef0 = numbers("coef0", "const. c", "0.5", -100, 100, (state, value) => ({ ...state, coef0: value }));
  const hidden = numbers("hidden", "units", "1", 1, 64, (state, value) => ({ ...state, hidden: Math.round(value) }));
  const autoLabel = el("label", { class: "check" }, auto, "γ from the data");
  auto.addEventListener("change", () => change((state) => ({ ...state, gamma: auto.checked ? null : 1 }), "gamma"));
  byId("sliders").append(sliders[0].box, hardLabel, sliders[1].box, autoLabel, degree.label, coef0.label, hidden.label);

  const select = (/** @type {string} */ id, /** @type {(state: State, value: string) => State} */ set) => {
    const found = byId(id);
    found.addEventListener("change", () => change((state) => set(state, /** @type {HTMLSelectElement} */ (found).value), id));
    return /** @type {HTMLSelectElement} */ (found);
  };
  const set = select("set", (state, name) => (name === "" ? state : open(state, name)));
  const method = select("method", (state, value) => ({ ...state, method: /** @type {State["method"]} */ (value), step: null }));
  const compare = select("compare", (state, value) => ({ ...state, compare: /** @type {State["compare"]} */ (value || null) }));
  const kernel = select("kernel", (state, value) => ({ ...state, kernel: /** @type {State["kernel"]} */ (value), gamma: state.gamma ?? (value === "linear" ? null : 1), step: null }));
  const loss = select("loss", (state, value) => ({ ...state, loss: /** @type {State["loss"]} */ (value), step: null }));
  const bias = select("bias", (state, value) => ({ ...state, bias: /** @type {State["bias"]} */ (value), step: null }));
  const solver = select("solver", (state, value) => ({ ...state, solver: value || null, step: null }));
  const positive = select("positive", (state, value) => ({ ...state, positive: value || null, step: null }));
  const generator = (/** @type {string} */ id, /** @type {(data: import("./state.js").NamedData, value: number) => import("./state.js").NamedData} */ set, /** @type {[number, number]} */ [low, high]) => {
    const input = /** @type {HTMLInputElement} */ (byId(id));
    input.addEventListener("change", () => {
      const value = Math.min(high, Math.max(low, Number(input.value)));
      if (input.value !== "" && Number.isFinite(value)) change((state) => (state.data.kind === "named" ? { ...state, data: set(state.data, value), step: null } : state), id);
    });
    return input;
  };
  const rows = generator("rows", (data, value) => ({ ...data, rows: Math.round(value) }), [2, 20000]);
  const seed = generator("seed", (data, value) => ({ ...data, seed: Math.round(value) }), [0, 1e9]);
  const noise = generator("noise", (data, value) => ({ ...data, noise: value }), [0, 10]);

  const boxes = SHOWS.map(([key, words]) => {
    const input = el("input", { type: "checkbox", id: `show-${key}` });
    input.addEventListener("change", () => change((state) => ({ ...state, show: { ...state.show, [key]: input.checked } }), "show"));
    const label = el("label", { class: "check" }, input, words);
    byId("show").append(label);
    return { key, input, label };
  });

  /** @param {State} state @param {Result|null} result */
  function show(state, result) {
    const { data } = state;
    const own = data.kind === "points" ? /** @type {[string, string][]} */ ([["", "own points"]]) : [];
    options(set, [...own, .../** @type {[string, string][]} */ (Object.entries(SETS))], data.kind === "named" ? data.name : "");
    options(method, /** @type {[string, string][]} */ (Object.entries(METHODS)), state.method);
    options(compare, [["", "nothing"], .../** @type {[string, string][]} */ (Object.entries(METHODS))], state.compare ?? "");
    options(kernel, /** @type {[string, string][]} */ (Object.entries(KERNELS)), state.kernel);
    kernel.title = FORMULAS[state.kernel];
    loss.value = state.loss;
    bias.value = state.bias;
    const known = SOLVERS.some(([name]) => name === (state.solver ?? ""));
    options(solver, known ? SOLVERS : [...SOLVERS, [state.solver ?? "", state.solver ?? ""]], state.solver ?? "");
    const labels = result?.labels ?? [];
    options(positive, [["", "–"], ...labels.map((label) => /** @type {[string, string]} */ ([label, label]))], state.positive ?? "");
    const isSvm = state.method === "svm";
    const withKernel = hasKernel(state.method) || (state.compare !== null && hasKernel(state.compare));
    const withGamma = withKernel && state.kernel !== "linear";
    const withC = hasC(state.method) || (state.compare !== null && hasC(state.compare));
    byId("kernel-label").hidden = !withKernel;
    for (const id of ["loss-label", "bias-label", "solver-label"]) byId(id).hidden = !isSvm;
    byId("positive-label").hidden = labels.length < 3 && state.positive === null;
    sliders[0].box.hidden = !withC;
    hardLabel.hidden = !isSvm;
    hard.checked = state.c === null;
    sliders[1].box.hidden = !withGamma;
    autoLabel.hidden = !withGamma;
    auto.checked = state.gamma === null;
    degree.label.hidden = !(withGamma && state.kernel === "poly");
    coef0.label.hidden = !(withGamma && (state.kernel === "poly" || state.kernel === "sigmoid"));
    hidden.label.hidden = state.method !== "mlp" && state.compare !== "mlp";
    for (const [box, value] of /** @type {[HTMLInputElement, number][]} */ ([[degree.input, state.degree], [coef0.input, state.coef0], [hidden.input, state.hidden]])) {
      if (document.activeElement !== box) box.value = String(value);
    }
    for (const { input, out, spec } of sliders) {
      const value = spec.get(state);
      input.disabled = value === null;
      out.textContent = value === null ? (spec.id === "C" ? "∞" : gammaOf(result)) : String(value);
      if (value !== null && document.activeElement !== input) input.value = String(Math.log10(value));
      input.setAttribute("aria-valuetext", value === null ? "none" : String(value));
    }
    byId("generator").hidden = !(data.kind === "named" && GENERATED.includes(data.name));
    if (data.kind === "named") {
      rows.value = String(data.rows ?? 120);
      seed.value = String(data.seed);
      byId("noise-label").hidden = !(data.name in NOISE);
      noise.value = String(data.noise ?? NOISE[data.name] ?? 0);
    }
    const reasons = {
      regions: "", margins: "", rings: "",
      slack: isLinear(state, state.method) && labels.length <= 2 + (state.positive ? 9 : 0) ? "" : "of a straight boundary between two classes",
      hulls: isSvm && state.kernel === "linear" && state.loss === "hinge" && state.bias === "explicit" ? "" : "of a linear machine with hinge loss and a free offset",
      without: data.kind === "named" && (data.name === "e9" || data.name === "far-blob") ? "" : "-",
    };
    for (const { key, input, label } of boxes) {
      const reason = reasons[key];
      input.checked = state.show[key] && reason === "";
      input.disabled = reason !== "";
      label.classList.toggle("off", reason !== "");
      label.title = reason;
      label.hidden = reason === "-";
    }
    chips(labels);
    for (const part of ["data", "model", "show", "time", "compare", "export"]) {
      document.querySelectorAll(`.part-${part}`).forEach((found) => /** @type {HTMLElement} */ (found).toggleAttribute("hidden", state.hide.includes(part)));
    }
    showSheets(state.hide);
    byId("ask").hidden = state.ask === "";
    byId("ask").textContent = state.ask;
  }

  /** @param {string[]} labels */
  function chips(labels) {
    const shown = labels.length < MOST_CLASSES && labels.length > 0 ? [...labels, "new"] : labels;
    const box = byId("classes");
    const known = Array.from(box.children, (child) => child.textContent).join("\n");
    if (known !== [...shown, "erase"].join("\n")) {
      box.replaceChildren(...shown.map((label, k) => {
        const button = el("button", { role: "radio", title: `${label} (key ${k + 1})` }, icon(k), el("span", {}, label));
        button.addEventListener("click", () => {
          [tool.brush, tool.erases] = [k, false];
          redraw();
        });
        return button;
      }));
      const eraser = el("button", { role: "radio", title: "a click erases" }, el("span", {}, "erase"));
      eraser.addEventListener("click", () => {
        tool.erases = true;
        redraw();
      });
      box.append(eraser);
    }
    tool.brush = Math.min(tool.brush, Math.max(0, shown.length - 1));
    Array.from(box.children).forEach((child, k) => child.setAttribute("aria-checked", String(k === shown.length ? tool.erases : k === tool.brush && !tool.erases)));
  }
  return { show };
}

/** @param {Result|null} result */
function gammaOf(result) {
  const found = /gamma=([\d.e-]+)/.exec(result?.model.kernel ?? "");
  return found ? Number(Number(found[1]).toPrecision(4)).toString() : "from the data";
}

/** The marker of a class as a small picture. @param {number} shape */
export function icon(shape) {
  const name = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(name, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(name, "path");
  const words = /** @type {string[]} */ ([]);
  const pen = /** @type {any} */ ({
    moveTo: (/** @type {number} */ x, /** @type {number} */ y) => words.push(`M${x.toFixed(2)} ${y.toFixed(2)}`),
    lineTo: (/** @type {number} */ x, /** @type {number} */ y) => words.push(`L${x.toFixed(2)} ${y.toFixed(2)}`),
    closePath: () => words.push("Z"),
    arc: (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ r) => words.push(`a${r} ${r} 0 1 0 ${-2 * r} 0a${r} ${r} 0 1 0 ${2 * r} 0`),
  });
  marker(pen, shape, 8, 8, 5);
  path.setAttribute("d", words.join(""));
  path.style.fill = `var(--class-${shape})`;
  svg.append(path);
  return svg;
}
