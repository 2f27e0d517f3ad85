import { existsSync, readFileSync } from "node:fs";

interface Cost {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

interface Comparison {
  readonly input: { readonly lines: number };
  readonly costs: Readonly<Record<string, Cost>>;
  readonly oursOver: Readonly<Record<string, { readonly wall: number }>>;
}

interface Limits {
  readonly controlGroupBytes: number | string;
  readonly typical: Readonly<Record<string, Cost>>;
  readonly large: {
    readonly lines: number;
    readonly oursOverSort: number;
    readonly overTypicalPerLine: number;
    readonly [command: string]: Cost | number;
  };
}

interface Reference {
  readonly reference: Cost;
  readonly ours: { readonly cpuSeconds: number };
  readonly speedUp: { readonly cpu: number };
}

interface Measured {
  readonly measured: { readonly commit: string; readonly date: string };
}

export function hasInlineFigures(page: string): boolean {
  return page.includes("<!-- figure ") || page.includes("<!-- switches ");
}

/**
 * Returns a page with its inline figures updated: `<!-- figure watch:changeSeconds s -->0.3 s<!-- /figure -->` is a result, where it
 * stands in its file, and a unit, or `date`.
 */
export function withInlineFigures(page: string): string {
  const tables = page.replace(
    /(?<=<!-- switches (?<resolver>[\w -]+?) -->)[^]*?(?=<!-- \/switches -->)/g,
    (...found) => `\n\n${switches((found.at(-1) as { resolver: string }).resolver)}\n`,
  );
  return tables.replace(
    /(?<=<!-- figure (?<name>[\w-]+):(?<path>[\w.-]+) (?<unit>[^ ]+) -->)[^]*?(?=<!-- \/figure -->)/g,
    (...found) => {
      const { name, path, unit } = found.at(-1) as Record<"name" | "path" | "unit", string>;
      return figureAt(name, path.split("."), unit);
    },
  );
}

function figureAt(name: string, path: readonly string[], unit: string): string {
  let found: unknown = result(name);
  for (const key of path)
    found = (found as Record<string, unknown> | undefined)?.[key.replaceAll("_", " ")];
  if (unit === "date" && typeof found === "string") return found;
  if (typeof found !== "number")
    throw new Error(`bench/results/${name}.json has no ${path.join(".")}`);
  if (unit === "%") return percent(found);
  return `${unit === "MB" ? found.toFixed(0) : rounded(found)} ${unit}`;
}

/** When and at which commit a result was measured. */
function measuredAt(...names: readonly string[]): string {
  const all = names.map((name) => {
    const { commit, date } = (result(name) as Measured).measured;
    return `${date}, commit \`${commit}\``;
  });
  return [...new Set(all)].join("; ");
}

/** Returns a page with its headline numbers, in text or front matter, updated from the last benchmark results. */
export function withHeadline(page: string): string {
  return page
    .replace(
      /<!-- headline -->[^]*?<!-- \/headline -->/,
      `<!-- headline -->${headline()}<!-- /headline -->`,
    )
    .replace(/details: .* # headline$/m, `details: ${headline()}. # headline`);
}

function headline(): string {
  const typical = result("typical") as Comparison;
  const { large } = result("limits") as Limits;
  const { peakMegabytes } = large["--memory 256M"] as Cost;
  return `${millions(typical.input.lines)} million lines of real lists in ${rounded(typical.costs["ours"]!.cpuSeconds)} s of CPU time; ${millions(large.lines)} million lines in ${peakMegabytes.toFixed(0)} MB of memory (${oldest("typical", "limits")})`;
}

/** The date of the oldest of some results. */
function oldest(...names: readonly string[]): string {
  return names.map((name) => (result(name) as Measured).measured.date).toSorted()[0]!;
}

/** Measurements are precise to three digits at most. */
function rounded(figure: number): string {
  return String(Number(figure.toPrecision(3)));
}

function millions(count: number): string {
  return String(Number((count / 1e6).toFixed(1)));
}

/** Returns a page with the figures of the last benchmark results. */
export function withFigures(page: string): string {
  const figures = [comparisons(), limits(), reference(), growth(), rebuild()].join("\n");
  return page.replace(
    /<!-- figures -->[^]*<!-- \/figures -->/,
    `<!-- figures -->\n\n${figures}\n<!-- /figures -->`,
  );
}

function result(name: string): unknown {
  const path = `bench/results/${name}.json`;
  if (!existsSync(path)) throw new Error(`${path} is missing; run: npm run bench:all`);
  return JSON.parse(readFileSync(path, "utf8"));
}

function comparisons(): string {
  const inputs = ["typical", "power", "synthetic-10000000"].map((name) => ({
    name,
    ...(result(name) as Comparison),
  }));
  const commands = ["ours", "native", "sort -u, one thread", "sort -u", "DuckDB"];
  const heading = inputs.map(({ name, input }) => {
    const label = name.replace(/-\d+$/, "");
    return `${label}, ${(input.lines / 1e6).toFixed(1)} M lines`;
  });
  const rows = commands.map((command) => {
    const cells = inputs.map(({ costs, oursOver }) => {
      const { wallSeconds, peakMegabytes } = costs[command]!;
      const ratio = oursOver[command];
      const over = ratio === undefined ? "" : `; ours × ${rounded(ratio.wall)}`;
      return `${rounded(wallSeconds)} s, ${peakMegabytes.toFixed(0)} MB${over}`;
    });
    return `| ${command} | ${cells.join(" | ")} |`;
  });
  return `| | ${heading.join(" | ")} |
|---|---|---|---|
${rows.join("\n")}

"native" is a plain C program that does the same compile without fates, provenance or configuration; DuckDB only computes distinct names
and parents. Measured ${measuredAt("typical", "power", "synthetic-10000000")}.
`;
}

function limits(): string {
  const { controlGroupBytes, typical, large } = result("limits") as Limits;
  const board = typical["--memory 128M"]!;
  const ours = large["--memory 256M"] as Cost;
  const sort = large["sort -u"] as Cost;
  const group =
    typeof controlGroupBytes === "number"
      ? ` in a control group of ${(controlGroupBytes / 2 ** 20).toFixed(0)} MB`
      : "";
  return `- ${millions(large.lines)} million lines under \`--memory 256M\`${group}: ${rounded(ours.wallSeconds)} s, ${ours.peakMegabytes.toFixed(0)} MB; \`sort -u\` of the same bytes takes ${rounded(sort.wallSeconds)} s and ${sort.peakMegabytes.toFixed(0)} MB. A line takes ${rounded(large.overTypicalPerLine)} times as long as in the typical corpus (${measuredAt("limits")}).
- The typical corpus under \`--memory 128M\`: ${rounded(board.wallSeconds)} s, ${board.peakMegabytes.toFixed(0)} MB.`;
}

function reference(): string {
  const { reference: theirs, ours, speedUp } = result("reference") as Reference;
  return `- HostlistCompiler takes ${theirs.cpuSeconds.toFixed(0)} s of CPU for the typical corpus, rules-compiler ${rounded(ours.cpuSeconds)} s: ${rounded(speedUp.cpu)} times as much (${measuredAt("reference")}).`;
}

function growth(): string {
  const { exponent } = result("growth") as { exponent: number };
  return `- From 1 to 16 million lines, time grows with the size to the power of ${rounded(exponent)} (${measuredAt("growth")}).`;
}

interface Shares {
  readonly shares: { readonly unchanged: number; readonly oneSourceChanged: number };
}

function rebuild(): string {
  const { typical, power } = result("rebuild") as { typical: Shares; power: Shares };
  const { overBare } = result("startup") as { overBare: { version: number; compile: number } };
  return `- A rebuild without changes takes ${percent(typical.shares.unchanged)} of the time of a full build of the typical corpus, ${percent(power.shares.unchanged)} of the power corpus. With one changed source it takes ${percent(typical.shares.oneSourceChanged)}; everything is built again (${measuredAt("rebuild")}).
- Start-up takes ${overBare.version.toFixed(0)} ms more than the bare runtime for \`--version\`, ${overBare.compile.toFixed(0)} ms for the smallest list (${measuredAt("startup")}).
`;
}

interface Switch {
  readonly resolver: string;
  readonly how: string;
  readonly names: number;
  readonly seconds: number;
  readonly gapMs: number;
  readonly asked: number;
  readonly lost: number;
  readonly wrong: number;
  readonly megabytes?: number;
}

/** What clients lost while a resolver changed to the next list, in each way and size. */
function switches(resolver: string): string {
  const { rows, measured } = result("switches") as Measured & { rows: readonly Switch[] };
  const lines = rows
    .filter((row) => row.resolver === resolver)
    .map(({ how, names, seconds, gapMs, asked, lost, wrong, megabytes }) => {
      const memory = megabytes === undefined ? "–" : `${megabytes} MB`;
      const cells = [`${rounded(seconds)} s`, `${rounded(gapMs / 1000)} s`, `${lost} of ${asked}`];
      return `| ${how} | ${names.toLocaleString("en")} | ${cells.join(" | ")} | ${wrong} | ${memory} |`;
    });
  return `| the list comes | names | change to proof | longest time without an answer | questions lost | wrong answers | memory at most |
|---|---|---|---|---|---|---|
${lines.join("\n")}

One per cent of the names changes while clients ask 125 questions a second, with \`node bench/switches.ts\` on two cores:
compare the rows, not the seconds. Measured ${measured.date}, commit \`${measured.commit}\`.
`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
