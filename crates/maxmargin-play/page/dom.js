// The document: elements by id, and elements made of text. Text of the user goes through textContent only.

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return /** @type {T} */ (found);
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {{[name: string]: string|number|boolean|((event: any) => void)}} [props] @param {...(Node|string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** @param {HTMLSelectElement} select @param {[string, string][]} options @param {string} chosen */
export function options(select, options, chosen) {
  const known = Array.from(select.options, (option) => `${option.value}\n${option.textContent}`).join("\n");
  if (known !== options.map((option) => option.join("\n")).join("\n")) {
    select.replaceChildren(...options.map(([value, words]) => el("option", { value }, words)));
  }
  select.value = chosen;
}

/** A canvas as large as it is shown, in pixels of the screen. @param {HTMLCanvasElement} canvas */
export function fitted(canvas) {
  const scale = Math.min(3, window.devicePixelRatio || 1);
  const width = Math.max(1, canvas.clientWidth);
  const height = Math.max(1, canvas.clientHeight);
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { context, width, height };
}

/** Lets the user save bytes as a file. @param {BlobPart} bytes @param {string} name @param {string} type */
export function download(bytes, name, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
