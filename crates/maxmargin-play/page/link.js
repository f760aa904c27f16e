// A state as the part of a link after #, readable where it can be, and exact: the state that comes back is the one that went in.
// Reading never throws: what cannot be used is left out and reported.

import { GENERATED, KERNELS, METHODS, MOST_CLASSES, MOST_POINTS, SETS, SHOWN, initial, opened } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").GivenData} GivenData
 * @typedef {import("./state.js").Preset} Preset
 */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS = 27; // 12 for x, 12 for y, 3 for the class: 4.5 characters a point
const TABS = ["why", "alpha", "numbers", "lift"];
const SOLVERS = ["smo", "block-smo", "dual-ascent", "interior-point", "newton", "primal-newton", "kernel-newton", "sgd"];
export const PARTS = ["data", "model", "show", "why", "alpha", "numbers", "lift", "time", "compare", "export"];

/** @param {State} state @param {Preset[]} presets */
export function toHash(state, presets) {
  /** @type {[string, string][]} */
  const fields = [["v", "1"]];
  const add = (/** @type {string} */ key, /** @type {string|number|null} */ value) => {
    fields.push([key, value === null ? "" : String(value)]);
  };
  const { data } = state;
  if (data.kind === "named") {
    add("d", data.name);
    if (data.rows !== null) add("n", data.rows);
    if (data.seed !== 0) add("seed", data.seed);
    if (data.noise !== null) add("noise", data.noise);
  } else {
    add("r", data.range.join(","));
    add("l", data.labels.map(encodeURIComponent).join(","));
    if (data.names[0] !== "x1" || data.names[1] !== "x2") add("a", data.names.map(encodeURIComponent).join(","));
    const packed = pack(data);
    if (packed !== null) add("p", packed);
    else add("q", data.xy.map(([x, y], row) => `${number(x)},${number(y)},${data.classes[row]}`).join(";"));
  }
  const usual = opened(initial(), data.kind === "named" ? data.name : "e2", data.kind === "named" ? presets : []);
  const differ = (/** @type {keyof State} */ key, /** @type {string} */ short) => {
    const value = /** @type {string|number|null} */ (state[key]);
    if (value !== usual[key]) add(short, value);
  };
  differ("method", "m");
  differ("compare", "cmp");
  differ("kernel", "k");
  differ("gamma", "g");
  differ("coef0", "c0");
  differ("degree", "deg");
  if (state.c !== usual.c) add("C", state.c === null ? "hard" : state.c);
  differ("loss", "loss");
  differ("bias", "b");
  differ("solver", "solver");
  if (state.positive !== usual.positive) add("pos", state.positive === null ? "" : encodeURIComponent(state.positive));
  differ("hidden", "h");
  const flags = /** @type {(keyof typeof SHOWN)[]} */ (Object.keys(SHOWN));
  const turned = flags.filter((flag) => state.show[flag] !== SHOWN[flag]);
  if (turned.length > 0) add("show", turned.map((flag) => (state.show[flag] ? "" : "-") + flag).join(","));
  if (state.tab !== "why") add("tab", state.tab);
  if (state.step !== null) add("s", state.step);
  if (state.hide.length > 0) add("hide", state.hide.join(","));
  if (state.ask !== "") add("ask", encodeURIComponent(state.ask));
  return fields.map(([key, value]) => `${key}=${value}`).join("&");
}

/** The shortest digits that come back to the bit; −0 keeps its sign. @param {number} value */
const number = (value) => (Object.is(value, -0) ? "-0" : String(value));

/**
 * @param {string} hash @param {Preset[]} presets
 * @returns {{state: State, problems: string[]}}
 */
export function fromHash(hash, presets) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const field of hash.replace(/^#/, "").split("&").slice(0, 64)) {
    const at = field.indexOf("=");
    if (at > 0) fields.set(field.slice(0, at), field.slice(at + 1));
  }
  const version = fields.get("v");
  if (version !== undefined && version !== "1") problems.push(`the link is of version ${short(version)}; this page reads version 1`);
  let state = initial();
  const name = (fields.get("d") ?? "").toLowerCase();
  if (fields.has("p") || fields.has("q")) {
    const data = given(fields, problems);
    if (data) state = { ...state, data };
  } else if (Object.hasOwn(SETS, name)) {
    state = opened(state, name, presets);
    const data = /** @type {import("./state.js").NamedData} */ (state.data);
    if (GENERATED.includes(name)) {
      data.rows = within(fields, "n", problems, 2, MOST_POINTS, true) ?? null;
      data.seed = within(fields, "seed", problems, 0, 1e9, true) ?? 0;
      data.noise = within(fields, "noise", problems, 0, 10) ?? null;
    }
  } else if (fields.has("d")) {
    problems.push(`there is no set ${short(name)}`);
  }
  state.method = choice(fields, "m", Object.keys(METHODS), problems, state.method);
  state.compare = choice(fields, "cmp", ["", ...Object.keys(METHODS)], problems, state.compare ?? "") || null;
  state.kernel = choice(fields, "k", Object.keys(KERNELS), problems, state.kernel);
  if (fields.get("g") === "") state.gamma = null;
  else state.gamma = within(fields, "g", problems, 1e-9, 1e9) ?? state.gamma;
  state.coef0 = within(fields, "c0", problems, -1e6, 1e6) ?? state.coef0;
  state.degree = within(fields, "deg", problems, 1, 10, true) ?? state.degree;
  if (fields.get("C") === "hard") state.c = null;
  else state.c = within(fields, "C", problems, 1e-6, 1e9) ?? state.c;
  state.loss = choice(fields, "loss", ["hinge", "squared"], problems, state.loss);
  state.bias = choice(fields, "b", ["explicit", "folded", "none"], problems, state.bias);
  state.solver = choice(fields, "solver", ["", ...SOLVERS], problems, state.solver ?? "") || null;
  if (fields.has("pos")) state.positive = text(fields.get("pos") ?? "", problems).slice(0, 60) || null;
  state.hidden = within(fields, "h", problems, 1, 64, true) ?? state.hidden;
  for (const flag of (fields.get("show") ?? "").split(",").filter(Boolean)) {
    const key = flag.replace(/^-/, "");
    if (Object.hasOwn(SHOWN, key)) state.show = { ...state.show, [key]: !flag.startsWith("-") };
    else problems.push(`there is nothing to show called ${short(key)}`);
  }
  state.tab = choice(fields, "tab", TABS, problems, state.tab);
  state.step = within(fields, "s", problems, 0, 1e6, true) ?? null;
  state.hide = (fields.get("hide") ?? "").split(",").filter((part) => PARTS.includes(part));
  state.ask = text(fields.get("ask") ?? "", problems).slice(0, 500);
  return { state, problems };
}

/** @param {string} value */
const short = (value) => JSON.stringify(value.length > 24 ? `${value.slice(0, 24)}…` : value);

/** @param {string} value @param {string[]} problems */
function text(value, problems) {
  try {
    return decodeURIComponent(value);
  } catch {
    problems.push(`${short(value)} is no text`);
    return "";
  }
}

/**
 * @template {string} T
 * @param {Map<string, string>} fields @param {string} key @param {string[]} allowed @param {string[]} problems @param {T} usual
 * @returns {T}
 */
function choice(fields, key, allowed, problems, usual) {
  const value = fields.get(key);
  if (value === undefined) return usual;
  if (allowed.includes(value)) return /** @type {T} */ (value);
  problems.push(`${key} = ${short(value)} is not one of ${allowed.filter(Boolean).join(", ")}`);
  return usual;
}

/**
 * A number, cut to its range.
 * @param {Map<string, string>} fields @param {string} key @param {string[]} problems
 * @param {number} low @param {number} high @param {boolean} [whole]
 * @returns {number|undefined}
 */
function within(fields, key, problems, low, high, whole = false) {
  const written = fields.get(key);
  if (written === undefined || written === "") return undefined;
  const value = Number(written);
  if (!Number.isFinite(value)) {
    problems.push(`${key} = ${short(written)} is no number`);
    return undefined;
  }
  const cut = Math.min(high, Math.max(low, whole ? Math.round(value) : value));
  if (cut !== value) problems.push(`${key} = ${short(written)} was cut to ${cut}`);
  return cut;
}

/** Points on the lattice as 27 bits each; none where a point lies beside it. @param {GivenData} data */
function pack(data) {
  const [x0, x1, y0, y1] = data.range;
  const place = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) => {
    const k = Math.round(((value - low) / (high - low)) * 4096);
    return k >= 0 && k < 4096 && Object.is(low + (k / 4096) * (high - low), value) ? k : -1;
  };
  let out = "";
  let held = 0;
  let bits = 0;
  for (let row = 0; row < data.xy.length; row++) {
    const x = place(data.xy[row][0], x0, x1);
    const y = place(data.xy[row][1], y0, y1);
    if (x < 0 || y < 0) return null;
    held = held * 2 ** BITS + x * 2 ** 15 + y * 8 + data.classes[row];
    bits += BITS;
    while (bits >= 6) {
      bits -= 6;
      out += DIGITS[Math.floor(held / 2 ** bits)];
      held %= 2 ** bits;
    }
  }
  return bits > 0 ? out + DIGITS[held * 2 ** (6 - bits)] : out;
}

/** @param {string} packed @param {[number, number, number, number]} range @param {string[]} problems */
function unpack(packed, [x0, x1, y0, y1], problems) {
  const xy = /** @type {[number, number][]} */ ([]);
  const classes = /** @type {number[]} */ ([]);
  let held = 0;
  let bits = 0;
  for (const letter of packed) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0) {
      problems.push(`the points hold ${short(letter)}, and end there`);
      break;
    }
    held = held * 64 + digit;
    bits += 6;
    if (bits >= BITS) {
      bits -= BITS;
      const code = Math.floor(held / 2 ** bits);
      held %= 2 ** bits;
      xy.push([x0 + (Math.floor(code / 2 ** 15) / 4096) * (x1 - x0), y0 + ((Math.floor(code / 8) % 4096) / 4096) * (y1 - y0)]);
      classes.push(code % 8);
    }
  }
  return { xy, classes };
}

/** @param {Map<string, string>} fields @param {string[]} problems @returns {GivenData|null} */
function given(fields, problems) {
  const sides = (fields.get("r") ?? "").split(",").map(Number);
  const isRange = sides.length === 4 && sides.every((side) => Number.isFinite(side) && Math.abs(side) <= 1e9);
  if (!isRange || !(sides[1] - sides[0] >= 1e-9) || !(sides[3] - sides[2] >= 1e-9)) {
    problems.push("the link has points without a range (r)");
    return null;
  }
  const range = /** @type {[number, number, number, number]} */ (sides);
  let { xy, classes } = { xy: /** @type {[number, number][]} */ ([]), classes: /** @type {number[]} */ ([]) };
  const packed = fields.get("p");
  if (packed !== undefined) ({ xy, classes } = unpack(packed, range, problems));
  else {
    for (const point of (fields.get("q") ?? "").split(";").filter(Boolean).slice(0, MOST_POINTS)) {
      const [x, y, label] = point.split(",").map(Number);
      const isPoint = [x, y].every((value) => Number.isFinite(value) && Math.abs(value) <= 1e9);
      if (isPoint && Number.isInteger(label) && label >= 0 && label < MOST_CLASSES) {
        xy.push([x, y]);
        classes.push(label);
      } else problems.push(`${short(point)} is no point`);
    }
  }
  const before = xy.length;
  const good = classes.map((label) => label < MOST_CLASSES);
  xy = xy.filter((_, row) => good[row]).slice(0, MOST_POINTS);
  classes = classes.filter((_, row) => good[row]).slice(0, MOST_POINTS);
  if (xy.length < before) problems.push(`${before - xy.length} points were left out`);
  const labels = (fields.get("l") ?? "").split(",").filter(Boolean).map((label) => text(label, problems).slice(0, 60)).filter((label) => label.trim());
  const unique = [...new Set(labels)].slice(0, MOST_CLASSES);
  const most = classes.reduce((most, label) => Math.max(most, label), 1);
  for (let k = 1; unique.length <= most; k++) if (!unique.includes(String(k))) unique.push(String(k));
  const names = (fields.get("a") ?? "x1,x2").split(",").map((name) => text(name, problems).slice(0, 60));
  const areNames = names.length === 2 && names.every((name) => name.trim()) && names[0] !== names[1];
  return { kind: "points", xy, classes, labels: unique, names: areNames ? [names[0], names[1]] : ["x1", "x2"], range };
}
