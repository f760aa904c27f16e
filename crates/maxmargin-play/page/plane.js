// The plane: regions, lines, points and what is shown at them. `draw` is pure: the same state and result make the same pixels.

import { marker } from "./palette.js";

/**
 * @typedef {import("./engine.js").Result} Result
 * @typedef {import("./engine.js").Line} Line
 * @typedef {import("./state.js").State} State
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{hover: number|null, selected: number|null, crosshair: [number, number]|null, ringed: number[], stale: boolean,
 *   ghost: Line[]|null, linear: boolean, brush: [number, number, number]|null, compact: boolean}} Marks
 * @typedef {{width: number, height: number, x: [number, number], y: [number, number]}} Frame
 */

/** The place of the data in the canvas, and back. @param {Frame} frame */
export function scales({ width, height, x, y }) {
  return {
    /** @param {number} value */ x: (value) => ((value - x[0]) / (x[1] - x[0])) * width,
    /** @param {number} value */ y: (value) => height - ((value - y[0]) / (y[1] - y[0])) * height,
    /** @param {number} px @param {number} py @returns {[number, number]} */
    data: (px, py) => [x[0] + (px / width) * (x[1] - x[0]), y[0] + ((height - py) / height) * (y[1] - y[0])],
  };
}

/**
 * @param {CanvasRenderingContext2D} context @param {State} state @param {Result} result @param {Marks} marks @param {Palette} palette
 * @param {Frame} frame
 */
export function draw(context, state, result, marks, palette, frame) {
  const { width, height } = frame;
  context.save();
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, width, height);
  if (state.show.regions) regions(context, result, palette, frame);
  grid(context, palette, frame);
  if (state.show.hulls && result.hulls) hulls(context, result, palette, frame);
  if (marks.ghost) lines(context, marks.ghost, palette, frame, { dash: [2, 5], width: 2, colour: palette.soft, levels: [0] });
  if (result.grid) {
    const colour = marks.stale ? palette.soft : palette.ink;
    if (state.show.margins) lines(context, result.grid.lines, palette, frame, { dash: [7, 5], width: 1.4, colour, levels: [1, -1] });
    lines(context, result.grid.lines, palette, frame, { dash: [], width: 2.4, colour, levels: [0] });
  }
  const weights = result.model.machines.length === 1 ? result.model.machines[0].weights : null;
  if (state.show.slack && marks.linear && weights && !marks.compact) slack(context, result, weights, palette, frame);
  if (state.show.margins && marks.linear && weights && !marks.stale) marginArrow(context, result, weights, palette, frame);
  points(context, state, result, marks, palette, frame);
  if (marks.crosshair) crosshair(context, marks.crosshair, result, palette, frame);
  if (marks.brush) {
    context.strokeStyle = palette.ink;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.arc(marks.brush[0], marks.brush[1], marks.brush[2], 0, 2 * Math.PI);
    context.stroke();
  }
  context.restore();
}

/** @type {HTMLCanvasElement|null} */
let sheet = null;

/** @param {CanvasRenderingContext2D} context @param {Result} result @param {Palette} palette @param {Frame} frame */
function regions(context, result, palette, frame) {
  if (!result.grid || result.regions.length === 0) return;
  const { columns, rows } = result.grid;
  const image = new ImageData(columns, rows);
  const labels = classOfModel(result);
  const hasValues = result.values.length > 0;
  const paper = [1, 3, 5].map((k) => parseInt(palette.paper.slice(k, k + 2), 16));
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const node = (rows - 1 - j) * columns + i;
      const tint = palette.tint[labels[result.regions[node]] ?? 0];
      const depth = hasValues ? 0.1 + 0.16 * Math.min(1, Math.abs(result.values[node])) : 0.2;
      const at = 4 * (j * columns + i);
      for (let k = 0; k < 3; k++) image.data[at + k] = Math.round(paper[k] + depth * (tint[k] - paper[k]));
      image.data[at + 3] = 255;
    }
  }
  sheet ??= document.createElement("canvas");
  sheet.width = columns;
  sheet.height = rows;
  sheet.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = hasValues;
  // Nodes lie on the border: the outer half of the outer pixels is beyond it.
  const [dx, dy] = [frame.width / (columns - 1), frame.height / (rows - 1)];
  context.drawImage(sheet, -dx / 2, -dy / 2, frame.width + dx, frame.height + dy);
}

/** For each class of the model the place of its label in the data; the rest of one against the rest has the first other. @param {Result} result */
export function classOfModel(result) {
  const places = result.model.labels.map((label) => result.labels.indexOf(label));
  return places.map((place) => (place >= 0 ? place : result.labels.findIndex((_, other) => !places.includes(other))));
}

/** +1 for points of the positive class. @param {Result} result @param {number} row */
export const signOf = (result, row) => (result.labels[result.classes[row]] === result.model.labels[1] ? 1 : -1);

/** @param {number} span @param {number} most */
export function step(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
}

/** @param {CanvasRenderingContext2D} context @param {Palette} palette @param {Frame} frame */
function grid(context, palette, frame) {
  const at = scales(frame);
  context.font = "11px Playground, system-ui, sans-serif";
  context.lineWidth = 1;
  const size = [step(frame.x[1] - frame.x[0], frame.width / 90), step(frame.y[1] - frame.y[0], frame.height / 70)];
  const label = (/** @type {number} */ value, /** @type {number} */ gap) => value.toFixed(Math.max(0, -Math.floor(Math.log10(gap) + 1e-9)));
  context.globalAlpha = 0.55;
  context.strokeStyle = palette.faint;
  context.fillStyle = palette.soft;
  for (let k = Math.ceil(frame.x[0] / size[0]); k * size[0] <= frame.x[1]; k++) {
    const x = Math.round(at.x(k * size[0])) + 0.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, frame.height);
    context.stroke();
  }
  for (let k = Math.ceil(frame.y[0] / size[1]); k * size[1] <= frame.y[1]; k++) {
    const y = Math.round(at.y(k * size[1])) + 0.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(frame.width, y);
    context.stroke();
  }
  context.globalAlpha = 1;
  for (let k = Math.ceil(frame.x[0] / size[0]); k * size[0] <= frame.x[1]; k++) {
    const x = at.x(k * size[0]);
    if (x > 28 && x < frame.width - 28) context.fillText(label(k * size[0], size[0]), x + 4, frame.height - 6);
  }
  for (let k = Math.ceil(frame.y[0] / size[1]); k * size[1] <= frame.y[1]; k++) {
    const y = at.y(k * size[1]);
    if (y > 16 && y < frame.height - 24) context.fillText(label(k * size[1], size[1]), 6, y - 4);
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Line[]} all @param {Palette} palette @param {Frame} frame
 * @param {{dash: number[], width: number, colour: string, levels: number[]}} style
 */
function lines(context, all, palette, frame, style) {
  const at = scales(frame);
  const path = new Path2D();
  for (const line of all) {
    if (!style.levels.includes(line.level)) continue;
    line.points.forEach(([x, y], k) => (k === 0 ? path.moveTo(at.x(x), at.y(y)) : path.lineTo(at.x(x), at.y(y))));
  }
  context.setLineDash(style.dash);
  context.lineJoin = "round";
  // A light edge keeps the line apart from the points below it.
  context.strokeStyle = palette.paper;
  context.globalAlpha = 0.6;
  context.lineWidth = style.width + 2;
  context.stroke(path);
  context.globalAlpha = 1;
  context.strokeStyle = style.colour;
  context.lineWidth = style.width;
  context.stroke(path);
  context.setLineDash([]);
}

/** Arrows from each point with slack to its own margin: of length ξ/‖w‖. @param {CanvasRenderingContext2D} context @param {Result} result @param {number[]} weights @param {Palette} palette @param {Frame} frame */
function slack(context, result, weights, palette, frame) {
  const at = scales(frame);
  const square = weights[0] ** 2 + weights[1] ** 2;
  context.strokeStyle = palette.accent;
  context.fillStyle = palette.accent;
  context.lineWidth = 2;
  for (let row = 0; row < result.count; row++) {
    const xi = result.slack[row];
    if (!(xi > 1e-6) || !(square > 0)) continue;
    const sign = signOf(result, row);
    const [x, y] = [result.xy[2 * row], result.xy[2 * row + 1]];
    const end = /** @type {[number, number]} */ ([x + (sign * xi * weights[0]) / square, y + (sign * xi * weights[1]) / square]);
    arrow(context, [at.x(x), at.y(y)], [at.x(end[0]), at.y(end[1])]);
  }
}

/** @param {CanvasRenderingContext2D} context @param {[number, number]} from @param {[number, number]} to */
function arrow(context, from, to) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
  context.beginPath();
  context.moveTo(...to);
  for (const turn of [2.7, -2.7]) context.lineTo(to[0] + 9 * Math.cos(angle + turn), to[1] + 9 * Math.sin(angle + turn));
  context.closePath();
  context.fill();
}

/** The width of the margin, from the boundary at the middle of the view. @param {CanvasRenderingContext2D} context @param {Result} result @param {number[]} weights @param {Palette} palette @param {Frame} frame */
function marginArrow(context, result, weights, palette, frame) {
  const machine = result.model.machines[0];
  const square = weights[0] ** 2 + weights[1] ** 2;
  if (!(square > 0) || machine.margin === null) return;
  const at = scales(frame);
  const [x, y] = [frame.x[0] * 0.5 + frame.x[1] * 0.5, frame.y[0] * 0.86 + frame.y[1] * 0.14];
  const f = weights[0] * x + weights[1] * y + machine.bias;
  const foot = [x - (f * weights[0]) / square, y - (f * weights[1]) / square];
  const end = [foot[0] + weights[0] / square, foot[1] + weights[1] / square];
  const [a, b] = [[at.x(foot[0]), at.y(foot[1])], [at.x(end[0]), at.y(end[1])]];
  const inside = [a, b].every(([px, py]) => px > 8 && px < frame.width - 8 && py > 8 && py < frame.height - 8);
  if (!inside || Math.hypot(a[0] - b[0], a[1] - b[1]) < 24) return;
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  context.lineWidth = 1.4;
  arrow(context, [a[0], a[1]], [b[0], b[1]]);
  arrow(context, [b[0], b[1]], [a[0], a[1]]);
  context.font = "600 12px Playground, system-ui, sans-serif";
  const words = `1/‖w‖ = ${machine.margin.toPrecision(3)}`;
  const [mx, my] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const wide = context.measureText(words).width;
  const left = Math.min(frame.width - wide - 12, mx + 10);
  context.globalAlpha = 0.85;
  context.fillStyle = palette.paper;
  context.fillRect(left - 4, my + 6, wide + 8, 18);
  context.globalAlpha = 1;
  context.fillStyle = palette.ink;
  context.fillText(words, left, my + 19);
}

/** @param {CanvasRenderingContext2D} context @param {Result} result @param {Palette} palette @param {Frame} frame */
function hulls(context, result, palette, frame) {
  const found = result.hulls;
  if (!found) return;
  const at = scales(frame);
  const labels = classOfModel(result);
  found.corners.forEach((corners, k) => {
    const colour = palette.classes[labels[1 - k] ?? k];
    context.beginPath();
    corners.forEach(([x, y], n) => (n === 0 ? context.moveTo(at.x(x), at.y(y)) : context.lineTo(at.x(x), at.y(y))));
    context.closePath();
    context.globalAlpha = 0.18;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.stroke();
  });
  const [p, q] = found.nearest.map(([x, y]) => /** @type {[number, number]} */ ([at.x(x), at.y(y)]));
  context.strokeStyle = palette.accent;
  context.fillStyle = palette.accent;
  context.lineWidth = 2.4;
  context.beginPath();
  context.moveTo(...p);
  context.lineTo(...q);
  context.stroke();
  for (const [x, y] of [p, q]) {
    context.beginPath();
    context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.fill();
  }
}

/** @param {CanvasRenderingContext2D} context @param {State} state @param {Result} result @param {Marks} marks @param {Palette} palette @param {Frame} frame */
function points(context, state, result, marks, palette, frame) {
  const at = scales(frame);
  const many = result.count > 400;
  const r = (many ? (result.count > 3000 ? 2.2 : 3.4) : 5.6) * (marks.compact ? 0.85 : 1);
  for (let row = 0; row < result.count; row++) {
    const [x, y] = [at.x(result.xy[2 * row]), at.y(result.xy[2 * row + 1])];
    const own = result.classes[row];
    context.beginPath();
    marker(context, own, x, y, r);
    context.fillStyle = palette.classes[own];
    context.fill();
    context.lineWidth = many ? 0.7 : 1.4;
    context.strokeStyle = palette.paper;
    context.stroke();
    if (result.wrong[row] && !many) {
      context.strokeStyle = palette.paper;
      context.lineWidth = 1.6;
      context.beginPath();
      for (const turn of [1, -1]) {
        context.moveTo(x - 2.2, y - 2.2 * turn);
        context.lineTo(x + 2.2, y + 2.2 * turn);
      }
      context.stroke();
    }
    if (state.show.rings) ring(context, result.kind[row], x, y, r, palette, many);
  }
  const halo = (/** @type {number} */ row, /** @type {number} */ size, /** @type {string} */ colour, /** @type {number} */ wide) => {
    if (row < 0 || row >= result.count) return;
    context.beginPath();
    context.arc(at.x(result.xy[2 * row]), at.y(result.xy[2 * row + 1]), size, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.stroke();
  };
  if (marks.ringed.length > 0) {
    if (marks.ringed.length === 2) {
      const [a, b] = marks.ringed;
      context.strokeStyle = palette.accent;
      context.lineWidth = 2;
      context.setLineDash([4, 4]);
      context.beginPath();
      context.moveTo(at.x(result.xy[2 * a]), at.y(result.xy[2 * a + 1]));
      context.lineTo(at.x(result.xy[2 * b]), at.y(result.xy[2 * b + 1]));
      context.stroke();
      context.setLineDash([]);
    }
    for (const row of marks.ringed) halo(row, r + 9, palette.accent, 3);
  }
  if (marks.hover !== null) halo(marks.hover, r + 6, palette.ink, 1.2);
  if (marks.selected !== null) halo(marks.selected, r + 6, palette.ink, 2.6);
}

/** A plain ring on the margin, a broken one inside of it, a double one for the misclassified. @param {CanvasRenderingContext2D} context @param {number} kind @param {number} x @param {number} y @param {number} r @param {Palette} palette @param {boolean} many */
export function ring(context, kind, x, y, r, palette, many) {
  if (kind === 0) return;
  context.strokeStyle = palette.ink;
  context.lineWidth = many ? 0.9 : 1.5;
  const circle = (/** @type {number} */ size) => {
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.stroke();
  };
  const gap = many ? 2 : 3.4;
  context.setLineDash(kind === 2 ? [3, 2.6] : []);
  circle(r + gap);
  if (kind === 3) circle(r + 2 * gap - 0.4);
  context.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} context @param {[number, number]} place @param {Result} result @param {Palette} palette @param {Frame} frame */
function crosshair(context, place, result, palette, frame) {
  const at = scales(frame);
  const [x, y] = [at.x(place[0]), at.y(place[1])];
  context.strokeStyle = palette.soft;
  context.globalAlpha = 0.7;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, frame.height);
  context.moveTo(0, y);
  context.lineTo(frame.width, y);
  context.stroke();
  context.globalAlpha = 1;
}

/** f at a place, from the nearest nodes of the grid. @param {Result} result @param {[number, number]} place */
export function valueAt(result, [x, y]) {
  if (!result.grid || result.values.length === 0) return null;
  const { columns, rows } = result.grid;
  const u = ((x - result.view.x[0]) / (result.view.x[1] - result.view.x[0])) * (columns - 1);
  const v = ((y - result.view.y[0]) / (result.view.y[1] - result.view.y[0])) * (rows - 1);
  if (!(u >= 0 && v >= 0 && u <= columns - 1 && v <= rows - 1)) return null;
  const [i, j] = [Math.min(columns - 2, Math.floor(u)), Math.min(rows - 2, Math.floor(v))];
  const f = (/** @type {number} */ di, /** @type {number} */ dj) => result.values[(j + dj) * columns + i + di];
  const [a, b] = [u - i, v - j];
  return (1 - a) * (1 - b) * f(0, 0) + a * (1 - b) * f(1, 0) + (1 - a) * b * f(0, 1) + a * b * f(1, 1);
}
