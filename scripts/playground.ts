import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../src/diagnostics/version.ts";
import { PAGE_STYLE } from "../src/pages/html.ts";

/** The playground is one file: page, engine and kernel. Its policy permits these scripts and styles, and no connection at all. */
const site = join(import.meta.dirname, "../site");
const here = join(site, "playground");
const STAND_INS = {
  "node:buffer": "buffer",
  "node:crypto": "crypto",
  "node:stream": "stream",
  "node:stream/promises": "stream",
  "node:timers/promises": "timers",
  "node:url": "url",
  "node:util": "util",
  "node:zlib": "zlib",
};

/** As much of esbuild as is used here. VitePress brings it. */
interface Esbuild {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly text: string }[] }>;
}

async function bundle(entry: string): Promise<string> {
  const esbuild = createRequire(join(site, "package.json"))("esbuild") as Esbuild;
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2023",
    platform: "browser",
    mainFields: ["module", "main"],
    alias: Object.fromEntries(
      Object.entries(STAND_INS).map(([name, file]) => [name, join(here, `node/${file}.ts`)]),
    ),
    tsconfigRaw: "{}",
    legalComments: "none",
    // The engine does without what Deno 2.0 does not have, either.
    logOverride: { "import-is-undefined": "silent" },
  });
  return outputFiles[0]!.text;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** In a script element, only "</script" and "<!--" are special. */
function asScript(text: string): string {
  return text.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
}

/** The page as text. */
async function playgroundPage(): Promise<string> {
  const page = asScript(await bundle("page.ts"));
  const worker = asScript(await bundle("worker.ts"));
  const style = PAGE_STYLE + readFileSync(join(here, "playground.css"), "utf8");
  const policy = [
    "default-src 'none'",
    "connect-src 'none'",
    `script-src ${hashOf(page)} 'wasm-unsafe-eval'`,
    `style-src ${hashOf(style)}`,
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts = new Map([
    ["policy", policy],
    [
      "icon",
      `data:image/svg+xml;base64,${readFileSync(join(site, "../docs/public/icon.svg"), "base64")}`,
    ],
    ["version", VERSION],
    ["style", `<style>${style}</style>`],
    ["worker", `<script type="text/plain" id="worker">${worker}</script>`],
    ["page", `<script>${page}</script>`],
  ]);
  const template = readFileSync(join(here, "playground.html"), "utf8");
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts.get(name)!);
}

/** Writes the page into a folder. */
export async function writePlayground(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.html"), await playgroundPage());
}

if (import.meta.main) await writePlayground(process.argv[2] ?? join(site, "dist/playground"));
