// Opens the pages of `tidegate serve` in a real browser. Run by `cargo xtask browser`, which starts the server and sets:
// PAGES (the address), TIDEGATE (the program), CHROMIUM, PLAYWRIGHT and AXE (paths), HOSTILE (the id of an exchange that
// holds a script), REPLAY and REPORT (files for a browser), HOSTILE_REPLAY (such a file of a transcript that holds scripts).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { PAGES, TIDEGATE, CHROMIUM, PLAYWRIGHT, AXE, HOSTILE } = process.env;
const files = ["REPLAY", "REPORT", "HOSTILE_REPLAY"].map((name) => pathToFileURL(process.env[name]).href);
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
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(PAGES) || files.includes(request.url());
    if (!isOurs) seen.foreign.push(request.url());
  });
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

/** The first link on a page that begins so. */
async function linked(page, from, kind) {
  await page.goto(PAGES + from);
  const link = page.locator(`main a[href*="/${kind}/"]`).first();
  return (await link.getAttribute("href")).replace(/^\/[^/]+\//, "");
}

const finder = await open();
const addresses = [
  "", "memory", "memory?list=decisions", "memory?q=cookie", "work", "report", "session/monday", `exchange/${HOSTILE}`,
  await linked(finder, "session/monday", "event"), await linked(finder, "memory?list=decisions", "decision"),
  await linked(finder, "memory?list=topics", "topic"), "nothing",
];
await finder.context().close();

const views = [
  ...addresses.flatMap((address) =>
    ["en", "ja"].map((lang) => `${PAGES}${address}${address.includes("?") ? "&" : "?"}lang=${lang}`)),
  ...files,
];

const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

await check("pages can be read by everybody, in light and dark, wide and narrow, in both languages", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [{ width: 1200, height: 900 }, { width: 375, height: 800 }]) {
      const page = await open({ bypassCSP: true, colorScheme, viewport });
      for (const view of views) {
        await page.goto(view);
        assert.deepEqual(await serious(page), [], `${view} ${colorScheme} ${viewport.width}`);
        assert.ok((await sideways(page)) <= 0, `${view} is too wide at ${viewport.width}`);
      }
      await page.context().close();
    }
  }
  // The browser notes each page that is not there.
  const isMissing = (text) => text.includes("404");
  assert.equal(seen.errors.filter(isMissing).length, 8, seen.errors.join("\n"));
  seen.errors = seen.errors.filter((text) => !isMissing(text));
});

await check("no page scrolls sideways on the smallest phone", async () => {
  const page = await open({ viewport: { width: 320, height: 640 } });
  for (const view of views) {
    await page.goto(view);
    assert.ok((await sideways(page)) <= 0, `${view} is ${await sideways(page)} pixels too wide`);
  }
  seen.errors = seen.errors.filter((text) => !text.includes("404"));
  await page.context().close();
});

await check("the page of stages and workflows has both", async () => {
  const page = await open();
  await page.goto(`${PAGES}work`);
  const text = await page.locator("main").innerText();
  assert.match(text, /dev-cycle: stage sprint/);
  assert.match(text, /phase 3 of 16 \(discovery\)/);
  await page.context().close();
});

await check("a mouse that rests on a curve finds its value", async () => {
  const page = await open();
  await page.goto(`${PAGES}session/monday`);
  const readings = page.locator("svg.curve .hover rect");
  const last = readings.nth((await readings.count()) - 1);
  const { x, y, width, height } = await last.boundingBox();
  await page.mouse.move(x + width / 2, y + height - 4);
  // What a browser shows for the place under the mouse.
  const shown = await page.evaluate(([left, top]) => {
    const element = document.elementFromPoint(left, top);
    return element.querySelector("title")?.textContent;
  }, [x + width / 2, y + height - 4]);
  assert.match(shown, /\d+:\d\d.*: [\d.]+k?$/, String(shown));
  await page.context().close();
});

await check("print is dark on white, without what only a screen can use", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open({ colorScheme });
    for (const view of [`${PAGES}session/monday`, files[0], files[1]]) {
      await page.goto(view);
      await page.emulateMedia({ media: "print", colorScheme });
      const [ground, text] = await page.evaluate(() => {
        const style = getComputedStyle(document.body);
        return [style.backgroundColor, style.color];
      });
      assert.deepEqual([ground, text], ["rgb(255, 255, 255)", "rgb(0, 0, 0)"], view);
      assert.equal(await page.locator("form:visible").count(), 0, view);
      assert.ok((await page.pdf()).length > 10_000, view);
      await page.emulateMedia({ media: "screen" });
    }
    await page.context().close();
  }
});

/** Answers on another port: another origin, which is near enough to share cookies. */
async function elsewhere(body) {
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(body));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

await check("a page of another origin gets nothing", async () => {
  const server = await elsewhere(`<!DOCTYPE html><title>x</title>
    <iframe src="${PAGES}"></iframe>
    <form id="post" method="post" action="${PAGES}" target="frame"><input name="a" value="b"></form>
    <iframe name="frame"></iframe>`);
  const { port } = server.address();
  const other = await chromium.launch({
    executablePath: CHROMIUM, args: ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"],
  });
  for (const origin of [`http://127.0.0.1:${port}/`, `http://evil.test:${port}/`]) {
    const page = await other.newPage();
    const answers = [];
    page.on("response", (response) => response.url().startsWith(PAGES) && answers.push(response));
    await page.goto(origin);
    const fetched = await page.evaluate(async (address) => {
      const ask = (options) => fetch(address, options).then((answer) => [answer.type, answer.status], () => "refused");
      return [await ask({}), await ask({ mode: "no-cors" }), await ask({ method: "POST", body: "a", mode: "no-cors" })];
    }, PAGES);
    assert.ok(fetched.every((one) => one === "refused" || one[0] === "opaque"), JSON.stringify(fetched));
    const isPost = (response) => response.request().method() === "POST" && response.request().isNavigationRequest();
    const posted = page.waitForResponse(isPost);
    await page.evaluate(() => document.getElementById("post").submit());
    assert.equal((await posted).status(), 403, `${origin}: a form`);
    // Answers that the browser itself keeps from the page are not among them.
    const codes = answers.map((answer) => answer.status());
    assert.ok(codes.length >= 2 && codes.every((code) => code === 403), `${origin}: ${codes}`);
    const framed = answers.filter((answer) => answer.request().isNavigationRequest());
    assert.ok(framed.some((answer) => answer.request().method() === "GET"), `${origin}: a frame`);
    for (const frame of page.frames().slice(1)) {
      assert.ok(!(await frame.content()).includes("Sessions"), "a frame shows nothing of it");
    }
    await page.close();
  }
  const page = await other.newPage();
  const wrongHost = await page.goto(PAGES.replace("127.0.0.1", "evil.test"));
  assert.equal(wrongHost.status(), 403, "a name that leads here is another host");
  assert.ok(!(await page.content()).includes("<main"));
  await other.close();
  await new Promise((done) => server.close(done));
});

await check("a script in a transcript never runs in a file for a browser", async () => {
  const page = await open();
  await page.goto(files[2]);
  assert.match(await page.locator("body").innerText(), /<script>/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("script, img").count(), 0);
  await page.context().close();
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
