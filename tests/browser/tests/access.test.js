// For everybody: keyboard, small screens, screen readers; and the server that goes away and comes back.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { clean, open, painted, serve, settled, stepped } from "../open.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let server;
let browser;
before(async () => {
  server = await serve();
  browser = await open();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const { dark, size } of [{ dark: false }, { dark: true }, { dark: false, size: { width: 390, height: 844 } }]) {
  test(`axe finds nothing wrong, ${dark ? "dark" : "light"}${size ? ", on a phone" : ""}`, async () => {
    const context = browser.context;
    const page = await browser.page(`${server.base}#v=1&d=e2`, { dark, size });
    await stepped(page);
    // The page's policy lets no foreign script in, so axe comes in by the browser's own door.
    const session = await context.newCDPSession(page);
    await session.send("Page.setBypassCSP", { enabled: true });
    await page.reload();
    await settled(page);
    await page.addScriptTag({ path: AXE });
    if (size) await page.locator("#sheets [data-sheet=why]").click();
    for (const tab of ["why", "alpha", "numbers", "lift"]) {
      await page.locator(`#tab-${tab}`).click();
      await painted(page);
      const violations = await page.evaluate(async () => (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 90)).join(" | ")}`));
      assert.deepEqual(violations, [], tab);
    }
    await page.close();
  });
}

test("the whole tour goes by keyboard alone", async () => {
  const page = await browser.page(server.url);
  for (let k = 0; k < 60 && !(await page.evaluate(() => document.activeElement?.tagName === "CANVAS")); k++) await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "CANVAS");
  const before = await page.evaluate(() => window.playground.result.count);
  for (const key of ["2", "Shift+ArrowLeft", "Shift+ArrowLeft", "ArrowUp", "Enter"]) await page.keyboard.press(key);
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), before + 1);
  assert.equal(await page.evaluate(() => window.playground.state.data.classes.at(-1)), 1);
  for (const key of ["p", "Delete"]) await page.keyboard.press(key);
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), before);
  await page.keyboard.press("+");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.c), 10);
  await stepped(page);
  await page.keyboard.press(",");
  await page.waitForFunction(() => window.playground.state.step !== null);
  await page.keyboard.press("End");
  await page.waitForFunction(() => window.playground.state.step === null);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#dialog").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#dialog").isVisible()));
  clean(page);
  await page.close();
});

test("a phone's width needs no scrolling to the side, and the plane is on top", async () => {
  for (const hash of ["v=1&d=e2", "v=1&d=e9", "v=1&d=iris&tab=alpha", "v=1&d=e3&tab=numbers"]) {
    const page = await browser.page(`${server.base}#${hash}`, { size: { width: 390, height: 844 } });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, hash);
    const box = await page.locator("#plane-a").boundingBox();
    assert.ok(box.y < 240, `${hash}: the plane begins at ${box.y}`);
    clean(page);
    await page.close();
  }
});

test("on a phone each part is a sheet of at most half the height, and the plane stays above it", async () => {
  const height = 844;
  const page = await browser.page(`${server.base}#v=1&d=e2&s=12`, { size: { width: 390, height } });
  await stepped(page);
  const sheets = { data: ".part-data", model: ".part-model", show: ".part-show", time: ".time", why: "aside" };
  for (const part of Object.values(sheets)) assert.equal(await page.locator(part).isVisible(), false, part);
  for (const [name, part] of Object.entries(sheets)) {
    const button = page.locator(`#sheets [data-sheet=${name}]`);
    await button.click();
    await painted(page);
    assert.equal(await button.getAttribute("aria-expanded"), "true", name);
    const shown = await Promise.all(Object.values(sheets).map((other) => page.locator(other).isVisible()));
    assert.deepEqual(shown, Object.keys(sheets).map((other) => other === name), name);
    const [sheet, plane, bar] = await Promise.all([part, "#plane-a", "#sheets"].map((one) => page.locator(one).boundingBox()));
    assert.ok(bar.y + bar.height - sheet.y <= height / 2 + 1, `${name} is ${bar.y + bar.height - sheet.y} high`);
    assert.ok(plane.y + plane.height <= sheet.y, `${name} covers the plane`);
  }
  // What is changed in a sheet is seen above it.
  await page.locator("#sheets [data-sheet=model]").click();
  await page.locator("#C").fill("-1");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.c), 0.1);
  await page.locator("#C").press("Escape");
  assert.equal(await page.locator(".part-model").isVisible(), false);
  clean(page);
  await page.close();
});

test("those who cannot see it hear a sentence that is true", async () => {
  const page = await browser.page(server.url);
  const words = await page.locator("#summary").textContent();
  const errors = await page.evaluate(() => window.playground.result.model.training_errors);
  assert.match(words, new RegExp(`18 points of 2 classes, 9 support vectors, ${errors} predicted wrongly`));
  await page.close();
});

test("when the server goes away the page says so, and goes on when it is back", async () => {
  const own = await serve();
  const port = new URL(own.base).port;
  const page = await browser.page(own.url);
  await own.stop();
  await page.locator("#C").fill("1");
  await page.waitForFunction(() => /has ended/.test(document.querySelector("#notice").textContent));
  const again = await serve("--listen", `127.0.0.1:${port}`);
  await page.waitForFunction(() => document.querySelector("#notice").hidden, undefined, { timeout: 10000 });
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.c), 10);
  await page.close();
  await again.stop();
});
