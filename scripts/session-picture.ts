import { run } from "../src/cli/main.ts";
import { memoryHost } from "../test/support/internals.ts";
import { packingHost } from "../test/support/packing-host.ts";

/** A terminal session as a picture. The program really runs, in memory; nothing here is typed by hand. */

const COLUMNS = 92;
const LINE = 20;
const CHARACTER = 8.4;

function names(start: string, from: number, to: number): string {
  return Array.from(
    { length: to - from },
    (_, index) => `||${start}${from + index}.example^\n`,
  ).join("");
}

const SETTINGS = `filters:
  - { enabled: true, url: https://lists.example/base.txt, name: Base list }
  - { enabled: true, url: https://lists.example/ads.txt, name: Ads and trackers }
  - { enabled: true, url: https://lists.example/mini.txt, name: Mini list }
  - { enabled: true, url: https://lists.example/phishing.txt, name: Phishing }
user_rules: ["@@||shop.example^"]
`;

/** Two commands and what they print on a terminal with colours. Between them, the settings are imported and compiled. */
async function session(): Promise<string[]> {
  const memory = memoryHost({
    files: { "AdGuardHome.yaml": SETTINGS },
    web: {
      "https://lists.example/base.txt": `! base\n${names("ads", 0, 4200)}${names("track", 0, 1800)}`,
      "https://lists.example/ads.txt": `! ads\n${names("ads", 900, 5200)}sub.ads12.example\n`,
      "https://lists.example/mini.txt": `! mini\n${names("ads", 0, 1500)}`,
      "https://lists.example/phishing.txt": `! phishing\n${names("login", 0, 2600)}||com^\n`,
    },
    now: new Date("2026-11-15T06:00:00Z"),
    isTerminal: true,
    env: { FORCE_COLOR: "1", TERM: "xterm-256color" },
  });
  const host = packingHost(memory);
  const wide = { ...host, cacheDir: () => "/cache", stdout: { ...host.stdout, columns: COLUMNS } };
  const lines: string[] = [];
  const say = async (words: string): Promise<void> => {
    memory.output.stdout = "";
    const argv = [...words.split(" ").slice(1), "-q"];
    await run(argv, wide, new AbortController().signal);
    lines.push(`\u001b[32m$\u001b[39m \u001b[1m${words}\u001b[22m`);
    lines.push(...memory.output.stdout.trimEnd().split("\n"), "");
  };
  await say("rules-compiler audit AdGuardHome.yaml");
  const audit = lines.splice(0);
  await say("rules-compiler init --from AdGuardHome.yaml");
  await say("rules-compiler compile");
  lines.length = 0;
  await say("rules-compiler why sub.ads12.example");
  lines.unshift(...audit);
  lines.pop();
  return lines;
}

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
  return `<text x="16" y="${34 + index * LINE}" xml:space="preserve">${shown}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const STYLE =
  "rect{fill:#14171d}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e8eaf0}.strong{font-weight:700}.faint{fill:#a3a9b8}.bad{fill:#ff8f86}.good{fill:#63d392}.warn{fill:#f0b35a}.note{fill:#7db0ff}";

/** The picture of the README and of the site. */
export async function sessionPicture(): Promise<string> {
  const lines = await session();
  const width = Math.round(32 + COLUMNS * CHARACTER);
  const height = 48 + lines.length * LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="rules-compiler audit: what four blocklists add and share">`,
    `<style>${STYLE}</style>`,
    `<rect width="${width}" height="${height}" rx="8"/>`,
    ...lines.map(svgLine),
    "</svg>\n",
  ].join("\n");
}
