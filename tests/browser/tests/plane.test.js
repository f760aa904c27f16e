// The plane: what is drawn is what the program computed, and hands change it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { at, brightness, clean, colour, open, painted, serve, settled, stepped } from "../open.js";

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

test("it begins with E2, fitted, small, and asks nobody else", async () => {
  const page = await browser.page(server.url);
  const found = await page.evaluate(() => ({ weights: window.playground.result.model.machines[0].weights, count: window.playground.result.count }));
  assert.equal(found.count, 18);
  assert.ok(Math.abs(found.weights[0] - 5 / 6) < 1e-4 && Math.abs(found.weights[1] - 1 / 3) < 1e-4, String(found.weights));
  const sizes = await page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => !/answer|worked/.test(entry.name)).map((entry) => entry.transferSize));
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 250e3, String(sizes));
  clean(page);
  await page.close();
});

test("the boundary is drawn within two pixels of f = 0, and each side has the colour of its class", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2&show=-rings`);
  const { weights: [w1, w2], bias } = await page.evaluate(() => window.playground.result.model.machines[0]);
  for (const y of [0.4, 1.1, 2.4, 3.6, 4.4]) {
    const x = (-bias - w2 * y) / w1;
    let darkest = 0;
    let least = 255;
    for (let dx = -9; dx <= 9; dx++) {
      const light = brightness(await colour(page, [x, y], [dx, 0]));
      if (light < least) [darkest, least] = [dx, light];
    }
    assert.ok(Math.abs(darkest) <= 2, `y = ${y}: the line is ${darkest} pixels off`);
    assert.ok(least < 110, `y = ${y}: no line, brightness ${least}`);
    const [left, right] = [await colour(page, [x - 0.35, y]), await colour(page, [x + 0.35, y])];
    assert.ok(left[0] > left[2], `orange at the left: ${left}`);
    assert.ok(right[2] > right[0], `blue at the right: ${right}`);
  }
  clean(page);
  await page.close();
});

test("rings are at exactly the rows that the model names", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2&show=-regions,-margins`);
  const rows = await page.evaluate(() => {
    const { result } = window.playground;
    return Array.from({ length: result.count }, (_, row) => ({ kind: result.kind[row], at: [result.xy[2 * row], result.xy[2 * row + 1]] }));
  });
  for (const { kind, at: place } of rows) {
    let ink = 0;
    for (let k = 0; k < 48; k++) {
      const turn = (k / 48) * 2 * Math.PI;
      if (brightness(await colour(page, place, [9 * Math.cos(turn), 9 * Math.sin(turn)])) < 150) ink++;
    }
    assert.equal(ink >= 12, kind !== 0, `${place}: kind ${kind}, ink at ${ink} of 48 places`);
  }
  await page.close();
});

test("a click draws, a drag moves, the right button erases, and undo brings all of it back", async () => {
  const page = await browser.page(server.url);
  const first = await page.evaluate(() => window.playground.toHash());
  const alpha = await page.evaluate(() => Array.from(window.playground.result.alpha));
  await page.getByRole("radio", { name: "+1" }).click();
  const drawn = await at(page, [1.5, 4]);
  await page.mouse.click(drawn.x, drawn.y);
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), 19);
  const place = await page.evaluate(() => window.playground.state.data.xy[18]);
  assert.ok(Math.hypot(place[0] - 1.5, place[1] - 4) < 0.02, String(place));
  assert.equal(await page.evaluate(() => window.playground.state.data.classes[18]), 1);

  const to = await at(page, [5, 1]);
  await page.mouse.move(drawn.x, drawn.y);
  await page.mouse.down();
  await page.mouse.move((drawn.x + to.x) / 2, (drawn.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const moved = await page.evaluate(() => window.playground.state.data.xy[18]);
  assert.ok(Math.hypot(moved[0] - 5, moved[1] - 1) < 0.03, String(moved));

  await page.mouse.click(to.x, to.y, { button: "right" });
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), 18);
  for (let k = 0; k < 3; k++) await page.keyboard.press("Control+z");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.toHash()), first);
  assert.deepEqual(await page.evaluate(() => Array.from(window.playground.result.alpha)), alpha);
  for (let k = 0; k < 3; k++) await page.keyboard.press("Control+Shift+z");
  assert.equal(await page.evaluate(() => window.playground.state.data.xy.length), 18);
  clean(page);
  await page.close();
});

test("each change trains again: C, kernel, method", async () => {
  const page = await browser.page(server.url);
  const margin = () => page.evaluate(() => window.playground.result.model.machines[0].margin);
  const before = await margin();
  await page.locator("#C").fill("-1");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.c), 0.1);
  assert.ok((await margin()) > before, "a smaller C widens the margin");
  await page.selectOption("#kernel", "rbf");
  await settled(page);
  assert.match(await page.evaluate(() => window.playground.result.model.kernel), /rbf/);
  for (const method of ["logistic", "lda", "perceptron", "kernel-perceptron", "mlp", "svm"]) {
    await page.selectOption("#method", method);
    await settled(page);
  }
  clean(page);
  await page.close();
});

test("steps go back and forth, and the last one is the fit", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2`);
  await stepped(page);
  const lines = () => page.evaluate(() => JSON.stringify((window.playground.frame ?? window.playground.result).grid.lines.filter((line) => line.level === 0)));
  const fit = await page.evaluate(() => JSON.parse(JSON.stringify(window.playground.result.grid.lines.find((line) => line.level === 0).points)));
  const count = await page.evaluate(() => window.playground.result.steps.list.length);
  await page.locator("#back").click();
  await page.waitForFunction(() => window.playground.frame !== null);
  assert.equal(await page.evaluate(() => window.playground.state.step), count);
  await page.waitForFunction((count) => document.querySelector("#panel h3").textContent === `Why step ${count}?`, count);
  await page.locator("#first").click();
  await page.waitForFunction(() => window.playground.state.step === 0);
  await page.locator("#forward").click();
  await page.waitForFunction(() => document.querySelector("#panel h3").textContent.startsWith("Why step 1"));
  await page.waitForFunction(() => window.playground.frame !== null && window.playground.at === 1);
  const one = await lines();
  await page.locator("#forward").click();
  await page.waitForFunction((one) => JSON.stringify(window.playground.frame?.grid.lines.filter((line) => line.level === 0)) !== one, one);
  await page.locator("#back").click();
  await page.waitForFunction((one) => JSON.stringify(window.playground.frame?.grid.lines.filter((line) => line.level === 0)) === one, one);
  const last = await page.evaluate(async () => {
    const { after } = await import("/steps.js");
    const { result } = window.playground;
    const { alpha } = after(result.steps.list, result.steps.list.length, result.count);
    return Math.max(...Array.from(alpha, (value, row) => Math.abs(value - result.alpha[row])));
  });
  assert.ok(last < 1e-6, `alpha of the last step is ${last} off`);
  await page.locator("#last").click();
  await painted(page);
  assert.deepEqual(await page.evaluate(() => window.playground.result.grid.lines.find((line) => line.level === 0).points), fit);
  clean(page);
  await page.close();
});

test("two methods stand side by side, and the far cloud turns one of them", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e9`);
  assert.ok(await page.locator("#plane-b").isVisible());
  await page.waitForFunction(() => /turned/.test(document.querySelector("#plane-b figcaption").textContent));
  const angles = await page.evaluate(() => ["a", "b"].map((side) => Number(/turned ([\d.]+)°/.exec(document.querySelector(`#plane-${side} figcaption`).textContent)[1])));
  assert.ok(angles[0] < 5 && angles[1] > 15, String(angles));
  await page.selectOption("#compare", "");
  await painted(page);
  assert.ok(!(await page.locator("#plane-b").isVisible()));
  clean(page);
  await page.close();
});

test("a sweep of C answers at once where the slider goes", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e10`);
  await page.locator("#sweep").click();
  await page.waitForFunction(() => /margin/.test(document.querySelector("#legend").textContent), undefined, { timeout: 20000 });
  await page.locator("#step").fill("20");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.c), 10);
  clean(page);
  await page.close();
});

test("five thousand points are drawn and fitted", async () => {
  const page = await browser.page(`${server.base}#v=1&d=moons&n=5000&k=rbf&g=2`);
  const found = await page.evaluate(() => ({ count: window.playground.result.count, stop: window.playground.result.model.stop }));
  assert.deepEqual(found, { count: 5000, stop: "converged" });
  clean(page);
  await page.close();
});

test("Shift and drag paint, the eraser erases, and each is undone as a whole", async () => {
  const page = await browser.page(server.url);
  const [from, to] = [await at(page, [0.4, 4.4]), await at(page, [2.4, 4.4])];
  await page.keyboard.down("Shift");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await settled(page);
  const painted = await page.evaluate(() => window.playground.result.count);
  assert.ok(painted >= 26, `${painted} points`);
  await page.getByRole("radio", { name: "erase" }).click();
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.mouse.up();
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), 18);
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.result.count), painted);
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.toHash()), "v=1&d=e2");
  clean(page);
  await page.close();
});

test("where there is no model none is shown, and the reason stands in its place", async () => {
  const page = await browser.page(server.url);
  await page.locator("#hard").check();
  await page.waitForFunction(() => /hulls|separate|meet/.test(document.querySelector("#blank")?.textContent ?? ""));
  const fill = await colour(page, [0.2, 0.5]);
  assert.ok(brightness(fill) > 235, `no region is drawn: ${fill}`);
  await page.locator("#hard").uncheck();
  await settled(page);
  assert.equal(await page.locator("#blank").count(), 0);
  await page.locator("#clear").click();
  await page.waitForFunction(() => /two classes/.test(document.querySelector("#blank")?.textContent ?? ""));
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.deepEqual(page.faults.filter((fault) => !/400/.test(fault)), []);
  await page.close();
});

test("the plane stands alone when it is presented", async () => {
  const page = await browser.page(server.url);
  const before = (await page.locator("#plane-a").boundingBox()).width;
  await page.locator("#present").click();
  await painted(page);
  assert.equal(await page.locator(".rail").isVisible(), false);
  assert.ok((await page.locator("#plane-a").boundingBox()).width > 1.3 * before);
  await page.locator("#present").click();
  assert.equal(await page.locator(".rail").isVisible(), true);
  clean(page);
  await page.close();
});
