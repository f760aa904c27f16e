// Links and tables: what comes back is what went in, and what is wrong is cut and reported.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { roundTrips } from "../links.js";
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
  const wrong = await roundTrips(page, 1000, 1);
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

test("drawn points lie on the lattice, and take 4.5 characters each in a link", async () => {
  const page = await browser.page(server.url);
  await page.locator("#clear").click();
  await page.waitForFunction(() => window.playground.state.data.kind === "points");
  const box = await page.locator("#plane-a canvas").boundingBox();
  for (let k = 0; k < 6; k++) {
    await page.getByRole("radio", { name: k % 2 ? "+1" : "-1" }).click();
    await page.mouse.click(box.x + 60.3 + 83.7 * k, box.y + 300.1 - 31.3 * k);
  }
  await settled(page);
  const { data, hash } = await page.evaluate(() => ({ data: window.playground.state.data, hash: window.playground.toHash() }));
  const [x0, x1, y0, y1] = data.range;
  for (const [x, y] of data.xy) {
    for (const place of [((x - x0) / (x1 - x0)) * 4096, ((y - y0) / (y1 - y0)) * 4096]) assert.ok(Math.abs(place - Math.round(place)) < 1e-9, String(place));
  }
  assert.equal(/&p=([^&]*)/.exec(hash)[1].length, 4.5 * 6);
  clean(page);
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
  const { state, problems } = await page.evaluate(() => window.playground.fromHash("v=1&d=moons&n=1e9&noise=-1&C=-5&g=x&deg=99&m=magic&s=-3&h=0.4&show=__proto__,-toString,hulls"));
  assert.deepEqual([state.data.rows, state.data.noise, state.c, state.degree, state.step, state.hidden], [20000, 0, 1e-6, 10, 0, 1]);
  assert.deepEqual([state.gamma, state.method], [2, "svm"], "what is no number or no name is left as it was");
  assert.deepEqual(Object.keys(state.show).sort(), ["hulls", "margins", "regions", "rings", "slack", "without"]);
  assert.equal(problems.length, 10, problems.join("; "));
  await page.evaluate(() => (location.hash = "v=1&d=nowhere"));
  await page.waitForFunction(() => /nowhere/.test(document.querySelector("#notice").textContent));
  await page.close();
});

test("a reduced page hides what the teacher hides, and asks what the teacher asks", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e1&hide=model,time&ask=${encodeURIComponent("Which points hold up the hull? <b>")}`);
  assert.equal(await page.locator("#ask").textContent(), "Which points hold up the hull? <b>");
  for (const part of [".part-model", ".part-time"]) assert.equal(await page.locator(part).isVisible(), false, part);
  assert.equal(await page.locator(".part-data").isVisible(), true);
  await page.goto(`${server.base}#v=1&d=e1&hide=why,numbers`);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("#tab-why").isVisible(), false);
  assert.doesNotMatch(await page.locator("#panel").textContent(), /Proved best/);
  await page.goto(`${server.base}#v=1&d=e1&hide=why,alpha,numbers,lift`);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("aside").isVisible(), false);
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
  await page.waitForFunction(() => window.playground.state.data.kind === "points");
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
  // Two directions through all three columns are offered as well.
  await page.evaluate(() => {
    const data = new DataTransfer();
    const rows = Array.from({ length: 30 }, (_, k) => `${k % 7},${(k * k) % 11},${k % 5},${k % 2 ? "yes" : "no"}`);
    data.items.add(new File([`width,height,depth,kind\n${rows.join("\n")}\n`], "mine.csv", { type: "text/csv" }));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.locator("#across").waitFor();
  await page.selectOption("#across", { label: "first principal direction" });
  await page.selectOption("#up", { label: "second principal direction" });
  await page.locator("#ok").click();
  await settled(page);
  assert.deepEqual(await page.evaluate(() => window.playground.result.names), ["first principal direction", "second principal direction"]);
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
