import assert from "node:assert/strict";
import { type Specified, type SpecifiedSection, ended, written } from "../support/specified.ts";

const SOURCE = { name: "Ads", source: "a.txt", type: "adblock" };
const MINIMAL = { name: "L", sources: [SOURCE] };
const LIST = "||ads.example^\n";

async function compiled(config: object, list: string = LIST): Promise<string> {
  const files = { "compiler-config.json": JSON.stringify(config), "a.txt": list, "b.txt": "ads" };
  const { exit, stderr, host } = await ended("", { files });
  assert.equal(exit, 0, stderr);
  return written(host, "/project/rules/l.txt");
}

async function refused(file: string, text: string, message: RegExp): Promise<void> {
  const { exit, stderr } = await ended(`-c ${file}`, { files: { [file]: text, "a.txt": LIST } });
  assert.equal(exit, 2);
  assert.match(stderr, message);
}

async function warned(config: object, message: RegExp): Promise<void> {
  const files = { "c.json": JSON.stringify(config), "a.txt": LIST };
  const { exit, stderr } = await ended("-c c.json", { files });
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /^warning/m);
  assert.match(stderr, message);
}

async function noted(config: object, message: RegExp): Promise<void> {
  const files = { "c.json": JSON.stringify(config), "a.txt": LIST };
  const { exit, stderr } = await ended("validate -c c.json", { files });
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /^note/);
  assert.match(stderr, message);
}

export const files: SpecifiedSection = {
  title: "Configuration file",
  items: [
    {
      item: ".json",
      meaning:
        "JSON. Trailing commas, unquoted keys, single quotes, missing colons and comments are invalid.",
      check: async () => {
        await compiled(MINIMAL);
        for (const text of [
          `{"name": "L", "sources": [],}`,
          `{name: "L"}`,
          `{'name': 'L'}`,
          `{"name" "L"}`,
          `{"name": "L" /* a comment */}`,
        ])
          await refused("c.json", text, /Invalid JSON|Invalid configuration|Failed to parse/);
      },
    },
    {
      item: ".jsonc",
      meaning: "JSON with comments.",
      check: async () => {
        const text = `// a comment\n${JSON.stringify(MINIMAL)}`;
        const { exit } = await ended("-c c.jsonc", { files: { "c.jsonc": text, "a.txt": LIST } });
        assert.equal(exit, 0);
      },
    },
    {
      item: ".yaml",
      meaning: "YAML with the same fields.",
      check: async () => {
        const text = "name: L\nsources:\n  - {name: Ads, source: a.txt, type: adblock}\n";
        const { exit } = await ended("-c c.yaml", { files: { "c.yaml": text, "a.txt": LIST } });
        assert.equal(exit, 0);
      },
    },
  ],
};

/** A field whose value stands in the header of the list. */
function shown(item: string, meaning: string, line: RegExp): Specified {
  return {
    item,
    meaning,
    check: async () => assert.match(await compiled({ ...MINIMAL, [item]: "Some text" }), line),
  };
}

export const fields: SpecifiedSection = {
  title: "Configuration field",
  items: [
    {
      item: "name",
      meaning: "Title of the list. Required.",
      check: async () => {
        assert.match(await compiled(MINIMAL), /^! Title: L$/m);
        await refused("c.json", JSON.stringify({ sources: [SOURCE] }), /name is required/);
      },
    },
    {
      item: "sources",
      meaning: "The lists to compile. Required.",
      check: async () => {
        assert.match(await compiled(MINIMAL), /^\|\|ads\.example\^$/m);
        await refused("c.json", JSON.stringify({ name: "L" }), /sources is required/);
      },
    },
    shown("version", "A free text that labels the list.", /^! Version: Some text$/m),
    shown("description", "Shown in the header.", /^! Description: Some text$/m),
    {
      item: "homepage",
      meaning: "URL, shown in the header.",
      met: "the same; a warning if it is not an http: or https: URL",
      check: async () => {
        const homepage = "https://lists.example/";
        assert.match(
          await compiled({ ...MINIMAL, homepage }),
          /^! Homepage: https:\/\/lists\.example\/$/m,
        );
        for (const text of ["not a url", "javascript:x", "lists.example"])
          await warned({ ...MINIMAL, homepage: text }, /homepage is not an http: or https: URL/);
      },
    },
    shown("license", "Shown in the header.", /^! License: Some text$/m),
    {
      item: "transformations",
      meaning: "Names of transformations for the whole list.",
      check: async () => {
        const list = await compiled({ ...MINIMAL, transformations: ["Deduplicate"] }, LIST + LIST);
        assert.equal(list.match(/ads\.example/g)?.length, 1);
      },
    },
    {
      item: "exclusions_sources",
      meaning: "Files that hold exclusions.",
      check: async () => {
        const list = "||ads.example^\n||kept.example^\n";
        const config = { ...MINIMAL, exclusions_sources: ["b.txt"] };
        const text = await compiled(config, list);
        assert.doesNotMatch(text, /\|\|ads/);
        assert.match(text, /\|\|kept/);
      },
    },
  ],
};

export const sourceFields: SpecifiedSection = {
  title: "Field of a source",
  items: [
    {
      item: "name",
      meaning: "Label of the source. Specified as required.",
      met: "a note of `validate` if it is missing; the address or path is the label then",
      check: async () => {
        assert.match(await compiled(MINIMAL), /^! Source name: Ads$/m);
        await noted({ name: "L", sources: [{ ...SOURCE, name: undefined }] }, /has no name/);
      },
    },
    {
      item: "source",
      meaning: "Address or path. Required.",
      met: "the same; an address in a private network also needs `allow_private`",
      check: async () => {
        const sources = [{ name: "Ads", type: "adblock" }];
        await refused(
          "c.json",
          JSON.stringify({ name: "L", sources }),
          /source of sources\[0\] is required/,
        );
        const config = { name: "L", sources: [{ ...SOURCE, source: "https://a.example/l.txt" }] };
        const { exit } = await ended("", {
          files: { "compiler-config.json": JSON.stringify(config) },
          web: { "https://a.example/l.txt": LIST },
        });
        assert.equal(exit, 0);
      },
    },
    {
      item: "type: adblock",
      meaning: "What the list is written in. Specified as required.",
      met: "a note of `validate` if it is missing; `adblock` then. Other values are in the reference",
      check: async () => {
        await compiled(MINIMAL);
        await noted({ name: "L", sources: [{ ...SOURCE, type: undefined }] }, /has no type/);
      },
    },
    {
      item: "transformations",
      meaning: "Names of transformations for this source only.",
      check: async () => {
        const source = { ...SOURCE, transformations: ["RemoveComments"] };
        const list = await compiled({ name: "L", sources: [source] }, `! a comment\n${LIST}`);
        assert.doesNotMatch(list, /a comment/);
      },
    },
  ],
};

/** What each does to a list that shows it. */
const EFFECTS: Readonly<Record<string, readonly [meaning: string, list: string, after: RegExp]>> = {
  RemoveComments: ["Drops comments.", "! gone\n||a.example^\n", /^(?![^]*gone)/],
  Compress: [
    "Writes hosts lines as rules, and drops what a parent covers.",
    "0.0.0.0 a.example\n||b.a.example^\n",
    /^\|\|a\.example\^\n*$/,
  ],
  RemoveModifiers: [
    "Drops modifiers that DNS does not know.",
    "||a.example^$third-party\n",
    /^\|\|a\.example\^\n*$/,
  ],
  Validate: [
    "Drops what is not a rule for DNS.",
    "||a.example^\n||192.168.1.1^\nx##.y\n",
    /^\|\|a\.example\^\n*$/,
  ],
  ValidateAllowIp: [
    "The same, but rules for addresses stay.",
    "||a.example^\n||93.184.216.34^\nx##.y\n",
    /^\|\|a\.example\^\n\|\|93\.184\.216\.34\^\n*$/,
  ],
  Deduplicate: ["Every rule once.", "||a.example^\n||a.example^\n", /^\|\|a\.example\^\n*$/],
  InvertAllow: ["Blocking rules become exceptions.", "||a.example^\n", /^@@\|\|a\.example\^\n*$/],
  RemoveEmptyLines: [
    "Drops empty lines.",
    "||a.example^\n\n||b.example^\n",
    /^\|\|a\.example\^\n\|\|b\.example\^\n*$/,
  ],
  TrimLines: ["Drops blanks around lines.", "  ||a.example^  \n", /^\|\|a\.example\^\n*$/],
  InsertFinalNewLine: ["Ends the list with a line feed.", "||a.example^", /\^\n$/],
  ConvertToAscii: [
    "Writes names in ASCII.",
    "||bücher.example^\n",
    /^\|\|xn--bcher-kva\.example\^\n*$/,
  ],
};

export const transformations: SpecifiedSection = {
  title: "Transformation",
  items: [
    ...Object.entries(EFFECTS).map(([item, [meaning, list, after]]): Specified => ({
      item,
      meaning,
      check: async () => {
        const text = await compiled({ ...MINIMAL, transformations: [item] }, list);
        assert.match(text.replace(/^(?:!.*\n)+/, ""), after);
      },
    })),
    {
      item: "compress",
      meaning: "Names are case-sensitive: this is not one.",
      check: async () => {
        const text = JSON.stringify({ ...MINIMAL, transformations: ["compress"] });
        await refused("c.json", text, /Unknown transformation: compress/);
      },
    },
  ],
};
