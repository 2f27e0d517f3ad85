import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { LABELS } from "../../src/explain/glossary.ts";
import { NO_HISTORY, type SuccessfulBuild, withRun } from "../../src/server/history.ts";
import { metricsText } from "../../src/server/metrics.ts";
import { corpusConfigInPlace, missingCorpus } from "../support/corpus.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { HOUR, NOW, health, page, run } from "../support/server-states.ts";
import { listIn } from "../support/documents.ts";

/** The numbers of one source. */
interface Counted {
  readonly lines: number;
  readonly kept: number;
  readonly dropped: number;
  readonly rules: number;
  readonly onlyHere: number;
}

type Sources = Readonly<Record<string, string>>;

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Every text that a line may have in a published list. */
function formsOf(line: string): string[] {
  const text = line.trim().toLowerCase();
  if (text === "" || text.startsWith("!") || text.startsWith("#")) return [];
  const plain = text.replace(/\s+#.*$/, "");
  const name = /^\|\|([^\s/^$|*]+)\^$/.exec(plain)?.[1];
  const words = plain.split(/\s+/);
  const names = words.length > 1 ? words.slice(1) : words;
  return [
    ...new Set([text, plain, ...(name === undefined ? names : [name]).map((one) => `||${one}^`)]),
  ];
}

/** Counts from nothing but the bytes of the sources and of the published list. */
function recounted(sources: Sources, list: string, least: number): Map<string, Counted> {
  const published = new Set(linesOf(list).filter((line) => !/^(?:[!#]|\s*$)/.test(line)));
  const carriers = new Map<string, Set<string>>(Array.from(published, (rule) => [rule, new Set()]));
  const kept = new Map<string, number>();
  const taken = new Set<string>();
  for (const [source, text] of Object.entries(sources)) {
    let own = 0;
    for (const line of linesOf(text)) {
      const rules = formsOf(line).filter((form) => published.has(form));
      for (const rule of rules) carriers.get(rule)!.add(source);
      // Of equal rules, the first is in the list.
      const fresh = rules.filter((rule) => !taken.has(rule));
      if (fresh.length > 0) own++;
      for (const rule of fresh) taken.add(rule);
    }
    kept.set(source, own);
  }
  assert.equal(taken.size, published.size, "every rule is from a source");
  return new Map(
    Object.entries(sources).map(([source, text]) => {
      const lines = linesOf(text).length;
      const rules = [...carriers].filter(([, who]) => who.has(source));
      const onlyHere = rules.filter(
        ([rule, who]) => who.size <= (rule.startsWith("@@") ? 1 : least),
      );
      return [
        source,
        {
          lines,
          kept: kept.get(source)!,
          dropped: lines - kept.get(source)!,
          rules: rules.length,
          onlyHere: onlyHere.length,
        },
      ];
    }),
  );
}

function sumOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((sum, number) => sum + number, 0);
}

/** The number in a cell of a source's row on a page. */
function cellOf(html: string, source: string, label: string): number {
  const found = html.split("<tr>").find((row) => new RegExp(`<td>\\s*${source}\\b`).test(row));
  const cell = new RegExp(`data-name="${label}">\\s*([\\d,]+)`).exec(found ?? "")?.[1];
  assert.ok(cell !== undefined, `${source}, ${label}`);
  return Number(cell.replaceAll(",", ""));
}

async function jsonOf<T>(project: MemoryProject, ...words: string[]): Promise<T> {
  const { exit, stdout, stderr } = await project.run(...words, "-c", "c.json", "--json");
  assert.equal(exit, 0, stderr);
  return listIn(stdout) as T;
}

/** Compiles the sources, recounts everything, and compares every view with that. */
async function checkViews(sources: Sources, config: object, least: number): Promise<number> {
  const files = Object.entries(sources).map(([name, text]) => [`${name}.txt`, text] as const);
  const project = new MemoryProject({
    ...Object.fromEntries(files),
    "c.json": JSON.stringify({ name: "T", min_sources: least, ...config }),
  });
  const compiled = await jsonOf<Omit<SuccessfulBuild, "name">>(project, "compile");
  const report = { name: "T", ...compiled };
  const list = project.text("rules/t.txt");
  const own = recounted(sources, list, least);
  const rules = linesOf(list).filter((line) => !/^(?:[!#]|\s*$)/.test(line)).length;
  const what = `min_sources ${least}\n${list}`;

  // The report of `--json`, which the server, hooks and the library have.
  assert.equal(report.rules, rules, what);
  assert.equal(report.lines, sumOf(Array.from(own.values(), ({ lines }) => lines)), what);
  assert.equal(report.kept, sumOf(Array.from(own.values(), ({ kept }) => kept)), what);
  for (const { label, lines, kept, dropped } of report.sources) {
    const { lines: all, kept: some, dropped: rest } = own.get(label)!;
    const counts = [lines, kept, sumOf(Object.values(dropped))];
    assert.deepEqual(counts, [all, some, rest], `${label}: ${what}`);
  }

  // The summary. The second build publishes nothing, and says the same.
  const { stderr: summary } = await project.run("-c", "c.json");
  const { stdout: table } = await project.run("stats", "-c", "c.json");
  const stats = await jsonOf<{
    rules: number;
    sources: (Omit<Counted, "dropped"> & { label: string; dropped: Record<string, number> })[];
  }>(project, "stats");
  assert.equal(stats.rules, rules);
  await project.run("stats", "-c", "c.json", "--html");
  const html = project.text("t.report.html");
  const history = withRun(NO_HISTORY, run({ rules: report.rules }), report);
  const status = page(history);
  const metrics = metricsText({
    history,
    lists: [],
    isHealthy: true,
    isRunning: false,
    startedAt: NOW,
    next: NOW + HOUR,
    lagMs: 0,
    requests: new Map(),
  });
  const { stdout: csv } = await project.run("export", "-c", "c.json");
  const rows = linesOf(csv)
    .slice(1)
    .map((row) => /^"T","(\w+)",\d+,\d+,(true|false),[\w-]+,([\w-]+),/.exec(row)!);
  for (const [source, one] of own) {
    const { lines, kept, dropped } = one;
    const row = (text: string): number[] =>
      (new RegExp(`^ *${source} .*$`, "m").exec(text)?.[0] ?? "")
        .split(/\s+/)
        .filter((word) => /^[\d,]+$/.test(word))
        .map((word) => Number(word.replaceAll(",", "")));
    assert.deepEqual(row(summary).slice(0, 3), [lines, kept, dropped], summary);
    const [a, b, c, , d, e] = row(table);
    assert.deepEqual([a, b, c, d, e], [lines, kept, dropped, one.rules, one.onlyHere], table);
    const known = stats.sources.find((other) => other.label === source)!;
    const { dropped: byFate } = known;
    const inStats = { ...known, dropped: sumOf(Object.values(byFate)) };
    for (const key of ["lines", "kept", "dropped", "rules", "onlyHere"] as const) {
      assert.equal(inStats[key], one[key], `stats: ${key} of ${source}\n${what}`);
      assert.equal(cellOf(html, source, LABELS[key]), one[key], `report: ${key} of ${source}`);
    }
    const { fates } = await jsonOf<{ fates: Record<string, number> }>(
      project,
      "stats",
      "--fate",
      "-s",
      source,
    );
    assert.deepEqual(fates, byFate, `stats --fate of ${source}\n${what}`);
    for (const [fate, count] of Object.entries(fates)) {
      const { stdout } = await project.run("stats", "-c", "c.json", "--fate", fate, "-s", source);
      assert.equal(linesOf(stdout).length, count, `lines with ${fate} of ${source}`);
      const metric = `source_lines_dropped{source="${source}",reason="${fate}"} ${count}\n`;
      assert.ok(metrics.includes(metric), metric);
      const counted = rows.filter((cells) => cells[1] === source && cells[3] === fate);
      assert.equal(counted.filter((cells) => cells[2] === "true").length, count, `export: ${fate}`);
    }
    const live = rows.filter((cells) => cells[1] === source && cells[3] === "kept");
    assert.equal(live.filter((cells) => cells[2] === "true").length, kept, "export: kept");
    assert.ok(metrics.includes(`source_lines{source="${source}"} ${lines}\n`));
    assert.ok(metrics.includes(`source_lines_kept{source="${source}"} ${kept}\n`));
    assert.equal(cellOf(status, source, LABELS.lines), lines);
    assert.equal(cellOf(status, source, LABELS.kept), kept);
    const inHealth = health(history).sources.find(({ label }) => label === source)!;
    assert.deepEqual([inHealth.lines, inHealth.kept], [lines, kept]);
  }
  assert.equal(rows.filter((cells) => cells[3] === "kept").length, rules, "export: rules");
  assert.ok(metrics.includes(`list_rules{list="T"} ${rules}\n`));
  const { events } = await jsonOf<{ events: { rules: number }[] }>(project, "log");
  for (const event of events) assert.equal(event.rules, rules, "log");
  return rules;
}

const CONFIG = {
  sources: [
    { name: "Ads", source: "Ads.txt", type: "hosts" },
    { name: "Own", source: "Own.txt", type: "adblock" },
    { name: "More", source: "More.txt", type: "domains" },
  ],
  transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
};

test("One build, recounted from the bytes", async () => {
  for (let seed = 1; seed <= (isNightly ? 100 : 8); seed++) {
    const random = new Random(seed);
    const name = (): string =>
      `${random.pick(["", "", "x.", "y.", "z.x."])}${random.pick(["a", "b", "c", "d", "e"])}${random.below(3)}.com`;
    const several = (least: number): string[] =>
      Array.from({ length: least + random.below(4) }, name);
    const linesWith = (pick: () => string): string =>
      `${Array.from({ length: 5 + random.below(25) }, pick).join("\n")}${random.pick(["", "\n"])}`;
    const sources = {
      Ads: linesWith(() =>
        random.pick([
          `0.0.0.0 ${name()}`,
          `0.0.0.0 ${several(2).join(" ")}`,
          `127.0.0.1\t${several(1).join(" ")} # note`,
          "127.0.0.1 localhost",
          "# comment",
          "",
        ]),
      ),
      Own: linesWith(() =>
        random.pick([
          `||${name()}^`,
          `||${name()}^`,
          `@@||${name()}^`,
          "/^ads[0-9]+\\./",
          "||a b^",
          "! comment",
          "",
          `0.0.0.0 ${several(2).join(" ")}`,
        ]),
      ),
      More: linesWith(() => random.pick([name(), name(), `${name()} # note`, "# comment", ""])),
    };
    const config = { ...CONFIG, guards: { min_rules: 0 } };
    await checkViews(sources, config, 1);
    await checkViews({ ...sources, More: sources.More.replaceAll(" # note", "") }, config, 2);
  }
});

test(
  "One build of real lists, recounted from the bytes",
  { skip: missingCorpus },
  async (context: TestContext) => {
    const config = corpusConfigInPlace();
    const chosen = [
      ...config.sources.filter(({ type }) => type === "hosts").slice(0, 2),
      ...config.sources.filter(({ type }) => type === "adblock").slice(0, 2),
    ];
    const names = chosen.map((_, index) => `List${index + 1}`);
    const most = isNightly ? 100_000 : 2000;
    const sources = Object.fromEntries(
      chosen.map(({ source }, index) => [
        names[index]!,
        linesOf(readFileSync(source, "latin1")).slice(0, most).join("\n"),
      ]),
    );
    const listed = chosen.map(({ type }, index) => ({
      name: names[index],
      source: `${names[index]}.txt`,
      type,
    }));
    const { transformations } = CONFIG;
    const rules = await checkViews(sources, { sources: listed, transformations }, 1);
    context.diagnostic(`${rules} rules`);
  },
);
