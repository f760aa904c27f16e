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

/** States that are exported and made again. */
const STATES = Number(process.env.EXPORTS ?? 50);
const SEED = Number(process.env.SEED ?? 26);

/** Links to random models of random sets. */
function* links(seed) {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const one = (list) => list[Math.floor(random() * list.length)];
  for (;;) {
    const name = one(["e1", "e2", "e3", "e4", "e6", "e8", "iris", "blobs", "moons", "xor", "rings", "blobs", "moons"]);
    const fields = [`v=1&d=${name}`];
    if (["blobs", "moons", "xor", "rings"].includes(name)) fields.push(`n=${20 + Math.floor(random() * 60)}&seed=${Math.floor(random() * 1000)}`);
    if (name === "iris" && random() < 0.5) fields.push("pos=versicolor");
    const method = one(["svm", "svm", "svm", "svm", "logistic", "lda", "perceptron", "kernel-perceptron", "mlp"]);
    fields.push(`m=${method}`, `C=${Number((10 ** (random() * 4 - 2)).toPrecision(3))}`);
    if (method.includes("kernel") || (method === "svm" && random() < 0.7)) {
      const kernel = one(["poly", "rbf", "laplacian", "rbf", "poly"]);
      fields.push(`k=${kernel}&deg=${2 + Math.floor(random() * 2)}&c0=${Number(random().toFixed(2))}`);
      fields.push(random() < 0.3 ? "g=" : `g=${Number((10 ** (random() * 2 - 1)).toPrecision(3))}`);
    }
    if (method === "svm") fields.push(`loss=${one(["hinge", "hinge", "squared"])}&b=${one(["explicit", "explicit", "folded", "none"])}&solver=${one(["smo", "smo", "", "dual-ascent", "interior-point"])}`);
    if (method === "mlp") fields.push(`h=${1 + Math.floor(random() * 6)}`);
    yield fields.join("&");
  }
}

/** The exports of a link and what the engine says of its points, asked as the page asks; an error in its place where there is no model. */
const exportsOf = (page, hash) => page.evaluate(async (hash) => {
  const { decoded, post, problem } = await import("/engine.js");
  const { state } = window.playground.fromHash(hash);
  const request = problem(state, state.method);
  const text = async (what) => new TextDecoder().decode(await (await post("/export", { what, request })).arrayBuffer());
  try {
    const answer = decoded(await (await post("/answer", request)).arrayBuffer(), "");
    const python = await text("python").catch((error) => (/command line/.test(error.help ?? "") ? null : Promise.reject(error)));
    return {
      points: await text("points"), command: await text("command"), python, f: Array.from(answer.f), labels: answer.model.labels,
      predicted: Array.from(answer.predicted), stop: answer.model.stop,
    };
  } catch (error) {
    return { refused: String(error.message) };
  }
}, hash);

/** Runs the program quietly, and returns what it prints. */
const run = (...arguments_) => execFileSync(resolve(program), arguments_, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** The rows of a prediction, without their names. */
const predictions = (model, ...more) => run("predict", model, "points.csv", "--csv", ...more).trim().split("\n").slice(1).map((row) => row.split(","));

/** Trains in Python what each program says, and returns the decision values of each, to the bit. */
function decisionValues(python, programs) {
  const file = join(folder, "programs.json");
  writeFileSync(file, JSON.stringify(programs));
  const script = `
import contextlib, io, json, sys
values = []
for text in json.load(open(sys.argv[1], encoding="utf-8")):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(text, names)
    values.append(names["model"].decision_function(names["X"]).ravel().tolist())
print(json.dumps(values))
`;
  return JSON.parse(execFileSync(python, ["-W", "ignore", "-c", script, file], { encoding: "utf8", maxBuffer: 1 << 28 }));
}

test(`${STATES} random states: the command line makes the same bits, and Python the same numbers`, async () => {
  const page = await browser.page(server.url);
  const programs = [];
  const counts = { states: 0, refused: 0, python: 0 };
  for (const hash of links(SEED)) {
    if (counts.states === STATES) break;
    assert.ok(counts.refused < 10 * STATES, "hardly any state has a model");
    const found = await exportsOf(page, hash);
    if (found.refused) {
      counts.refused++;
      continue;
    }
    counts.states++;
    const where = `seed ${SEED}, ${hash}`;
    writeFileSync(join(folder, "points.csv"), found.points);
    const [name, ...rest] = words(found.command);
    assert.equal(name, "maxmargin", found.command);
    assert.equal(JSON.parse(run(...rest, "--json", "--force")).converged, found.stop === "converged", where);
    if (found.f.length > 0) assert.deepEqual(predictions("points.mm", "--decision-values").map((row) => Number(row.at(-1))), found.f, where);
    assert.deepEqual(predictions("points.mm").map(([label]) => label), found.predicted.map((label) => found.labels[label]), where);
    if (found.python !== null && found.f.length > 0) programs.push({ where, text: found.python, f: found.f });
  }
  assert.ok(programs.length >= STATES / 4, `${programs.length} of ${STATES} have a Python program`);
  if (process.env.MAXMARGIN_PYTHON) {
    const values = decisionValues(process.env.MAXMARGIN_PYTHON, programs.map(({ text }) => text));
    programs.forEach(({ where, f }, k) => {
      const size = f.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const worst = f.reduce((most, value, row) => Math.max(most, Math.abs(value - values[k][row])), 0);
      assert.ok(values[k].length === f.length && worst <= 1e-12 * size, `${where}: Python is ${worst} off, of ${size}`);
      counts.python++;
    });
  }
  console.log(`exports: ${JSON.stringify(counts)}`);
  assert.deepEqual(page.faults.filter((fault) => !/400/.test(fault)), []);
  await page.close();
});

test("what the menu exports is what the page shows", async () => {
  const page = await browser.page(`${server.base}#v=1&d=moons&n=50&seed=5&k=rbf&g=3`);
  writeFileSync(join(folder, "points.csv"), await exported(page, "points"));
  await page.locator("#export").click();
  await page.locator("[data-what=command]").click();
  await page.waitForFunction(() => /copied|maxmargin train/.test(document.querySelector("#notice").textContent));
  const [, ...rest] = words(await page.evaluate(() => navigator.clipboard.readText()));
  run(...rest, "--force");
  const shown = await page.evaluate(() => Array.from(window.playground.result.f));
  assert.deepEqual(predictions("points.mm", "--decision-values").map((row) => Number(row.at(-1))), shown);
  writeFileSync(join(folder, "menu.mm"), await exported(page, "model"));
  assert.deepEqual(predictions("menu.mm", "--decision-values").map((row) => Number(row.at(-1))), shown);
  clean(page);
  await page.close();
});
