import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Served } from "../support/served.ts";

const root = join(import.meta.dirname, "../..");
const tools = createRequire(join(root, "test/tools/package.json"));
const CHROMIUM = "/usr/bin/chromium";
const ARTIFACTS = join(root, "test/artifacts");

/** As much of playwright as is used here. */
interface Page {
  goto(url: string): Promise<unknown>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  evaluate<T>(code: string): Promise<T>;
  on(
    event: "console" | "pageerror",
    listener: (said: { text?(): string; message?: string }) => void,
  ): void;
}
interface Browser {
  newPage(options: object): Promise<Page>;
  close(): Promise<void>;
}

async function browserFor(context: TestContext): Promise<Browser> {
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
  return browser;
}

/** A server with a past: runs, a list that was refused, a source whose copy stands in. */
async function servedWithPast(context: TestContext): Promise<Served> {
  const lines = Array.from({ length: 900 }, (_, index) => `||d${index}.example^`);
  const served = new Served(context, lines);
  await served.start("--schedule", "0 0 1 1 *");
  await served.event("run-ended");
  for (let run = 2; run <= 6; run++) {
    served.write([
      ...lines,
      "! a comment",
      ...Array.from({ length: run * 10 }, (_, index) => `||e${index}.example^`),
      lines[0]!,
    ]);
    served.child.kill("SIGHUP");
    await served.event("run-ended", run);
  }
  served.write(lines.slice(0, 9));
  served.child.kill("SIGHUP");
  await served.event("run-ended", 7);
  return served;
}

test(
  "the page in a browser: light, dark, on a phone; nothing wrong for those who read it otherwise",
  { timeout: 180_000 },
  async (context) => {
    mkdirSync(ARTIFACTS, { recursive: true });
    const served = await servedWithPast(context);
    const browser = await browserFor(context);
    const axe = readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8");
    for (const [name, options] of [
      ["light", { colorScheme: "light", viewport: { width: 1200, height: 900 } }],
      ["dark", { colorScheme: "dark", viewport: { width: 1200, height: 900 } }],
      [
        "phone",
        {
          colorScheme: "light",
          viewport: { width: 360, height: 740 },
          isMobile: true,
          deviceScaleFactor: 2,
        },
      ],
      ["no-script", { javaScriptEnabled: false, viewport: { width: 1200, height: 900 } }],
    ] as const) {
      const page = await browser.newPage(options);
      const said: string[] = [];
      page.on("console", (message) => said.push(message.text?.() ?? ""));
      page.on("pageerror", (error) => said.push(error.message ?? ""));
      await page.goto(served.url("/"));
      assert.deepEqual(
        said,
        [],
        `${name}: the browser has nothing to complain about, its policy included`,
      );
      // After that: a screenshot puts a style of its own into the page, which its policy refuses.
      await page.screenshot({ path: join(ARTIFACTS, `status-${name}.png`), fullPage: true });
      if (name === "no-script") continue;
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(wide <= 0, `${name}: nothing is cut off or scrolls sideways`);
      // Evaluated by the debugger, which the page's policy does not bind.
      await page.evaluate(axe);
      const { violations } = await page.evaluate<{
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      }>("axe.run()");
      const grave = violations.filter(
        ({ impact }) => impact === "serious" || impact === "critical",
      );
      context.diagnostic(`${name}: ${violations.length} findings, ${grave.length} serious`);
      assert.deepEqual(
        grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
        [],
      );
    }
  },
);
