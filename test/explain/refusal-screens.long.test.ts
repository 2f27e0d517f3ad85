import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/internals.ts";

const SCREENS = join(import.meta.dirname, "screens");
const NOW = new Date("2026-11-10T00:00:00Z");
const LONG = "A list with a name that is rather long for a terminal of eighty columns";
const TRACKER = "https://lists.example/t.txt";

function names(start: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `||${start}${index}.example^`);
}

const OWN = names("o", 200);
const THEIRS = [...names("t", 300), "# a comment", "||t1.example^"];

interface Screen {
  readonly exit: number;
  /** What the two sources have the second time. */
  readonly own?: readonly string[];
  readonly theirs?: readonly string[];
  readonly config?: object;
  /** Nothing is taken away from a fully trusted source. */
  readonly ownTrust?: "standard";
  /** Without a list that is published already. */
  readonly isFirst?: true;
  readonly words?: readonly string[];
}

/** What a person sees in a terminal of 80 columns when a list is refused, or published with a warning. */
const CASES: Readonly<Record<string, Screen>> = {
  "refused-min-rules": { exit: 5, isFirst: true, config: { guards: { min_rules: 1000 } } },
  "refused-lifeline": { exit: 5, own: [...OWN, "||apple.com^"] },
  "refused-lifelines": { exit: 5, own: [...OWN, "||apple.com^", "||ntp.org^", "||gstatic.com^"] },
  "refused-lifeline-verbose": { exit: 5, own: [...OWN, "||apple.com^"], words: ["--verbose"] },
  "refused-everything": { exit: 5, own: [...OWN, "/./"] },
  "refused-suffix": { exit: 5, own: [...OWN, "||com^"] },
  "warned-protected-below-full": {
    exit: 0,
    theirs: [...THEIRS, "||crl.microsoft.com^", "||ghcr.io^", "||apple.com^"],
  },
  "warned-protected-full": { exit: 0, own: [...OWN, "||crl.microsoft.com^"] },
  "warned-protected-full-many": {
    exit: 0,
    own: [...OWN, ..."crl.microsoft.com ghcr.io quay.io".split(" ").map((name) => `||${name}^`)],
  },
  "warned-suffixes": { exit: 0, own: [...OWN, "||zip^", "||top^"] },
  "warned-new-exceptions": {
    exit: 0,
    ownTrust: "standard",
    theirs: [...THEIRS, ...OWN.slice(0, 30).map((rule) => `@@${rule}`)],
  },
};

for (const [name, screen] of Object.entries(CASES))
  test(`refusal screen: ${name}`, async () => {
    const web = { [TRACKER]: `${THEIRS.join("\n")}\n` };
    const sources = [
      { name: "Own", source: "own.txt", type: "adblock", trust: screen.ownTrust },
      { name: LONG, source: TRACKER, type: "adblock" },
    ];
    const transformations = ["RemoveComments", "Compress", "Deduplicate"];
    const config = { name: "My list", sources, transformations, ...screen.config };
    const memory = memoryHost({
      files: { "c.json": JSON.stringify(config), "own.txt": `${OWN.join("\n")}\n` },
      web,
      env: { CI: "true" },
      isTerminal: true,
    });
    const compile = async (...words: string[]): Promise<number> => {
      memory.output.stderr = "";
      const args = ["-c", "c.json", "-o", "l.txt", ...words];
      return await run(args, { ...memory, now: () => NOW }, new AbortController().signal);
    };
    if (screen.isFirst !== true) assert.equal(await compile(), 0, memory.output.stderr);
    const { own = OWN, theirs = THEIRS, words = [] } = screen;
    memory.files.set("/project/own.txt", new TextEncoder().encode(`${own.join("\n")}\n`));
    web[TRACKER] = `${theirs.join("\n")}\n`;
    assert.equal(await compile(...words), screen.exit, memory.output.stderr);
    // Steps take their time.
    const seen = memory.output.stderr.replaceAll(/^debug: .*\n(?: {4}.*\n)*/gm, "");
    for (const line of seen.split("\n"))
      assert.ok(line.length <= 80, `wider than the terminal: ${line}`);
    const file = join(SCREENS, `${name}.txt`);
    if (process.env["UPDATE_SCREENS"] !== undefined) writeFileSync(file, seen);
    assert.equal(seen, readFileSync(file, "utf8"));
  });
