// E1 to E10 open by name, and every number is ticked.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clean, open, serve, settled } from "../open.js";

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

test("a number that does not match is crossed, and counted", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e1`);
  await page.route("**/worked", async (route) => {
    const response = await route.fetch();
    const example = await response.json();
    example.checks[1].holds = false;
    await route.fulfill({ response, json: example });
  });
  await page.locator("#tab-numbers").click();
  await page.waitForFunction(() => document.querySelector("#ticks"));
  const [, right, all] = /(\d+) of (\d+) numbers match/.exec(await page.locator("#ticks").textContent());
  assert.equal(Number(right), Number(all) - 1);
  assert.equal(await page.locator("#panel td.bad").count(), 1);
  assert.equal(await page.locator("#panel td.good").count(), Number(all) - 1);
  await page.close();
});

test("E1 to E10 open by name with every number ticked", async () => {
  const page = await browser.page(`${server.base}#v=1&d=e1&tab=numbers`);
  for (let k = 1; k <= 10; k++) {
    await page.selectOption("#set", `e${k}`);
    await page.waitForFunction((id) => document.querySelector("#panel h3")?.textContent.startsWith(`${id} `) && document.querySelector("#ticks"), `E${k}`, { timeout: 60000 });
    const [, right, all] = /(\d+) of (\d+) numbers match/.exec(await page.locator("#ticks").textContent());
    assert.ok(Number(all) > 0 && right === all, `E${k}: ${right} of ${all}`);
    assert.equal(await page.locator("#panel td.bad").count(), 0);
    assert.equal(await page.locator("#panel td.good").count(), Number(all));
    assert.equal(await page.locator("#panel td.stale-number").count(), 0, `E${k} is untouched`);
    await settled(page);
  }
  await page.locator("#C").fill("2");
  await page.waitForFunction(() => document.querySelectorAll("#panel td.stale-number").length > 0);
  clean(page);
  await page.close();
});
