// α of every point as a bar, beside the optimality condition that it has to meet; linked with the points of the plane both ways.

import { el } from "./dom.js";
import { signOf } from "./plane.js";
import { short } from "./steps.js";

/** @typedef {import("./engine.js").Result} Result */

/** Rows that are listed: more than anybody reads. */
const MOST = 200;
const KINDS = ["–", "margin", "inside", "wrong"];
/** How closely a point has to meet its condition at a step, where none is met to the last digit. */
const STEP_TOLERANCE = 1e-3;

/** Three digits after the point are what a table needs. @param {number} value */
const rounded = (value) => (Math.abs(value) < 1e4 ? value.toFixed(3) : short(value));

/**
 * Whether a point meets its condition: α = 0 and y f ≥ 1, 0 < α < C and y f = 1, or α = C and y f ≤ 1.
 * @param {number} alpha @param {number} c @param {number} margin @param {number} tolerance
 */
export function meets(alpha, c, margin, tolerance) {
  if (alpha === 0) return margin >= 1 - tolerance;
  if (alpha < c * (1 - 1e-9)) return Math.abs(margin - 1) <= tolerance;
  return margin <= 1 + tolerance;
}

/**
 * @param {HTMLElement} panel @param {import("./state.js").State} state @param {Result} result
 * @param {{isStep: boolean, selected: number|null, hover: (row: number|null) => void, select: (row: number) => void}} more
 */
export function showAlpha(panel, state, result, more) {
  const { alpha } = result;
  const rows = Array.from(alpha, (_, row) => row).sort((a, b) => alpha[b] - alpha[a] || a - b);
  const most = alpha.reduce((most, value) => Math.max(most, value), 0);
  const c = state.c === null || state.loss === "squared" ? Infinity : state.c;
  const hasRule = state.method === "svm" && state.loss === "hinge" && result.f.length > 0;
  const tolerance = more.isStep ? STEP_TOLERANCE : Math.max(1e-6, 10 * (result.model.certificate?.violation ?? 0));
  // Where several machines decide, a point may lie differently for each.
  const kinds = result.f.length > 0 ? KINDS : ["–", "support"];
  const count = alpha.reduce((count, value) => count + (value > 0 ? 1 : 0), 0);
  const head = el("tr", {}, ...["point", "α", "size", "y f", "ξ", "kind", ...(hasRule ? ["KKT"] : [])].map((name) => el("th", name === "α" || name === "y f" || name === "ξ" ? { class: "number" } : {}, name)));
  const body = el("tbody");
  for (const row of rows.slice(0, MOST)) {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${most > 0 ? Math.round((40 * alpha[row]) / most) : 0}px`;
    bar.hidden = alpha[row] === 0;
    bar.style.background = `var(--class-${result.classes[row]})`;
    const margin = result.f.length > 0 ? signOf(result, row) * result.f[row] : null;
    const ok = hasRule && margin !== null && meets(alpha[row], c, margin, tolerance);
    const line = el("tr", { "data-row": row, tabindex: 0, class: row === more.selected ? "chosen" : "" },
      el("td", {}, `${row + 1} ${result.labels[result.classes[row]]}`), el("td", { class: "number" }, short(alpha[row])), el("td", {}, bar),
      el("td", { class: "number" }, margin === null ? "" : rounded(margin)), el("td", { class: "number" }, result.slack.length === 0 ? "" : rounded(result.slack[row])),
      el("td", {}, kinds[result.kind[row]]));
    if (hasRule) line.append(el("td", { class: ok ? "good" : "bad", title: ok ? "meets its condition" : "violates its condition" }, ok ? "✓" : "✗"));
    line.addEventListener("pointerenter", () => more.hover(row));
    line.addEventListener("pointerleave", () => more.hover(null));
    line.addEventListener("click", () => more.select(row));
    line.addEventListener("keydown", (event) => event.key === "Enter" && more.select(row));
    body.append(line);
  }
  panel.replaceChildren(
    el("p", {}, more.isStep ? `After this step ${count} of ${result.count} points have α > 0.` : `${count} of ${result.count} points have α > 0: they alone make the model.`),
    el("p", { class: "hint" }, hasRule ? "KKT: α = 0 needs y f ≥ 1; 0 < α < C needs y f = 1; α = C needs y f ≤ 1." + (more.isStep ? ` Here to ${STEP_TOLERANCE}; the fit meets all of them.` : "") : ""),
    el("table", { class: "tight" }, el("thead", {}, head), body),
    el("p", { class: "hint" }, rows.length > MOST ? `The ${MOST} largest of ${rows.length}.` : ""));
}
