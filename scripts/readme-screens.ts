import { run } from "../src/cli/main.ts";
import { memoryHost } from "../test/support/internals.ts";
import { packingHost } from "../test/support/packing-host.ts";

/** Program output for pages, between markers. It comes from real runs in memory and is never typed by hand. */
const MARKER = /(<!-- screen: (?<name>[a-z-]+) -->\n)[^]*?(<!-- \/screen -->)/g;

function names(start: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `||${start}${index + 1}.example^\n`).join("");
}

/** Three sources and a published list; since then, one source has gained two lines. */
async function screens(): Promise<Record<string, string>> {
  const sources = [
    { name: "Ads", source: "ads.txt", type: "hosts" },
    { name: "Phishing", source: "phishing.txt", type: "adblock" },
    { name: "Own", source: "own.txt", type: "adblock" },
  ];
  const transformations = ["RemoveComments", "Compress", "Deduplicate", "InsertFinalNewLine"];
  const memory = memoryHost({
    files: {
      "compiler-config.json": JSON.stringify({ name: "My list", sources, transformations }),
      "ads.txt":
        "# ads\n0.0.0.0 ads.example.com\n0.0.0.0 metrics.ads.example.com\n0.0.0.0 tracker.example.net\n",
      "phishing.txt": `! phishing\n${names("login-", 400)}||ads.example.com^\n`,
      "own.txt": "! own\n||metrics.ads.example.com^\n||example.org/banner.js\n",
    },
    now: new Date("2026-11-15T06:00:00Z"),
  });
  const host = packingHost(memory);
  const say = async (line: string): Promise<string> => {
    memory.output.stdout = "";
    await run([...line.split(" ").slice(1), "-q"], host, new AbortController().signal);
    return `\`\`\`console\n$ ${line}\n${memory.output.stdout}\`\`\`\n`;
  };
  await say("rules-compiler compile");
  const why = await say("rules-compiler why metrics.ads.example.com");
  const stats = await say("rules-compiler stats");
  const bad = `! phishing\n${names("login-", 400)}||ads.example.com^\n||com^\n`;
  memory.files.set("/project/phishing.txt", new TextEncoder().encode(bad));
  const plan = await say("rules-compiler plan");
  return { plan, why, stats };
}

/** Returns the text of a page with its current screens. */
export async function withScreens(page: string): Promise<string> {
  const shown = await screens();
  return page.replaceAll(MARKER, (...match: unknown[]) => {
    const { name } = match.at(-1) as { name: string };
    return `${String(match[1])}${shown[name] ?? ""}${String(match[3])}`;
  });
}
