// How long the playground takes from a move of the C slider to the painted picture, as the page itself reports it.
//
//   cargo xtask bench play            prints the table, and writes bench/results/play.json
//
// Each move waits for the picture of the one before, in Chromium without a graphics card on the machine that also fits.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { open, program, serve, settled } = await import(new URL("../tests/browser/open.js", import.meta.url));
const MOVES = 200;
/** Milliseconds: the first picture, and the one of 200 x 140. */
const CASES = [
  { name: "500 points, Gaussian", hash: "v=1&d=moons&n=500&seed=1&noise=0.3&k=rbf&g=1", must: [50, 100] },
  { name: "5,000 points, Gaussian", hash: "v=1&d=moons&n=5000&seed=1&noise=0.3&k=rbf&g=1", must: [200, 600] },
];

/** @param {number[]} values @param {number} part */
const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];

/** Milliseconds from the start of the program to its first open port. */
async function start() {
  const began = performance.now();
  const child = spawn(program, ["play", "--no-browser", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise((resolve) => child.stdout.once("data", (bytes) => resolve(Number(/:(\d+)\//.exec(String(bytes))[1]))));
  await new Promise((resolve, reject) => connect(port, "127.0.0.1").on("connect", resolve).on("error", reject));
  const took = performance.now() - began;
  child.kill("SIGKILL");
  return took;
}

const starts = [];
for (let k = 0; k < 10; k++) starts.push(await start());
const server = await serve();
const browser = await open();
const results = [];
for (const { name, hash, must } of CASES) {
  const page = await browser.page(`${server.base}#${hash}`);
  const timings = await page.evaluate(async (moves) => {
    const slider = /** @type {HTMLInputElement} */ (document.getElementById("C"));
    const probe = window.playground;
    const all = [];
    for (let k = 0; k < moves; k++) {
      probe.timings.length = 0;
      slider.value = String(-1 + 3 * (((k * 37) % moves) / moves));
      slider.dispatchEvent(new Event("input"));
      while (!probe.timings.some(({ rank }) => rank === 1)) await new Promise((resolve) => setTimeout(resolve, 1));
      all.push([0, 1].map((wanted) => probe.timings.find(({ rank }) => rank === wanted).event));
    }
    return all;
  }, MOVES);
  await settled(page);
  const [first, full] = [0, 1].map((rank) => timings.map((pair) => pair[rank]));
  results.push({ name, moves: MOVES, must, first: { median: quantile(first, 0.5), p95: quantile(first, 0.95) }, full: { median: quantile(full, 0.5), p95: quantile(full, 0.95) } });
  await page.close();
}
const page = await browser.page(server.url);
const bytes = await page.evaluate(() => performance.getEntries().filter((entry) => "transferSize" in entry && !/answer|worked/.test(entry.name)).reduce((sum, entry) => sum + entry.transferSize, 0));
await browser.close();
await server.stop();

const ms = (value) => `${value.toFixed(0)} ms`;
console.log(`${"".padEnd(24)} first median  p95 (must)      full median  p95 (must)`);
for (const { name, must, first, full } of results) {
  console.log(`${name.padEnd(24)} ${ms(first.median).padStart(12)}  ${`${ms(first.p95)} (${must[0]})`.padEnd(14)} ${ms(full.median).padStart(12)}  ${ms(full.p95)} (${must[1]})`);
}
console.log(`listens after ${ms(quantile(starts, 0.5))} (median of ${starts.length}; must 300), page ${Math.round(bytes / 1000)} kB (must 250)`);
const record = { date: new Date().toISOString().slice(0, 10), processor: cpus()[0]?.model, cores: cpus().length, results, starts, bytes };
writeFileSync(join(dirname(fileURLToPath(import.meta.url)), "results", "play.json"), `${JSON.stringify(record, null, 1)}\n`);
