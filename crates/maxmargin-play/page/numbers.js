// The worked examples: every number of the books beside the one that this program computes now.

import { el } from "./dom.js";
import { Gone, post } from "./engine.js";

/**
 * @typedef {{what: string, solver: string|null, claim: string, expected?: number, limit?: number, obtained: number|number[], holds: boolean}} Check
 * @typedef {{id: string, title: string, shows: string, checks: Check[]}} Example
 */

/** @type {Map<string, Promise<Example>>} */
const asked = new Map();

/** @param {string} id @returns {Promise<Example>} */
export function example(id) {
  let found = asked.get(id);
  if (!found) {
    found = post("/worked", { id }).then((response) => response.json());
    found.catch(() => asked.delete(id));
    asked.set(id, found);
  }
  return found;
}

/** @param {number} value */
const number = (value) => (Number.isInteger(value) ? String(value) : Math.abs(value) < 1e-3 ? value.toExponential(3) : value.toFixed(6));

/** @param {Check} check */
function expected(check) {
  if (check.claim === "equal") return number(check.expected ?? NaN);
  if (check.claim === "at-most") return `≤ ${number(check.limit ?? NaN)}`;
  if (check.claim === "at-least") return `≥ ${number(check.limit ?? NaN)}`;
  return "falling";
}

/**
 * @param {HTMLElement} panel @param {import("./state.js").State} state @param {boolean} untouched @param {(name: string) => void} open
 */
export async function showNumbers(panel, state, untouched, open) {
  const ids = Array.from({ length: 10 }, (_, k) => `E${k + 1}`);
  const current = state.data.kind === "named" && /^e\d+$/.test(state.data.name) ? state.data.name.toUpperCase() : null;
  const chips = el("div", { class: "chips", role: "group", "aria-label": "Worked examples" });
  for (const id of ids) chips.append(el("button", { click: () => open(id.toLowerCase()), "aria-pressed": String(id === current) }, id));
  const body = el("div");
  panel.replaceChildren(chips, body);
  if (!current) {
    body.append(el("p", {}, "Open an example: its numbers in the books stand beside those that this program computes."));
    return;
  }
  body.append(el("p", { class: "hint" }, "computing with every solver…"));
  let found;
  try {
    found = await example(current);
  } catch (error) {
    body.replaceChildren(el("p", { class: "bad" }, error instanceof Gone ? "The program has ended." : String(/** @type {Error} */ (error).message)));
    return;
  }
  if (!panel.contains(body)) return;
  const holds = found.checks.filter((check) => check.holds).length;
  const table = el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "number"), el("th", { class: "number" }, "book"), el("th", { class: "number" }, "computed"), el("th", {}, "match"))));
  const rows = el("tbody");
  let solver = /** @type {string|null|undefined} */ (undefined);
  for (const check of found.checks) {
    if (check.solver !== solver) {
      solver = check.solver;
      rows.append(el("tr", {}, el("th", { colspan: 4, scope: "rowgroup" }, solver ?? "without a solver")));
    }
    const obtained = Array.isArray(check.obtained) ? check.obtained.map(number).join(", ") : number(check.obtained);
    rows.append(el("tr", {}, el("td", {}, check.what), el("td", { class: untouched ? "number" : "number stale-number" }, expected(check)),
      el("td", { class: "number" }, obtained), el("td", { class: check.holds ? "good" : "bad" }, check.holds ? "✓" : "✗")));
  }
  table.append(rows);
  body.replaceChildren(el("h3", {}, `${found.id}  ${found.title}`), el("p", {}, found.shows),
    el("p", { id: "ticks", class: holds === found.checks.length ? "good" : "bad" }, `${holds} of ${found.checks.length} numbers match`),
    ...(untouched ? [] : [el("p", { class: "hint" }, "You have changed the example: its numbers are of the original.")]), table);
}
