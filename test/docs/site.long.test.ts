import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import process from "node:process";
import { type TestContext, before, test } from "node:test";
import { miniSearch } from "../../site/.vitepress/search.ts";
import { LOOKS, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { isNightly } from "../support/nightly.ts";

/** The site as the workflow publishes it, built and looked at. */
const root = join(import.meta.dirname, "../..");
const site = join(root, "site");
const dist = join(site, "dist");
const ofSite = createRequire(join(site, "package.json"));
/** The path of GitHub Pages. */
const BASE = "/rules-compiler/";

before(() => {
  const built = spawnSync("npx", ["vitepress", "build"], {
    cwd: site,
    encoding: "utf8",
    env: { ...process.env, SITE_BASE: BASE },
  });
  assert.equal(built.status, 0, built.stdout + built.stderr);
});

function fileOf(path: string): string | undefined {
  if (!path.startsWith(BASE)) return undefined;
  const clean = decodeURI(path.slice(BASE.length).replace(/[?#].*$/, ""));
  return [clean, `${clean}.html`, join(clean, "index.html")]
    .map((one) => join(dist, one))
    .find((one) => existsSync(one) && statSync(one).isFile());
}

test("the schema is where it says that it is", () => {
  const schema = readFileSync(join(dist, "schema.json"), "utf8");
  assert.equal(schema, readFileSync(join(root, "schema.json"), "utf8"));
  const { $id } = JSON.parse(schema) as { $id: string };
  assert.equal(new URL($id).pathname, `${BASE}schema.json`);
});

test("every link and picture of the site has a target, and so has every anchor", () => {
  const pages = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".html"),
  );
  assert.ok(pages.length > 40, `${pages.length} pages`);
  assert.deepEqual(
    pages.filter((page) => page.startsWith("decisions")),
    [],
    "decisions are read in the repository",
  );
  const idsOf = new Map<string, Set<string>>();
  const hasId = (file: string, id: string): boolean => {
    if (!idsOf.has(file))
      idsOf.set(
        file,
        new Set([...readFileSync(file, "utf8").matchAll(/ id="([^"]+)"/g)].map(([, one]) => one!)),
      );
    return idsOf.get(file)!.has(id);
  };
  let links = 0;
  const dead: string[] = [];
  for (const page of pages) {
    const html = readFileSync(join(dist, page), "utf8");
    for (const [, href, id] of html.matchAll(/(?:href|src)="(\/[^"#]*)(?:#([^"]+))?"/g)) {
      links++;
      const file = fileOf(href!);
      if (file === undefined || (id !== undefined && !hasId(file, decodeURIComponent(id))))
        dead.push(`${page}: ${href}${id === undefined ? "" : `#${id}`}`);
    }
  }
  assert.deepEqual(dead, []);
  assert.ok(links > 1000);
});

/** What people type, and the page or section that answers it. */
const SEARCHES: readonly (readonly [typed: string, page: string])[] = [
  ["whitelist a domain", "guide/when-something-is-blocked"],
  ["unblock", "guide/when-something-is-blocked"],
  ["false positive", "guide/when-something-is-blocked"],
  ["same-host", "reference/fates#same-host"],
  ["public-suffix", "reference/fates#public-suffix"],
  ["error 5", "reference/command-line#exit-codes"],
  ["source-stale", "reference/errors#source-stale"],
  ["kids", "guide/several-lists#a-list-for-the-kids-devices"],
  ["convert to rpz", "guide/convert"],
  ["hosts to adblock", "guide/convert"],
  ["adlist", "guide/come-from"],
  ["import from pihole", "guide/come-from"],
  ["switch from adguard home", "guide/come-from"],
  ["docker", "guide/run#in-a-container"],
  ["cron job", "guide/run#with-cron"],
  ["out of memory", "guide/run#on-a-small-machine"],
  ["why is a site blocked", "guide/when-something-is-blocked"],
  ["undo a bad update", "guide/when-a-night-goes-wrong"],
  ["install on windows", "guide/install"],
  ["add a blocklist", "guide/every-day#add-a-list"],
  ["hblock", "guide/come-from#hblock"],
  ["benchmark", "guide/evidence#speed-and-memory"],
];

/** The part of minisearch that is used here. */
interface MiniSearch {
  loadJSON(
    json: string,
    options: object,
  ): { search(typed: string): readonly { readonly id: string }[] };
}

test("people find what they search for", async () => {
  const chunks = join(dist, "assets/chunks");
  const file = readdirSync(chunks).find((one) => one.startsWith("@localSearchIndex"))!;
  const { default: json } = (await import(join(chunks, file))) as { default: string };
  const { default: search } = (await import(ofSite.resolve("minisearch"))) as {
    default: MiniSearch;
  };
  // As the search box of VitePress loads it.
  const index = search.loadJSON(json, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: miniSearch.searchOptions,
    ...miniSearch.options,
  });
  const wrong = SEARCHES.flatMap(([typed, page]) => {
    const found = index.search(typed).map(({ id }) => id.slice(BASE.length));
    const [first = ""] = found;
    const isRight = first === page || first.startsWith(`${page}#`);
    return isRight ? [] : [`${typed}: ${found.slice(0, 4).join(", ")}, not ${page}`];
  });
  assert.deepEqual(wrong, []);
});

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** The README with the layout and the colours that GitHub gives it. */
function readmePage(): string {
  const Markdown = ofSite("markdown-it") as new (options: object) => {
    render(text: string): string;
  };
  const text = readFileSync(join(root, "README.md"), "utf8");
  return `<!doctype html><html lang="en"><title>README</title><meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{margin:0 auto;max-width:838px;padding:24px 16px;font:16px/1.5 system-ui,sans-serif;color:light-dark(#1f2328,#f0f6fc);background:light-dark(#fff,#0d1117)}
a{color:light-dark(#0969da,#4493f8)}img{max-width:100%}pre{padding:16px;overflow:auto;background:light-dark(#f6f8fa,#151b23)}code{font:85% ui-monospace,monospace}
table{display:block;width:max-content;max-width:100%;overflow:auto;border-collapse:collapse}td,th{padding:6px 13px;border:1px solid #8888}</style>
<main>${new Markdown({ html: true }).render(text).replaceAll("<pre>", '<pre tabindex="0">')}</main></html>`;
}

async function served(context: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const picture = /^\/docs\/public\/[\w.]+$/.test(path) ? join(root, path) : undefined;
    const file = picture ?? fileOf(path);
    response.writeHead(path === "/README" || file !== undefined ? 200 : 404, {
      "content-type":
        TYPES[file === undefined ? ".html" : extname(file)] ?? "application/octet-stream",
    });
    response.end(path === "/README" ? readmePage() : file === undefined ? "" : readFileSync(file));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The report, the status page and the playground at work have tests of their own, with the same looks. */
const LOOKED_AT: readonly (readonly [name: string, path: string])[] = [
  ["readme", "/README"],
  ["home", BASE],
  ["start", `${BASE}guide/start`],
  ["configuration", `${BASE}reference/configuration`],
  ["formats", `${BASE}reference/formats`],
  ...(isNightly
    ? ["evidence", "come-from", "questions", "run", "install", "serve"].map(
        (name) => [name, `${BASE}guide/${name}`] as const,
      )
    : []),
];

for (const [look, options] of LOOKS)
  test(
    `pages are accessible and nothing is cut: ${look}`,
    { timeout: 300_000 },
    async (context) => {
      const base = await served(context);
      const page = await (await browserFor(context)).newPage(options);
      const wrong: string[] = [];
      page.on("pageerror", ({ message }) => wrong.push(message ?? ""));
      page.on("request", (request) => {
        const asked = request.url?.() ?? "";
        if (!asked.startsWith(base) && !/^(?:data|blob):/.test(asked)) wrong.push(`asks ${asked}`);
      });
      for (const [name, path] of LOOKED_AT) {
        await page.goto(base + path);
        if ((await page.evaluate("document.querySelectorAll('h1').length")) !== 1)
          wrong.push(`${name} has not one title`);
        if (isNightly) await page.screenshot(pictureOf(`face-${name}-${look}`));
        await assertAccessible(page, `${name}, ${look}`, context).catch((error: Error) =>
          wrong.push(error.message),
        );
      }
      assert.deepEqual(wrong, []);
    },
  );
