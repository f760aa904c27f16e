// The figures of the playground and of the pictures: how long a move takes until it is painted, as the page itself reports it; the size of the
// page and its start; links; pictures of many rows.
//
//   cargo xtask bench play            prints the tables, and writes bench/results/play.md and bench/results/play-DATE.json
//
// MOVES=20 measures fewer moves, ROWS=10000 draws fewer rows, and RESULTS=FOLDER writes elsewhere. Each move waits for the picture of the one
// before, in Chromium without a graphics card, on the machine that also fits.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { open, program, serve, settled } = await import(new URL("../tests/browser/open.js", import.meta.url));
const { roundTrips } = await import(new URL("../tests/browser/links.js", import.meta.url));
const MOVES = Number(process.env.MOVES ?? 200);
const ROWS = Number(process.env.ROWS ?? 100_000);
const RESULTS = process.env.RESULTS ?? join(dirname(fileURLToPath(import.meta.url)), "results");
/** Milliseconds that are asked for: the first picture, and the one of 200 x 140. The other cases show where it gets slow. */
const CASES = [
  { name: "500 points, Gaussian", hash: "v=1&d=moons&n=500&seed=1&noise=0.3&k=rbf&g=1", must: [50, 100] },
  { name: "5,000 points, Gaussian", hash: "v=1&d=moons&n=5000&seed=1&noise=0.3&k=rbf&g=1", must: [200, 600] },
  { name: "E2, linear", hash: "v=1&d=e2" },
  { name: "150 points, three classes", hash: "v=1&d=iris&k=rbf&g=1" },
  { name: "500 points, degree 3", hash: "v=1&d=moons&n=500&seed=1&noise=0.3&k=poly&deg=3&g=1" },
  { name: "500 points, dual ascent", hash: "v=1&d=moons&n=500&seed=1&noise=0.3&k=rbf&g=1&solver=dual-ascent&b=folded", part: 0.2 },
  { name: "500 points, network", hash: "v=1&d=moons&n=500&seed=1&noise=0.3&m=mlp", part: 0.2 },
  { name: "20,000 points, Gaussian", hash: "v=1&d=moons&n=20000&seed=1&noise=0.3&k=rbf&g=1", part: 0.05 },
];
/** Milliseconds from the start of the program to its open port. */
const START = 300;
/** kB of the page. */
const PAGE = 250;
const PICTURE = { seconds: 2, bytes: 1_000_000 };
const LINKS = 1000;

/** @param {number[]} values @param {number} part */
const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];

/** Milliseconds from the start of the program to its first open port. */
async function start() {
  const began = performance.now();
  const child = spawn(program, ["play", "--no-browser", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise((resolve) => child.stdout.once("data", (bytes) => resolve(Number(/:(\d+)\//.exec(String(bytes))[1]))));
  await new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1").on("error", reject).on("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
  });
  const took = performance.now() - began;
  child.kill("SIGKILL");
  return took;
}

/** Moves the slider of C, and waits for the picture of 200 x 140 each time. */
async function moves(page, count) {
  return page.evaluate(async (count) => {
    const slider = /** @type {HTMLInputElement} */ (document.getElementById("C"));
    const probe = window.playground;
    const all = [];
    for (let k = 0; k < count; k++) {
      probe.timings.length = 0;
      slider.value = String(-1 + 3 * (((k * 37) % count) / count));
      slider.dispatchEvent(new Event("input"));
      const end = performance.now() + 60_000;
      while (!probe.timings.some(({ rank }) => rank === 1) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 1));
      all.push([0, 1].map((wanted) => probe.timings.find(({ rank }) => rank === wanted)?.event ?? 60_000));
    }
    return all;
  }, count);
}

/** Links whose α have other bits in the opened page. */
async function linksWithOtherBits(browser, base) {
  const hashes = ["d=e2&C=0.37", "d=e3", "d=e4", "d=e6", "d=moons&n=80&seed=3&k=rbf&g=1.7&C=3", "d=iris&k=rbf&g=1", "d=blobs&n=60&seed=4&noise=1.2", "d=xor&n=60&seed=5", "d=rings&n=60&seed=6", "d=e2&m=logistic"];
  const bits = (page) => page.evaluate(() => Array.from(new BigUint64Array(window.playground.result.alpha.slice().buffer), String).join());
  const wrong = [];
  for (const hash of hashes) {
    const page = await browser.page(`${base}#v=1&${hash}`);
    // The points become the page's own, on their lattice.
    await page.locator("#plane-a canvas").focus();
    for (const key of ["n", "ArrowUp", "ArrowUp", "m"]) await page.keyboard.press(key);
    await settled(page);
    const other = await browser.page(`${base}#${await page.evaluate(() => window.playground.toHash())}`);
    if ((await bits(other)) !== (await bits(page))) wrong.push(hash);
    await other.close();
    await page.close();
  }
  return { of: hashes.length, wrong };
}

/** Each kind of picture of many rows, drawn twice. */
function pictures() {
  const folder = mkdtempSync(join(tmpdir(), "pictures-"));
  const run = (...words) => {
    const began = performance.now();
    execFileSync(program, words, { cwd: folder, stdio: "ignore" });
    return (performance.now() - began) / 1000;
  };
  try {
    run("generate", "moons", "--rows", String(ROWS), "--seed", "1", "-o", "many.csv");
    run("generate", "moons", "--rows", "300", "--seed", "2", "-o", "few.csv");
    run("train", "few.csv", "--kernel", "rbf", "--probabilities", "-o", "few.mm");
    run("train", "few.csv", "-C", "1", "--solver", "smo", "-o", "line.mm");
    run("train", "many.csv", "-o", "many.mm");
    run("train", "few.csv", "--task", "regression", "--label", "x2", "--columns", "x1", "--kernel", "rbf", "--epsilon", "0.2", "-o", "tube.mm");
    const found = [];
    for (const [model, kind] of [["few", "regions"], ["many", "regions"], ["few", "margins"], ["few", "roc"], ["few", "calibration"], ["few", "confusion"], ["few", "why"], ["tube", "tube"], ["tube", "residuals"]]) {
      const seconds = ["a.svg", "b.svg"].map((name) => run("plot", kind, `${model}.mm`, "many.csv", "-o", name));
      const [a, b] = ["a.svg", "b.svg"].map((name) => readFileSync(join(folder, name)));
      found.push({ kind, model, seconds: Math.min(...seconds), slower: Math.max(...seconds), bytes: statSync(join(folder, "a.svg")).size, same: a.equals(b) });
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const starts = [];
for (let k = 0; k < 10; k++) starts.push(await start());
const server = await serve();
const browser = await open();
const results = [];
for (const { name, hash, must, part } of CASES) {
  const count = Math.max(3, Math.round(MOVES * (part ?? 1)));
  const page = await browser.page(`${server.base}#${hash}`);
  const timings = await moves(page, count);
  const sizes = [0, 1].map((rank) => timings.map((pair) => pair[rank]));
  const [first, full] = sizes.map((all) => ({ median: quantile(all, 0.5), p95: quantile(all, 0.95), worst: Math.max(...all) }));
  results.push({ name, moves: count, must, first, full });
  await page.close();
}
const page = await browser.page(server.url);
const bytes = await page.evaluate(() => performance.getEntries().filter((entry) => "transferSize" in entry && !/answer|worked/.test(entry.name)).reduce((sum, entry) => sum + entry.transferSize, 0));
const others = [...page.hosts].filter((host) => !host.startsWith("127.0.0.1:"));
const lost = await roundTrips(page, LINKS, 2);
const bits = await linksWithOtherBits(browser, server.base);
await browser.close();
await server.stop();
const drawn = pictures();

const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: dirname(fileURLToPath(import.meta.url)), encoding: "utf8" }).trim();
const date = new Date().toISOString();
const ms = (/** @type {number} */ value) => value.toFixed(value < 10 ? 1 : 0);
const table = (/** @type {string[]} */ head, /** @type {(string|number)[][]} */ rows) => [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
const missed = [
  ...results.flatMap(({ name, must, first, full }) => (must ? [[first.p95, must[0], "first picture"], [full.p95, must[1], "200 x 140"]] : []).filter(([found, most]) => found > most).map(([found, most, what]) => `${name}, ${what}: ${ms(Number(found))} ms of ${most}`)),
  ...(quantile(starts, 0.5) > START ? [`start: ${ms(quantile(starts, 0.5))} ms of ${START}`] : []),
  ...(bytes > PAGE * 1000 || others.length > 0 ? [`page: ${Math.round(bytes / 1000)} kB of ${PAGE}, ${others.length} other hosts`] : []),
  ...(lost.length > 0 || bits.wrong.length > 0 ? [`links: ${lost.length} of ${LINKS} lost, other bits in ${bits.wrong.join(", ") || "none"}`] : []),
  ...drawn.filter(({ seconds, bytes, same }) => seconds > PICTURE.seconds || bytes > PICTURE.bytes || !same).map(({ kind, model, seconds, bytes, same }) => `picture ${kind} (${model}): ${seconds.toFixed(2)} s, ${bytes} bytes${same ? "" : ", other bytes"}`),
];
const text = `# The playground and the pictures

${date}, commit ${commit}. ${cpus()[0]?.model.trim()}, ${cpus().length} cores, Chromium without a graphics card on the same cores.

## From a move of the slider to the painted picture

Milliseconds, as the page reports them: the event, the fit by the engine, the answer over HTTP, and the painting. The C slider goes from 0.1 to
100 out of order; each move waits for the picture of 200 x 140 of the one before.

${table(["case", "moves", "first: median", "p95", "worst", "must (p95)", "200 x 140: median", "p95", "worst", "must (p95)"],
  results.map(({ name, moves: count, must, first, full }) => [name, count, ms(first.median), ms(first.p95), ms(first.worst), must?.[0] ?? "", ms(full.median), ms(full.p95), ms(full.worst), must?.[1] ?? ""]))}

## The page

${table(["what", "found", "must"], [
  ["listens after the start, ms, median (worst) of 10", `${ms(quantile(starts, 0.5))} (${ms(Math.max(...starts))})`, START],
  ["page with its font, kB", Math.round(bytes / 1000), PAGE],
  ["requests to other hosts", others.length, 0],
  ["random states that come back from their links", `${LINKS - lost.length} of ${LINKS}`, "all"],
  ["opened links with the same α to the bit", `${bits.of - bits.wrong.length} of ${bits.of}`, "all"],
])}

## Pictures of ${ROWS.toLocaleString("en")} rows

${table(["kind", "model of", "seconds", "second run", "kB of SVG", "the same bytes twice", "must"],
  drawn.map(({ kind, model, seconds, slower, bytes, same }) => [kind, { few: "300 rows, Gaussian", many: "all rows, linear", tube: "300 rows, regression" }[model] ?? model, seconds.toFixed(2), slower.toFixed(2), Math.round(bytes / 1000), same ? "yes" : "no", `${PICTURE.seconds} s, ${PICTURE.bytes / 1e6} MB`]))}

## What tests show

| what | where |
| --- | --- |
| steps against naive computations, 500 random problems; the last step is the fit | crates/maxmargin/tests/steps.rs |
| 50 random states: the exported command line makes the same bits, the Python program the same numbers to 1e-12 | tests/browser/tests/exports.test.js |
| axe without a complaint (light, dark, phone), the tour by keyboard, 390 px without scrolling to the side | tests/browser/tests/access.test.js |
| every kind of picture in both themes, no words over each other on 200 random models | crates/maxmargin-plot/tests/kinds.rs |

## Targets missed

${missed.length === 0 ? "None." : missed.map((one) => `- ${one}`).join("\n")}
`;
console.log(text);
writeFileSync(join(RESULTS, "play.md"), text);
const record = { date, commit, processor: cpus()[0]?.model, cores: cpus().length, results, starts, bytes, others, links: { of: LINKS, lost: lost.length, bits }, pictures: drawn, missed };
writeFileSync(join(RESULTS, `play-${date.slice(0, 10)}.json`), `${JSON.stringify(record, null, 1)}\n`);
