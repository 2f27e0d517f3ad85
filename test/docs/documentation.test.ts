import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { commandNamed, commands } from "../../src/cli/commands/registry.ts";
import { FLAGS, SHOWN_FLAGS } from "../../src/cli/flags/flags.ts";
import { CODES } from "../../src/diagnostics/codes.ts";
import { FATES, Fate, RANKS, type Rank } from "../../src/rules/fate.ts";
import { FATE_ENTRIES } from "../../src/explain/glossary.ts";
import { blocksOf } from "../support/markdown.ts";

const root = join(import.meta.dirname, "../..");
const pages = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];

test("every code has a section in the reference and every section a code", () => {
  const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
  const sections = [...page.matchAll(/^## (.+)$/gm)].map((match) => match[1]!);
  assert.deepEqual(sections, Object.keys(CODES).toSorted());
});

test("every code is used in the source", () => {
  const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("codes.ts"))
    .map((file) => readFileSync(join(root, "src", file), "utf8"))
    .join("\n");
  for (const code of Object.keys(CODES)) assert.ok(source.includes(`"${code}"`), code);
});

test("fate names and numbers agree", () => {
  assert.equal(FATES.length, Object.keys(Fate).length);
  for (const [name, number] of Object.entries(Fate))
    assert.equal(FATES[number][0], name.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase());
});

test("every fate has a heading in the reference, in the order of ranks", () => {
  const page = readFileSync(join(root, "docs/reference/fates.md"), "utf8");
  const sections = [...page.matchAll(/^## (.+)\n\nRank: ([a-z-]+)\./gm)];
  const names = sections.map(([, name]) => name!);
  assert.deepEqual(names.toSorted(), [...FATE_ENTRIES.keys()].toSorted());
  const ranks = sections.map(([, , rank]) => RANKS.indexOf(rank as Rank));
  assert.deepEqual(
    ranks,
    ranks.toSorted((a, b) => a - b),
  );
});

test("links between pages point to existing files", () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8").replace(/```[^]*?```/g, "");
    for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
      assert.ok(existsSync(join(root, dirname(page), target!)), `${page}: ${target}`);
  }
});

test("the README is short: 150 lines, and the rest is linked", () => {
  const lines = readFileSync(join(root, "README.md"), "utf8").trimEnd().split("\n");
  assert.ok(lines.length <= 150, `${lines.length} lines`);
});

/** What a test needs and a person does not type; it belongs into a hidden block. */
const PLUMBING =
  /\|\| (?:true|echo|exit)|--retry|--silent|curl -s|> \S+ 2>&1|&$|\| sed |^for |^until |kill %|node_modules\/\.bin|\bnpx /m;

test("guides show what a person types, and every block of the five minutes is followed", () => {
  let count = 0;
  for (const page of pages.filter((one) => /^docs.(?:guide|resolvers)/.test(one)))
    for (const { language, title, text, isHidden } of blocksOf(
      readFileSync(join(root, page), "utf8"),
    )) {
      if (page.endsWith("start.md")) assert.ok(language === "sh" || title !== undefined, text);
      if (language !== "sh" || isHidden || title !== undefined) continue;
      count++;
      assert.doesNotMatch(text, PLUMBING, page);
    }
  assert.ok(count > 80, `${count} blocks`);
});

/** Files of other kinds that name commands and options. */
const others = ["deploy", "packaging"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:ya?ml|service|timer|md|sh|json|tpl|mjs|txt)$/.test(file))
    .map((file) => join(folder, file)),
);
/** What a user reads; decisions and the changelog name what was. */
const guides = pages.filter((page) => !/^(?:docs\/decisions|CHANGELOG)/.test(page));
/** Options of other programs that a page names alone. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  "docs/guide/come-from.md": ["sources", "allowlist", "denylist", "template", "continue"],
  "docs/guide/evidence.md": ["template", "continue", "retry"],
  "docs/guide/publish-elsewhere.md": ["check"],
  "docs/reference/formats.md": ["servers-file"],
};

/** The command lines of this program in a text: in blocks, in inline code, and in files that are code. */
function commandLines(text: string, isCode: boolean): string[] {
  const blocks = isCode
    ? [text]
    : [...text.matchAll(/^```[^\n]*\n([^]*?)^```/gm)].map(([, code]) => code!);
  const inline = isCode
    ? []
    : [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  const named = commands.map(({ name }) => name).join("|");
  return [
    ...[...blocks, ...inline].flatMap((code) =>
      [
        ...code
          .replaceAll("\\\n", " ")
          .matchAll(/(?<![\w./@:+-]|--name )rules-compiler((?: +[^\n|;&<>`#]*)?)/g),
      ].map(([, words]) => words!.trim()),
    ),
    ...inline.filter((code) => new RegExp(`^(?:${named}) -|^--[a-z]`).test(code)),
  ];
}

test("every command and option that a page or a deployment names exists", () => {
  const flags = new Set<string>(FLAGS.map(({ name }) => name));
  let count = 0;
  for (const page of [...guides, ...others, "action.yml", "Dockerfile", "compose.yaml"])
    for (const line of commandLines(
      readFileSync(join(root, page), "utf8"),
      !page.endsWith(".md"),
    )) {
      const where = `${page}: ${line}`;
      const [first = ""] = line.split(" ");
      if (/^[a-z]+$/.test(first)) assert.ok(commandNamed(first) !== undefined, where);
      for (const [, flag] of line.matchAll(/(?<=^| )--([a-z][a-z-]*)/g)) {
        count++;
        assert.ok(flags.has(flag!) || FOREIGN[page]?.includes(flag!), `${where}: --${flag}`);
      }
    }
  assert.ok(count > 100, `${count} options`);
});

test("the surface stays small: commands, options and libraries", () => {
  // One more command is still to come.
  const own = commands.filter(({ name }) => name !== "help" && name !== "completions");
  assert.ok(own.length <= 24 - 1, `${own.length} commands`);
  assert.ok(SHOWN_FLAGS.length <= 55, `${SHOWN_FLAGS.length} options`);
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  assert.ok(Object.keys(dependencies).length <= 6, Object.keys(dependencies).join());
});
