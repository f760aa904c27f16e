// What leaves the page: pictures, tables, models, and programs that make the same model.

import { byId, download, el } from "./dom.js";
import { post, problem } from "./engine.js";

const KINDS = /** @type {[string, string, string][]} */ ([
  ["png", "Picture, PNG", "playground.png"], ["svg", "Picture, SVG", "playground.svg"], ["points", "Points, CSV", "points.csv"],
  ["table", "Points with α, ξ and f, CSV", "numbers.csv"], ["model", "Model file", "points.mm"],
  ["command", "Command line (copy)", ""], ["python", "Python program", "points.py"]]);

/** @param {() => import("./state.js").State} state @param {(words: string, help?: string) => void} say */
export function makeExports(state, say) {
  const button = byId("export");
  const menu = byId("exports");
  const toggle = (/** @type {boolean} */ open) => {
    menu.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) /** @type {HTMLElement|null} */ (menu.firstElementChild)?.focus();
  };
  button.addEventListener("click", () => toggle(menu.hidden));
  menu.addEventListener("keydown", (event) => {
    const items = Array.from(menu.children);
    const at = items.indexOf(/** @type {Element} */ (document.activeElement));
    if (event.key === "Escape") {
      toggle(false);
      button.focus();
    } else if (event.key === "ArrowDown") /** @type {HTMLElement} */ (items[(at + 1) % items.length]).focus();
    else if (event.key === "ArrowUp") /** @type {HTMLElement} */ (items[(at + items.length - 1) % items.length]).focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !menu.parentElement?.contains(/** @type {Node} */ (event.target))) toggle(false);
  });
  for (const [what, words, name] of KINDS) {
    menu.append(el("button", { role: "menuitem", "data-what": what, click: async () => {
      toggle(false);
      try {
        const response = await post("/export", { what, request: problem(state(), state().method) });
        if (what === "command") {
          await copied(await response.text(), say);
        } else download(await response.arrayBuffer(), name, response.headers.get("content-type") ?? "");
      } catch (error) {
        const failure = /** @type {Error & {help?: string}} */ (error);
        say(failure.message || "the program that serves this page has ended", failure.help);
      }
    } }, words));
  }
}

/** Copies words, or shows them where that is not allowed. @param {string} text @param {(words: string, help?: string) => void} say */
export async function copied(text, say) {
  try {
    await navigator.clipboard.writeText(text);
    say(`copied: ${text.trim().slice(0, 160)}`);
  } catch {
    say(text.trim(), "copy it from here");
  }
}
