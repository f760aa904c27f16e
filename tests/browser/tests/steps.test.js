// Steps: whatever is shown at a step is of that step, computed here a second time from the steps alone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clean, colour, open, painted, serve, settled, stepped } from "../open.js";

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

/** f, primal objective and errors after some steps, from the list of steps and the points alone. */
function naive({ list, xy, classes, c, squared, folded, gamma }, count) {
  const points = classes.map((own, row) => ({ x: xy[2 * row], y: xy[2 * row + 1], sign: own === 1 ? 1 : -1 }));
  const coefficients = points.map(() => 0);
  let bias = 0;
  let weights = null;
  for (const step of list.slice(0, count)) {
    if (step.step === "pair") {
      coefficients[step.i] = step.signs[0] * step.after[0];
      coefficients[step.j] = step.signs[1] * step.after[1];
    } else if (step.step === "coordinate") coefficients[step.row] = step.sign * step.taken;
    else if (step.step === "mistake") coefficients[step.row] += step.sign;
    else weights = step.weights;
    bias = step.bias ?? bias;
  }
  const kernel = (p, q) => (gamma === null ? p.x * q.x + p.y * q.y : Math.exp(-gamma * ((p.x - q.x) ** 2 + (p.y - q.y) ** 2))) + (folded && gamma === null ? 1 : 0);
  const free = (p) => (weights ? weights[0] * p.x + weights[1] * p.y : points.reduce((sum, q, row) => sum + coefficients[row] * kernel(q, p), 0));
  const f = (p) => free(p) + bias;
  const square = weights ? weights[0] ** 2 + weights[1] ** 2 : points.reduce((sum, p, row) => sum + coefficients[row] * free(p), 0);
  const slack = points.map((p) => Math.max(0, 1 - p.sign * f(p)));
  const loss = slack.reduce((sum, xi) => sum + (squared ? xi * xi : xi), 0);
  return {
    f, primal: square / 2 + c * loss, errors: points.filter((p) => (f(p) > 0 ? 1 : -1) !== p.sign).length,
    coefficients, positive: coefficients.filter((value) => value !== 0).length,
  };
}

/** The number beside a name in the panel. */
const fact = (page, name) => page.evaluate((name) => {
  const term = Array.from(document.querySelectorAll("#panel dt")).find((term) => term.textContent === name);
  return term ? Number(term.nextElementSibling.textContent) : null;
}, name);

/** Shows a step, and waits until all of the page is of it. */
async function goTo(page, step) {
  await page.locator("#step").fill(String(step));
  await page.waitForFunction((step) => window.playground.state.step === step && window.playground.shown !== null, step);
  await painted(page);
}

const close = (a, b) => Math.abs(a - b) <= 1e-3 * (Math.abs(a) + Math.abs(b)) + 1e-9;

for (const [hash, more] of [
  ["d=e2", {}],
  ["d=e2&C=0.3&solver=dual-ascent&b=folded", { c: 0.3, folded: true }],
  ["d=moons&n=40&seed=3&noise=0.2&k=rbf&g=1&C=3&solver=smo", { c: 3, gamma: 1 }],
  ["d=e2&loss=squared&solver=newton", { squared: true }],
  ["d=e2&solver=sgd", {}],
  ["d=blobs&n=60&seed=3&noise=1&m=perceptron", { method: "perceptron" }],
]) {
  test(`what is shown at a step is of that step: ${hash}`, async () => {
    const page = await browser.page(`${server.base}#v=1&${hash}`);
    await stepped(page);
    const told = await page.evaluate(() => {
      const { steps, xy, classes, view } = window.playground.result;
      return { list: steps.list, xy: Array.from(xy), classes: Array.from(classes), view };
    });
    const problem = { c: 1, squared: false, folded: false, gamma: null, ...told, ...more };
    const last = told.list.length;
    let places = 0;
    for (const step of [...new Set([0, 1, Math.floor(last / 3), last - 1, last])].filter((step) => step <= last)) {
      await goTo(page, step);
      const truth = naive(problem, step);
      assert.equal(await fact(page, "predicted wrongly"), truth.errors, `${step} of ${last}: errors`);
      const footer = await page.locator("#facts").textContent();
      assert.match(footer, new RegExp(`errors ${truth.errors}(?!\\d)`), `${step}: ${footer}`);
      assert.doesNotMatch(footer, /relative gap/, "the gap of the fit is not that of the step");
      assert.match(await page.locator("#plane-a figcaption").textContent(), step === 0 ? /before the first step/ : new RegExp(`after step ${step} of `));
      if (more.method !== "perceptron") {
        const primal = await fact(page, "primal objective");
        assert.ok(close(primal, truth.primal), `${step}: the primal is ${primal}, not ${truth.primal}`);
      }
      assert.match(await page.locator("#panel").textContent(), /The fit, after all \d+ steps/);
      // The regions have the colours of f after this step.
      for (const [u, v] of [0.13, 0.3, 0.52, 0.71, 0.9].flatMap((u) => [0.17, 0.37, 0.61, 0.83].map((v) => [u, v]))) {
        const place = [told.view.x[0] + u * (told.view.x[1] - told.view.x[0]), told.view.y[0] + v * (told.view.y[1] - told.view.y[0])];
        const value = truth.f({ x: place[0], y: place[1] });
        const isFree = told.classes.every((_, row) => Math.hypot((told.xy[2 * row] - place[0]) / (told.view.x[1] - told.view.x[0]), (told.xy[2 * row + 1] - place[1]) / (told.view.y[1] - told.view.y[0])) > 0.06);
        if (Math.abs(value) < 0.3 || Math.abs(Math.abs(value) - 1) < 0.2 || !isFree) continue;
        const [red, , blue] = await colour(page, place);
        if (Math.abs(red - blue) < 8) continue; // a line of the net
        places++;
        assert.equal(blue > red, value > 0, `${step}: f = ${value} at ${place}, but red ${red} and blue ${blue}`);
      }
    }
    assert.ok(places >= 5, `${places} places were probed`);
    // The fit again: its own numbers, and no step.
    await page.locator("#last").click();
    await page.waitForFunction(() => window.playground.state.step === null);
    await painted(page);
    assert.equal(await page.locator("#panel h3").first().textContent(), "How good is it?");
    clean(page);
    await page.close();
  });
}

test("the alpha of a step are in the table, with the conditions that they meet at that step", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2&tab=alpha`);
  await stepped(page);
  await goTo(page, 12);
  const told = await page.evaluate(() => ({ list: window.playground.result.steps.list, xy: Array.from(window.playground.result.xy), classes: Array.from(window.playground.result.classes) }));
  const problem = { ...told, c: 1, squared: false, folded: false, gamma: null };
  const { positive } = naive(problem, 12);
  assert.match(await page.locator("#panel p").first().textContent(), new RegExp(`^After this step ${positive} of 18 points`));
  let violated = 0;
  for (const step of [1, 3, 12, 40]) {
    await goTo(page, step);
    const { f, coefficients } = naive(problem, step);
    const wanted = coefficients.map((coefficient, row) => {
      const [alpha, margin] = [Math.abs(coefficient), (told.classes[row] === 1 ? 1 : -1) * f({ x: told.xy[2 * row], y: told.xy[2 * row + 1] })];
      return (alpha === 0 || margin <= 1 + 1e-3) && (alpha > 1 - 1e-9 || margin >= 1 - 1e-3);
    });
    const found = await page.evaluate(() => Array.from(document.querySelectorAll("#panel tr[data-row]"), (line) => [Number(line.dataset.row), line.lastElementChild.textContent === "✓"]));
    for (const [row, meets] of found) assert.equal(meets, wanted[row], `step ${step}, point ${row + 1}`);
    violated += wanted.filter((meets) => !meets).length;
  }
  assert.ok(violated > 10, `${violated} conditions are not met on the way`);
  await page.locator("#last").click();
  await page.waitForFunction(() => document.querySelectorAll("#panel td.bad").length === 0 && document.querySelectorAll("#panel td.good").length === 18);
  await page.close();
});

test("the mistakes of a perceptron are counted against their bound, and w is seen to turn", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e1&m=perceptron`);
  await stepped(page);
  const count = await page.evaluate(() => window.playground.result.steps.count);
  await goTo(page, count);
  const [, mistakes, most] = /(\d+) of at most ([\d.e]+) mistakes/.exec(await page.locator("#panel").textContent());
  assert.equal(Number(mistakes), count);
  assert.ok(Number(most) >= count, `${count} mistakes, of at most ${most}`);
  const ink = await page.evaluate(() => {
    const canvas = document.querySelector("#square");
    return new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size;
  });
  assert.ok(ink > 10, `the arrows have ${ink} shades`);
  // Classes that no line separates have no bound.
  await page.goto(`${server.base}#v=1&d=e2&m=perceptron&s=1`);
  await page.reload();
  await settled(page);
  await stepped(page);
  await page.waitForFunction(() => /There is no bound/.test(document.querySelector("#panel").textContent));
  clean(page);
  await page.close();
});

test("a press on the curves shows the step below it", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2`);
  await stepped(page);
  const box = await page.locator("#curves").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 40);
  const count = await page.evaluate(() => window.playground.result.steps.list.length);
  await page.waitForFunction(() => window.playground.state.step !== null);
  const step = await page.evaluate(() => window.playground.state.step);
  assert.ok(Math.abs(step - count / 2) <= 1, `step ${step} of ${count}`);
  await page.waitForFunction((step) => document.querySelector("#panel h3").textContent === `Why step ${step}?`, step);
  clean(page);
  await page.close();
});
