// The space that a kernel lifts the plane into, in three dimensions, with the plane that separates there what a curve separates here.

import { el, fitted } from "./dom.js";
import { marker } from "./palette.js";
import { classOfModel, valueAt } from "./plane.js";

/**
 * @typedef {import("./engine.js").Result} Result
 * @typedef {import("./state.js").State} State
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {[number, number, number]} Vector
 */

const view = { turn: -0.6, tilt: 0.5 };
const ROOT = Math.SQRT2;

/**
 * What is drawn: a map of the plane into space, and the separating plane as a height over two coordinates, or as n·z + d = 0.
 * @param {State} state @param {Result} result
 * @returns {{title: string, words: string, axes: string[], lift: (x: number, y: number) => Vector, plane: {n: Vector, d: number}, surface: boolean}|null}
 */
function scene(state, result) {
  const conic = result.conic;
  if (conic && state.kernel === "poly" && state.coef0 === 0 && state.bias !== "folded") {
    const [a, b, c, , , g] = conic.coefficients;
    return {
      title: "x → (x₁², √2 x₁x₂, x₂²)", axes: ["x₁²", "√2 x₁x₂", "x₂²"], surface: true,
      words: `In this space the classes are separated by a plane. Seen from the (x₁, x₂) plane it is this ${conic.kind.replace("-", " ")}.`,
      lift: (x, y) => [x * x, ROOT * x * y, y * y], plane: { n: [a, b / ROOT, c], d: g },
    };
  }
  if (conic) {
    const [a, b, c, d, e, g] = conic.coefficients;
    const size = Math.max(Math.abs(a), Math.abs(b), Math.abs(c)) || 1;
    return {
      title: "x → (x₁, x₂, q(x)),  q the quadratic part of f", axes: ["x₁", "x₂", "q"], surface: true,
      words: `The points lie on the surface z = q(x), and a plane cuts it. Seen from above, the cut is this ${conic.kind.replace("-", " ")}` +
        (conic.centre ? `, with its centre at (${conic.centre.map((v) => v.toFixed(3)).join(", ")})` : "") +
        (conic.semi_axes ? ` and semi-axes ${conic.semi_axes.map((v) => v.toFixed(3)).join(" and ")}.` : "."),
      lift: (x, y) => [x, y, (a * x * x + b * x * y + c * y * y) / size], plane: { n: [d / size, e / size, 1], d: g / size },
    };
  }
  if (result.values.length === 0) return null;
  return {
    title: "x → (x₁, x₂, f(x))", axes: ["x₁", "x₂", "f"], surface: true,
    words: "The height is the decision value, cut at ±3. The boundary is where the surface meets the plane f = 0.",
    lift: (x, y) => [x, y, Math.max(-3, Math.min(3, valueAt(result, [x, y]) ?? 0))], plane: { n: [0, 0, 1], d: 0 },
  };
}

/** @param {HTMLElement} panel @param {State} state @param {Result} result @param {Palette} palette */
export function showLift(panel, state, result, palette) {
  const found = scene(state, result);
  if (!found) {
    panel.replaceChildren(el("p", {}, "The lift is drawn for two classes: choose a set of two, or a positive class."));
    return;
  }
  let canvas = /** @type {HTMLCanvasElement|null} */ (panel.querySelector("#lift"));
  if (!canvas) {
    canvas = el("canvas", { id: "lift", tabindex: 0, role: "img" });
    canvas.style.height = "340px";
    canvas.style.touchAction = "none";
    panel.replaceChildren(el("h3", {}, ""), canvas, el("p", {}, ""), el("p", { class: "hint" }, "Drag or use the arrow keys to turn it; 0 looks from above."));
    let last = /** @type {[number, number]|null} */ (null);
    const own = canvas;
    own.addEventListener("pointerdown", (event) => {
      own.setPointerCapture(event.pointerId);
      last = [event.clientX, event.clientY];
    });
    own.addEventListener("pointermove", (event) => {
      if (!last) return;
      view.turn += (event.clientX - last[0]) * 0.01;
      view.tilt = Math.max(0, Math.min(Math.PI / 2, view.tilt + (event.clientY - last[1]) * 0.01));
      last = [event.clientX, event.clientY];
      own.dispatchEvent(new Event("turn"));
    });
    own.addEventListener("pointerup", () => (last = null));
    own.addEventListener("keydown", (event) => {
      const turns = /** @type {{[key: string]: () => void}} */ ({
        ArrowLeft: () => (view.turn -= 0.1), ArrowRight: () => (view.turn += 0.1), ArrowUp: () => (view.tilt = Math.min(Math.PI / 2, view.tilt + 0.1)),
        ArrowDown: () => (view.tilt = Math.max(0, view.tilt - 0.1)), 0: () => ([view.turn, view.tilt] = [0, Math.PI / 2]),
      });
      if (!turns[event.key]) return;
      event.preventDefault();
      turns[event.key]();
      own.dispatchEvent(new Event("turn"));
    });
  }
  const own = canvas;
  own.setAttribute("aria-label", `${found.title}. ${found.words}`);
  const title = panel.querySelector("h3");
  if (title) title.textContent = found.title;
  const words = panel.querySelector("p");
  if (words) words.textContent = found.words;
  const paint = () => draw(own, found, result, palette);
  const holder = /** @type {any} */ (own);
  if (holder.paint) own.removeEventListener("turn", holder.paint);
  holder.paint = paint;
  own.addEventListener("turn", paint);
  paint();
}

/** @param {HTMLCanvasElement} canvas @param {NonNullable<ReturnType<typeof scene>>} found @param {Result} result @param {Palette} palette */
function draw(canvas, found, result, palette) {
  const { context, width, height } = fitted(canvas);
  context.clearRect(0, 0, width, height);
  const { x, y } = result.view;
  const side = 24;
  /** @type {Vector[][]} */
  const net = [];
  for (let j = 0; j <= side; j++) {
    net.push([]);
    for (let i = 0; i <= side; i++) net[j].push(found.lift(x[0] + (i / side) * (x[1] - x[0]), y[0] + (j / side) * (y[1] - y[0])));
  }
  const dots = Array.from({ length: result.count }, (_, row) => found.lift(result.xy[2 * row], result.xy[2 * row + 1]));
  const isSquare = found.axes[0] !== "x₁";
  const all = isSquare ? dots : [...dots, ...net.flat()];
  const low = [0, 1, 2].map((k) => Math.min(...all.map((v) => v[k])));
  const high = [0, 1, 2].map((k) => Math.max(...all.map((v) => v[k])));
  const unit = (/** @type {Vector} */ v) => v.map((value, k) => (2 * (value - low[k])) / (high[k] - low[k] || 1) - 1);
  const size = 0.29 * Math.min(width, height);
  const [sin, cos, up, flat] = [Math.sin(view.turn), Math.cos(view.turn), Math.sin(view.tilt), Math.cos(view.tilt)];
  const at = (/** @type {Vector} */ v) => {
    const [a, b, c] = unit(v);
    const [u, w] = [cos * a - sin * b, sin * a + cos * b];
    return { x: width / 2 + size * u, y: height / 2 - size * (w * up + c * flat * 0.9), depth: w * flat - c * up };
  };
  const path = (/** @type {Vector[]} */ corners) => {
    context.beginPath();
    corners.forEach((corner, k) => {
      const place = at(corner);
      if (k === 0) context.moveTo(place.x, place.y);
      else context.lineTo(place.x, place.y);
    });
  };
  // The frame of the box.
  context.strokeStyle = palette.faint;
  context.lineWidth = 1;
  const corner = (/** @type {number} */ k) => /** @type {Vector} */ ([k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]]);
  for (let k = 0; k < 8; k++) for (const bit of [1, 2, 4]) if (!(k & bit)) { path([corner(k), corner(k | bit)]); context.stroke(); }
  // The surface on which all points lie.
  if (!isSquare) {
    context.strokeStyle = palette.soft;
    context.globalAlpha = 0.35;
    for (let k = 0; k <= side; k++) {
      path(net[k]);
      context.stroke();
      path(net.map((row) => row[k]));
      context.stroke();
    }
    context.globalAlpha = 1;
  }
  // The separating plane, cut to the box.
  const polygon = cut(found.plane.n, found.plane.d, low, high);
  if (polygon.length > 2) {
    path(polygon);
    context.closePath();
    context.globalAlpha = 0.22;
    context.fillStyle = palette.accent;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.6;
    context.stroke();
  }
  // The boundary, lifted.
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  const inBox = (/** @type {Vector} */ v) => v.every((value, k) => value >= low[k] - 1e-9 && value <= high[k] + 1e-9);
  for (const line of result.grid?.lines ?? []) {
    if (line.level !== 0) continue;
    let piece = /** @type {Vector[]} */ ([]);
    for (const corner of [...line.points.map(([px, py]) => found.lift(px, py)), null]) {
      if (corner && inBox(corner)) piece.push(corner);
      else if (piece.length > 0) {
        path(piece);
        context.stroke();
        piece = [];
      }
    }
  }
  const order = dots.map((v, row) => ({ row, ...at(v) })).sort((a, b) => b.depth - a.depth);
  for (const dot of order) {
    context.beginPath();
    marker(context, result.classes[dot.row], dot.x, dot.y, result.count > 300 ? 3 : 5);
    context.fillStyle = palette.classes[result.classes[dot.row]];
    context.fill();
    context.strokeStyle = palette.paper;
    context.lineWidth = 1;
    context.stroke();
  }
  context.fillStyle = palette.soft;
  context.font = "12px Playground, system-ui, sans-serif";
  // Each axis has its name at the middle of an edge of the box.
  found.axes.forEach((name, k) => {
    const [a, b] = [at(corner(0)), at(corner([1, 2, 4][k]))];
    context.fillText(name, (a.x + b.x) / 2 - 14, (a.y + b.y) / 2 + (k === 2 ? 4 : 14));
  });
}

/** The polygon in which a plane n·z + d = 0 cuts a box. @param {Vector} n @param {number} d @param {number[]} low @param {number[]} high @returns {Vector[]} */
export function cut(n, d, low, high) {
  const corner = (/** @type {number} */ k) => [0, 1, 2].map((axis) => (k & (1 << axis) ? high[axis] : low[axis]));
  const value = (/** @type {number[]} */ v) => v[0] * n[0] + v[1] * n[1] + v[2] * n[2] + d;
  const found = /** @type {Vector[]} */ ([]);
  for (let k = 0; k < 8; k++) {
    for (const bit of [1, 2, 4]) {
      if (k & bit) continue;
      const [a, b] = [corner(k), corner(k | bit)];
      const [fa, fb] = [value(a), value(b)];
      if (fa === fb || fa > 0 === fb > 0) continue;
      const t = fa / (fa - fb);
      found.push(/** @type {Vector} */ (a.map((v, axis) => v + t * (b[axis] - v))));
    }
  }
  if (found.length < 3) return [];
  // Around their middle, in the unit box, so that the polygon does not cross itself.
  const scaled = found.map((v) => v.map((value, k) => (value - low[k]) / (high[k] - low[k] || 1)));
  const middle = [0, 1, 2].map((k) => scaled.reduce((sum, v) => sum + v[k], 0) / scaled.length);
  const normal = n.map((value, k) => value * (high[k] - low[k] || 1));
  const e1 = scaled[0].map((value, k) => value - middle[k]);
  const e2 = [normal[1] * e1[2] - normal[2] * e1[1], normal[2] * e1[0] - normal[0] * e1[2], normal[0] * e1[1] - normal[1] * e1[0]];
  const length = Math.hypot(...e2) || 1;
  const base = Math.hypot(...e1) || 1;
  const angle = (/** @type {number[]} */ v) => {
    const r = v.map((value, k) => value - middle[k]);
    const dot = (/** @type {number[]} */ w) => r[0] * w[0] + r[1] * w[1] + r[2] * w[2];
    return Math.atan2(dot(e2) / length, dot(e1) / base);
  };
  return found.map((v, k) => ({ v, a: angle(scaled[k]) })).sort((p, q) => p.a - q.a).map(({ v }) => v);
}

export { classOfModel };
