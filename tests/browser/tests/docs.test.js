// The links of the manual open what they say, and its screenshots are made here.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { clean, open, painted, serve, settled, stepped } from "../open.js";

const DOCS = new URL("../../../docs/", import.meta.url);
/** Written only when asked for (WRITE_PICTURES=1): their bytes differ between machines. */
const PICTURES = process.env.WRITE_PICTURES ? new URL("pictures/", DOCS).pathname : null;
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

test("every link of the manual opens without a complaint", async () => {
  const links = ["playground.md", "teaching.md"].flatMap((name) => Array.from(readFileSync(new URL(name, DOCS), "utf8").matchAll(/#(v=1&[^\s)`]+)/g), ([, hash]) => hash));
  assert.ok(links.length >= 12, String(links));
  const page = await browser.page(server.url);
  for (const hash of links) {
    const problems = await page.evaluate((hash) => window.playground.fromHash(hash).problems, hash);
    assert.deepEqual(problems, [], hash);
    await page.goto(`${server.base}#${hash}`);
    await page.reload();
    await settled(page);
    assert.equal(await page.locator("#notice").isVisible(), false, hash);
  }
  clean(page);
  await page.close();
});

const SHOTS = [
  { name: "playground-start", hash: "v=1&d=e2" },
  { name: "playground-step", hash: "v=1&d=e2&s=12", steps: true },
  { name: "playground-compare", hash: "v=1&d=e9" },
  { name: "playground-lift", hash: "v=1&d=e3&tab=lift" },
  { name: "playground-dark", hash: "v=1&d=moons&n=150&seed=1&noise=0.2&k=rbf&g=2&C=10&tab=alpha", dark: true },
  { name: "playground-phone", hash: "v=1&d=e1&show=hulls", size: { width: 390, height: 844 }, click: "#sheets [data-sheet=why]" },
];

for (const { name, hash, steps, dark, size, click } of SHOTS) {
  test(`the screenshot ${name} has ink in its plane`, async () => {
    const page = await browser.page(`${server.base}#${hash}`, { dark: dark ?? false, size });
    await stepped(page);
    if (steps) await page.waitForFunction(() => window.playground.frame !== null);
    if (click) await page.locator(click).click();
    await page.waitForTimeout(300);
    await painted(page);
    const colours = await page.evaluate(() => {
      const canvas = document.querySelector("#plane-a canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(Array.from({ length: 4000 }, (_, k) => data.slice(4 * Math.floor((k * data.length) / 16000)).slice(0, 3).join())).size;
    });
    assert.ok(colours > 20, `${colours} colours`);
    if (PICTURES) {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}${name}.png` });
    }
    clean(page);
    await page.close();
  });
}
