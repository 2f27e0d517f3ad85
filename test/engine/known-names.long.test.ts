import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { WrittenOutput } from "../../src/documents/facts.ts";
import { corpusEntries, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";

/** A real list, and the largest part of the names that it blocks in a plain hosts file, in percent: measured, with some room. */
const LISTS = [
  { name: "oisd", file: "sjhgvr__oisd__abp_small.txt", most: 25 },
  { name: "light", file: "hagezi__dns-blocklists__adblock_light.txt", most: 60 },
  { name: "pro", file: "badmojr__1Hosts__Pro_adblock.txt", most: 60 },
] as const;
/** The log has every name of the hosts files once; the gate takes every eighth. */
const STEP = isNightly ? 1 : 8;
const RANKED = isNightly ? 1_000_000 : 200_000;
const NAME = /^(?:[a-z0-9_][a-z0-9_-]{0,62}\.)+[a-z][a-z0-9-]*$/;

function pathOf(file: string): string {
  const folders = [corpusFolder("typical"), corpusFolder("power")];
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path))!;
}

/** The lines of the lists of the larger set, without those of the maintainers above. */
function linesOf(syntax: string): string[][] {
  const own = LISTS.map(({ file }) => file.split("__")[0]!);
  return corpusEntries()
    .filter((entry) => entry.syntax === syntax && !own.some((one) => entry.file.startsWith(one)))
    .map(({ file }) => join(corpusFolder("power"), file))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "latin1").toLowerCase().split("\n"));
}

/** The names of all hosts files. */
function hostsNames(): string[] {
  const names = new Set<string>();
  for (const lines of linesOf("hosts"))
    for (const line of lines) {
      const [address = "", ...written] = line.split("#")[0]!.trim().split(/\s+/);
      if (/^(?:0|127)\.0\.0\.[01]$/.test(address))
        for (const name of written) if (NAME.test(name)) names.add(name);
    }
  return [...names];
}

/** A list of popular names from other files: names of lists of domains, first those that most of the lists have. */
function rankedNames(): string[] {
  const counts = new Map<string, number>();
  for (const lines of linesOf("domains"))
    for (const name of new Set(lines.map((line) => line.trim())))
      if (NAME.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .toSorted(([a, few], [b, many]) => many - few || (a < b ? -1 : 1))
    .slice(0, RANKED)
    .map(([name]) => name);
}

/** Which names a list blocks, read here. Its few patterns do not count. */
function blockedBy(text: string): (name: string) => boolean {
  const blocks = new Set<string>();
  const allows = new Set<string>();
  for (const line of text.split("\n")) {
    const { sign, name } = /^(?<sign>@@)?\|\|(?<name>[^*/^$]+)\^$/.exec(line)?.groups ?? {};
    if (name !== undefined) (sign === undefined ? blocks : allows).add(name);
  }
  return (name) => {
    let isBlocked = false;
    for (let at = 0; at !== -1; at = name.indexOf(".", at + 1)) {
      const parent = at === 0 ? name : name.slice(at + 1);
      if (allows.has(parent)) return false;
      isBlocked ||= blocks.has(parent);
    }
    return isBlocked;
  };
}

test(
  "a hosts file of a real list blocks nearly all of a log that is given, and more of it with ranks",
  { skip: missingCorpus },
  async (context) => {
    const asked = hostsNames().filter((_, index) => index % STEP === 0);
    const files = Object.fromEntries(
      LISTS.map(({ name, file }) => [`${name}.txt`, readFileSync(pathOf(file), "utf8")]),
    );
    const ways = {
      plain: {},
      ranks: { expand: { names: ["ranks"] } },
      log: { expand: { logs: ["log"] } },
    };
    const lists = LISTS.flatMap(({ name }) =>
      Object.entries(ways).map(([way, more]) => ({
        name: `${name}-${way}`,
        sources: [name],
        ...more,
      })),
    );
    const project = new MemoryProject({
      ...files,
      log: `${asked.join("\n")}\n`,
      ranks: `${rankedNames().join("\n")}\n`,
      "c.json": JSON.stringify({
        name: "N",
        sources: LISTS.map(({ name }) => ({ name, source: `${name}.txt` })),
        transformations: "recommended",
        outputs: [{ format: "hosts", file: "{slug}.hosts" }],
        lists,
      }),
    });
    const { exit, stdout, stderr } = await project.run(
      "-c",
      "c.json",
      "--json",
      "--no-cache",
      "--no-record",
    );
    assert.equal(exit, 0, stderr);
    const built = JSON.parse(stdout) as { lists: { list: string; outputs: WrittenOutput[] }[] };
    for (const { name, most } of LISTS) {
      const isBlocked = blockedBy(project.text(`rules/${name}-plain.txt`));
      const wanted = asked.filter(isBlocked);
      const share = (way: string): number => {
        const lines = new Set(project.text(`rules/${name}-${way}.hosts`).split("\n"));
        const extra = asked.filter((one) => lines.has(`0.0.0.0 ${one}`) && !isBlocked(one));
        assert.ok(extra.length < wanted.length / 1000, `${name}: ${extra.slice(0, 5).join(" ")}`);
        return (100 * wanted.filter((one) => lines.has(`0.0.0.0 ${one}`)).length) / wanted.length;
      };
      const [plain, ranks, log] = [share("plain"), share("ranks"), share("log")];
      context.diagnostic(
        `${name}: ${wanted.length} of ${asked.length} names are blocked; in the hosts file: ${plain.toFixed(1)} %, with ranks ${ranks.toFixed(1)} %, with the log ${log.toFixed(1)} %`,
      );
      assert.ok(plain < most, `${name}: ${plain}`);
      assert.ok(ranks > plain + 3, `${name}: ${plain}, with ranks ${ranks}`);
      assert.ok(log >= 98, `${name}: ${log}`);
      const { queries } = built.lists.find(({ list }) => list === `${name}-log`)!.outputs[1]!;
      assert.equal(queries!.all, asked.length);
      assert.ok(Math.abs(queries!.list - wanted.length) < wanted.length / 100, name);
      assert.ok(queries!.file >= 0.98 * queries!.list, name);
    }
  },
);
