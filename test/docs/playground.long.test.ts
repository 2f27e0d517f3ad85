import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { LOOKS, type Page, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";
import {
  IDLE,
  compileByCommand,
  compileInPage,
  folderOf,
  servedPlayground,
} from "../support/playground.ts";
import { bytesOf, readVectors } from "../support/vector.ts";

/** The playground in a real browser: the same bytes as the command line, and nothing leaves the page. */

const CONFIG = "configuration.json";
/** A page has files, but no server that answers with errors or redirects; and a configuration is recognised by its sources. */
const vectors = readVectors().filter(
  ({ http, config }) => http === undefined && "sources" in config,
);
const chosen = isNightly ? vectors : vectors.filter((_, index) => index % 28 === 0);

/** Compiles in both ways and returns the size of the list; 0 if it fails in both. */
async function sameSize(
  page: Page,
  [config, files]: readonly [config: object, files: Readonly<Record<string, Uint8Array>>],
  name: string,
  context: TestContext,
): Promise<number> {
  const all = { [CONFIG]: new TextEncoder().encode(JSON.stringify(config)), ...files };
  const folder = folderOf(all, context);
  const inPage = await compileInPage(page, Object.keys(all), folder);
  const byCommand = await compileByCommand(folder, CONFIG, inPage);
  if (inPage.list === undefined) {
    assert.deepEqual(inPage.errors, byCommand.errors, name);
    assert.equal(byCommand.list, undefined, name);
    return 0;
  }
  assert.ok(byCommand.list !== undefined, `${name}: ${byCommand.errors.join()}`);
  assert.ok(Buffer.compare(inPage.list, byCommand.list) === 0, name);
  return inPage.list.length;
}

test("the vectors become the same bytes in the page", { timeout: 900_000 }, async (context) => {
  const { url } = await servedPlayground(context);
  const page = await (await browserFor(context)).newPage({});
  await page.goto(url);
  await page.context().setOffline(true);
  let lists = 0;
  const different: string[] = [];
  for (const { name, config, files = {} } of chosen) {
    const given = Object.fromEntries(
      Object.entries(files).map(([file, content]) => [file, bytesOf(content)]),
    );
    try {
      if ((await sameSize(page, [config, given], name, context)) > 0) lists++;
    } catch (error) {
      different.push(`${name}: ${String(error)}`);
    }
  }
  assert.deepEqual(different, []);
  context.diagnostic(`${chosen.length} vectors, ${lists} with a list`);
  assert.ok(lists > chosen.length / 2);
});

test(
  "real lists become the same bytes in the page",
  { timeout: 900_000, skip: missingCorpus },
  async (context) => {
    const { url } = await servedPlayground(context);
    const page = await (await browserFor(context)).newPage({});
    await page.goto(url);
    const config = corpusConfig();
    const sources = config.sources.slice(0, isNightly ? undefined : 1);
    const files = sources.map(
      ({ source }) => [source, readFileSync(join(corpusFolder("typical"), source))] as const,
    );
    const given = [{ ...config, sources }, Object.fromEntries(files)] as const;
    const bytes = await sameSize(page, given, "typical", context);
    context.diagnostic(`${sources.length} lists became ${bytes} bytes`);
    assert.ok(bytes > 1000);
  },
);

/** Pastes a text as a user does, and waits until it is compiled. */
async function paste(page: Page, text: string): Promise<void> {
  await page.fill("#paste", text);
  await page.click("#add");
  await page.waitForSelector(IDLE);
}

const SETTINGS = `filters:
  - { enabled: true, url: "https://lists.example/ads.txt", name: Ads }
  - { enabled: false, url: "https://lists.example/off.txt", name: Off }
user_rules: ["||own.example^", "@@||free.ads.example^"]
`;

test("a page takes what people have, and answers", { timeout: 900_000 }, async (context) => {
  const { url, asked } = await servedPlayground(context);
  const browser = await browserFor(context);
  for (const [look, options] of LOOKS) {
    asked.length = 0;
    const page = await browser.newPage(options);
    const wrong: string[] = [];
    page.on("pageerror", ({ message }) => wrong.push(message ?? ""));
    page.on("console", (message) => wrong.push(message.text?.() ?? ""));
    page.on("request", (request) => {
      const address = request.url?.() ?? "";
      if (address !== url && !address.startsWith("blob:")) wrong.push(`asks ${address}`);
    });
    await page.goto(url);
    // What follows works without a network, and without the server that the page came from.
    await page.context().setOffline(true);
    await page.screenshot(pictureOf(`playground-begin-${look}`));
    await assertAccessible(page, `${look}, at the beginning`, context);
    await page.setInputFiles("#files", [
      textFile("AdGuardHome.yaml", SETTINGS),
      textFile("gravity.db", "SQLite format 3\0 and pages"),
    ]);
    await page.waitForSelector(IDLE);
    assert.match(
      (await page.textContent("#notes")) ?? "",
      /AdGuard Home: 1 list, 1 more switched off.*gravity\.db: a page does not.*rules-compiler audit/,
    );
    assert.match(
      (await page.textContent("#problems")) ?? "",
      /^1 list at a URL is missing: how to add itThis page fetches nothing: download it with this command, then drop the file here\.curl -fL -o 'ads.txt' 'https:\/\/lists\.ex/,
    );
    await page.screenshot(pictureOf(`playground-missing-${look}`));
    await assertAccessible(page, `${look}, a list is missing`, context);
    await page.setInputFiles("#files", [
      textFile("ads.txt", "# ads\n0.0.0.0 ads.example\n0.0.0.0 x.ads.example\n||com^\n"),
    ]);
    await page.waitForSelector(IDLE);
    assert.equal(await page.textContent("#problems"), "");
    assert.equal(
      await page.textContent("#alarms"),
      "1 line would do harm and is dropped:https://lists.example/ads.txt:4 ||com^ would block a whole public suffix (public-suffix)",
    );
    // What was asked for comes first: only the title and what can be done stand above it.
    const top = await page.evaluate<number>(
      "document.querySelector('#alarms').getBoundingClientRect().top + scrollY * 1000",
    );
    assert.ok(top < 140, `${look}: the results begin at ${top}`);
    await page.screenshot(pictureOf(`playground-sources-${look}`));
    await assertAccessible(page, `${look}, sources`, context);
    await page.click("#tab-lines");
    await page.waitForSelector("#view-lines .line.kept");
    // The first source has the own rules.
    await page.selectOption("#source", "1");
    await page.waitForSelector("#view-lines .line:nth-child(3)");
    const lines = (await page.textContent("#view-lines")) ?? "";
    assert.match(lines, /1comment# ads2kept0\.0\.0\.0 ads\.example3covered.*← Ads:2/);
    await page.screenshot(pictureOf(`playground-lines-${look}`));
    await assertAccessible(page, `${look}, lines`, context);
    await page.click("#tab-why");
    await page.fill("#name", "https://X.ads.example/path");
    await page.press("#name", "Enter");
    await page.waitForSelector("#answer .verdict");
    assert.match((await page.textContent("#answer")) ?? "", /x\.ads\.example is blocked.*Ads:2/);
    await page.screenshot(pictureOf(`playground-why-${look}`));
    await assertAccessible(page, `${look}, why`, context);
    await page.click("#tab-formats");
    await page.selectOption("#format", "rpz");
    await page.click("#write");
    await page.waitForSelector("#view-format .line");
    assert.match((await page.textContent("#view-format")) ?? "", /ads\.example CNAME \./);
    await page.screenshot(pictureOf(`playground-formats-${look}`));
    await assertAccessible(page, `${look}, formats`, context);
    assert.deepEqual(wrong, []);
    assert.deepEqual(asked, ["/playground/"], "the page is all that the server is asked for");
    await page.close();
  }
});

/** Gives a list to the page and copies the link. */
async function sharedLink(page: Page, url: string, text: string): Promise<string> {
  await page.goto(url);
  await page.setInputFiles("#files", [textFile("own.txt", text)]);
  await page.waitForSelector(IDLE);
  await page.click("#share");
  await page.waitForSelector(IDLE);
  return await page.evaluate<string>("location.href");
}

test(
  "a link opens to the same list, and no server receives it",
  { timeout: 900_000 },
  async (context) => {
    const { url, asked } = await servedPlayground(context);
    const browser = await browserFor(context);
    for (const [look, options] of LOOKS) {
      asked.length = 0;
      const page = await browser.newPage(options);
      const link = await sharedLink(
        page,
        url,
        "||ads.example^\n||x.ads.example^\n<img src=x onerror=alert(1)>\n",
      );
      assert.ok(link.startsWith(`${url}#1.`) && link.length < 1000, link);
      assert.match(
        (await page.textContent("#notes")) ?? "",
        /It has the configuration and the lists/,
      );
      await assertAccessible(page, `${look}, shared`, context);
      const other = await browser.newPage(options);
      const wrong: string[] = [];
      other.on("pageerror", ({ message }) => wrong.push(message ?? ""));
      other.on("console", (message) => wrong.push(message.text?.() ?? ""));
      await other.goto(link);
      await other.waitForSelector(`${IDLE} #summary div`);
      assert.match((await other.textContent("#summary")) ?? "", /^Rules1Lines3Kept1Dropped2/);
      assert.equal(await other.textContent("#notes"), "Opened from a link.");
      assert.equal(await other.evaluate<string>("location.href"), link, "it can be passed on");
      await other.click("#tab-lines");
      await other.waitForSelector("#view-lines .line:nth-child(3)");
      assert.match(
        (await other.textContent("#view-lines")) ?? "",
        /<img src=x onerror=alert\(1\)>/,
      );
      await other.screenshot(pictureOf(`playground-link-${look}`));
      await assertAccessible(other, `${look}, from a link`, context);
      // What is compiled next is another list.
      await paste(other, "||b.example^");
      assert.equal(await other.evaluate<string>("location.hash"), "");
      assert.deepEqual(wrong, []);
      assert.deepEqual(asked, ["/playground/", "/playground/"], "a link is no more than the page");
      await page.close();
      await other.close();
    }
  },
);

test(
  "a link with a configuration that lacks its lists asks for them, and a hostile one says why it fails",
  { timeout: 900_000 },
  async (context) => {
    const { url } = await servedPlayground(context);
    const browser = await browserFor(context);
    const page = await browser.newPage({});
    const long = Array.from(
      { length: 4000 },
      (_, at) => `||${Math.sin(at).toString(36).slice(3)}.example^`,
    );
    const link = await sharedLink(page, url, long.join("\n"));
    assert.match(
      (await page.textContent("#notes")) ?? "",
      /the configuration alone, because the lists are too long/,
    );
    const other = await browser.newPage({});
    await other.goto(link);
    await other.waitForSelector(".problem.error");
    assert.match((await other.textContent("#problems")) ?? "", /own\.txt/);
    assert.match(
      (await other.evaluate<string>("document.querySelector('#config').value")) ?? "",
      /own\.txt/,
    );
    const bomb = deflateRawSync(Buffer.alloc(20_000_000, 32), { level: 9 }).toString("base64url");
    // A browser opens another fragment of the same page without loading it.
    for (const [fragment, reason] of [
      ["#1.AAAA", /cannot be opened\. It is damaged/],
      [`#1.${bomb}`, /more than a link may hold/],
      ["#tab-lines", /not a link of this page/],
    ] as const) {
      await other.goto(url + fragment);
      await other.waitForSelector(`${IDLE} .problem.error`);
      assert.match((await other.textContent("#problems")) ?? "", reason);
      assert.equal(await other.evaluate("document.querySelector('#results').hidden"), true);
      await paste(other, "||b.example^");
      assert.match((await other.textContent("#summary")) ?? "", /^Rules1/, "the page still works");
    }
  },
);

test(
  "a link whose lists take too long is stopped, and the page still works",
  { timeout: 900_000 },
  async (context) => {
    const { url } = await servedPlayground(context);
    const page = await (await browserFor(context)).newPage({});
    // A few kilobytes of link that keep an engine busy whose time grows with the text: long names, and thousands of expressions.
    const exclusions = Array.from(
      { length: 4000 },
      (_, at) => `/z+z+z+z+[0-9]{${(at % 900) + 1}}[a-${String.fromCharCode(98 + (at % 24))}]/`,
    );
    const names = Array.from({ length: 1200 }, (_, at) => "z".repeat(at + 4));
    const shared = {
      config: JSON.stringify({ name: "L", sources: ["a.txt"], exclusions }),
      isOwn: true,
      lists: [["a.txt", `${names.join("\n")}\n`]],
    };
    const code = deflateRawSync(Buffer.from(JSON.stringify(shared)), { level: 9 }).toString(
      "base64url",
    );
    await page.goto(`${url}#1.${code}`);
    await page.waitForSelector(`${IDLE} :is(.problem.error, #summary div)`);
    context.diagnostic((await page.textContent("#problems")) ?? "");
    assert.match((await page.textContent("#problems")) ?? "", /takes longer than 10 seconds/);
    await paste(page, "||b.example^");
    assert.match((await page.textContent("#summary")) ?? "", /^Rules1/);
  },
);

function textFile(
  name: string,
  text: string,
): { name: string; mimeType: string; buffer: Uint8Array } {
  return { name, mimeType: "text/plain", buffer: Buffer.from(text) };
}

test("the policy of the page binds its worker, too", { timeout: 900_000 }, async (context) => {
  const { url, asked } = await servedPlayground(context);
  const page = await (await browserFor(context)).newPage({});
  await page.goto(url);
  await paste(page, "||ads.example^");
  assert.match((await page.textContent("#summary")) ?? "", /Rules1/);
  const tries = `fetch("${url}stolen").then(() => "sent", () => "refused")`;
  assert.equal(await page.evaluate(tries), "refused");
  const inWorker = `new Promise((done) => {
    const code = ${JSON.stringify(`${tries}.then(postMessage)`)};
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => done(data);
  })`;
  assert.equal(await page.evaluate(inWorker), "refused");
  assert.deepEqual(asked, ["/playground/"]);
});

/** A million lines: names, half of them covered, duplicates and comments. */
function manyLines(count: number): string {
  const lines = Array.from({ length: count }, (_, index) =>
    index % 10 === 9
      ? `# comment ${index}`
      : `0.0.0.0 ${index % 2 === 0 ? "" : "sub."}host-${index >> 1}.example${index % 97}.com`,
  );
  return `${lines.join("\n")}\n`;
}

test(
  "a million lines do not freeze the page",
  { timeout: 900_000, skip: !isNightly && "a figure of the nightly run" },
  async (context) => {
    const { url } = await servedPlayground(context);
    const page = await (await browserFor(context)).newPage({});
    const folder = folderOf({ "many.txt": Buffer.from(manyLines(1_000_000)) }, context);
    await page.goto(url);
    await page.evaluate(
      "void (globalThis.tasks = [], new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true }))",
    );
    await page.setInputFiles("#files", [join(folder, "many.txt")]);
    await page.waitForSelector(IDLE);
    const summary = (await page.textContent("#summary")) ?? "";
    context.diagnostic(summary);
    for (const [tab, view] of [
      ["#tab-text", "#view-text"],
      ["#tab-lines", "#view-lines"],
    ] as const) {
      await page.click(tab);
      await page.waitForSelector(`${view} .line`);
      for (let step = 1; step <= 20; step++)
        await page.evaluate(
          `new Promise((drawn) => { const box = document.querySelector("${view}"); box.scrollTop = box.scrollHeight * ${step / 20}; requestAnimationFrame(() => setTimeout(drawn, 20)); })`,
        );
    }
    await page.fill("#find-lines", "host-4999");
    await page.waitForSelector(IDLE);
    await page.click("#tab-why");
    await page.fill("#name", "sub.host-1.example3.com");
    await page.press("#name", "Enter");
    await page.waitForSelector("#answer .verdict");
    await page.click("#tab-formats");
    await page.click("#write");
    await page.waitForSelector("#view-format .line");
    const longest = Math.max(0, ...(await page.evaluate<number[]>("tasks")));
    context.diagnostic(`the longest task of the page took ${longest} ms`);
    // On a busy machine everything takes longer; if the page did the work itself, its tasks would take as long as the compile.
    const compiled = 1000 * Number(/Time([\d.]+) s/.exec(summary)?.[1]);
    assert.ok(longest <= Math.max(200, compiled / 20), `${longest} ms of ${compiled} ms`);
  },
);
