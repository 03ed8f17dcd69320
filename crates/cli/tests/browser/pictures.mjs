// Takes the pictures of `docs/pictures`. Run by `cargo xtask pictures --write`, which starts the server with the demo's data and
// sets: PAGES (the address), REPLAY and REPORT (files for a browser), FOLDER (where to write), CHROMIUM and PLAYWRIGHT (paths).
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { PAGES, REPLAY, REPORT, FOLDER, CHROMIUM, PLAYWRIGHT } = process.env;
const { chromium } = createRequire(import.meta.url)(PLAYWRIGHT);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

const wide = { width: 960, height: 640 };
const phone = { width: 375, height: 720 };

async function take(name, address, { lang = "en", colorScheme = "light", viewport = wide, prepare } = {}) {
  const context = await browser.newContext({ colorScheme, viewport, locale: lang, timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(address.startsWith("file:") ? address : PAGES + address);
  if (prepare) await prepare(page);
  // As in the pictures of the terminal: the folder of this run says nothing.
  await page.evaluate((home) => {
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) words.currentNode.data = words.currentNode.data.replaceAll(home, "/home/you");
  }, process.env.HOME);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
  await context.close();
}

const toSession = async (page) => {
  await page.locator("h2", { hasText: /Context|コンテキスト/ }).first().scrollIntoViewIfNeeded();
};

await take("serve-sessions", "");
await take("serve-sessions-dark", "", { colorScheme: "dark" });
await take("serve-session", "session/monday", { viewport: { width: 960, height: 820 } });
await take("serve-session-dark-ja", "session/monday", { colorScheme: "dark", lang: "ja", prepare: toSession });
await take("serve-event", "session/monday", {
  prepare: async (page) => {
    await page.locator("ol.events a", { hasText: "verify-stop blocked" }).first().click();
    await page.waitForURL(/event/);
  },
});
await take("serve-search", "memory?q=cookie");
await take("serve-decisions-ja", "memory?list=decisions", { lang: "ja" });
await take("serve-report", "report?days=7");
await take("serve-phone", "session/monday", { viewport: phone });
await take("serve-phone-dark", "", { viewport: phone, colorScheme: "dark" });
await take("replay-html", pathToFileURL(REPLAY).href, { viewport: { width: 960, height: 760 } });
await take("report-html", pathToFileURL(REPORT).href, { colorScheme: "dark", viewport: { width: 960, height: 760 } });
await browser.close();
