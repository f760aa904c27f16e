// Colours after Okabe and Ito, which people of all colour vision tell apart, and a shape for each class, so that colour is never alone.

/** @typedef {{paper: string, ink: string, soft: string, faint: string, accent: string, blue: string, orange: string, classes: string[], tint: [number, number, number][]}} Palette */

/** In the order of the plotting crate, so that an exported picture has the colours of the screen. */
const LIGHT = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b8860b", "#56b4e9"];
const DARK = ["#f0894a", "#56b4e9", "#2cc295", "#e29ac0", "#e6c34f", "#9bd0f5"];

/** @param {boolean} isDark @returns {Palette} */
export function palette(isDark) {
  const classes = isDark ? DARK : LIGHT;
  const tint = classes.map((colour) => /** @type {[number, number, number]} */ ([1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16))));
  const [orange, blue] = classes;
  return isDark
    ? { paper: "#14171c", ink: "#e8eaed", soft: "#a2a9b4", faint: "#343a44", accent: "#e6c34f", blue, orange, classes, tint }
    : { paper: "#ffffff", ink: "#1b1f24", soft: "#5a6370", faint: "#dfe3e8", accent: "#8a5a00", blue, orange, classes, tint };
}

export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "hexagon"];

/**
 * The outline of a marker around (0, 0).
 * @param {CanvasRenderingContext2D|Path2D} path @param {number} shape @param {number} x @param {number} y @param {number} r
 */
export function marker(path, shape, x, y, r) {
  const polygon = (/** @type {number} */ corners, /** @type {number} */ turn, /** @type {number} */ size) => {
    for (let k = 0; k < corners; k++) {
      const angle = turn + (k / corners) * 2 * Math.PI;
      const at = /** @type {[number, number]} */ ([x + size * Math.cos(angle), y + size * Math.sin(angle)]);
      if (k === 0) path.moveTo(...at);
      else path.lineTo(...at);
    }
    path.closePath();
  };
  switch (SHAPES[shape]) {
    case "square": return polygon(4, Math.PI / 4, 1.25 * r);
    case "triangle": return polygon(3, -Math.PI / 2, 1.35 * r);
    case "diamond": return polygon(4, 0, 1.35 * r);
    case "hexagon": return polygon(6, 0, 1.1 * r);
    case "cross": {
      const [a, b] = [1.2 * r, 0.42 * r];
      const corners = [[-b, -a], [b, -a], [b, -b], [a, -b], [a, b], [b, b], [b, a], [-b, a], [-b, b], [-a, b], [-a, -b], [-b, -b]];
      corners.forEach(([dx, dy], k) => (k === 0 ? path.moveTo(x + dx, y + dy) : path.lineTo(x + dx, y + dy)));
      return path.closePath();
    }
    default:
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 2 * Math.PI);
  }
}
