// Links and tables: what comes back is what went in, and what is wrong is cut and reported.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clean, open, painted, serve, settled, stepped } from "../open.js";

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

test("a thousand random states come back from their links", async () => {
  const page = await browser.page(server.url);
  const wrong = await page.evaluate(async () => {
    const { snap, initial, SETS, GENERATED, NOISE, METHODS, KERNELS, SHOWN } = await import("/state.js");
    let seed = 1;
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    const one = (list) => list[Math.floor(random() * list.length)];
    const wrong = [];
    for (let k = 0; k < 1000; k++) {
      const state = initial();
      if (random() < 0.3) {
        const name = one(Object.keys(SETS));
        const made = GENERATED.includes(name);
        state.data = { kind: "named", name, rows: made && random() < 0.5 ? 2 + Math.floor(random() * 500) : null, seed: made ? Math.floor(random() * 1e6) : 0, noise: made && name in NOISE && random() < 0.5 ? random() : null };
      } else {
        const range = [-random() * 10, random() * 10 + 0.1, -random() * 1e3, random() * 1e-3 + 1e-3];
        const lattice = random() < 0.6;
        const count = Math.floor(random() * 40);
        const labels = ["a", "b", "<b>&=#,;", "ü 3", "x"].slice(0, 2 + Math.floor(random() * 4));
        const value = (low, high) => (lattice ? snap(low + random() * (high - low), low, high) : random() < 0.1 ? -0 : (random() - 0.5) * 10 ** Math.floor(random() * 12 - 6));
        const classes = Array.from({ length: count }, () => Math.floor(random() * labels.length));
        state.data = { kind: "points", xy: classes.map(() => [value(range[0], range[1]), value(range[2], range[3])]), classes, labels, names: random() < 0.5 ? ["x1", "x2"] : ["length, cm", "π"], range };
      }
      Object.assign(state, {
        method: one(Object.keys(METHODS)), compare: random() < 0.3 ? one(Object.keys(METHODS)) : null, kernel: one(Object.keys(KERNELS)),
        gamma: random() < 0.3 ? null : random() * 10 + 1e-6, coef0: random() < 0.5 ? 1 : random() * 4 - 2, degree: 1 + Math.floor(random() * 5),
        c: random() < 0.1 ? null : 10 ** (random() * 6 - 2), loss: one(["hinge", "squared"]), bias: one(["explicit", "folded", "none"]),
        solver: one(["smo", "dual-ascent", null]), positive: random() < 0.2 ? "b=&#" : null, hidden: 1 + Math.floor(random() * 20),
        show: Object.fromEntries(Object.keys(SHOWN).map((flag) => [flag, random() < 0.5])), tab: one(["why", "alpha", "numbers", "lift"]),
        step: random() < 0.3 ? Math.floor(random() * 500) : null, hide: random() < 0.2 ? ["data", "time"] : [], ask: random() < 0.2 ? "Which point? a=b & c#d" : "",
      });
      const { state: back, problems } = window.playground.fromHash(window.playground.hashOf(state));
      // Not JSON, which has no −0.
      const text = (value) => JSON.stringify(value, (_, inner) => (Object.is(inner, -0) ? "-0" : inner));
      if (problems.length > 0 || Object.keys(state).some((key) => text(state[key]) !== text(back[key]))) {
        wrong.push({ k, problems, keys: Object.keys(state).filter((key) => text(state[key]) !== text(back[key])) });
      }
    }
    return wrong.slice(0, 5);
  });
  assert.deepEqual(wrong, []);
  clean(page);
  await page.close();
});

test("an opened link has the same alpha to the bit", async () => {
  const page = await browser.page(`${server.base}#v=1&d=moons&n=60&seed=3&k=rbf&g=1.7&C=3`);
  const bits = (other) => other.evaluate(() => Array.from(new BigUint64Array(window.playground.result.alpha.slice().buffer), String));
  // The points are now the page's own, and one of them is elsewhere.
  await page.locator("#plane-a canvas").focus();
  for (const key of ["n", "ArrowUp", "ArrowUp", "m"]) await page.keyboard.press(key);
  await settled(page);
  const hash = await page.evaluate(() => window.playground.toHash());
  assert.match(hash, /[pq]=/);
  const other = await browser.page(`${server.base}#${hash}`);
  assert.deepEqual(await bits(other), await bits(page));
  clean(other);
  await other.close();
  await page.close();
});

test("bad links are cut and reported, and never fail", async () => {
  const bad = ["v=1&d=nowhere", "v=1&C=-5&g=x&deg=99&m=magic&s=-3", "v=9", "%%%", "v=1&q=1,2,0;x;3,4,9&r=0,1,0,1&l=a,b", "v=1&p=!!!!&r=0,1,0,1", "v=1&q=1,2,0", "v=1&l=%E0%A4%A", "v=1&hide=everything&show=nothing&ask=%",
    "v=1&__proto__=1&constructor=2&d=constructor&show=__proto__", `v=1&p=${"A".repeat(3000)}&r=0,1,0,1`, "&&&===&v=1&k=rbf&k=poly"];
  const page = await browser.page(server.url);
  for (const hash of bad) {
    const before = page.faults.length;
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForTimeout(60);
    await painted(page);
    assert.equal(await page.locator("#plane-a").isVisible(), true, hash);
    assert.deepEqual(page.faults.slice(before).filter((fault) => !/400/.test(fault)), [], hash);
  }
  await page.evaluate(() => (location.hash = "v=1&d=nowhere"));
  await page.waitForFunction(() => /nowhere/.test(document.querySelector("#notice").textContent));
  await page.close();
});

test("a reduced page hides what the teacher hides, and asks what the teacher asks", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e1&hide=model,time&ask=${encodeURIComponent("Which points hold up the hull? <b>")}`);
  assert.equal(await page.locator("#ask").textContent(), "Which points hold up the hull? <b>");
  for (const part of [".part-model", ".part-time"]) assert.equal(await page.locator(part).isVisible(), false, part);
  assert.equal(await page.locator(".part-data").isVisible(), true);
  clean(page);
  await page.close();
});

test("labels with markup stay text", async () => {
  const page = await browser.page(server.url);
  await page.locator("#table").click();
  await page.locator("#dialog textarea").fill('0,0,<img src=x onerror=alert(1)>\n1,1,<script>document.title="x"</script>\n0,1,<img src=x onerror=alert(1)>\n2,1,<script>document.title="x"</script>');
  await page.locator("#ok").click();
  await settled(page);
  for (const tab of ["alpha", "lift", "numbers", "why"]) {
    await page.locator(`#tab-${tab}`).click();
    await painted(page);
  }
  assert.equal(await page.title(), "maxmargin playground");
  assert.equal(await page.locator("img, #panel script").count(), 0);
  assert.match(await page.locator("#classes").textContent(), /onerror/);
  clean(page);
  await page.close();
});

test("tables are pasted and dropped; two of more columns are chosen", async () => {
  const page = await browser.page(server.url);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text", "0\t0\ta\n1\t1\tb\n0\t1\ta\n2\t1\tb\n");
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
  });
  await settled(page);
  assert.equal(await page.evaluate(() => window.playground.state.data.xy.length), 4);
  await page.evaluate(() => {
    const data = new DataTransfer();
    const rows = Array.from({ length: 30 }, (_, k) => `${k % 7},${(k * k) % 11},${k % 5},${k % 2 ? "yes" : "no"}`);
    data.items.add(new File([`width,height,depth,kind\n${rows.join("\n")}\n`], "mine.csv", { type: "text/csv" }));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.locator("#across").waitFor();
  await page.selectOption("#across", { label: "depth" });
  await page.locator("#ok").click();
  await settled(page);
  const found = await page.evaluate(() => ({ names: window.playground.result.names, labels: window.playground.result.labels, count: window.playground.result.count }));
  assert.deepEqual(found, { names: ["depth", "height"], labels: ["no", "yes"], count: 30 });
  clean(page);
  await page.close();
});

test("a link opens at the step that it names", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e2&s=12`);
  await stepped(page);
  await page.waitForFunction(() => /Why step 12/.test(document.querySelector("#panel").textContent));
  clean(page);
  await page.close();
});
