// Opens the pages of `tidegate serve` in a real browser. Run by `cargo xtask browser`, which starts the server and sets:
// PAGES (the address), TIDEGATE (the program), CHROMIUM, PLAYWRIGHT and AXE (paths), HOSTILE (the id of an exchange that
// holds a script).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { PAGES, TIDEGATE, CHROMIUM, PLAYWRIGHT, AXE, HOSTILE } = process.env;
const { chromium } = createRequire(import.meta.url)(PLAYWRIGHT);
const axe = readFileSync(AXE, "utf8");
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const seen = { errors: [], foreign: [] };
let checks = 0;

async function open(options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (request) => new URL(request.url()).hostname === "127.0.0.1" || seen.foreign.push(request.url()));
  return page;
}

async function check(name, work) {
  await work();
  checks += 1;
  console.log(`ok: ${name}`);
}

/** Serious findings only; the script is put in by the browser, not by the page. */
async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return bad.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
}

const addresses = ["", "memory", "memory?list=decisions", "memory?q=cookie", "work", "report", "session/monday"];

await check("pages can be read by everybody, in light and dark, wide and narrow, in both languages", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [{ width: 1200, height: 900 }, { width: 375, height: 800 }]) {
      const page = await open({ bypassCSP: true, colorScheme, viewport });
      for (const address of addresses) {
        for (const lang of ["en", "ja"]) {
          await page.goto(`${PAGES}${address}${address.includes("?") ? "&" : "?"}lang=${lang}`);
          assert.deepEqual(await serious(page), [], `${address} ${colorScheme} ${viewport.width} ${lang}`);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(overflow <= 0, `${address} is ${overflow} pixels too wide at ${viewport.width}`);
        }
      }
      await page.context().close();
    }
  }
});

/** A hook of a new session, as Claude Code calls it. */
function beginSession(id) {
  const payload = JSON.stringify({
    hook_event_name: "SessionStart", source: "startup", session_id: id, cwd: process.cwd(),
    transcript_path: `${process.cwd()}/${id}.jsonl`,
  });
  execFileSync(TIDEGATE, ["hook", "SessionStart"], { input: payload });
}

const shows = (page, id) =>
  page.waitForFunction((part) => document.getElementById("main").innerText.includes(part), id.slice(0, 8));

await check("news appear without a reload", async () => {
  const page = await open();
  await page.goto(PAGES);
  beginSession("by-test1-and-more");
  await shows(page, "by-test1-and-more");
  await page.context().close();
});

await check("a search in Japanese finds what was said", async () => {
  const page = await open({ locale: "ja-JP" });
  await page.goto(PAGES);
  assert.equal(await page.locator("h1").innerText(), "セッション");
  await page.locator("#q").fill("設計");
  await page.keyboard.press("Enter");
  await page.waitForSelector("ol.rows li");
  assert.match(await page.locator("ol.rows").innerText(), /設計/);
  await page.context().close();
});

await check("everything can be reached with the keyboard", async () => {
  const page = await open();
  await page.goto(`${PAGES}session/monday`);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  const reached = new Set();
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.getAttribute("class") ?? document.activeElement.tagName));
  }
  assert.ok([...reached].some((name) => name.startsWith("sign ")), [...reached].join(", "));
  const signs = page.locator("a.sign");
  await signs.first().focus();
  await page.keyboard.press("ArrowRight");
  const [focused, second] = await Promise.all([
    page.evaluate(() => document.activeElement.getAttribute("aria-label")),
    signs.nth(1).getAttribute("aria-label"),
  ]);
  assert.equal(focused, second);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/event\//);
  await page.context().close();
});

await check("a script in a conversation never runs", async () => {
  const page = await open();
  for (const address of [`exchange/${HOSTILE}`, "memory", "memory?q=script"]) {
    await page.goto(PAGES + address);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("main script, main img").count(), 0);
  }
  assert.match(await page.locator("main").innerText(), /<script>/);
  await page.context().close();
});

await check("pages can be read without scripts", async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto(`${PAGES}session/monday`);
  assert.ok((await page.locator("ol.events li").count()) > 3);
  await page.context().close();
});

await check("fifty open pages of one browser are served and hear of news", async () => {
  const context = await browser.newContext();
  const pages = [];
  for (let number = 0; number < 50; number += 1) {
    const page = await context.newPage();
    await page.goto(`${PAGES}${number % 2 ? "memory" : ""}`, { timeout: 10_000 });
    pages.push(page);
  }
  const [first, , third] = pages;
  const last = pages[48];
  await last.bringToFront();
  beginSession("by-test2-and-more");
  await shows(last, "by-test2-and-more");
  // The page that listens is closed: another one takes its place.
  await first.close();
  beginSession("by-test3-and-more");
  await shows(last, "by-test3-and-more");
  await third.bringToFront();
  await shows(third, "by-test3-and-more");
  await context.close();
});

assert.deepEqual(seen.errors, [], "the console is silent");
assert.deepEqual(seen.foreign, [], "nothing is asked for elsewhere");
await browser.close();
console.log(`${checks} checks passed`);
