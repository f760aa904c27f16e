// Sheets of a narrow screen: the plane stays on top, and one part of the page at a time lies below it, at most half as high as the screen.

/** Opens the sheet of a button, or closes it. @param {() => void} redraw called when another sheet is seen */
export function listenToSheets(redraw) {
  const buttons = /** @type {HTMLElement[]} */ (Array.from(document.querySelectorAll("#sheets button")));
  const open = (/** @type {string|undefined} */ name) => {
    if (name) document.body.dataset.sheet = name;
    else delete document.body.dataset.sheet;
    for (const button of buttons) button.setAttribute("aria-expanded", String(button.dataset.sheet === name));
    redraw();
  };
  for (const button of buttons) {
    button.addEventListener("click", () => open(document.body.dataset.sheet === button.dataset.sheet ? undefined : button.dataset.sheet));
  }
  document.addEventListener("keydown", (event) => {
    const name = document.body.dataset.sheet;
    const isInside = /** @type {HTMLElement} */ (event.target).closest("#sheets, .rail, aside, .time") !== null;
    if (event.key !== "Escape" || !name || !isInside) return;
    open(undefined);
    buttons.find((button) => button.dataset.sheet === name)?.focus();
  });
}

/** Hides the buttons of parts that a teacher has hidden. @param {string[]} hide */
export function showSheets(hide) {
  const why = ["why", "alpha", "numbers", "lift"].every((name) => hide.includes(name));
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#sheets button"))) {
    const name = button.dataset.sheet ?? "";
    button.hidden = name === "why" ? why : hide.includes(name);
  }
}
