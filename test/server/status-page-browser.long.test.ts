import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LOOKS, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { Served } from "../support/served.ts";

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
  "the status page is accessible in light and dark mode and on a phone",
  { timeout: 900_000 },
  async (context) => {
    const served = await servedWithPast(context);
    const browser = await browserFor(context);
    const noScript = { javaScriptEnabled: false, viewport: { width: 1200, height: 900 } };
    for (const [name, options] of [...LOOKS, ["no-script", noScript] as const]) {
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
      await page.screenshot(pictureOf(`status-${name}`));
      if (name !== "no-script") await assertAccessible(page, name, context);
    }
  },
);

test(
  "the status page is accessible before the first list, and on paper",
  { timeout: 900_000 },
  async (context) => {
    const served = new Served(context, ["||d.example^"]);
    rmSync(join(served.folder, "a.txt"));
    await served.start("--schedule", "0 0 1 1 *");
    await served.event("run-ended");
    const browser = await browserFor(context);
    for (const [name, options] of [...LOOKS, ["print", {}] as const]) {
      const page = await browser.newPage(options);
      if (name === "print") await page.emulateMedia({ media: "print" });
      await page.goto(served.url("/"));
      const text = (await page.textContent("main")) ?? "";
      assert.match(text, /The last run failed/);
      assert.match(text, /Lists appear here after the first successful build\./);
      await page.screenshot(pictureOf(`status-empty-${name}`));
      await assertAccessible(page, `empty, ${name}`, context);
    }
  },
);

test(
  "the status page links to the report of the last build",
  { timeout: 900_000 },
  async (context) => {
    const served = await servedWithPast(context);
    const page = await (await browserFor(context)).newPage({});
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text?.() ?? ""));
    page.on("pageerror", (error) => said.push(error.message ?? ""));
    while (!(await (await fetch(served.url("/"))).text()).includes('href="report"'))
      await new Promise((later) => setTimeout(later, 50));
    await page.goto(served.url("/report"));
    await page.fill("#name", "d5.example");
    assert.match((await page.textContent("#answer")) ?? "", /^d5\.example: blocked by/);
    assert.deepEqual(said, []);
  },
);

test(
  "a name is searched from the status page, without scripts, and the answer is accessible",
  { timeout: 900_000 },
  async (context) => {
    const served = await servedWithPast(context);
    const lines = Array.from({ length: 950 }, (_, index) => `||d${index}.example^`);
    served.write([...lines, "||www.d5.example^", "0.0.0.0 www.d5.example", "||*.d5.example^"]);
    served.child.kill("SIGHUP");
    await served.event("run-ended", 8);
    const browser = await browserFor(context);
    for (const [name, options] of LOOKS) {
      const page = await browser.newPage({ ...options, javaScriptEnabled: false });
      const said: string[] = [];
      page.on("console", (message) => said.push(message.text?.() ?? ""));
      await page.goto(served.url("/"));
      await page.fill("input[name=name]", "www.d5.example");
      await page.press("input[name=name]", "Enter");
      await page.waitForURL(/\/why\?name=www\.d5\.example/);
      assert.match((await page.textContent(".state")) ?? "", /^www\.d5\.example: blocked$/);
      assert.match((await page.textContent("main")) ?? "", /\|\|d5\.example\^/);
      await page.screenshot(pictureOf(`why-${name}`));
      // The field on the answer, with text that must stay text.
      await page.fill("input[name=name]", '"><script>alert(1)</script>');
      await page.press("input[name=name]", "Enter");
      await page.waitForURL(/script/);
      assert.match((await page.textContent("[role=alert]")) ?? "", /a domain name such as/);
      assert.deepEqual(
        said.filter((one) => !one.includes("400")),
        [],
        `${name}: the browser has nothing to complain about, its policy included`,
      );
      const scripted = await browser.newPage(options);
      await scripted.goto(served.url("/why?name=d5.example"));
      await assertAccessible(scripted, name, context);
    }
  },
);
