import { encodeUtf8 } from "../bytes/utf8.ts";
import { skipBlanks } from "../bytes/blank.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import { bannerLines } from "../formats/header.ts";
import type { LineScanner } from "../kernel/line-scanner.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { type ChunkPool, RuleTable } from "../rules/rule-table.ts";
import type { LoadedFile, LoadedList } from "../sources/load-list.ts";
import { scan } from "../syntax/scan.ts";
import { exclude, include } from "../transformations/filter.ts";
import type { LineFilter } from "../transformations/line-filter.ts";
import type { Outlook } from "../transformations/outlook.ts";
import type { Notes } from "./notes.ts";
import type { Passes, PlannedSource } from "./plan.ts";

/** Exclusions and inclusions of one level, with the entries of their files. */
export interface Filters {
  readonly exclusions: LineFilter;
  readonly inclusions: LineFilter;
}

/** The rows of a list that was read, before anything is done to them. */
export function tableOf(
  pool: ChunkPool,
  list: LoadedList,
  source: PlannedSource,
  scanner: LineScanner | undefined,
): RuleTable {
  const rules = new RuleTable(pool);
  const origins = new Map<LoadedFile, number>();
  for (const { file, stretch } of list.pieces) {
    let origin = origins.get(file);
    if (origin === undefined) {
      origin = pool.addOrigin({ source: source.index, file: file.label });
      origins.set(file, origin);
      if (isBlank(file)) addLine(rules, origin, "", Kind.Blank, Flag.Generated);
    }
    const hashComments = source.type !== "adblock";
    scan(rules, file.bytes, stretch, {
      origin,
      hashComments,
      splitHosts: source.splitHosts,
      scanner,
    });
  }
  return rules;
}

/** A file without any text still counts as one empty line. */
function isBlank({ bytes }: LoadedFile): boolean {
  return skipBlanks(bytes, 0, bytes.length) === bytes.length;
}

function addLine(rules: RuleTable, origin: number, text: string, kind: Kind, flags: number): void {
  const bytes = encodeUtf8(text);
  const chunk = rules.pool.addChunk(origin, bytes, 1);
  const row = chunk.push(0, bytes.length, 0);
  chunk.kind[row] = kind;
  chunk.flags[row] = flags;
  chunk.has.comments = kind === Kind.Comment;
  chunk.has.blanks = kind === Kind.Blank;
  rules.chunks.push(chunk);
}

/** Filters and transformations of one level, in their fixed order. */
export function runPasses(
  rules: RuleTable,
  passes: Passes,
  filters: Filters,
  notes: Notes,
  { above, onStep }: { above?: Filters; onStep?: (name: string) => void } = {},
): void {
  const outlook: Outlook = {
    ...(passes.validator === undefined ? {} : { validator: passes.validator }),
    compresses: passes.steps.some(({ name }) => name === "Compress"),
    removesModifiers: passes.steps.some(({ name }) => name === "RemoveModifiers"),
    ...(above === undefined ? {} : { willBeFiltered: (text) => isFiltered(text, above) }),
    note: (code, chunk, row, detail) => notes.add(code, chunk, row, detail),
  };
  exclude(rules, filters.exclusions, outlook);
  include(rules, filters.inclusions);
  onStep?.("filters");
  for (const { name, transformation } of passes.steps) {
    transformation.run(rules, outlook);
    onStep?.(name);
  }
}

function isFiltered(text: string, { exclusions, inclusions }: Filters): boolean {
  const name = text.slice(2, -1);
  if (exclusions.matchesLine(text) || exclusions.matchesName(name)) return true;
  return !inclusions.isEmpty && !inclusions.matchesLine(text);
}

/** All sources one after the other, each below its banner. Columns are handed over, not copied. */
export function joinTables(
  pool: ChunkPool,
  tables: readonly RuleTable[],
  sources: readonly PlannedSource[],
  names: readonly (string | undefined)[],
): RuleTable {
  const list = new RuleTable(pool);
  for (const [index, table] of tables.entries()) {
    const source = sources[index]!;
    const origin = pool.addOrigin({ source: index, file: source.label });
    for (const line of bannerLines(names[index], withoutCredentials(source.source)))
      addLine(list, origin, line, Kind.Comment, Flag.Generated | Flag.Banner);
    for (const chunk of table.chunks) list.chunks.push(chunk);
  }
  return list;
}
