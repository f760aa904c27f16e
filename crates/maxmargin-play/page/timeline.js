// The time line: what the solver knew after each step, with the step that is shown as a cursor; and the sweep of C.

import { fitted } from "./dom.js";

/**
 * @typedef {import("./engine.js").Step} Step
 * @typedef {import("./engine.js").SweepEntry} SweepEntry
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{name: string, values: (number|null)[], log: boolean, colour: string, dash: number[]}} Curve
 */

/** @param {Step[]} steps @param {Palette} palette @param {(step: Step) => number|null} primalOf of a step that shows w alone @returns {Curve[]} */
export function curvesOf(steps, palette, primalOf) {
  const kind = steps[0]?.step;
  const curve = (/** @type {string} */ name, /** @type {boolean} */ log, /** @type {string} */ colour, /** @type {number[]} */ dash, /** @type {(step: Step) => number|null|undefined} */ of) =>
    ({ name, log, colour, dash, values: steps.map((step) => of(step) ?? null) });
  // A step tells the violation that it found, which is what the step before has left.
  const left = { ...curve("violation", true, palette.accent, [2, 3], () => null), values: steps.map((_, k) => /** @type {number|null} */ (steps[k + 1]?.violation ?? null)) };
  switch (kind) {
    case "pair": return [
      curve("primal", false, palette.orange, [], (step) => step.dual + step.gap), curve("dual", false, palette.blue, [], (step) => step.dual),
      curve("gap", true, palette.soft, [5, 3], (step) => step.gap), left];
    case "coordinate": return [curve("dual", false, palette.blue, [], (step) => step.dual), curve("gain", true, palette.soft, [5, 3], (step) => step.gain)];
    case "mistake": return [curve("mistakes", false, palette.orange, [], (step) => step.mistakes)];
    case "newton": return [curve("primal", false, palette.orange, [], (step) => step.primal), left];
    case "sample": return [curve("primal", true, palette.orange, [], primalOf), curve("step length", true, palette.soft, [5, 3], (step) => step.rate)];
    default: return [];
  }
}

/** @param {SweepEntry[]} sweep @param {Palette} palette @returns {Curve[]} */
export function curvesOfSweep(sweep, palette) {
  return [
    { name: "margin", log: true, colour: palette.blue, dash: [], values: sweep.map((entry) => entry.margin) },
    { name: "sum of slacks", log: true, colour: palette.orange, dash: [], values: sweep.map((entry) => entry.slack_sum) },
    { name: "support vectors", log: false, colour: palette.soft, dash: [5, 3], values: sweep.map((entry) => entry.support) },
  ];
}

/** @param {HTMLCanvasElement} canvas @param {Curve[]} curves @param {number} count @param {number|null} cursor from 0 to count @param {Palette} palette */
export function drawCurves(canvas, curves, count, cursor, palette) {
  const { context, width, height } = fitted(canvas);
  context.clearRect(0, 0, width, height);
  const x = (/** @type {number} */ k) => 4 + (k / Math.max(1, count)) * (width - 8);
  /** @type {Map<boolean|string, [number, number]>} */
  const ranges = new Map();
  // Curves of one unit share an axis, so that they can meet.
  const unit = (/** @type {Curve} */ curve) => (["primal", "dual"].includes(curve.name) ? "objective" : curve.name);
  for (const curve of curves) {
    const values = curve.values.filter((value) => value !== null && (!curve.log || value > 0)).map((value) => (curve.log ? Math.log10(/** @type {number} */ (value)) : /** @type {number} */ (value)));
    // The first objectives may be far from all others: a twentieth may leave the picture.
    const sorted = [...values].sort((a, b) => a - b);
    const [low, high] = [sorted[0] ?? 0, sorted[Math.max(0, Math.ceil(0.95 * sorted.length) - 1)] ?? 1];
    const known = ranges.get(unit(curve));
    ranges.set(unit(curve), known ? [Math.min(known[0], low), Math.max(known[1], high)] : [low, high]);
  }
  context.strokeStyle = palette.faint;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, height - 0.5);
  context.lineTo(width, height - 0.5);
  context.stroke();
  context.save();
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  for (const curve of curves) {
    const [low, high] = ranges.get(unit(curve)) ?? [0, 1];
    const y = (/** @type {number} */ value) => height - 8 - ((value - low) / (high - low || 1)) * (height - 16);
    context.beginPath();
    let on = false;
    curve.values.forEach((value, k) => {
      if (value === null || (curve.log && !(value > 0))) return;
      const place = /** @type {[number, number]} */ ([x(k + 1), y(curve.log ? Math.log10(value) : value)]);
      if (on) context.lineTo(...place);
      else context.moveTo(...place);
      on = true;
    });
    context.strokeStyle = curve.colour;
    context.lineWidth = 1.8;
    context.setLineDash(curve.dash);
    context.stroke();
  }
  context.restore();
  context.setLineDash([]);
  if (cursor !== null) {
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(x(cursor), 0);
    context.lineTo(x(cursor), height);
    context.stroke();
  }
}
