import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { test } from "node:test";
import { LOOKS, browserFor, pictureOf } from "../support/browser.ts";

/** The documentation site, built and looked at. VitePress itself refuses links that lead nowhere; the built pages are asked once more. */
const site = join(import.meta.dirname, "../../site");
const dist = join(site, "dist");
const LOOKED_AT = [
  "/",
  "/playground/",
  "/guide/start",
  "/guide/comparison",
  "/guide/cookbook",
  "/reference/configuration",
  "/reference/library",
  "/how-it-works",
  "/roles/operator",
];
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

function fileOf(path: string): string | undefined {
  const clean = decodeURI(path.replace(/[?#].*$/, ""));
  return [clean, `${clean}.html`, join(clean, "index.html")]
    .map((one) => join(dist, one))
    .find((one) => existsSync(one) && statSync(one).isFile());
}

test(
  "the site builds, its links work, and its pages fit a desktop and a phone",
  { timeout: 900_000 },
  async (context) => {
    const built = spawnSync("npx", ["vitepress", "build"], { cwd: site, encoding: "utf8" });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    const pages = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter(
      (file) => file.endsWith(".html") && file !== "404.html",
    );
    assert.ok(pages.length > 35, `${pages.length} pages`);
    let links = 0;
    for (const page of pages) {
      const html = readFileSync(join(dist, page), "utf8");
      for (const [, href] of html.matchAll(/<a [^>]*href="(\/[^"#]*)/g)) {
        links++;
        assert.ok(fileOf(href!) !== undefined, `${page}: ${href}`);
      }
    }
    assert.ok(links > 1000);
    const server = createServer((request, response) => {
      const file = fileOf(request.url ?? "/");
      response.writeHead(file === undefined ? 404 : 200, {
        "content-type": TYPES[extname(file ?? "")] ?? "application/octet-stream",
      });
      response.end(file === undefined ? "" : readFileSync(file));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    context.after(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const browser = await browserFor(context);
    for (const [look, options] of LOOKS) {
      const page = await browser.newPage(options);
      const wrong: string[] = [];
      page.on("pageerror", ({ message }) => wrong.push(message ?? ""));
      page.on("request", (request) => {
        const asked = request.url?.() ?? "";
        if (!asked.startsWith(base) && !/^(?:data|blob):/.test(asked)) wrong.push(`asks ${asked}`);
      });
      for (const path of LOOKED_AT) {
        await page.goto(base + path);
        const wide = await page.evaluate<number>(
          "document.documentElement.scrollWidth - innerWidth",
        );
        assert.ok(wide <= 0, `${path} on ${look} scrolls sideways by ${wide}`);
        assert.equal(
          await page.evaluate<number>("document.querySelectorAll('h1').length"),
          1,
          path,
        );
        await page.screenshot(
          pictureOf(
            `site-${path.replaceAll("/", "-").replace(/^-$/, "-home")}-${look}`.replace("--", "-"),
          ),
        );
      }
      assert.deepEqual(wrong, []);
    }
  },
);
