// A server of the playground and a browser that looks at it, and what tests ask of both.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const PROGRAM = process.env.MAXMARGIN ?? "../../target/debug/maxmargin";
/** What a root in a closed network needs. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Starts a server, on a free port unless one is named. */
export async function serve(...more) {
  const named = more.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
  const child = spawn(PROGRAM, ["play", "--no-browser", ...named, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      const found = /http:\/\/\S+\n/.exec(text);
      if (found) resolve(found[0].trim());
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    url, base: url.replace(/#.*/, ""),
    stop: () => new Promise((resolve) => {
      child.on("exit", resolve);
      child.kill("SIGKILL");
    }),
  };
}

/** Opens a browser with an own folder, and hands out pages that must not fail. */
export async function open() {
  const folder = mkdtempSync(join(tmpdir(), "playground-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS, viewport: { width: 1400, height: 900 }, acceptDownloads: true,
  });
  if (process.env.PAGE) await context.route(/\/[a-z]*(\.[a-z]+)?$/, fromFolder);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  return {
    context,
    /** A page with its faults and the hosts that it asked. */
    async page(url, options = {}) {
      const page = await context.newPage();
      const faults = [];
      const hosts = new Set();
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      page.on("request", (request) => hosts.add(new URL(request.url()).host));
      if (options.size) await page.setViewportSize(options.size);
      if (options.dark !== undefined) await page.emulateMedia({ colorScheme: options.dark ? "dark" : "light" });
      await page.goto(url);
      await settled(page);
      return Object.assign(page, { faults, hosts });
    },
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Takes a file of the page from the folder PAGE, so that a change of it can be tested before the program is built. */
async function fromFolder(route) {
  const path = join(process.env.PAGE, new URL(route.request().url()).pathname.slice(1) || "index.html");
  if (route.request().method() !== "GET" || !existsSync(path)) return route.continue();
  const response = await route.fetch();
  // A file that is new has no type yet.
  const headers = path.endsWith(".js") ? { ...response.headers(), "content-type": "text/javascript" } : response.headers();
  return route.fulfill({ response, headers, body: readFileSync(path), status: 200 });
}

/** Waits until the plane shows the state: the answer is that of the state, fine enough, and painted. */
export async function settled(page) {
  await painted(page);
  await page.waitForFunction(() => {
    const { result, state } = window.playground;
    if (!result?.grid || result.grid.columns < 200) return false;
    if (state.compare && !window.playground.other?.grid) return false;
    return !document.querySelector(".plane.stale") && (state.data.kind !== "points" || result.count === state.data.xy.length);
  }, undefined, { timeout: 20000 });
  await painted(page);
}

export const painted = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** Waits until the solver's steps are there. */
export const stepped = (page) => page.waitForFunction(() => (window.playground.result?.steps?.list.length ?? 0) > 0, undefined, { timeout: 20000 });

/** A place of the data on the page. */
export async function at(page, [x, y], plane = "#plane-a") {
  const box = await page.locator(`${plane} canvas`).boundingBox();
  const view = await page.evaluate(() => window.playground.result.view);
  return {
    x: box.x + ((x - view.x[0]) / (view.x[1] - view.x[0])) * box.width,
    y: box.y + box.height - ((y - view.y[0]) / (view.y[1] - view.y[0])) * box.height,
  };
}

/** The colour of the plane at a place of the data, moved by some pixels. */
export async function colour(page, place, [dx, dy] = [0, 0], plane = "#plane-a") {
  return page.evaluate(({ place, dx, dy, plane }) => {
    const canvas = document.querySelector(`${plane} canvas`);
    const { view } = window.playground.result;
    const scale = canvas.width / canvas.clientWidth;
    const x = ((place[0] - view.x[0]) / (view.x[1] - view.x[0])) * canvas.clientWidth + dx;
    const y = canvas.clientHeight - ((place[1] - view.y[0]) / (view.y[1] - view.y[0])) * canvas.clientHeight + dy;
    return Array.from(canvas.getContext("2d").getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data.slice(0, 3));
  }, { place, dx, dy, plane });
}

export const brightness = ([r, g, b]) => 0.3 * r + 0.59 * g + 0.11 * b;

/** That nothing has failed on a page, and that it has asked its own server alone. */
export function clean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual([...page.hosts].filter((host) => !host.startsWith("127.0.0.1:")), []);
}

export const program = PROGRAM;
