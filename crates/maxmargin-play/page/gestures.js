// What hands do on the plane: draw, drag, erase, look; by pointer and by keyboard.

import { scales } from "./plane.js";

/**
 * @typedef {import("./engine.js").Result} Result
 * @typedef {{
 *   erases: () => boolean, result: () => Result|null, add: (at: [number, number], brushes: boolean) => void, move: (row: number, at: [number, number]) => void, done: () => void,
 *   erase: (rows: Set<number>) => void, hover: (row: number|null, place: [number, number]|null) => void,
 *   select: (row: number|null) => void, brush: (circle: [number, number, number]|null) => void, key: (event: KeyboardEvent) => boolean
 * }} Hands
 */

const NEAR = 12;
const ERASER = 18;
/** Pixels between two points that the brush draws. */
const APART = 16;

/** The point nearest to a place on the canvas, if one is near. @param {HTMLCanvasElement} canvas @param {Result} result @param {number} px @param {number} py @param {number} [near] */
export function nearest(canvas, result, px, py, near = NEAR) {
  const at = scales({ width: canvas.clientWidth, height: canvas.clientHeight, ...result.view });
  let best = /** @type {number|null} */ (null);
  let least = near * near;
  for (let row = 0; row < result.count; row++) {
    const square = (at.x(result.xy[2 * row]) - px) ** 2 + (at.y(result.xy[2 * row + 1]) - py) ** 2;
    if (square <= least) [best, least] = [row, square];
  }
  return best;
}

/** @param {HTMLCanvasElement} canvas @param {Hands} hands */
export function listen(canvas, hands) {
  /** @type {{kind: 'new'|'brush'|'drag'|'erase', row: number, from: [number, number], moved: boolean}|null} */
  let hold = null;
  const place = (/** @type {PointerEvent|MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - box.left, event.clientY - box.top]);
  };
  const inData = (/** @type {[number, number]} */ [px, py]) => {
    const result = hands.result();
    return result ? scales({ width: canvas.clientWidth, height: canvas.clientHeight, ...result.view }).data(px, py) : null;
  };
  const under = (/** @type {[number, number]} */ [px, py]) => {
    const result = hands.result();
    /** @type {Set<number>} */
    const rows = new Set();
    if (!result) return rows;
    const at = scales({ width: canvas.clientWidth, height: canvas.clientHeight, ...result.view });
    for (let row = 0; row < result.count; row++) {
      if (Math.hypot(at.x(result.xy[2 * row]) - px, at.y(result.xy[2 * row + 1]) - py) <= ERASER) rows.add(row);
    }
    return rows;
  };
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    const result = hands.result();
    if (!result) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    if (event.button === 2 || event.altKey || hands.erases()) {
      hold = { kind: "erase", row: -1, from: at, moved: false };
      const rows = under(at);
      if (rows.size > 0) hands.erase(rows);
      hands.brush([...at, ERASER]);
      return;
    }
    if (event.shiftKey) {
      hold = { kind: "brush", row: -1, from: at, moved: true };
      const target = inData(at);
      if (target) hands.add(target, true);
      return;
    }
    const row = nearest(canvas, result, ...at, event.pointerType === "touch" ? 2 * NEAR : NEAR);
    hold = { kind: row === null ? "new" : "drag", row: row ?? -1, from: at, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const result = hands.result();
    if (!hold) {
      if (result) hands.hover(nearest(canvas, result, ...at), inData(at));
      return;
    }
    if (Math.hypot(at[0] - hold.from[0], at[1] - hold.from[1]) > 3) hold.moved = true;
    const target = inData(at);
    if (hold.kind === "brush" && target && Math.hypot(at[0] - hold.from[0], at[1] - hold.from[1]) >= APART) {
      hold.from = at;
      hands.add(target, true);
    }
    if (hold.kind === "erase") {
      const rows = under(at);
      if (rows.size > 0) hands.erase(rows);
      hands.brush([...at, ERASER]);
    } else if (hold.kind === "drag" && hold.moved && target) hands.move(hold.row, target);
  });
  const end = (/** @type {PointerEvent} */ event) => {
    if (!hold) return;
    const target = inData(place(event));
    if (hold.kind === "new" && event.type === "pointerup" && target) hands.add(target, false);
    if (hold.kind === "drag") {
      if (hold.moved && target) hands.move(hold.row, target);
      else hands.select(hold.row);
    }
    if (hold.kind === "erase") hands.brush(null);
    hands.done();
    hold = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => hold === null && hands.hover(null, null));
  canvas.addEventListener("keydown", (event) => {
    if (hands.key(event)) event.preventDefault();
  });
}
