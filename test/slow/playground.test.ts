import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LOOKS, type Page, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";
import {
  compileByCommand,
  compileInPage,
  folderOf,
  servedPlayground,
} from "../support/playground.ts";
import { bytesOf, readVectors } from "../support/vector.ts";

/** The playground in a real browser: the same bytes as the command line, and nothing leaves the page. */

const CONFIG = "configuration.json";
/** A page has files, but no server that answers with errors or redirects. */
const vectors = readVectors().filter(({ http }) => http === undefined);
const chosen = isNightly ? vectors : vectors.filter((_, index) => index % 15 === 0);

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
  for (const { name, config, files = {} } of chosen) {
    const given = Object.fromEntries(
      Object.entries(files).map(([file, content]) => [file, bytesOf(content)]),
    );
    if ((await sameSize(page, [config, given], name, context)) > 0) lists++;
  }
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
    const sources = config.sources.slice(0, isNightly ? undefined : 2);
    const files = sources.map(
      ({ source }) => [source, readFileSync(join(corpusFolder("typical"), source))] as const,
    );
    const given = [{ ...config, sources }, Object.fromEntries(files)] as const;
    const bytes = await sameSize(page, given, "typical", context);
    context.diagnostic(`${sources.length} lists became ${bytes} bytes`);
    assert.ok(bytes > 1000);
  },
);
