// Takes the pictures of `docs/pictures`. Run by `cargo xtask pictures --write`, which starts the server with a made-up week and
// sets: PAGES (the address), REPLAY and REPORT (files for a browser), FOLDER (where to write), CHROMIUM and PLAYWRIGHT (paths).
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { PAGES, REPLAY, REPORT, FOLDER, CHROMIUM, PLAYWRIGHT } = process.env;
const { chromium } = createRequire(import.meta.url)(PLAYWRIGHT);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

const wide = { width: 960, height: 640 };
const phone = { width: 375, height: 720 };
// As in `xtask/src/pictures.rs`, which compares the pages.
const long = "session/7c41d9e2-0b35-4e6a-9d18-a4f27c3b8e50";
const orders = "session/e1c84d57-7e02-4d3b-b1a9-2b8f4c9d6e03";

async function take(name, address, { lang = "en", colorScheme = "light", media = "screen", viewport = wide, prepare } = {}) {
  const context = await browser.newContext({ colorScheme, viewport, locale: lang, timezoneId: "UTC" });
  const page = await context.newPage();
  await page.emulateMedia({ media, colorScheme });
  await page.goto(address.startsWith("file:") ? address : PAGES + address);
  if (prepare) await prepare(page);
  // As in the pictures of the terminal: the folder of this run says nothing.
  await page.evaluate((homes) => {
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      for (const home of homes) words.currentNode.data = words.currentNode.data.replaceAll(home, "/home/you");
    }
  }, [realpathSync(process.env.HOME), process.env.HOME]);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
  await context.close();
}

const toCurve = (page) => page.locator("h2", { hasText: "Context" }).evaluate((title) => title.scrollIntoView());

await take("serve-sessions", "");
await take("serve-sessions-ja", "", { lang: "ja" });
await take("serve-session", long, { viewport: { width: 960, height: 960 } });
await take("serve-session-dark-ja", orders, { colorScheme: "dark", lang: "ja", viewport: { width: 960, height: 900 } });
await take("serve-event", long, {
  viewport: { width: 960, height: 720 },
  prepare: async (page) => {
    await page.locator("ol.events a", { hasText: "verify-stop blocked" }).first().click();
    await page.waitForURL(/event/);
  },
});
await take("serve-work", "work", { viewport: { width: 960, height: 420 } });
await take("serve-search", "memory?q=cookie");
await take("serve-decisions-ja", "memory?list=decisions", { lang: "ja" });
await take("serve-report", "report?days=7", { viewport: { width: 960, height: 900 } });
await take("serve-phone", long, { viewport: phone, prepare: toCurve });
await take("serve-phone-dark", "", { viewport: phone, colorScheme: "dark" });
await take("replay-html", pathToFileURL(REPLAY).href, { viewport: { width: 960, height: 900 } });
await take("report-html", pathToFileURL(REPORT).href, { viewport: { width: 960, height: 900 } });
// A sheet of paper, with its margin.
await take("report-print", pathToFileURL(REPORT).href, {
  media: "print",
  viewport: { width: 794, height: 1123 },
  prepare: (page) => page.evaluate(() => Object.assign(document.body.style, { margin: "56px 52px" })),
});
await browser.close();
