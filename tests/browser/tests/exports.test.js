// What is exported makes the picture again: the command line to the bit.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { clean, open, program, serve } from "../open.js";

let server;
let browser;
let folder;
before(async () => {
  server = await serve();
  browser = await open();
  folder = mkdtempSync(join(tmpdir(), "exports-"));
});
after(async () => {
  await browser?.close();
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** The bytes of a download. */
async function exported(page, what) {
  await page.locator("#export").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-what=${what}]`).click()]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return readFileSync(path);
}

/** The words of a command line with quotes. */
const words = (line) => Array.from(line.trim().matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain);

test("every export comes, and is what it says", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e3`);
  assert.deepEqual([...(await exported(page, "png")).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  assert.match((await exported(page, "svg")).toString(), /^<svg/);
  assert.match((await exported(page, "table")).toString(), /^x1,x2,label,alpha,slack,f\n/);
  assert.ok((await exported(page, "model")).length > 100);
  assert.match((await exported(page, "python")).toString(), /maxmargin\.SVC\(C=4\.0, kernel="poly"/);
  clean(page);
  await page.close();
});

test("the command line of random states makes the same bits", async () => {
  const hashes = ["d=e1", "d=e2&C=0.3", "d=e3", "d=e4", "d=e5", "d=e6", "d=e8", "d=e10&C=100", "d=moons&n=50&seed=5&k=rbf&g=3", "d=iris", "d=blobs&n=40&seed=2&m=logistic",
    "d=xor&n=40&m=kernel-perceptron", "d=blobs&n=40&m=lda", "d=blobs&n=30&m=perceptron", "d=xor&n=40&m=mlp&h=4"];
  for (const hash of hashes) {
    const page = await browser.page(`${server.base}#v=1&${hash}`);
    writeFileSync(join(folder, "points.csv"), await exported(page, "points"));
    await page.locator("#export").click();
    await page.locator("[data-what=command]").click();
    await page.waitForFunction(() => /copied|maxmargin train/.test(document.querySelector("#notice").textContent));
    const line = await page.evaluate(() => navigator.clipboard.readText());
    const [name, ...rest] = words(line);
    assert.equal(name, "maxmargin", line);
    const said = JSON.parse(execFileSync(resolve(program), [...rest, "--json", "--force"], { cwd: folder, encoding: "utf8" }));
    const predicted = execFileSync(resolve(program), ["predict", "points.mm", "points.csv", "--decision-values", "--csv"], { cwd: folder, encoding: "utf8" }).trim().split("\n").slice(1);
    const f = await page.evaluate(() => Array.from(window.playground.result.f));
    if (f.length > 0) {
      const values = predicted.map((row) => Number(row.split(",").at(-1)));
      assert.deepEqual(values, f, hash);
    }
    assert.equal(said.converged, await page.evaluate(() => window.playground.result.model.converged), hash);
    await page.close();
  }
});
