// The page: event -> action -> state -> request -> result -> draw. This file joins the parts; each of them is a file of its own.

import { showAlpha } from "./alpha.js";
import { makeControls } from "./controls.js";
import { columnsDialog, helpDialog, readTable, tableDialog } from "./dialogs.js";
import { byId, el, fitted } from "./dom.js";
import { Engine, Gone, STEPPING, framed, post, problem, swept } from "./engine.js";
import { copied, makeExports } from "./exports.js";
import { listen } from "./gestures.js";
import { showLift } from "./lift.js";
import { fromHash, toHash } from "./link.js";
import { showNumbers } from "./numbers.js";
import { palette } from "./palette.js";
import { draw, valueAt } from "./plane.js";
import { MANY_POINTS, METHODS, added, editable, erased, hasC, hasKernel, hasMargin, initial, isLinear, moved, opened, withData } from "./state.js";
import { listenToSheets } from "./sheets.js";
import { after, boundaryBefore, objectivesAfter, primalOf, resultAfter, rowsOf, short } from "./steps.js";
import { curvesOf, curvesOfSweep, drawCurves } from "./timeline.js";
import { angle, showWhy, turned } from "./why.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./engine.js").Result} Result
 * `frame` answers to the decision function after the step `at`.
 * @typedef {{result: Result|null, frame: Result|null, at: number|null, ghost: {lines: import("./engine.js").Line[], weights: number[]|null}|null}} Side
 */

const UNDO = 100;
const COSTS = Array.from({ length: 41 }, (_, k) => Number((10 ** (-2 + 0.15 * k)).toPrecision(4)));

let state = initial();
/** @type {State[]} */
let past = [];
/** @type {State[]} */
let future = [];
/** @type {import("./state.js").Preset[]} */
let presets = [];
/** @type {{a: Side, b: Side}} */
const sides = { a: { result: null, frame: null, at: null, ghost: null }, b: { result: null, frame: null, at: null, ghost: null } };
const tool = { brush: 0, erases: false };
const look = {
  hover: /** @type {number|null} */ (null), selected: /** @type {number|null} */ (null), crosshair: /** @type {[number, number]|null} */ (null),
  brush: /** @type {[number, number, number]|null} */ (null),
};
let sweep = /** @type {{key: string, entries: import("./engine.js").SweepEntry[]}|null} */ (null);
let mode = /** @type {'steps'|'sweep'} */ ("steps");
let playing = /** @type {number|null} */ (null);
let lastChange = { kind: "", at: 0 };
let changedAt = 0;
/** Why there is no model to show, if there is none. */
let blank = "";
let isDark = matchMedia("(prefers-color-scheme: dark)").matches;

/** What tests and benchmarks look at. */
const probe = {
  timings: /** @type {{rank: number, event: number}[]} */ ([]), settled: 0, get state() { return state; }, get result() { return sides.a.result; },
  get other() { return sides.b.result; }, get frame() { return sides.a.frame; }, get at() { return sides.a.at; },
  /** The result after the step that is shown, once it is that of the state. */
  get shown() { return sides.a.at === state.step ? shownStep() : null; }, toHash: () => toHash(state, presets),
  fromHash: (/** @type {string} */ hash) => fromHash(hash, presets), hashOf: (/** @type {State} */ other) => toHash(other, presets),
};
Object.assign(window, { playground: probe });

const controls = makeControls(change, (current, name) => opened(current, name, presets), tool, () => render());
const engines = {
  a: new Engine((result, of, rank) => arrived("a", result, of, rank), failed),
  b: new Engine((result, of, rank) => arrived("b", result, of, rank), failed),
};

/** Makes a new state. Changes of one kind that follow each other closely are undone together. @param {(state: State) => State} action @param {string} [kind] */
function change(action, kind = "") {
  const next = action(state);
  if (next === state) return;
  const now = performance.now();
  // A gesture is undone as a whole, however long it takes; its end begins a new change.
  const joins = kind !== "" && kind === lastChange.kind && (["drag", "erase", "brush"].includes(kind) || now - lastChange.at < 700);
  if (!joins) {
    past.push(state);
    if (past.length > UNDO) past.shift();
  }
  future = [];
  lastChange = { kind, at: now };
  become(next);
}

/** @param {State} next */
function become(next) {
  const before = state;
  state = next;
  changedAt = performance.now();
  const keyOf = (/** @type {State} */ one, /** @type {import("./state.js").Method|null} */ method) => method && JSON.stringify([problem(one, method), one.show.hulls]);
  if (keyOf(before, before.method) !== keyOf(next, next.method)) {
    sides.a.frame = null;
    ask("a");
  }
  if (next.compare && keyOf(before, before.compare) !== keyOf(next, next.compare)) ask("b");
  if (before.step !== next.step || sides.a.frame === null) askFrame();
  if (before.data !== next.data && next.data.kind === "points" && look.selected !== null && look.selected >= next.data.xy.length) look.selected = null;
  if (next.step === null && playing !== null) stopPlaying();
  writeHash();
  render();
}

/** @param {'a'|'b'} side */
function ask(side) {
  const method = side === "a" ? state.method : state.compare;
  if (!method) return;
  if (state.data.kind === "points" && new Set(state.data.classes).size < 2) {
    // An answer that is still under way is of points that are gone.
    engines[side].leave();
    blank = "Draw points of two classes: there is nothing to separate yet.";
    return;
  }
  engines[side].ask(state, method);
}

/** @param {'a'|'b'} side @param {Result} result @param {State} of @param {number} rank */
function arrived(side, result, of, rank) {
  hushFailure();
  blank = "";
  if (rank >= 3 && sides[side].result) sides[side].result = { .../** @type {Result} */ (sides[side].result), steps: result.steps, mistakes: result.mistakes };
  else {
    const known = sides[side].result;
    if (known && known.key === result.key) result.steps ??= known.steps;
    sides[side].result = result;
    result.mistakes ??= known?.key === result.key ? known.mistakes : null;
  }
  if (rank === 0) askGhost(side, of, result);
  if (rank >= 3 && state.step !== null) {
    const count = result.steps?.list.length ?? 0;
    if (state.step > count) state = { ...state, step: count };
    askFrame();
  }
  render();
  if (side === "a" && rank < 2) toTime.push(rank);
  probe.settled = Math.max(rank, 0);
}

/** @param {Error & {help?: string}} error */
function failed(error) {
  if (error instanceof Gone) return gone();
  blank = error.help ? `${error.message}. Way out: ${error.help}.` : `${error.message}.`;
  render();
}

/** The server has ended: asks until it is back. */
function gone() {
  say("the program that serves this page has ended", "start it again with maxmargin play; this page goes on by itself", true);
  setTimeout(async () => {
    try {
      await fetch("/start");
    } catch {
      return gone();
    }
    hushFailure();
    ask("a");
    ask("b");
  }, 1000);
}

/** What is said until it is closed, or, of a failure, until an answer comes. @param {string} words @param {string} [help] @param {boolean} [isFailure] */
function say(words, help, isFailure = false) {
  const notice = byId("notice");
  notice.hidden = false;
  notice.classList.toggle("failure", isFailure);
  notice.replaceChildren(el("span", {}, help ? `${words}. ${help}.` : words), el("span", { class: "spacer" }), el("button", { click: hush, "aria-label": "Close the message" }, "×"));
}

function hush() {
  byId("notice").hidden = true;
}

/** Takes back what was said of a failure. */
function hushFailure() {
  if (byId("notice").classList.contains("failure")) hush();
}

let hashTimer = 0;
function writeHash() {
  clearTimeout(hashTimer);
  hashTimer = window.setTimeout(() => history.replaceState(null, "", `#${toHash(state, presets)}`), 150);
}

// ---- steps ----

let frameWanted = false;
let frameBusy = false;
/** The decision function after the step that is shown. */
async function askFrame() {
  frameWanted = true;
  if (frameBusy) return;
  frameBusy = true;
  while (frameWanted) {
    frameWanted = false;
    const { result } = sides.a;
    const { step } = state;
    if (step === null || !result?.steps || result.key !== JSON.stringify([problem(state, state.method).points, problem(state, state.method).model])) {
      sides.a.frame = null;
      continue;
    }
    try {
      const { frame } = after(result.steps.list, step, result.count);
      const size = result.count > 200 ? { columns: 64, rows: 45 } : { columns: 200, rows: 140 };
      const found = await framed(state, state.method, frame, size, new AbortController().signal);
      if (state.step === step) [sides.a.frame, sides.a.at] = [found, step];
    } catch (error) {
      failed(/** @type {Error} */ (error));
      break;
    }
    render();
  }
  frameBusy = false;
}

/** @param {number|null} step */
function goTo(step) {
  const count = sides.a.result?.steps?.list.length ?? 0;
  const next = step === null || step > count ? null : Math.max(0, step);
  change((current) => ({ ...current, step: next }), "step");
}

function stepBy(/** @type {number} */ by) {
  const count = sides.a.result?.steps?.list.length ?? 0;
  // The fit comes after the last step.
  if (count > 0) goTo((state.step ?? count + 1) + by);
}

function stopPlaying() {
  if (playing !== null) clearInterval(playing);
  playing = null;
  byId("play").textContent = "▶";
  byId("play").setAttribute("aria-label", "Play");
}

function play() {
  const count = sides.a.result?.steps?.list.length ?? 0;
  if (playing !== null || count === 0) return stopPlaying();
  if (state.step === null) goTo(0);
  byId("play").textContent = "❚❚";
  byId("play").setAttribute("aria-label", "Pause");
  playing = window.setInterval(() => {
    if (state.step === null) stopPlaying();
    else stepBy(Math.max(1, Math.round(count / 200)));
  }, 220);
}

// ---- the sweep of C ----

const sweepKey = () => JSON.stringify([problem({ ...state, c: 1 }, state.method).points, problem({ ...state, c: 1 }, state.method).model]);

async function toggleSweep() {
  if (mode === "sweep") {
    mode = "steps";
    return render();
  }
  if (!hasC(state.method) || state.method === "mlp") return say("this method has no C to sweep", "choose the support vector machine or logistic regression");
  mode = "sweep";
  render();
  await fillSweep();
}

let sweeping = false;
async function fillSweep() {
  const key = sweepKey();
  if (sweeping || sweep?.key === key) return;
  sweeping = true;
  try {
    const entries = await swept({ ...state, c: 1 }, state.method, COSTS, new AbortController().signal);
    sweep = { key, entries };
  } catch (error) {
    mode = "steps";
    failed(/** @type {Error} */ (error));
  }
  sweeping = false;
  render();
}

// ---- the boundary without the far cloud ----

/** @param {'a'|'b'} side @param {State} of @param {Result} result */
async function askGhost(side, of, result) {
  const { data } = of;
  const has = data.kind === "named" && (data.name === "e9" || data.name === "far-blob") && result.model.machines.length === 1;
  if (!has) {
    sides[side].ghost = null;
    return;
  }
  const near = Math.floor((result.count * 5) / 6);
  const given = editable(of, result);
  if (!given || sides[side].ghost) return;
  const cut = { ...given, xy: given.xy.slice(0, near), classes: given.classes.slice(0, near) };
  try {
    const base = problem({ ...of, data: cut }, side === "a" ? of.method : /** @type {import("./state.js").Method} */ (of.compare));
    const response = await post("/answer", { ...base, grid: { columns: 64, rows: 45 } });
    const { decoded } = await import("./engine.js");
    const found = decoded(await response.arrayBuffer(), "");
    sides[side].ghost = { lines: found.grid?.lines ?? [], weights: found.model.machines[0]?.weights ?? null };
    render();
  } catch {
    sides[side].ghost = null;
  }
}

// ---- drawing ----

/** Ranks of the answers that are not painted yet. @type {number[]} */
let toTime = [];
let frameRequest = 0;
/** Draws everything, once before the screen is painted next. */
function render() {
  if (frameRequest === 0) frameRequest = requestAnimationFrame(paint);
}

function paint() {
  frameRequest = 0;
  const began = performance.now();
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const colours = palette(isDark);
  const { result } = sides.a;
  controls.show(state, result);
  byId("undo").toggleAttribute("disabled", past.length === 0);
  byId("redo").toggleAttribute("disabled", future.length === 0);
  byId("plane-b").hidden = state.compare === null;
  const steps = result?.steps?.list ?? [];
  const number = state.step;
  const step = number !== null && number > 0 ? (steps[number - 1] ?? null) : null;
  const seen = shownStep();
  paintSide("a", colours, step, seen);
  if (state.compare) paintSide("b", colours, null, null);
  paintTime(colours);
  if (result) {
    paintPanel(colours, step, seen);
    paintFacts(result, seen, performance.now() - began);
    summarise(seen ?? result);
  }
  for (const rank of toTime) probe.timings.push({ rank, event: performance.now() - changedAt });
  toTime = [];
}

/** The result after the step that is shown; none at the fit, and until the engine has answered. @returns {Result|null} */
function shownStep() {
  const { result, frame, at } = sides.a;
  if (state.step === null || !result?.steps || !frame || at === null || frame.f.length !== result.count) return null;
  return resultAfter(result, frame, at, isLinear(state, state.method));
}

/** @param {'a'|'b'} side @param {import("./palette.js").Palette} colours @param {import("./engine.js").Step|null} step @param {Result|null} seen the result after the step */
function paintSide(side, colours, step, seen) {
  const figure = byId(`plane-${side}`);
  const canvas = /** @type {HTMLCanvasElement} */ (figure.querySelector("canvas"));
  const caption = /** @type {HTMLElement} */ (figure.querySelector("figcaption"));
  const { result, ghost } = sides[side];
  const method = side === "a" ? state.method : state.compare;
  if (!result || !method) return;
  const { points, model } = problem(state, method);
  let shown = result;
  if (blank) shown = { ...result, grid: null, regions: new Uint8Array(), values: new Float32Array(), kind: new Uint8Array(result.count), wrong: new Uint8Array(result.count), hulls: null };
  let stale = result.key !== JSON.stringify([points, model]);
  if (stale && state.data.kind === "points") shown = moving(shown, state.data);
  const entry = side === "a" && mode === "sweep" && sweep?.key === sweepKey() ? sweep.entries.find((one) => one.c === state.c) : undefined;
  if (stale && entry && result.grid) {
    shown = { ...shown, grid: { ...result.grid, lines: entry.lines }, regions: new Uint8Array(), values: new Float32Array() };
    stale = false;
  }
  if (!stale && blank === "" && seen) shown = { ...seen, view: shown.view };
  const { context, width, height } = fitted(canvas);
  const isStep = side === "a" && number() !== null;
  const parts = { ...state, show: { ...state.show, hulls: state.show.hulls && !isStep, margins: state.show.margins && hasMargin(method) } };
  const ghostShown = state.show.without && ghost ? ghost.lines : null;
  const before = isStep && seen && isLinear(state, method) && sides.a.at !== null ? boundaryBefore(result, sides.a.at) : null;
  draw(context, parts, shown, {
    hover: look.hover, selected: look.selected, crosshair: look.crosshair, ringed: step ? rowsOf(step) : [], stale, ghost: before ?? ghostShown,
    linear: isLinear(state, method) && method === "svm" && blank === "", brush: look.brush, compact: state.compare !== null,
  }, colours, { width, height, ...shown.view });
  figure.classList.toggle("stale", stale);
  const weights = result.model.machines.length === 1 ? result.model.machines[0].weights : null;
  const words = [METHODS[method]];
  if (hasKernel(method)) words.push(result.model.kernel);
  if (hasC(method)) words.push(method === "svm" && state.c === null ? "hard margin" : `C = ${state.c ?? 1}`);
  if (weights && (state.compare || ghostShown)) words.push(`w at ${angle(weights).toFixed(1)}°`);
  if (weights && ghostShown && ghost?.weights) words.push(`turned ${turned(weights, ghost.weights).toFixed(1)}° by the far cloud`);
  if (isStep) words.push(stepWords());
  if (side === "a") document.body.classList.toggle("stale", stale || blank !== "");
  if (stale && blank === "") words.push("computing…");
  caption.textContent = words.join("  ·  ");
  canvas.setAttribute("aria-label", `The plane: ${words.join(", ")}`);
}

const number = () => (sides.a.result?.steps ? state.step : null);

/** Where the time line stands, in words. */
const stepWords = () => (number() === 0 ? "before the first step" : `after step ${number()} of ${sides.a.result?.steps?.count ?? 0}`);

/** A result with the points of the state, which are newer: until the fit is there. @param {Result} result @param {import("./state.js").GivenData} data @returns {Result} */
function moving(result, data) {
  const count = data.xy.length;
  const grown = (/** @type {Uint8Array} */ list) => Uint8Array.from({ length: count }, (_, row) => (count === result.count ? list[row] : 0));
  return {
    ...result, count, xy: new Float64Array(data.xy.flat()), classes: new Uint8Array(data.classes), labels: data.labels, kind: grown(result.kind),
    wrong: grown(result.wrong), slack: new Float64Array(count), view: { x: [data.range[0], data.range[1]], y: [data.range[2], data.range[3]] }, hulls: null,
  };
}

/** @param {import("./palette.js").Palette} colours */
function paintTime(colours) {
  const steps = sides.a.result?.steps;
  const isSweep = mode === "sweep";
  const count = isSweep ? COSTS.length - 1 : (steps?.list.length ?? 0);
  const slider = /** @type {HTMLInputElement} */ (byId("step"));
  byId("sweep").setAttribute("aria-pressed", String(isSweep));
  for (const id of ["first", "back", "play", "forward", "last"]) byId(id).toggleAttribute("disabled", isSweep || count === 0);
  slider.disabled = count === 0;
  slider.max = String(isSweep || count === 0 ? count : count + 1);
  const place = isSweep ? COSTS.reduce((best, c, k) => (Math.abs(Math.log(c / (state.c ?? 1))) < Math.abs(Math.log(COSTS[best] / (state.c ?? 1))) ? k : best), 0) : (state.step ?? count);
  slider.value = String(!isSweep && state.step === null ? count + 1 : place);
  slider.setAttribute("aria-valuetext", isSweep ? `C = ${COSTS[place]}` : state.step === null ? "the fit" : `step ${place}`);
  slider.setAttribute("aria-label", isSweep ? "C" : "Step");
  const at = byId("at");
  const ready = isSweep && sweep?.key === sweepKey();
  if (isSweep && !ready) void fillSweep();
  at.textContent = isSweep ? `C = ${COSTS[place]}` : count === 0 ? "" : state.step === null ? `the fit: ${steps?.count ?? 0} steps` : `step ${place} of ${(steps?.count ?? 0) > count ? `the first ${count}` : count}`;
  const curves = isSweep ? (ready && sweep ? curvesOfSweep(sweep.entries, colours) : []) : curvesOf(steps?.list ?? [], colours, (step) => (sides.a.result ? primalOf(state, sides.a.result, step) : null));
  drawCurves(/** @type {HTMLCanvasElement} */ (byId("curves")), curves, count, count === 0 ? null : place, colours);
  const legend = byId("legend");
  if (curves.length > 0) {
    legend.replaceChildren(...curves.map((curve) => {
      const line = el("i");
      line.style.borderTopColor = curve.colour;
      line.style.borderTopStyle = curve.dash.length > 0 ? "dashed" : "solid";
      const certificate = !isSweep && state.step === null ? sides.a.result?.model.certificate : null;
      const value = certificate?.[/** @type {"primal"} */ (curve.name)] ?? (isSweep || place > 0 ? curve.values[isSweep ? place : place - 1] : null);
      return el("span", { class: "key" }, line, `${curve.name} ${short(value)}${curve.log ? " (log)" : ""}`);
    }));
  } else {
    legend.textContent = isSweep ? "computing the models…" : stepsReason();
  }
}

function stepsReason() {
  const count = sides.a.result?.count ?? 0;
  if (count > MANY_POINTS) return `Steps are shown of at most ${MANY_POINTS} points.`;
  if (state.method === "svm" && !STEPPING.includes(state.solver ?? "")) return "This solver shows no steps: choose SMO or dual ascent.";
  if ((sides.a.result?.model.machines.length ?? 1) > 1) return "Steps are shown of two classes: choose a positive class.";
  if (["lda", "logistic", "mlp"].includes(state.method)) return "This method shows no steps.";
  return "";
}

let panelKey = "";
/** @param {import("./palette.js").Palette} colours @param {import("./engine.js").Step|null} step @param {Result|null} seen */
function paintPanel(colours, step, seen) {
  const result = /** @type {Result} */ (sides.a.result);
  const panel = byId("panel");
  const at = number();
  const tabs = /** @type {State["tab"][]} */ (["why", "alpha", "numbers", "lift"]).filter((name) => !state.hide.includes(name));
  const shown = tabs.includes(state.tab) ? state.tab : tabs[0];
  const aside = /** @type {HTMLElement} */ (panel.parentElement);
  aside.hidden = shown === undefined;
  if (shown === undefined) return;
  for (const tab of document.querySelectorAll("#tabs button")) {
    const isOn = /** @type {HTMLElement} */ (tab).dataset.tab === shown;
    tab.setAttribute("aria-selected", String(isOn));
    /** @type {HTMLElement} */ (tab).tabIndex = isOn ? 0 : -1;
    /** @type {HTMLElement} */ (tab).hidden = state.hide.includes(/** @type {HTMLElement} */ (tab).dataset.tab ?? "");
  }
  panel.setAttribute("aria-labelledby", `tab-${shown}`);
  // What the panel shows: it is made anew when that has changed, and not at each move of the pointer.
  if (blank) {
    panelKey = "";
    panel.replaceChildren(el("p", { class: "verdict bad", id: "blank" }, el("strong", {}, "No model"), blank));
    return;
  }
  const key = JSON.stringify([state, result.key, result.grid?.columns, look.selected, at, sides.a.at, seen !== null, isDark, result.steps?.count, sides.b.result?.key, result.model.stop, panel.clientWidth]);
  if (key === panelKey) return;
  panelKey = key;
  if (shown === "why") {
    const objectives = seen && at !== null ? objectivesAfter(state, result, seen, at) : null;
    showWhy(panel, state, result, { selected: look.selected, step, number: at, seen, objectives, palette: colours, other: state.compare ? sides.b.result : null });
  } else if (shown === "alpha") {
    const hasAlpha = at === null || !steplessAlpha(result);
    if (hasAlpha) showAlpha(panel, state, seen ?? result, { isStep: seen !== null, selected: look.selected, hover: (row) => hoverRow(row), select: (row) => selectRow(row) });
    else panel.replaceChildren(el("p", {}, "This solver moves w itself: it has no α until the fit."));
  } else if (shown === "numbers") void showNumbers(panel, state, isUntouched(), (name) => change((current) => ({ ...opened(current, name, presets), tab: "numbers" })));
  else showLift(panel, state, seen ?? result, colours);
}

/** Whether the steps of a result are of w, without any α. @param {Result} result */
function steplessAlpha(result) {
  const first = result.steps?.list[0];
  return first?.step === "sample" || (first?.step === "newton" && first.coefficients.length === 0);
}

/** Whether a worked example is as the books have it. */
function isUntouched() {
  if (state.data.kind !== "named") return false;
  const usual = opened(state, state.data.name, presets);
  return JSON.stringify(problem(usual, usual.method)) === JSON.stringify(problem(state, state.method));
}

/** @param {number|null} row */
function hoverRow(row) {
  look.hover = row;
  render();
}

/** @param {number|null} row */
function selectRow(row) {
  look.selected = row;
  render();
}

/** @param {Result} result @param {Result|null} seen @param {number} milliseconds */
function paintFacts(result, seen, milliseconds) {
  const { model } = seen ?? result;
  const counts = model.machines.length === 1 ? model.machines[0].counts : null;
  const parts = /** @type {[string, string][]} */ ([["points", String(result.count)]]);
  if (counts) parts.push(["support vectors", `${counts.support}: ${counts.on_margin} on the margin, ${counts.inside} inside, ${counts.misclassified} wrong`]);
  if (seen) {
    parts.push(["shown", stepWords()]);
    if (!steplessAlpha(result)) parts.push(["points with α > 0", String(seen.alpha.reduce((count, value) => count + (value > 0 ? 1 : 0), 0))]);
  }
  parts.push(["errors", String(model.training_errors)]);
  if (hasMargin(state.method) && model.machines.length === 1 && model.machines[0].margin !== null) parts.push(["margin", short(model.machines[0].margin)]);
  if (model.certificate) parts.push(["relative gap", short(model.certificate.relative_gap)]);
  parts.push(["fit and picture", `${result.milliseconds.toFixed(0)} ms`], ["drawn in", `${milliseconds.toFixed(0)} ms`]);
  byId("facts").replaceChildren(...parts.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, value))));
}

/** One sentence for those who cannot see the plane. @param {Result} result */
function summarise(result) {
  const { model } = result;
  const counts = model.machines.length === 1 ? model.machines[0].counts : null;
  const end = number() !== null ? `${stepWords()}.` : model.converged ? "solved." : `not finished: ${model.stop}.`;
  const words = `${METHODS[state.method]}, ${model.kernel}: ${result.count} points of ${result.labels.length} classes, ` +
    (counts ? `${counts.support} support vectors, ` : "") + `${model.training_errors} predicted wrongly, ` +
    (hasMargin(state.method) && model.machines[0]?.margin ? `margin ${short(model.machines[0].margin)}, ` : "") + end;
  const summary = byId("summary");
  if (summary.textContent !== words) summary.textContent = words;
}

// ---- hands ----

/** @param {(data: import("./state.js").GivenData) => import("./state.js").GivenData} edit @param {string} kind */
function edit(edit, kind) {
  change((current) => {
    const data = editable(current, sides.a.result);
    return data ? withData(current, edit(data)) : current;
  }, kind);
}

for (const side of /** @type {('a'|'b')[]} */ (["a", "b"])) {
  const canvas = /** @type {HTMLCanvasElement} */ (byId(`plane-${side}`).querySelector("canvas"));
  listen(canvas, {
    erases: () => tool.erases,
    result: () => {
      const { result } = sides[side];
      return result && state.data.kind === "points" ? moving(result, state.data) : result;
    },
    add: (at, brushes) => {
      edit((data) => added(data, at, tool.brush), brushes ? "brush" : "");
      look.selected = null;
    },
    move: (row, at) => edit((data) => moved(data, row, at), "drag"),
    erase: (rows) => edit((data) => erased(data, rows), "erase"),
    done: () => (lastChange = { kind: "", at: 0 }),
    hover: (row, place) => {
      look.hover = row;
      look.crosshair = state.compare ? place : null;
      readout(row, place);
      render();
    },
    select: selectRow,
    brush: (circle) => {
      look.brush = circle;
      render();
    },
    key: (event) => onPlaneKey(event, canvas),
  });
}

/** @param {number|null} row @param {[number, number]|null} place */
function readout(row, place) {
  const { result } = sides.a;
  if (!result || !place) {
    byId("readout").textContent = "";
    return;
  }
  const value = valueAt(shownStep() ?? result, place);
  const other = state.compare && sides.b.result ? valueAt(sides.b.result, place) : null;
  const words = [`${result.names[0]} = ${place[0].toFixed(3)}`, `${result.names[1]} = ${place[1].toFixed(3)}`];
  if (value !== null) words.push(`f = ${value.toFixed(3)}${other !== null ? ` and ${other.toFixed(3)}` : ""}`);
  if (row !== null) words.push(`point ${row + 1}, ${result.labels[result.classes[row]] ?? ""}`);
  byId("readout").textContent = words.join("    ");
}

/** @param {KeyboardEvent} event @param {HTMLCanvasElement} canvas */
function onPlaneKey(event, canvas) {
  const { result } = sides.a;
  if (!result || event.ctrlKey || event.metaKey) return false;
  const { x, y } = result.view;
  const middle = () => look.crosshair ?? /** @type {[number, number]} */ ([(x[0] + x[1]) / 2, (y[0] + y[1]) / 2]);
  const go = (/** @type {number} */ dx, /** @type {number} */ dy) => {
    const far = event.shiftKey ? 40 : 4;
    const [px, py] = middle();
    const clamp = (/** @type {number} */ value, /** @type {[number, number]} */ range) => Math.min(range[1], Math.max(range[0], value));
    look.crosshair = [clamp(px + ((far * dx) / canvas.clientWidth) * (x[1] - x[0]), x), clamp(py + ((far * dy) / canvas.clientHeight) * (y[1] - y[0]), y)];
    readout(null, look.crosshair);
    render();
  };
  const { selected } = look;
  switch (event.key) {
    case "ArrowLeft": go(-1, 0); return true;
    case "ArrowRight": go(1, 0); return true;
    case "ArrowUp": go(0, 1); return true;
    case "ArrowDown": go(0, -1); return true;
    case "Enter": edit((data) => added(data, middle(), tool.brush), ""); return true;
    case "n": case "N": selectRow(((selected ?? -1) + 1) % Math.max(1, result.count)); return true;
    case "p": case "P": selectRow(((selected ?? 0) + result.count - 1) % Math.max(1, result.count)); return true;
    case "m": case "M": if (selected !== null) edit((data) => moved(data, selected, middle()), ""); return true;
    case "Delete": case "Backspace":
      if (selected !== null) {
        look.selected = null;
        edit((data) => erased(data, new Set([selected])), "");
      }
      return true;
    case "Escape":
      look.selected = null;
      look.crosshair = null;
      render();
      return true;
    case ",": stepBy(-1); return true;
    case ".": stepBy(1); return true;
    case "Home": goTo(0); return true;
    case "End": goTo(null); return true;
    case " ": play(); return true;
    case "+": case "=": change((current) => ({ ...current, c: Math.min(1e9, (current.c ?? 1) * 10) }), "C"); return true;
    case "-": change((current) => ({ ...current, c: Math.max(1e-6, (current.c ?? 1) / 10) }), "C"); return true;
    default:
      if (/^[1-6]$/.test(event.key)) {
        tool.brush = Number(event.key) - 1;
        tool.erases = false;
        render();
        return true;
      }
      return false;
  }
}

function undo() {
  const before = past.pop();
  if (!before) return;
  future.push(state);
  lastChange = { kind: "", at: 0 };
  become(before);
}

function redo() {
  const next = future.pop();
  if (!next) return;
  past.push(state);
  lastChange = { kind: "", at: 0 };
  become(next);
}

/** @param {import("./state.js").GivenData} data */
function use(data) {
  if (new Set(data.classes).size < 2) say("all points are of one class", "give points of two classes");
  look.selected = null;
  change((current) => ({ ...withData(current, data), positive: null }));
}

/** @param {string} text @param {string} name */
async function openTable(text, name) {
  const found = readTable(text, ["x1", "x2"]);
  if (typeof found !== "string" && !/[a-z]/i.test(text.split("\n", 1)[0])) return use(found);
  try {
    const response = await post("/table", text);
    columnsDialog(await response.json(), name, use);
  } catch (error) {
    failed(/** @type {Error} */ (error));
  }
}

// ---- the rest of the page ----

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);
byId("link").addEventListener("click", () => {
  const url = `${location.origin}/#${toHash(state, presets)}`;
  history.replaceState(null, "", url);
  void copied(url, say);
});
byId("help").addEventListener("click", helpDialog);
byId("present").addEventListener("click", () => {
  const isOn = document.body.classList.toggle("present");
  byId("present").setAttribute("aria-pressed", String(isOn));
  panelKey = "";
  render();
});
byId("theme").addEventListener("click", () => {
  isDark = !isDark;
  render();
});
byId("table").addEventListener("click", () => {
  const data = editable(state, sides.a.result);
  if (data) tableDialog(data, use);
});
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async () => {
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  const file = input.files?.[0];
  if (file) await openTable(await file.text(), file.name);
  input.value = "";
});
byId("clear").addEventListener("click", () => edit((data) => ({ ...data, xy: [], classes: [] }), ""));
byId("first").addEventListener("click", () => goTo(0));
byId("back").addEventListener("click", () => stepBy(-1));
byId("play").addEventListener("click", play);
byId("forward").addEventListener("click", () => stepBy(1));
byId("last").addEventListener("click", () => goTo(null));
byId("sweep").addEventListener("click", () => void toggleSweep());
byId("step").addEventListener("input", () => slideTo(Number(/** @type {HTMLInputElement} */ (byId("step")).value)));
/** @param {number} place on the time line: a step, or a C of the sweep */
function slideTo(place) {
  if (mode === "sweep") change((current) => ({ ...current, c: COSTS[place] }), "C");
  else goTo(place);
}
byId("curves").addEventListener("pointermove", (event) => event.buttons === 1 && scrub(event));
byId("curves").addEventListener("pointerdown", scrub);
function scrub(/** @type {PointerEvent} */ event) {
  const box = byId("curves").getBoundingClientRect();
  const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const count = mode === "sweep" ? COSTS.length - 1 : (sides.a.result?.steps?.list.length ?? 0);
  if (count > 0) slideTo(Math.round(part * count));
}
for (const tab of document.querySelectorAll("#tabs button")) {
  const choose = (/** @type {Element} */ one) => change((current) => ({ ...current, tab: /** @type {State["tab"]} */ (/** @type {HTMLElement} */ (one).dataset.tab) }), "tab");
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[/** @type {KeyboardEvent} */ (event).key];
    if (!by) return;
    const tabs = Array.from(document.querySelectorAll("#tabs button:not([hidden])"));
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    choose(next);
    /** @type {HTMLElement} */ (next).focus();
  });
}
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches("input[type=number], input[type=text], textarea, select")) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    if (event.shiftKey) redo();
    else undo();
  } else if (event.key === "?" && !event.ctrlKey) helpDialog();
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) await openTable(await file.text(), file.name);
});
document.addEventListener("paste", (event) => {
  if (/** @type {HTMLElement} */ (event.target).matches("input, textarea")) return;
  const text = event.clipboardData?.getData("text") ?? "";
  if (text.trim() !== "") void openTable(text, "what was pasted");
});
window.addEventListener("resize", render);
window.addEventListener("hashchange", () => openHash(location.hash));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
  isDark = event.matches;
  render();
});
makeExports(() => state, say);
listenToSheets(() => {
  panelKey = "";
  render();
});

/** @param {string} hash */
function openHash(hash) {
  if (hash.replace(/^#/, "") === toHash(state, presets)) return;
  const { state: next, problems } = fromHash(hash, presets);
  look.selected = null;
  change(() => next);
  if (problems.length > 0) say(`of the link, this could not be used: ${problems.slice(0, 4).join("; ")}`);
}

async function begin() {
  const [found, start] = await Promise.all(["/presets", "/start"].map(async (path) => (await fetch(path)).json()));
  presets = found;
  const hash = location.hash.length > 1 ? location.hash : (start.hash ?? "");
  if (hash) {
    const { state: next, problems } = fromHash(hash, presets);
    become(next);
    if (problems.length > 0) say(`of the link, this could not be used: ${problems.slice(0, 4).join("; ")}`);
  } else become(opened(state, "e2", presets));
  ask("a");
  ask("b");
  if (start.table && location.hash.length <= 1) columnsDialog(start.table, start.name ?? "a table", use);
}

begin().catch(failed);
