import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { browserFor } from "../support/browser.ts";
import { corpusFile, missingCorpus } from "../support/corpus.ts";
import { memoryHost } from "../support/internals.ts";

/** The pictures of the README and of the site. `UPDATE_SCREENS=1` writes them. */
const PUBLIC = join(import.meta.dirname, "../../docs/public");
const IS_UPDATE = process.env["UPDATE_SCREENS"] === "1";

const LISTS = [
  ["StevenBlack", "power", "StevenBlack__hosts__hosts"],
  ["HaGeZi", "power", "hagezi__dns-blocklists__adblock_light.txt"],
  ["OISD small", "typical", "sjhgvr__oisd__abp_small.txt"],
  ["KADhosts", "power", "FiltersHeroes__KADhosts__KADhosts.txt"],
  ["AdAway", "power", "StevenBlack__hosts__data_adaway.org_hosts"],
] as const;
const COMMAND = "rules-compiler audit AdGuardHome.yaml";
/** What follows the table is too long for a phone. */
const LAST_LINE = / redundant$/;

/** A command, and what it prints about real lists on a terminal with colours. */
async function session(): Promise<string[]> {
  const filters = LISTS.map(([name], index) => ({
    enabled: true,
    url: `https://lists.example/${index}.txt`,
    name,
  }));
  const web = LISTS.map(([, set, file], index) => [filters[index]!.url, corpusFile(set, file)]);
  const memory = memoryHost({
    files: { "AdGuardHome.yaml": JSON.stringify({ filters }) },
    web: Object.fromEntries(web) as Record<string, string>,
    now: new Date("2026-11-18T06:00:00Z"),
    isTerminal: true,
    env: { FORCE_COLOR: "1", TERM: "xterm-256color" },
  });
  const words = [...COMMAND.split(" ").slice(1), "-q"];
  assert.equal(await run(words, memory, new AbortController().signal), 0, memory.output.stderr);
  const lines = memory.output.stdout.trimEnd().split("\n");
  const last = lines.findLastIndex((line) => LAST_LINE.test(line));
  return [`\u001b[32m$\u001b[39m \u001b[1m${COMMAND}\u001b[22m`, ...lines.slice(0, last + 1)];
}

/** The picture is as wide as its longest line, and not wider: it is read on phones. */
const LINE = 22;
const CHARACTER = 8.43;
const EDGE = 9;

const CLASSES = new Map([
  ["1", "strong"],
  ["2", "faint"],
  ["31", "bad"],
  ["32", "good"],
  ["33", "warn"],
  ["36", "note"],
]);

/** A line with its colours as classes. */
function svgLine(line: string, index: number): string {
  let shown = "";
  let style = "";
  // oxlint-disable-next-line no-control-regex
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    // oxlint-disable-next-line no-control-regex
    const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
    if (code !== undefined) style = CLASSES.get(code) ?? "";
    else if (part !== "")
      shown += style === "" ? escaped(part) : `<tspan class="${style}">${escaped(part)}</tspan>`;
  }
  return `<text x="${EDGE}" y="${27 + index * LINE}" xml:space="preserve">${shown}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const STYLE =
  "rect{fill:#14171d}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e8eaf0}.strong{font-weight:700}.faint{fill:#a3a9b8}.bad{fill:#ff8f86}.good{fill:#63d392}.warn{fill:#f0b35a}.note{fill:#7db0ff}";

function picture(lines: readonly string[]): string {
  // oxlint-disable-next-line no-control-regex
  const columns = Math.max(...lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, "").length));
  const width = Math.ceil(2 * EDGE + columns * CHARACTER);
  const height = 16 + lines.length * LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width * 1.5}" height="${height * 1.5}" viewBox="0 0 ${width} ${height}" role="img" aria-label="rules-compiler audit, for five well-known blocklists: one of them adds nothing">`,
    `<style>${STYLE}</style>`,
    `<rect width="${width}" height="${height}" rx="8"/>`,
    ...lines.map(svgLine),
    "</svg>\n",
  ].join("\n");
}

test("the session is what the program prints for real lists", { skip: missingCorpus }, async () => {
  const path = join(PUBLIC, "session.svg");
  const shown = picture(await session());
  if (IS_UPDATE) writeFileSync(path, shown);
  assert.equal(readFileSync(path, "utf8"), shown);
  const width = Number(/viewBox="0 0 (\d+)/.exec(shown)![1]);
  assert.ok((14 * 358) / width > 10, "letters of more than ten pixels on a phone");
});

const CARD = { width: 1200, height: 630 };

test("the social card has the size that sites show", async (context) => {
  const path = join(PUBLIC, "card.png");
  if (IS_UPDATE) {
    const page = await (await browserFor(context)).newPage({ viewport: CARD });
    const [icon, shown] = ["icon.svg", "session.svg"].map((file) =>
      readFileSync(join(PUBLIC, file), "utf8"),
    );
    const html = `<style>body{margin:0;padding:44px 64px;background:#0c0e12;color:#e8eaf0;font:30px system-ui,sans-serif}
h1{display:flex;align-items:center;gap:24px;margin:0 0 12px;font-size:60px}p{margin:0 0 36px;color:#a3a9b8}svg{flex:none;width:72px;height:auto}p+svg{width:820px}</style>
<h1>${icon}rules-compiler</h1><p>Many DNS blocklists into one, and every line has a fate</p>${shown}`;
    await page.goto(`data:text/html;charset=utf-8,${encodeURIComponent(html)}`);
    await page.screenshot({ path, fullPage: false });
  }
  const bytes = readFileSync(path);
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [CARD.width, CARD.height]);
  assert.ok(bytes.length < 200_000, `${bytes.length} bytes`);
});
