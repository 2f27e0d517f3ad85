import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TestContext } from "node:test";

const root = join(import.meta.dirname, "../..");
const tools = createRequire(join(root, "test/tools/package.json"));
const CHROMIUM = "/usr/bin/chromium";
const ARTIFACTS = join(root, "test/artifacts");
/** A busy machine with a slow disk needs more than playwright's 30 s for the picture of a long page. */
const PATIENCE_MS = 120_000;

/** As much of playwright as is used here. */
export interface Page {
  setDefaultTimeout(milliseconds: number): void;
  goto(url: string): Promise<unknown>;
  fill(selector: string, text: string): Promise<void>;
  press(selector: string, key: string): Promise<void>;
  waitForURL(url: RegExp): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  evaluate<T>(code: string): Promise<T>;
  click(selector: string): Promise<void>;
  setInputFiles(
    selector: string,
    files: readonly (string | { name: string; mimeType: string; buffer: Uint8Array })[],
  ): Promise<void>;
  selectOption(selector: string, value: string): Promise<unknown>;
  waitForSelector(selector: string): Promise<unknown>;
  waitForEvent(event: "download"): Promise<{ path(): Promise<string> }>;
  emulateMedia(options: { media: "print" | "screen" }): Promise<void>;
  close(): Promise<void>;
  context(): { setOffline(isOffline: boolean): Promise<void> };
  on(
    event: "console" | "pageerror" | "request",
    listener: (said: { text?(): string; message?: string; url?(): string }) => void,
  ): void;
}

export interface Browser {
  newPage(options: object): Promise<Page>;
  close(): Promise<void>;
}

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 };

/** How people look at pages. */
export const LOOKS: readonly (readonly [string, object])[] = [
  ["light", { ...DESKTOP, colorScheme: "light" }],
  ["dark", { ...DESKTOP, colorScheme: "dark" }],
  ["phone", { ...PHONE, colorScheme: "light" }],
  ["dark-phone", { ...PHONE, colorScheme: "dark" }],
];

/** Debian's Chromium, closed after the test. */
export async function browserFor(context: TestContext): Promise<Browser> {
  assert.ok(existsSync(CHROMIUM), "Debian's chromium is installed");
  const { chromium } = tools("playwright-core") as {
    chromium: { launch(options: object): Promise<Browser> };
  };
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  context.after(() => browser.close());
  return {
    newPage: async (options) => {
      const page = await browser.newPage(options);
      page.setDefaultTimeout(PATIENCE_MS);
      return page;
    },
    close: async () => await browser.close(),
  };
}

/** Where the picture of a page goes. */
export function pictureOf(name: string): { path: string; fullPage: boolean } {
  mkdirSync(ARTIFACTS, { recursive: true });
  return { path: join(ARTIFACTS, `${name}.png`), fullPage: true };
}

/** Tables that are cut, also those that scroll inside: a reader does not see that there is more. */
const CUT_TABLES = `[...document.querySelectorAll("table")].filter((table) => {
  for (let one = table; one !== document.body; one = one.parentElement)
    if (getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1) return true;
  return false;
}).map((table) => table.textContent.trim().slice(0, 80))`;

/** Nothing is cut off, and nothing is wrong for those who read the page otherwise. */
export async function assertAccessible(
  page: Page,
  name: string,
  context: TestContext,
): Promise<void> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  assert.ok(wide <= 0, `${name}: the page scrolls sideways by ${wide}`);
  assert.deepEqual(await page.evaluate<string[]>(CUT_TABLES), [], `${name}: a table is cut`);
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>("axe.run({ resultTypes: ['violations'] })");
  context.diagnostic(`${name}: ${violations.length} findings`);
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    [],
    name,
  );
}
