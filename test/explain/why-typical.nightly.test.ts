import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ListRules, SearchedNames, partsOf } from "../../src/explain/list-rules.ts";
import { SourceLines } from "../../src/explain/source-lines.ts";
import { MappedNames, explainNames } from "../../src/explain/why.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { nodeHost, rowsOf } from "../support/internals.ts";
import { type NaiveRule, decidingRule, naiveRules } from "../support/naive-matcher.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";

const NAMES = 10_000;
const SEARCHED = 200;

/** The names that a raw line is about, as a person would read it: written apart from the program. */
function namesOf(line: string): string[] {
  const text = line.trim().toLowerCase();
  if (text === "" || text.startsWith("!") || text.startsWith("#")) return [];
  const words = text.split(/[ \t]+/);
  if (words.length > 1 && /^[0-9a-f.:]+$/.test(words[0]!) && /[.:]/.test(words[0]!)) {
    const note = words.findIndex((word) => word.startsWith("#"));
    const names = words.slice(1, note === -1 ? undefined : note);
    // A note may stand right behind a name.
    return names
      .map((word) => word.split("#")[0]!.replace(/\.$/, ""))
      .filter((word) => word !== "");
  }
  const start = text
    .replace(/^@@/, "")
    .replace(/^\|{1,2}/, "")
    .replace(/^\w+:\/\//, "")
    .replace(/^\*\./, "");
  const end = start.search(/[\s|^*/@$#!,:?]/);
  const host = (end === -1 ? start : start.slice(0, end)).replace(/\.$/, "");
  return host === "" ? [] : [host];
}

/** What the list means, the slow way: names in sets, everything else one rule after the other. */
class SlowList {
  private readonly subtrees = new Set<string>();
  private readonly exact = new Set<string>();
  private readonly others: NaiveRule[];

  constructor(lines: readonly string[]) {
    const others: string[] = [];
    for (const line of lines) {
      const subtree = /^\|\|([a-z0-9_.-]+)\^$/.exec(line)?.[1];
      const exact = /^(?:0\.0\.0\.0 )?([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)$/.exec(line)?.[1];
      if (subtree !== undefined) this.subtrees.add(subtree);
      else if (exact !== undefined) this.exact.add(exact);
      else others.push(line);
    }
    this.others = naiveRules(
      others.filter((line) => !line.includes("dnstype") && !line.includes("client=")),
    );
    assert.ok(!others.some((line) => line.includes("badfilter")), "none here takes back another");
  }

  isBlocked(name: string): boolean {
    const rule = decidingRule(this.others, name);
    if (rule !== undefined && (rule.isAllow || rule.isImportant)) return !rule.isAllow;
    if (rule !== undefined || this.exact.has(name)) return true;
    const labels = name.split(".");
    return labels.some((_, index) => this.subtrees.has(labels.slice(index).join(".")));
  }
}

test(
  `why agrees with a full search for ${NAMES} names of 20 real lists`,
  { skip: missingCorpus, timeout: 600_000 },
  async (context) => {
    const folder = corpusFolder("typical");
    const host = { ...nodeHost(), cwd: folder };
    const config = corpusConfig();
    const { result, record } = await compileRecorded(config, { host, configFolder: folder });
    // Everything about lines comes from the table of the compile itself, not from its record.
    const fates = new Map<string, string[]>();
    for (const { file, line, fate } of rowsOf(result.rules)) {
      const key = `${file}:${line}`;
      const known = fates.get(key);
      if (known === undefined) fates.set(key, [fate]);
      else known.push(fate);
    }
    const carriers = new Map<string, { key: string; index: number; count: number }[]>();
    const listed: string[] = [];
    for (const { source } of config.sources) {
      const lines = readFileSync(join(folder, source), "utf8").split("\n");
      for (const [number, line] of lines.entries()) {
        const names = namesOf(line);
        for (const [index, name] of names.entries()) {
          const carrier = { key: `${source}:${number + 1}`, index, count: names.length };
          const known = carriers.get(name);
          if (known === undefined) {
            carriers.set(name, [carrier]);
            listed.push(name);
          } else known.push(carrier);
        }
      }
    }
    const random = new Random(11);
    const names = new Set<string>();
    while (names.size < NAMES) {
      const name = random.pick(listed);
      const kind = random.below(10);
      if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name)) continue;
      if (kind < 5) names.add(name);
      else if (kind < 7) names.add(`${random.pick(["www", "a.b", "ads"])}.${name}`);
      else if (kind === 7) names.add(name.split(".").slice(1).join(".") || name);
      else if (kind === 8) names.add(`zz9${name}`);
      else names.add(`n${random.below(1e6)}.nowhere.test`);
    }
    const asked = [...names];
    const slow = new SlowList(
      new TextDecoder()
        .decode(result.bytes)
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("!")),
    );
    const rules = await ListRules.of(record, new MappedNames(result.bytes, record));
    const sources = new SourceLines(record, undefined, host);
    const answers = await explainNames(asked, { record, rules, sources });
    const count: Record<string, number> = {};
    const REDUNDANT = new Set(["kept", "duplicate", "same-host", "covered"]);
    const SILENT = new Set([
      "blank",
      "directive",
      "comment",
      "comment-above",
      "empty",
      "diff-path",
    ]);
    for (const { name, verdict, lines, unseen } of answers) {
      assert.deepEqual(unseen, []);
      assert.equal(verdict === "blocked", slow.isBlocked(name), name);
      const labels = name.split(".");
      const expected = new Set<string>();
      for (const [depth] of labels.entries())
        for (const { key, index, count: several } of carriers.get(labels.slice(depth).join(".")) ??
          []) {
          const all = (fates.get(key) ?? []).filter((fate) => !SILENT.has(fate));
          const fate = all.length === several ? all[index] : all[0];
          if (fate !== undefined && (depth === 0 || REDUNDANT.has(fate)))
            expected.add(`${key} ${fate === "kept" ? "kept" : fate}`);
        }
      const found = new Set(lines.map(({ file, line, fate }) => `${file}:${line} ${fate}`));
      assert.deepEqual([...found].toSorted(), [...expected].toSorted(), name);
      for (const { fate } of lines) count[fate] = (count[fate] ?? 0) + 1;
      count[verdict] = (count[verdict] ?? 0) + 1;
    }
    context.diagnostic(JSON.stringify(count));
    // Asked one by one, files are searched instead of read: the same answers.
    const alone = await ListRules.of(
      record,
      new SearchedNames(record, partsOf(result.bytes, record)),
    );
    for (const [index, name] of asked.slice(0, SEARCHED).entries())
      assert.deepEqual(
        (await explainNames([name], { record, rules: alone, sources }))[0],
        answers[index],
        name,
      );
  },
);
