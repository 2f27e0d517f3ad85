import type { Json } from "../src/config/fields.ts";
import { printable } from "../src/diagnostics/text.ts";
import type { FateName } from "../src/rules/fate.ts";
import { yamlText } from "./keys.ts";

/** A list with a line that has a fate, and the settings that it depends on. A test compiles them. */
export interface FateExample {
  /** The text of `list.txt`. */
  readonly text: string;
  /** The line that has the fate, if it is not the first. */
  readonly line?: number;
  /** The file that has the line, if it is not `list.txt`. */
  readonly file?: string;
  /** Settings of `list.txt` as a source. */
  readonly source?: Readonly<Record<string, Json>>;
  /** Settings of the list. */
  readonly list?: Readonly<Record<string, Json>>;
  /** Other files that decide. */
  readonly files?: Readonly<Record<string, string>>;
  /** The text of `list.txt` when the list was published before, 100 days ago. */
  readonly before?: string;
  /** What else must hold, where files cannot show it. */
  readonly when?: string;
}

const UNTRUSTED = { trust: "standard" };
const CSV = { type: "csv", column: "host" };

export const FATE_EXAMPLES: Readonly<Record<Exclude<FateName, "spare">, FateExample>> = {
  kept: { text: "||ads.example.com^" },
  blank: { text: "ads.example.com\n\ntracker.example.com", line: 2, source: { type: "domains" } },
  directive: { text: "!#if (adguard)\n||ads.example.com^\n!#endif" },
  condition: { text: "!#if (adguard_ext_chromium)\n||ads.example.com^\n!#endif", line: 2 },
  "diff-path": {
    text: "!#include more.txt",
    files: { "more.txt": "! Diff-Path: patches/more.patch\n||ads.example.com^" },
    file: "more.txt",
  },
  excluded: { text: "||ads.example.com^", list: { exclusions: ["||ads.example.com^"] } },
  "not-included": { text: "||ads.example.com^", list: { inclusions: ["*.example.net*"] } },
  comment: { text: "! Ads\n||ads.example.com^" },
  "comment-above": { text: "! Too wide\n||com^", list: { transformations: ["Validate"] } },
  empty: {
    text: "||ads.example.com^\n \n||tracker.example.com^",
    line: 2,
    list: { transformations: ["RemoveEmptyLines"] },
  },
  duplicate: { text: "@@||shop.example.com^\n@@||shop.example.com^" },
  "same-host": { text: "0.0.0.0 ads.example.com\n||ads.example.com^", line: 2 },
  covered: { text: "||example.com^\n||ads.example.com^", line: 2 },
  "local-name": { text: "127.0.0.1 localhost\n0.0.0.0 ads.example.com", source: { type: "hosts" } },
  "no-name": { text: "0.0.0.0  # nothing\n0.0.0.0 ads.example.com", source: { type: "hosts" } },
  "nothing-left": { text: "$third-party", list: { transformations: ["RemoveModifiers"] } },
  "bad-syntax": { text: "example.org##.banner" },
  "bad-host": { text: "||-ads.example.com^" },
  "bad-modifier": { text: "||ads.example.com^$script" },
  "bad-regex": { text: "/ads[/" },
  "too-short": { text: "ads" },
  "too-wide": { text: "/.*/", source: UNTRUSTED },
  "public-suffix": { text: "||com^" },
  "ip-address": { text: "||192.0.2.1^" },
  "control-bytes": {
    text: "||ads.ex\u200eample.com^",
  },
  "too-long": { text: "/ads|…/", when: "the line has more than 4 KiB" },
  "real-address": { text: "203.0.113.7 www.example.com", source: UNTRUSTED },
  rewrites: { text: "||www.example.com^$dnsrewrite=203.0.113.7", source: UNTRUSTED },
  cancels: { text: "||ads.example.com^$badfilter", source: UNTRUSTED },
  cancelled: { text: "||ads.example.com^\n||ads.example.com^$badfilter", source: UNTRUSTED },
  "not-block-only": { text: "@@||shop.example.com^", source: { trust: "block-only" } },
  "slow-regex": { text: "/^ads(?=[0-9])/", source: UNTRUSTED },
  allowed: { text: "||shop.example.com^", list: { allow: ["shop.example.com"] } },
  own: {
    text: "||ads.example.com^",
    list: { plugins: ["my-plugin.mjs"], transformations: ["DropAds"] },
    when: "`DropAds` of the plugin drops the line",
  },
  metadata: { text: "! Title: Another list", list: { transformations: ["Validate"] } },
  protected: { text: "||time.apple.com^", source: UNTRUSTED },
  "cut-line": {
    text: "||ads.example.com^\n||tracker.exam",
    line: 2,
    when: "a server sends this without a length, and without a line feed at the end",
  },
  joined: {
    text: "ads.example.com CNAME .\n*.ads.example.com CNAME .",
    line: 2,
    source: { type: "rpz" },
  },
  setting: {
    text: 'server:\nlocal-zone: "ads.example.com." always_nxdomain',
    source: { type: "unbound" },
  },
  trigger: { text: "32.1.2.0.192.rpz-ip CNAME .", source: { type: "rpz" } },
  "not-followed": { text: "$INCLUDE more.zone", source: { type: "rpz" } },
  "too-nested": {
    text: [
      "*.example CNAME .",
      "*.a.example CNAME rpz-passthru.",
      "*.b.a.example CNAME .",
      "*.c.b.a.example CNAME rpz-passthru.",
      "*.d.c.b.a.example CNAME .",
    ].join("\n"),
    line: 5,
    source: { type: "rpz" },
  },
  "over-budget": {
    text: "||ads.example.com^\n@@||example.net^",
    line: 2,
    source: UNTRUSTED,
    before: "||ads.example.com^",
    when: "another source blocks more than 20 names below `example.net`",
  },
  "no-value": { text: "host,status\n,online", line: 2, source: CSV },
  "not-chosen": {
    text: "host,status\nads.example.com,offline",
    line: 2,
    source: { ...CSV, where: { status: "online" } },
  },
  "url-path": { text: "https://shop.example.com/login.php", source: { type: "urls" } },
  "shared-host": {
    text: "https://drive.google.com/login.php",
    source: { type: "urls", urls: "host" },
  },
  dead: {
    text: "||gone.example^\n||ads.example.com^",
    source: { dead: "drop" },
    files: { "observations.txt": "gone.example x261020 x261027 x261103 x261108 x261109" },
  },
  "few-sources": { text: "||ads.example.com^", list: { min_sources: 2 } },
  "too-old": {
    text: "||ads.example.com^",
    source: { remember: "180d", max_age: "90d" },
    before: "||ads.example.com^",
  },
  "not-ranked": {
    text: "||ads.example.com^",
    list: { ranks: ["ranks.txt"], fit: { top: 1000 } },
    files: { "ranks.txt": "example.net" },
  },
  "newly-blocks": {
    text: "||tracker.example.com^\n||example.net^",
    line: 2,
    source: UNTRUSTED,
    list: { ranks: ["ranks.txt"], guards: { newly_blocks: 1000 } },
    files: { "ranks.txt": "example.net" },
    before: "||tracker.example.com^",
  },
  household: { text: "||www.google.com^", source: UNTRUSTED },
  reserved: { text: "||rules-compiler.example^", list: { resolvers: ["192.0.2.53"] } },
  overruled: {
    text: "@@||ads.example.com^",
    source: UNTRUSTED,
    files: { "own.txt": "||ads.example.com^" },
  },
  "breaks-traffic": {
    text: "||ads.example.com^\n||example.net^",
    line: 2,
    source: UNTRUSTED,
    list: { guards: { breaks_traffic: { logs: ["queries.txt"] } } },
    files: { "queries.txt": "example.net\nexample.org" },
    before: "||ads.example.com^",
  },
  decided: { text: "||shop.example.com^", files: { "decisions.txt": "allow shop.example.com" } },
  unneeded: {
    text: "||tracker.example.com^",
    files: { "decisions.txt": "allow shop.example.com" },
    file: "decisions.txt",
  },
  inactive: {
    text: "||tracker.example.com^",
    files: { "decisions.txt": "block shop.example.com\nallow shop.example.com" },
    file: "decisions.txt",
  },
};

/** The settings that an example is compiled with. Those of most lists are not shown. */
export function settingsOf({ source = {}, list = {} }: FateExample): Record<string, Json> {
  return { sources: [{ source: "list.txt", ...source }], ...list };
}

function fileBlock(title: string, content: string): string {
  const shown = content.split("\n").map((one) => printable(one));
  return `\`\`\`text title="${title}"\n${shown.join("\n")}\n\`\`\``;
}

/** The example of a fate in Markdown. */
export function exampleText(name: string): string {
  const example = FATE_EXAMPLES[name as keyof typeof FATE_EXAMPLES];
  const { text, line = 1, file = "list.txt", files = {}, before, when } = example;
  const place = text.includes("\n") || file !== "list.txt" ? `Line ${line} of \`${file}\`` : "";
  const conditions = [
    ...(place === "" ? [] : [place]),
    ...(before === undefined
      ? []
      : [before === text ? "first seen 100 days ago" : "which is new since the last publish"]),
    ...(when === undefined ? [] : [`if ${when}`]),
  ].join(", ");
  const hasSettings = example.source !== undefined || example.list !== undefined;
  return [
    ...(conditions === "" ? [] : [`${conditions.charAt(0).toUpperCase()}${conditions.slice(1)}:`]),
    ...(before === undefined || before === text
      ? []
      : [fileBlock("list.txt of the last publish", before)]),
    fileBlock("list.txt", text),
    ...Object.entries(files).map(([path, content]) => fileBlock(path, content)),
    ...(hasSettings ? [`\`\`\`yaml\n${yamlText(settingsOf(example))}\`\`\``] : []),
  ].join("\n\n");
}
