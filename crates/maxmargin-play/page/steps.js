// The steps of a solver: what is known after each of them, and the panel that explains one.

/**
 * @typedef {import("./engine.js").Step} Step
 * @typedef {import("./engine.js").Result} Result
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{coefficients: [number, number][], bias: number, weights: [number, number]|null}} StepFrame
 */

/**
 * The decision function after some steps, and α of each point.
 * @param {Step[]} steps @param {number} count @param {number} rows @returns {{frame: StepFrame, alpha: Float64Array}}
 */
export function after(steps, count, rows) {
  const coefficients = new Float64Array(rows);
  let bias = 0;
  /** @type {[number, number]|null} */
  let weights = null;
  for (const step of steps.slice(0, count)) {
    switch (step.step) {
      case "pair":
        coefficients[step.i] = step.signs[0] * step.after[0];
        coefficients[step.j] = step.signs[1] * step.after[1];
        break;
      case "coordinate":
        coefficients[step.row] = step.sign * step.taken;
        break;
      case "mistake":
        coefficients[step.row] = step.sign * step.times;
        break;
      case "newton":
        if (step.coefficients.length > 0) step.coefficients.forEach((/** @type {number} */ c, /** @type {number} */ row) => (coefficients[row] = c));
        else weights = [step.weights[0] ?? 0, step.weights[1] ?? 0];
        break;
      case "sample":
        weights = [step.weights[0] ?? 0, step.weights[1] ?? 0];
    }
    bias = step.bias ?? bias;
  }
  const list = /** @type {[number, number][]} */ ([]);
  coefficients.forEach((value, row) => value !== 0 && list.push([row, value]));
  return { frame: { coefficients: weights ? [] : list, bias, weights }, alpha: coefficients.map(Math.abs) };
}

/** The rows that a step is about. @param {Step} step @returns {number[]} */
export function rowsOf(step) {
  switch (step.step) {
    case "pair": return step.i === step.j ? [step.i] : [step.i, step.j];
    case "coordinate":
    case "mistake": return [step.row];
    case "sample": return step.rows;
    default: return [];
  }
}

/** @param {number|null|undefined} value */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(5)));
}

/** A bound, which may be infinite: JSON has no word for that. @param {number|null} value */
const bound = (value) => (value === null ? "∞" : short(value));

/** Whether the sum y·α of the pair stays as it is. @param {Step} step */
function isOnLine(step) {
  const sum = (/** @type {number[]} */ a) => step.signs[0] * a[0] + step.signs[1] * a[1];
  return Math.abs(sum(step.before) - sum(step.after)) <= 1e-9 * (1 + Math.abs(step.before[0]) + Math.abs(step.before[1]) + Math.abs(step.after[0]));
}

/** A step in words. @param {Step} step @param {number} number @param {number|null} radius R², and the margin, for the perceptron's bound @returns {string[]} */
export function words(step, number, radius) {
  switch (step.step) {
    case "pair": {
      if (step.i === step.j) return [`Step ${number} moves α of point ${step.i + 1} alone, from ${short(step.before[0])} to ${short(step.after[0])}.`];
      const cut = step.wanted === null || Math.abs(step.wanted - step.taken) > 1e-12 * Math.max(1, Math.abs(step.taken));
      const side = step.high !== null && step.taken >= step.high ? "H" : "L";
      if (!isOnLine(step)) {
        return [
          `Step ${number} moves the pair that violates most: points ${step.i + 1} and ${step.j + 1}. Without a free offset no sum is fixed, so both move within the rectangle of their bounds.`,
          `The dual objective rises by ${short(step.gain)} to ${short(step.dual)}. The gap is ${short(step.gap)}.`,
        ];
      }
      return [
        `Step ${number} moves the pair that violates most: points ${step.i + 1} and ${step.j + 1}. Their sum y·α stays as it is.`,
        `α of point ${step.j + 1} may lie between L = ${short(step.low)} and H = ${bound(step.high)}. Without these bounds the objective would be largest at ${bound(step.wanted)}` +
          (cut ? `, so it is cut at ${side} = ${short(step.taken)}.` : ", which is inside: nothing is cut."),
        `The dual objective rises by ${short(step.gain)} to ${short(step.dual)}. The gap is ${short(step.gap)}.`,
      ];
    }
    case "coordinate": {
      const cut = Math.abs(step.wanted - step.taken) > 1e-12 * Math.max(1, Math.abs(step.taken));
      return [
        `Step ${number} moves α of point ${step.row + 1} alone, from ${short(step.before)} to ${short(step.taken)}.`,
        `Its interval is ${short(step.low)} to ${step.high === null ? "∞" : short(step.high)}; the best place is ${bound(step.wanted)}` + (cut ? ", which is outside, so it is cut." : "."),
        `The dual objective rises by ${short(step.gain)}.`,
      ];
    }
    case "mistake": return [
      `Mistake ${step.mistakes}: point ${step.row + 1} has f = ${short(step.value)} and y = ${step.sign > 0 ? "+1" : "−1"}, so it is on the wrong side.`,
      `y·x is added to w, which turns the line towards it. This point was added ${step.times} ${step.times === 1 ? "time" : "times"} so far.`,
      radius === null ? "" : `On points that a line separates, mistakes never exceed (R/margin)² = ${short(radius)}.`,
    ].filter(Boolean);
    case "newton": return [
      `Newton step ${step.iteration}: ${step.active.length} points shape the quadratic model; ${short(100 * step.length)} % of the full step is taken.`,
      `The primal objective is ${short(step.primal)}.`,
    ];
    default: return [`Step ${number}.`];
  }
}

/**
 * The square of two α: the box, the line on which the pair may move, L and H, the place that was wanted and the one that was taken.
 * @param {CanvasRenderingContext2D} context @param {Step} step @param {Palette} palette @param {number} width @param {number} height
 */
export function square(context, step, palette, width, height) {
  context.clearRect(0, 0, width, height);
  context.font = "12px Playground, system-ui, sans-serif";
  context.textBaseline = "middle";
  if (step.step === "coordinate") return interval(context, step, palette, width, height);
  if (step.step !== "pair" || step.i === step.j) return;
  const [left, top, size] = [44, 16, Math.min(width - 64, height - 56)];
  const finite = step.upper.map((/** @type {number|null} */ u) => u ?? 1.3 * Math.max(step.before[0], step.before[1], step.after[0], step.after[1], 1e-9));
  const px = (/** @type {number} */ a) => left + (a / finite[0]) * size;
  const py = (/** @type {number} */ a) => top + size - (a / finite[1]) * size;
  context.lineWidth = 1.2;
  context.strokeStyle = palette.soft;
  context.strokeRect(left, top, size, size);
  context.fillStyle = palette.soft;
  context.fillText("0", left - 14, top + size + 2);
  context.fillText(step.upper[1] === null ? "∞" : `${short(step.upper[1])}`, 4, top + 4);
  context.fillText(step.upper[0] === null ? "∞" : `${short(step.upper[0])}`, left + size - 12, top + size + 14);
  context.fillText(`α of point ${step.i + 1}`, left + size / 2 - 36, top + size + 30);
  context.save();
  context.translate(14, top + size / 2 + 36);
  context.rotate(-Math.PI / 2);
  context.fillText(`α of point ${step.j + 1}`, 0, 0);
  context.restore();
  const dotAt = (/** @type {number} */ ai, /** @type {number} */ aj, /** @type {string} */ colour, /** @type {boolean} */ filled) => {
    context.beginPath();
    context.arc(px(ai), py(aj), 5.5, 0, 2 * Math.PI);
    context.fillStyle = filled ? colour : palette.paper;
    context.fill();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.stroke();
  };
  if (!isOnLine(step)) {
    context.beginPath();
    context.moveTo(px(step.before[0]), py(step.before[1]));
    context.lineTo(px(step.after[0]), py(step.after[1]));
    context.strokeStyle = palette.classes[0];
    context.lineWidth = 3;
    context.stroke();
    dotAt(step.before[0], step.before[1], palette.soft, true);
    dotAt(step.after[0], step.after[1], palette.classes[1], true);
    return;
  }
  // On the line y_i a_i + y_j a_j = const: a_i as a function of a_j.
  const sum = step.signs[0] * step.before[0] + step.signs[1] * step.before[1];
  const first = (/** @type {number} */ aj) => step.signs[0] * (sum - step.signs[1] * aj);
  const line = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ wide, /** @type {string} */ colour, /** @type {number[]} */ dash) => {
    context.beginPath();
    context.moveTo(px(first(from)), py(from));
    context.lineTo(px(first(to)), py(to));
    context.lineWidth = wide;
    context.strokeStyle = colour;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  };
  const reach = 0.6 * finite[1];
  const high = step.high ?? finite[1];
  context.save();
  context.beginPath();
  context.rect(0, 0, width, top + size + 8);
  context.clip();
  line(step.low - reach, high + reach, 1, palette.faint, [4, 4]);
  line(step.low, high, 4, palette.classes[0], []);
  const wanted = step.wanted ?? high + reach;
  const shown = Math.min(high + reach, Math.max(step.low - reach, wanted));
  if (Math.abs(shown - step.taken) > 1e-12) line(step.taken, shown, 1.6, palette.accent, [3, 3]);
  const dot = (/** @type {number} */ aj, /** @type {string} */ colour, /** @type {boolean} */ filled) => dotAt(first(aj), aj, colour, filled);
  dot(shown, palette.accent, false);
  dot(step.before[1], palette.soft, true);
  dot(step.taken, palette.classes[1], true);
  context.restore();
  context.fillStyle = palette.ink;
  context.font = "600 12px Playground, system-ui, sans-serif";
  for (const [name, aj] of /** @type {[string, number][]} */ ([["L", step.low], ["H", high]])) {
    context.fillText(name, Math.min(width - 12, px(first(aj)) + 9), py(aj) + (name === "L" ? 10 : -8));
  }
}

/** @param {CanvasRenderingContext2D} context @param {Step} step @param {Palette} palette @param {number} width @param {number} height */
function interval(context, step, palette, width, height) {
  const high = step.high ?? 1.3 * Math.max(step.before, step.taken, step.wanted, 1e-9);
  const at = (/** @type {number} */ a) => 60 + ((a - step.low) / (high - step.low)) * (width - 120);
  const y = height / 2;
  context.lineWidth = 4;
  context.strokeStyle = palette.classes[0];
  context.beginPath();
  context.moveTo(at(step.low), y);
  context.lineTo(at(high), y);
  context.stroke();
  const places = /** @type {[number, string, string][]} */ ([
    [Math.min(high + 0.25 * (high - step.low), Math.max(step.low - 0.25 * (high - step.low), step.wanted)), palette.accent, "wanted"],
    [step.before, palette.soft, "before"], [step.taken, palette.classes[1], "after"]]);
  for (const [value, colour, name] of places) {
    context.beginPath();
    context.arc(at(value), y, 6, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.fillText(name, at(value) - 18, y + (name === "wanted" ? -20 : name === "before" ? 20 : 36));
  }
  context.fillStyle = palette.soft;
  context.fillText(short(step.low), at(step.low) - 6, y - 16);
  context.fillText(step.high === null ? "∞" : short(step.high), at(high) - 6, y - 16);
}
