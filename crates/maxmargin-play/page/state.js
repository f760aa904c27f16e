// What the page is about: points, a model, and what is shown. A state is a plain value that is never changed; an action makes a new one.

/**
 * @typedef {{kind: 'named', name: string, rows: number|null, seed: number, noise: number|null}} NamedData
 * @typedef {{kind: 'points', xy: [number, number][], classes: number[], labels: string[], names: [string, string],
 *   range: [number, number, number, number]}} GivenData
 * @typedef {'svm'|'logistic'|'lda'|'perceptron'|'kernel-perceptron'|'mlp'} Method
 * @typedef {'linear'|'poly'|'rbf'|'laplacian'|'sigmoid'} Kernel
 * @typedef {{regions: boolean, margins: boolean, rings: boolean, slack: boolean, hulls: boolean, without: boolean}} Show
 * @typedef {{
 *   data: NamedData|GivenData, method: Method, compare: Method|null, kernel: Kernel, gamma: number|null, coef0: number, degree: number,
 *   c: number|null, loss: 'hinge'|'squared', bias: 'explicit'|'folded'|'none', solver: string|null, positive: string|null,
 *   hidden: number, show: Show, tab: Tab, step: number|null, hide: string[], ask: string
 * }} State
 * @typedef {'why'|'alpha'|'numbers'|'lift'} Tab
 */

/** @type {Show} */
export const SHOWN = { regions: true, margins: true, rings: true, slack: false, hulls: false, without: true };

/** @type {{[method in Method]: string}} */
export const METHODS = {
  svm: "support vectors",
  logistic: "logistic regression",
  lda: "discriminant (LDA)",
  perceptron: "perceptron",
  "kernel-perceptron": "kernel perceptron",
  mlp: "network",
};

/** @type {{[kernel in Kernel]: string}} */
export const KERNELS = { linear: "linear", poly: "polynomial", rbf: "Gaussian", laplacian: "Laplacian", sigmoid: "sigmoid" };

/** @type {{[kernel in Kernel]: string}} */
export const FORMULAS = {
  linear: "⟨x, z⟩",
  poly: "(γ⟨x, z⟩ + c)^q",
  rbf: "exp(−γ‖x − z‖²)",
  laplacian: "exp(−γ‖x − z‖₁)",
  sigmoid: "tanh(γ⟨x, z⟩ + c)",
};

/** The sets that open by name. */
export const SETS = {
  e1: "E1  separable points",
  e2: "E2  points that no line separates",
  e3: "E3  a quadratic kernel and its ellipse",
  e4: "E4  iris by its sepals",
  e5: "E5  iris by its sepals, squared loss",
  e6: "E6  iris, principal components",
  e7: "E7  the same, squared loss",
  e8: "E8  rings",
  e9: "E9  a far blob",
  e10: "E10  a sweep of C",
  iris: "iris, petals, three species",
  blobs: "two clouds",
  moons: "moons",
  xor: "xor",
  rings: "rings",
  "far-blob": "two clouds and a far one",
};

/** The sets that are made from a seed. */
export const GENERATED = ["blobs", "moons", "xor", "rings", "far-blob"];
/** Those of them that have noise, with the usual amount. */
export const NOISE = /** @type {{[name: string]: number}} */ ({ blobs: 0.7, moons: 0.1, "far-blob": 0.7 });
export const MOST_CLASSES = 6;
export const MOST_POINTS = 20000;
/** Above so many points the solver is chosen by the data, and the steps are left out. */
export const MANY_POINTS = 1000;

/** @returns {State} */
export function initial() {
  return {
    data: { kind: "named", name: "e2", rows: null, seed: 0, noise: null },
    method: "svm", compare: null, kernel: "linear", gamma: null, coef0: 1, degree: 2, c: 1, loss: "hinge", bias: "explicit",
    solver: "smo", positive: null, hidden: 8, show: { ...SHOWN }, tab: "why", step: null, hide: [], ask: "",
  };
}

/**
 * What a named set is shown with when it is opened.
 * @param {State} state @param {string} name @param {Preset[]} presets @returns {State}
 *
 * @typedef {{id: string, kernel: Kernel, c: number|null, loss: 'hinge'|'squared', bias: 'explicit'|'folded'|'none',
 *   positive: string|null, gamma: number|null, coef0: number|null, degree: number|null}} Preset
 */
export function opened(state, name, presets) {
  const base = { ...initial(), hide: state.hide, ask: state.ask, tab: state.tab };
  const data = /** @type {NamedData} */ ({ kind: "named", name, rows: null, seed: 0, noise: null });
  const preset = presets.find((one) => one.id.toLowerCase() === name);
  if (preset) {
    const { kernel, c, loss, bias, positive, gamma } = preset;
    const next = { ...base, data, kernel, c, loss, bias, positive, gamma, coef0: preset.coef0 ?? 1, degree: preset.degree ?? 2 };
    return name === "e9" ? { ...next, compare: "lda" } : next;
  }
  /** @type {{[name: string]: Partial<State>}} */
  const usual = {
    iris: { kernel: "linear", c: 1 },
    moons: { kernel: "rbf", gamma: 2, c: 10 },
    xor: { kernel: "poly", gamma: 1, coef0: 0, degree: 2, c: 1 },
    rings: { kernel: "poly", gamma: 1, coef0: 0, degree: 2, c: 10 },
    "far-blob": { compare: "lda" },
  };
  return { ...base, data, ...(usual[name] ?? {}) };
}

/** Whether the model of a state has a kernel. @param {Method} method */
export const hasKernel = (method) => method === "svm" || method === "kernel-perceptron";
/** Whether it has a C. @param {Method} method */
export const hasC = (method) => method === "svm" || method === "logistic" || method === "mlp";
/** Whether f = ±1 means anything to it. @param {Method} method */
export const hasMargin = (method) => method === "svm";
/** Whether its decision function is linear in the plane. @param {State} state @param {Method} method */
export const isLinear = (state, method) => (hasKernel(method) ? state.kernel === "linear" : method !== "mlp");

/**
 * The lattice that drawn points snap to: 1/4096 of the range.
 * @param {number} value @param {number} low @param {number} high
 */
export function snap(value, low, high) {
  const k = Math.round(((value - low) / (high - low)) * 4096);
  return low + (Math.min(4095, Math.max(0, k)) / 4096) * (high - low);
}

/**
 * Points that can be edited: those of the state, or those of the answer to it.
 * @param {State} state @param {import("./engine.js").Result|null} result @returns {GivenData|null}
 */
export function editable(state, result) {
  if (state.data.kind === "points") return state.data;
  if (!result) return null;
  const xy = /** @type {[number, number][]} */ ([]);
  for (let row = 0; row < result.count; row++) xy.push([result.xy[2 * row], result.xy[2 * row + 1]]);
  const { x, y } = result.view;
  return {
    kind: "points", xy, classes: Array.from(result.classes), labels: result.labels.slice(),
    names: [result.names[0], result.names[1]], range: [x[0], x[1], y[0], y[1]],
  };
}

/** @param {State} state @param {GivenData} data @returns {State} */
export const withData = (state, data) => ({ ...state, data, step: null });

/** @param {GivenData} data @param {[number, number]} at @param {number} label @returns {GivenData} */
export function added(data, at, label) {
  if (data.xy.length >= MOST_POINTS) return data;
  const labels = data.labels.slice();
  while (labels.length <= label) labels.push(freshLabel(labels));
  return { ...data, xy: [...data.xy, snapped(data, at)], classes: [...data.classes, label], labels };
}

/** @param {string[]} labels */
function freshLabel(labels) {
  for (let k = labels.length + 1; ; k++) if (!labels.includes(String(k))) return String(k);
}

/** @param {GivenData} data @param {number} row @param {[number, number]} at @returns {GivenData} */
export function moved(data, row, at) {
  const xy = data.xy.slice();
  xy[row] = snapped(data, at);
  return { ...data, xy };
}

/** @param {GivenData} data @param {Set<number>} rows @returns {GivenData} */
export function erased(data, rows) {
  const kept = data.xy.map((_, row) => row).filter((row) => !rows.has(row));
  return { ...data, xy: kept.map((row) => data.xy[row]), classes: kept.map((row) => data.classes[row]) };
}

/** @param {GivenData} data @param {[number, number]} at @returns {[number, number]} */
function snapped(data, [x, y]) {
  const [x0, x1, y0, y1] = data.range;
  return [snap(x, x0, x1), snap(y, y0, y1)];
}

/**
 * A range with an edge around points.
 * @param {[number, number][]} xy @returns {[number, number, number, number]}
 */
export function rangeOf(xy) {
  const side = (/** @type {0|1} */ k) => {
    let low = Infinity;
    let high = -Infinity;
    for (const point of xy) {
      low = Math.min(low, point[k]);
      high = Math.max(high, point[k]);
    }
    const edge = high - low > 1e-9 ? 0.12 * (high - low) : 1;
    return Number.isFinite(low) ? [low - edge, high + edge] : [-4, 4];
  };
  const [x0, x1] = side(0);
  const [y0, y1] = side(1);
  return [x0, x1, y0, y1];
}
