// The panel that says why: the verdict with its proof, the point that was chosen, the step that is shown.

import { el, fitted } from "./dom.js";
import { signOf } from "./plane.js";
import { isLinear } from "./state.js";
import { objectivesAfter, short, square, words } from "./steps.js";

/**
 * @typedef {import("./engine.js").Result} Result
 * @typedef {import("./engine.js").Step} Step
 * @typedef {import("./state.js").State} State
 * @typedef {import("./palette.js").Palette} Palette
 */

/** @param {[string, string][]} pairs */
export function facts(pairs) {
  const list = el("dl", { class: "facts" });
  for (const [name, value] of pairs) list.append(el("dt", {}, name), el("dd", {}, value));
  return list;
}

/** Solvers whose iterations are sweeps over all points. */
const BY_SWEEPS = ["dual-ascent", "perceptron", "kernel-perceptron", "sgd"];

/** How good the model is, in words. @param {Result} result */
export function verdict(result) {
  const { model } = result;
  const found = model.certificate;
  const box = el("p", { class: "verdict" });
  if (!found) {
    box.append(el("strong", {}, "No certificate"), model.uncertified ?? "This method minimises no objective that could be compared.");
    box.classList.add("bad");
    return box;
  }
  const part = found.relative_gap <= 1e-9 ? "a billionth" : `${short(100 * found.relative_gap)} %`;
  if (model.converged) {
    box.append(el("strong", {}, "Proved best"), `No other boundary has an objective that is lower by more than ${part}: the primal and the dual meet.`);
  } else {
    box.append(el("strong", {}, `Unfinished: ${model.stop.replace("-", " ")}`), `The objective is at most ${short(100 * found.relative_gap)} % above the best one.`);
    box.classList.add("bad");
  }
  return box;
}

/**
 * @param {HTMLElement} panel @param {State} state @param {Result} result of the fit
 * @param {{selected: number|null, step: Step|null, number: number|null, seen: Result|null, objectives: ReturnType<typeof objectivesAfter>|null,
 *   palette: Palette, other: Result|null}} more `seen`: the result after the step that is shown
 */
export function showWhy(panel, state, result, more) {
  const parts = /** @type {Node[]} */ ([]);
  const { model } = result;
  if (more.step) {
    parts.push(el("h3", {}, `Why step ${more.number}?`));
    const height = picture(more.step, state);
    if (height) {
      const canvas = el("canvas", { id: "square", "aria-hidden": "true" });
      canvas.style.height = height;
      parts.push(canvas);
    }
    for (const line of words(more.step, more.number ?? 0, result)) if (line) parts.push(el("p", {}, line));
    if (more.step.step === "pair") {
      parts.push(el("p", { class: "hint" }, "Grey: before. Orange: after. Hollow: where it wanted to go. Blue: the segment from L to H."));
    }
  }
  if (more.selected !== null && more.selected < result.count) parts.push(...point(more.seen ?? result, more.selected));
  if (more.number !== null) {
    if (more.seen && more.objectives) parts.push(...afterStep(state, more.seen, more.objectives, more.number));
    parts.push(el("h3", {}, `The fit, after all ${result.steps?.count ?? 0} steps`), verdict(result));
    show(panel, parts, more, result);
    return;
  }
  parts.push(el("h3", {}, "How good is it?"), verdict(result));
  if (model.certificate) {
    const found = model.certificate;
    parts.push(facts([["primal objective", short(found.primal)], ["dual objective", short(found.dual)], ["gap", short(found.gap)], ["largest violation", short(found.violation)]]));
  }
  if (model.machines.length === 1) parts.push(...machine(state, result));
  else parts.push(el("p", {}, `${model.machines.length} machines decide together: one for each pair of classes, or one for each class.`));
  if (more.other) parts.push(...comparison(result, more.other));
  if (result.conic) parts.push(...conic(result.conic));
  if (state.show.hulls && result.hulls) parts.push(...hulls(result, result.hulls));
  show(panel, parts, more, result);
}

/** @param {HTMLElement} panel @param {Node[]} parts @param {{step: Step|null, number: number|null, palette: Palette}} more @param {Result} result */
function show(panel, parts, { step, number, palette }, result) {
  panel.replaceChildren(...parts);
  const canvas = /** @type {HTMLCanvasElement|null} */ (panel.querySelector("#square"));
  if (canvas && step) {
    const { context, width, height } = fitted(canvas);
    square(context, step, { result, number: number ?? 0 }, palette, width, height);
  }
}

/** The height of the picture of a step; none where it has none. @param {Step} step @param {State} state */
function picture(step, state) {
  if (step.step === "pair") return step.i === step.j ? "" : "296px";
  if (step.step === "coordinate") return "96px";
  return step.step === "mistake" && isLinear(state, state.method) ? "168px" : "";
}

/** What is known after a step. @param {State} state @param {Result} seen @param {ReturnType<typeof objectivesAfter>} objectives @param {number} number */
function afterStep(state, seen, objectives, number) {
  const pairs = /** @type {[string, string][]} */ ([]);
  const add = (/** @type {string} */ name, /** @type {number|null} */ value) => value !== null && pairs.push([name, short(value)]);
  add("primal objective", objectives.primal);
  add("dual objective", objectives.dual);
  add("gap", objectives.gap);
  add("largest violation left", objectives.violation);
  const [own] = seen.model.machines;
  own.weights?.forEach((weight, k) => add(`w${"₁₂"[k]}  (${seen.names[k]})`, weight));
  add("b", own.bias);
  if (state.method === "svm") add("margin 1/‖w‖", own.margin);
  add("predicted wrongly", seen.model.training_errors);
  return [el("h3", {}, number === 0 ? "Before the first step" : `After step ${number}`), facts(pairs)];
}

/** @param {State} state @param {Result} result */
function machine(state, result) {
  const own = result.model.machines[0];
  const pairs = /** @type {[string, string][]} */ ([]);
  if (own.weights) {
    own.weights.forEach((weight, k) => pairs.push([`w${"₁₂"[k] ?? k + 1}  (${result.names[k]})`, short(weight)]));
    pairs.push(["b", short(own.bias)], ["angle of w", `${angle(own.weights).toFixed(2)}°`]);
  } else pairs.push(["b", short(own.bias)]);
  if (own.margin !== null) pairs.push(["margin 1/‖w‖", short(own.margin)]);
  if (own.slack_sum !== null) pairs.push(["sum of slacks Σξ", short(own.slack_sum)]);
  if (own.margin !== null && own.slack_sum !== null && state.method === "svm" && state.loss === "hinge" && state.c !== null && state.bias === "explicit") {
    pairs.push(["½‖w‖² + C Σξ", `${short(0.5 / own.margin ** 2)} + ${short(state.c * own.slack_sum)}`]);
  }
  const { solver, iterations } = result.model;
  pairs.push(["solver", `${solver}, ${iterations} ${BY_SWEEPS.includes(solver) ? "sweeps" : "steps"}`]);
  return [el("h3", {}, `${own.positive} against ${own.negative ?? "the rest"}`), facts(pairs)];
}

/** @param {number[]} weights */
export const angle = (weights) => (Math.atan2(weights[1], weights[0]) * 180) / Math.PI;

/** By how many degrees two lines differ. @param {number[]} a @param {number[]} b */
export function turned(a, b) {
  const sine = (a[0] * b[1] - a[1] * b[0]) / (Math.hypot(a[0], a[1]) * Math.hypot(b[0], b[1]));
  return (Math.asin(Math.min(1, Math.abs(sine))) * 180) / Math.PI;
}

/** @param {Result} result @param {Result} other */
function comparison(result, other) {
  const [a, b] = [result.model.machines[0]?.weights, other.model.machines[0]?.weights];
  if (!a || !b || result.model.machines.length !== 1) return [];
  return [el("p", {}, `The two boundaries differ by ${turned(a, b).toFixed(1)}°.`)];
}

/** @param {import("./engine.js").Conic} conic */
function conic(conic) {
  const pairs = /** @type {[string, string][]} */ ([["curve", conic.kind.replace("-", " ")]]);
  if (conic.centre) pairs.push(["centre", `(${short(conic.centre[0])}, ${short(conic.centre[1])})`]);
  if (conic.semi_axes) pairs.push(["semi-axes", conic.semi_axes.map(short).join(" and ")]);
  if (conic.angle !== null) pairs.push(["angle of the longer", `${((conic.angle * 180) / Math.PI).toFixed(1)}°`]);
  const names = ["x₁²", "x₁x₂", "x₂²", "x₁", "x₂", ""];
  const terms = conic.coefficients.map((value, k) => `${value < 0 ? "−" : "+"} ${short(Math.abs(value))} ${names[k]}`.trim());
  return [el("h3", {}, "The boundary is a conic"), facts(pairs), el("p", { class: "hint" }, `f(x) = ${terms.join(" ").replace(/^\+ /, "")}`)];
}

/** @param {Result} result @param {import("./engine.js").Hulls} hulls */
function hulls(result, hulls) {
  const whole = hulls.most >= 1;
  return [
    el("h3", {}, whole ? "Nearest points of the hulls" : "Nearest points of the reduced hulls"),
    el("p", {}, whole
      ? "The margin is half the distance of the two convex hulls, and the boundary is the bisector of the segment between their nearest points."
      : `No point may weigh more than μ = C/Σα = ${short(hulls.most)}, so the hulls shrink. The boundary is at right angles to the segment between their nearest points.`),
    facts([["distance", short(hulls.distance)], ["made of", hulls.weights.map((list) => `${list.length}`).join(" and ") + " points"]]),
  ];
}

/** A point against its optimality condition. @param {Result} result @param {number} row */
function point(result, row) {
  const label = result.labels[result.classes[row]];
  const pairs = /** @type {[string, string][]} */ ([
    ["place", `(${short(result.xy[2 * row])}, ${short(result.xy[2 * row + 1])})`], ["class", label]]);
  const lines = [el("h3", {}, `Point ${row + 1}`)];
  if (result.f.length > 0) {
    pairs.push(["y f(x)", short(signOf(result, row) * result.f[row])], ["slack ξ", short(result.slack[row])], ["α", short(result.alpha[row])]);
    lines.push(/** @type {any} */ (facts(pairs)), el("p", {}, ROLES[result.kind[row]]));
  } else lines.push(/** @type {any} */ (facts(pairs)));
  return lines;
}

const ROLES = [
  "Not a support vector: α = 0. It could move anywhere outside of the margin, and nothing would change.",
  "On the margin: y f(x) = 1, and 0 < α ≤ C. It holds the boundary in its place.",
  "Inside the margin, on the right side: it pays with slack, and α = C.",
  "On the wrong side: its slack is above 1, and α = C.",
];
