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

/**
 * The weights of a step of a linear machine: those that the solver shows, or Σ c x.
 * @param {StepFrame} frame @param {Result} result @returns {[number, number]}
 */
function weightsOf({ coefficients, weights }, result) {
  if (weights) return weights;
  const sum = /** @type {[number, number]} */ ([0, 0]);
  for (const [row, c] of coefficients) {
    sum[0] += c * result.xy[2 * row];
    sum[1] += c * result.xy[2 * row + 1];
  }
  return sum;
}

/**
 * A result as it is after a step: its decision values, α, slacks and kinds; of a linear machine the weights too. The certificate is of the fit
 * alone, so a step has none.
 * @param {Result} result @param {Result} found the answer to the step's frame @param {number} number @param {boolean} isLinear @returns {Result}
 */
export function resultAfter(result, found, number, isLinear) {
  const { frame } = after(result.steps?.list ?? [], number, result.count);
  const weights = isLinear ? weightsOf(frame, result) : null;
  const length = weights ? Math.hypot(...weights) : 0;
  const errors = found.wrong.reduce((sum, wrong) => sum + wrong, 0);
  const [machine] = result.model.machines;
  return {
    ...result, grid: found.grid, values: found.values, regions: found.regions, alpha: found.alpha, f: found.f, slack: found.slack, kind: found.kind,
    wrong: found.wrong, predicted: found.predicted, hulls: null, conic: null,
    model: {
      ...result.model, certificate: null, training_errors: errors,
      machines: [{ ...machine, weights, bias: frame.bias, margin: length > 0 ? 1 / length : null, slack_sum: found.slack.reduce((sum, xi) => sum + xi, 0), counts: null }],
    },
  };
}

/**
 * The objectives after a step, where they are known, and the largest violation that is left.
 * @param {import("./state.js").State} state @param {Result} result @param {Result} seen the result after the step @param {number} number
 */
export function objectivesAfter(state, result, seen, number) {
  const list = result.steps?.list ?? [];
  const [step, next] = [list[number - 1], list[number]];
  const violation = /** @type {number|null} */ (next?.violation ?? null);
  if (state.method !== "svm" || state.c === null) return { primal: null, dual: step?.dual ?? null, gap: step?.gap ?? null, violation };
  const { frame } = after(list, number, result.count);
  const folded = state.bias === "folded" ? frame.bias : 0;
  // Σ c (f − b) is ‖w‖²; with a folded b the kernel has it already.
  const square = frame.weights
    ? frame.weights[0] ** 2 + frame.weights[1] ** 2 + folded ** 2
    : frame.coefficients.reduce((sum, [row, c]) => sum + c * (seen.f[row] - frame.bias), 0);
  const loss = seen.slack.reduce((sum, xi) => sum + (state.loss === "squared" ? xi * xi : xi), 0);
  const primal = step?.primal ?? square / 2 + state.c * loss;
  const dual = step ? (step.dual ?? null) : 0;
  return { primal, dual, gap: step?.gap ?? (dual === null ? null : primal - dual), violation };
}

/** The primal objectives of steps that show w alone, which are asked for at every picture. @type {WeakMap<Step, number>} */
const primals = new WeakMap();

/** The primal objective of a step that shows w alone, with hinge loss. @param {import("./state.js").State} state @param {Result} result @param {Step} step @returns {number|null} */
export function primalOf(state, result, step) {
  const known = primals.get(step);
  if (known !== undefined) return known;
  if (state.c === null) return null;
  const [a, b] = step.weights;
  let loss = 0;
  for (let row = 0; row < result.count; row++) {
    const sign = result.labels[result.classes[row]] === result.model.labels[1] ? 1 : -1;
    loss += Math.max(0, 1 - sign * (a * result.xy[2 * row] + b * result.xy[2 * row + 1] + step.bias));
  }
  const folded = state.bias === "folded" ? step.bias : 0;
  const found = (a * a + b * b + folded * folded) / 2 + state.c * loss;
  primals.set(step, found);
  return found;
}

/** The boundary of weights within a view, as a line to draw. @param {[number, number]} weights @param {number} bias @param {{x: [number, number], y: [number, number]}} view @returns {import("./engine.js").Line[]} */
function boundary([a, b], bias, { x, y }) {
  const places = /** @type {[number, number][]} */ ([]);
  const add = (/** @type {number} */ px, /** @type {number} */ py) => {
    const inside = px >= x[0] && px <= x[1] && py >= y[0] && py <= y[1];
    if (inside && !places.some(([qx, qy]) => qx === px && qy === py)) places.push([px, py]);
  };
  if (b !== 0) for (const px of x) add(px, -(a * px + bias) / b);
  if (a !== 0) for (const py of y) add(-(b * py + bias) / a, py);
  return places.length >= 2 ? [{ level: 0, points: places.slice(0, 2) }] : [];
}

/** The boundary before a step of a linear machine whose steps turn it as a whole. @param {Result} result @param {number} number @returns {import("./engine.js").Line[]|null} */
export function boundaryBefore(result, number) {
  const list = result.steps?.list ?? [];
  if (number < 2 || !["mistake", "newton", "sample"].includes(list[number - 1]?.step)) return null;
  const { frame } = after(list, number - 1, result.count);
  return boundary(weightsOf(frame, result), frame.bias, result.view);
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

/** A step in words. @param {Step} step @param {number} number @param {Result} result @returns {string[]} */
export function words(step, number, result) {
  switch (step.step) {
    case "pair": {
      if (step.i === step.j) return [`Step ${number} moves α of point ${step.i + 1} alone, from ${short(step.before[0])} to ${short(step.after[0])}.`];
      const cut = step.wanted === null || Math.abs(step.wanted - step.taken) > 1e-12 * Math.max(1, Math.abs(step.taken));
      const side = step.high !== null && step.taken >= step.high ? "H" : "L";
      if (!isOnLine(step)) {
        return [
          `Step ${number} moves α of points ${step.i + 1} and ${step.j + 1}. Without a free offset no sum is fixed, so both move within the rectangle of their bounds, and this pair gains most.`,
          `The dual objective rises by ${short(step.gain)} to ${short(step.dual)}. The gap is ${short(step.gap)}.`,
        ];
      }
      return [
        `Step ${number} moves α of two points. Point ${step.i + 1} violates its condition most, and with point ${step.j + 1} beside it the step would gain most. Their sum y·α stays as it is.`,
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
      bounded(step.mistakes, result),
    ];
    case "newton": return [
      `Newton step ${step.iteration}: ${step.active.length} points shape the quadratic model; ${short(100 * step.length)} % of the full step is taken.`,
      `The primal objective is ${short(step.primal)}. The dotted line is the boundary before this step.`,
    ];
    case "sample": {
      const places = step.rows.map((/** @type {number} */ row) => row + 1);
      const looked = places.length === 1 ? `point ${places[0]}` : places.length <= 8 ? `points ${places.join(", ")}` : `${places.length} points`;
      const count = step.violating.length;
      return [
        `Step ${number} looks at ${looked}, in a shuffled order. ` + (count === 0 ? "There is no slack, so nothing is added and w shrinks." : `Slack at ${count === 1 ? "one point" : `${count} points`}: y·x is added to w.`),
        `The step length is ${short(step.rate)}: it shrinks with each step, so that w comes to rest. The dotted line is the boundary before this step.`,
      ];
    }
    default: return [`Step ${number}.`];
  }
}

/** Mistakes against the most that there can be. @param {number} mistakes @param {Result} result */
function bounded(mistakes, result) {
  const { mistakes: most, model } = result;
  if (most) {
    return `${mistakes} of at most ${short(most.most)} mistakes: (R/margin)² with R = ${short(most.radius)}, the length of the longest (x, 1), and the widest margin ${short(most.margin)}.`;
  }
  return model.converged ? "" : "There is no bound on the mistakes: the perceptron has not come to rest, as if nothing separated these classes.";
}

/**
 * The square of two α: the box, the line on which the pair may move, L and H, the place that was wanted and the one that was taken.
 * Of a coordinate its interval, of a mistake how it turns w.
 * @param {CanvasRenderingContext2D} context @param {Step} step @param {{result: Result, number: number}} more @param {Palette} palette
 * @param {number} width @param {number} height
 */
export function square(context, step, more, palette, width, height) {
  context.clearRect(0, 0, width, height);
  context.font = "12px Playground, system-ui, sans-serif";
  context.textBaseline = "middle";
  if (step.step === "coordinate") return interval(context, step, palette, width, height);
  if (step.step === "mistake") return turn(context, step, more, palette, width, height);
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
    context.strokeStyle = palette.blue;
    context.lineWidth = 3;
    context.stroke();
    dotAt(step.before[0], step.before[1], palette.soft, true);
    dotAt(step.after[0], step.after[1], palette.orange, true);
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
  line(step.low, high, 4, palette.blue, []);
  const wanted = step.wanted ?? high + reach;
  const shown = Math.min(high + reach, Math.max(step.low - reach, wanted));
  if (Math.abs(shown - step.taken) > 1e-12) line(step.taken, shown, 1.6, palette.accent, [3, 3]);
  const dot = (/** @type {number} */ aj, /** @type {string} */ colour, /** @type {boolean} */ filled) => dotAt(first(aj), aj, colour, filled);
  dot(shown, palette.accent, false);
  dot(step.before[1], palette.soft, true);
  dot(step.taken, palette.orange, true);
  context.restore();
  context.fillStyle = palette.ink;
  context.font = "600 12px Playground, system-ui, sans-serif";
  for (const [name, aj] of /** @type {[string, number][]} */ ([["L", step.low], ["H", high]])) {
    context.fillText(name, Math.min(width - 12, px(first(aj)) + 9), py(aj) + (name === "L" ? 10 : -8));
  }
}

/**
 * How a mistake turns w: w before, y·x at its end, and w after, from one origin.
 * @param {CanvasRenderingContext2D} context @param {Step} step @param {{result: Result, number: number}} more @param {Palette} palette
 * @param {number} width @param {number} height
 */
function turn(context, step, { result, number }, palette, width, height) {
  const before = weightsOf(after(result.steps?.list ?? [], number - 1, result.count).frame, result);
  const added = [step.sign * result.xy[2 * step.row], step.sign * result.xy[2 * step.row + 1]];
  const ends = [[0, 0], before, [before[0] + added[0], before[1] + added[1]]];
  const side = (/** @type {number} */ k) => [Math.min(...ends.map((end) => end[k])), Math.max(...ends.map((end) => end[k]))];
  const [[x0, x1], [y0, y1]] = [side(0), side(1)];
  const scale = Math.min((width - 120) / (x1 - x0 || 1), (height - 56) / (y1 - y0 || 1));
  const at = (/** @type {number[]} */ [x, y]) => [width / 2 + scale * (x - (x0 + x1) / 2), height / 2 - scale * (y - (y0 + y1) / 2)];
  const middle = at([0, 1].map((k) => (ends[0][k] + ends[1][k] + ends[2][k]) / 3));
  const arrow = (/** @type {number[]} */ from, /** @type {number[]} */ to, /** @type {string} */ colour, /** @type {string} */ name) => {
    const [[ax, ay], [bx, by]] = [at(from), at(to)];
    const angle = Math.atan2(by - ay, bx - ax);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2.4;
    context.beginPath();
    context.moveTo(ax, ay);
    context.lineTo(bx, by);
    for (const turn of [2.6, -2.6]) {
      context.moveTo(bx, by);
      context.lineTo(bx + 9 * Math.cos(angle + turn), by + 9 * Math.sin(angle + turn));
    }
    context.stroke();
    // The name stands on the side that looks away from the middle of the triangle.
    const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
    const outer = Math.sin(angle) * (middle[0] - mx) - Math.cos(angle) * (middle[1] - my) > 0 ? -1 : 1;
    const [nx, ny] = [outer * Math.sin(angle), -outer * Math.cos(angle)];
    const wide = context.measureText(name).width;
    context.fillText(name, Math.max(2, Math.min(width - wide - 2, mx + 10 * nx - (nx < 0 ? wide : 0))), my + 12 * ny);
  };
  if (before.some((value) => value !== 0)) arrow(ends[0], ends[1], palette.soft, "w before");
  arrow(ends[1], ends[2], palette.accent, "y·x");
  if (before.some((value) => value !== 0)) arrow(ends[0], ends[2], palette.orange, "w after");
}

/** @param {CanvasRenderingContext2D} context @param {Step} step @param {Palette} palette @param {number} width @param {number} height */
function interval(context, step, palette, width, height) {
  const high = step.high ?? 1.3 * Math.max(step.before, step.taken, step.wanted, 1e-9);
  const at = (/** @type {number} */ a) => 60 + ((a - step.low) / (high - step.low)) * (width - 120);
  const y = height / 2;
  context.lineWidth = 4;
  context.strokeStyle = palette.blue;
  context.beginPath();
  context.moveTo(at(step.low), y);
  context.lineTo(at(high), y);
  context.stroke();
  const places = /** @type {[number, string, string][]} */ ([
    [Math.min(high + 0.25 * (high - step.low), Math.max(step.low - 0.25 * (high - step.low), step.wanted)), palette.accent, "wanted"],
    [step.before, palette.soft, "before"], [step.taken, palette.orange, "after"]]);
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
