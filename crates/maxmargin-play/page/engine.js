// Questions to the engine: a state becomes a request, an answer becomes a result. One question is under way and one waits; the latest wins.

import { MANY_POINTS, hasC, hasKernel } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Method} Method
 * @typedef {{level: number, points: [number, number][]}} Line
 * @typedef {{primal: number, dual: number, gap: number, relative_gap: number, violation: number}} Certificate
 * @typedef {{positive: string, negative: string|null, weights: number[]|null, bias: number, margin: number|null, slack_sum: number|null,
 *   counts: {not_support: number, on_margin: number, inside: number, misclassified: number, support: number, bounded: number}|null,
 *   support: number}} Machine
 * @typedef {{labels: string[], solver: string, reason: string|null, kernel: string, stop: string, converged: boolean, iterations: number,
 *   certificate: Certificate|null, uncertified: string|null, training_errors: number, machines: Machine[]}} Model
 * @typedef {{kind: string, coefficients: number[], centre: [number, number]|null, semi_axes: [number, number]|null, angle: number|null}} Conic
 * @typedef {{most: number, corners: [number, number][][], nearest: [[number, number], [number, number]], distance: number,
 *   weights: [number, number][][]}} Hulls
 * @typedef {{[key: string]: any, step: string}} Step
 * @typedef {{c: number, margin: number|null, slack_sum: number|null, primal: number|null, relative_gap: number|null, support: number,
 *   errors: number, weights: number[]|null, lines: Line[]}} SweepEntry
 * @typedef {{
 *   key: string, view: {x: [number, number], y: [number, number]}, names: string[], labels: string[], model: Model, count: number,
 *   xy: Float64Array, classes: Uint8Array, alpha: Float64Array, f: Float64Array, slack: Float64Array, kind: Uint8Array,
 *   predicted: Uint8Array, wrong: Uint8Array, grid: {columns: number, rows: number, lines: Line[]}|null, values: Float32Array, regions: Uint8Array,
 *   conic: Conic|null, hulls: Hulls|null, mistakes: {radius: number, margin: number, most: number}|null,
 *   steps: {list: Step[], count: number}|null, sweep: SweepEntry[]|null, milliseconds: number
 * }} Result
 * @typedef {{error: string, help: string}} Failure
 */

export const SIZES = [{ columns: 64, rows: 45 }, { columns: 200, rows: 140 }, { columns: 400, rows: 280 }];
/** Width over height of the plane: equal units need it. */
export const ASPECT = 1.42;

/** The problem of a state: what a fit depends on. @param {State} state @param {Method} method */
export function problem(state, method) {
  const { data } = state;
  const points = data.kind === "named"
    ? { named: { name: data.name, rows: data.rows, seed: data.seed, noise: data.noise } }
    : { given: { xy: data.xy, classes: data.classes, labels: data.labels, names: data.names } };
  const count = data.kind === "points" ? data.xy.length : (data.rows ?? 0);
  const isLarge = count > MANY_POINTS;
  /** @type {{[key: string]: unknown}} */
  const model = { method };
  if (hasKernel(method)) {
    model.kernel = { name: state.kernel, gamma: state.gamma, coef0: state.coef0, degree: state.degree };
  }
  if (hasC(method)) model.c = method === "svm" ? state.c : state.c ?? 1;
  if (method === "svm") {
    // A linear machine ends at a gap as well, which has to be smaller for as many digits.
    const isLinearMachine = state.kernel === "linear" && state.c !== null && !(state.loss === "hinge" && state.bias === "explicit");
    const tolerance = isLinearMachine ? (isLarge ? 1e-6 : 1e-10) : isLarge ? 1e-3 : 1e-6;
    Object.assign(model, { loss: state.loss, bias: state.bias, solver: isLarge ? null : state.solver, tolerance });
  }
  if (method === "logistic") model.tolerance = 1e-12; // smooth, so that one more step of Newton's method has these digits
  if (method === "mlp") model.hidden = state.hidden;
  if (state.positive !== null) model.positive = state.positive;
  const [x0, x1, y0, y1] = data.kind === "points" ? data.range : [];
  const view = data.kind === "points" ? { x: [x0, x1], y: [y0, y1] } : { aspect: ASPECT };
  return { points, model, view };
}

/** The solvers of a support vector machine that show their steps. */
export const STEPPING = ["smo", "dual-ascent", "newton", "kernel-newton", "primal-newton", "sgd"];

/** Whether the solver of a state shows steps. @param {State} state @param {Method} method @param {number} count */
export function hasSteps(state, method, count) {
  if (count > MANY_POINTS) return false;
  if (method === "perceptron" || method === "kernel-perceptron") return true;
  return method === "svm" && STEPPING.includes(state.solver ?? "");
}

/** @param {ArrayBuffer} buffer @param {string} key @returns {Result} */
export function decoded(buffer, key) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {{[name: string]: any}} */
  const lists = { xy: new Float64Array(), wrong: new Uint8Array(), classes: new Uint8Array(), values: new Float32Array(), regions: new Uint8Array() };
  for (const { name, type, at, count } of head.parts) {
    const List = { f64: Float64Array, f32: Float32Array, u8: Uint8Array }[/** @type {"f64"|"f32"|"u8"} */ (type)];
    lists[name] = new List(buffer, 4 + length + at, count);
  }
  return { ...head, ...lists, key, count: lists.alpha.length, milliseconds: 0 };
}

/** Fills in the points that the page gave itself. @param {Result} result @param {State} state */
function withPoints(result, state) {
  const { data } = state;
  if (data.kind === "points" && result.xy.length === 0) {
    result.xy = new Float64Array(data.xy.flat());
    result.classes = new Uint8Array(data.classes);
  }
  return result;
}

/**
 * Asks, and reads the answer.
 * @param {string} path @param {unknown} body @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function post(path, body, signal) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/csv" : "application/json";
  let response;
  try {
    response = await fetch(path, { method: "POST", headers: { "content-type": type }, body: text, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Gone();
  }
  if (!response.ok) {
    const said = /** @type {Failure} */ (await response.json().catch(() => ({ error: `status ${response.status}`, help: "load the page again" })));
    throw new Refused(said);
  }
  return response;
}

/** The program that serves the page has ended. */
export class Gone extends Error {}

/** A question without an answer. */
export class Refused extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.error);
    this.help = failure.help;
  }
}

/**
 * The questions of one plane. `ask` begins at once or waits for the one under way; a question that waits is replaced by a later one.
 */
export class Engine {
  /** @param {(result: Result, state: State, rank: number) => void} onResult @param {(error: Error, state: State) => void} onFailure */
  constructor(onResult, onFailure) {
    this.onResult = onResult;
    this.onFailure = onFailure;
    /** @type {AbortController|null} */
    this.underWay = null;
    /** @type {{state: State, method: Method}|null} */
    this.waiting = null;
    this.busy = false;
  }

  /** @param {State} state @param {Method} method */
  ask(state, method) {
    this.waiting = { state, method };
    this.underWay?.abort();
    if (!this.busy) void this.run();
  }

  /** Takes back all questions. */
  leave() {
    this.waiting = null;
    this.underWay?.abort();
  }

  async run() {
    this.busy = true;
    while (this.waiting) {
      const { state, method } = this.waiting;
      this.waiting = null;
      try {
        await this.answer(state, method);
      } catch (error) {
        if (!this.underWay?.signal.aborted) this.onFailure(/** @type {Error} */ (error), state);
      }
    }
    this.busy = false;
  }

  /** A first picture at once, then a finer one with the steps, and a fine one at rest. @param {State} state @param {Method} method */
  async answer(state, method) {
    this.underWay = new AbortController();
    const { signal } = this.underWay;
    const base = problem(state, method);
    const key = JSON.stringify([base.points, base.model]);
    let count = 0;
    for (let rank = 0; rank < SIZES.length; rank++) {
      if (rank === 2) await rest(120, signal);
      if (signal.aborted) return;
      const began = performance.now();
      /** @type {string[]} */
      const want = state.show.hulls ? ["hulls"] : [];
      const response = await post("/answer", { ...base, grid: SIZES[rank], want }, signal);
      const result = withPoints(decoded(await response.arrayBuffer(), key), state);
      if (signal.aborted) return;
      result.milliseconds = performance.now() - began;
      count = result.model.machines.length > 1 ? Infinity : result.count;
      this.onResult(result, state, rank);
    }
    if (!hasSteps(state, method, count) || signal.aborted) return;
    const response = await post("/answer", { ...base, want: ["steps"] }, signal);
    const result = withPoints(decoded(await response.arrayBuffer(), key), state);
    if (!signal.aborted) this.onResult(result, state, SIZES.length);
  }
}

/** Waits, or is aborted. @param {number} milliseconds @param {AbortSignal} signal */
function rest(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

/**
 * The picture of a step.
 * @param {State} state @param {Method} method @param {{coefficients: [number, number][], bias: number, weights: [number, number]|null}} frame
 * @param {{columns: number, rows: number}} size @param {AbortSignal} signal
 */
export async function framed(state, method, frame, size, signal) {
  const response = await post("/answer", { ...problem(state, method), grid: size, frame, want: ["steps"] }, signal);
  return decoded(await response.arrayBuffer(), "");
}

/** Models over a range of C. @param {State} state @param {Method} method @param {number[]} costs @param {AbortSignal} signal */
export async function swept(state, method, costs, signal) {
  const response = await post("/answer", { ...problem(state, method), want: ["sweep"], costs }, signal);
  return decoded(await response.arrayBuffer(), "").sweep ?? [];
}
