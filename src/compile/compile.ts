import type { Config } from "../config/fields.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import { adblock } from "../formats/adblock.ts";
import { headerLines } from "../formats/header.ts";
import type { Host } from "../host/host.ts";
import { usesWasm } from "../kernel/choice.ts";
import { LineScanner } from "../kernel/line-scanner.ts";
import { ChunkPool, type RuleTable } from "../rules/rule-table.ts";
import { type LoadedList, loadList } from "../sources/load-list.ts";
import { type Filters, joinTables, runPasses, tableOf } from "./build-list.ts";
import { filterOf } from "./filter-entries.ts";
import { inParallel } from "./in-parallel.ts";
import { locate } from "./locate.ts";
import { Notes } from "./notes.ts";
import { type Passes, type Plan, planOf } from "./plan.ts";
import { type CompileReport, reportOf } from "./report.ts";
import { VERSION } from "./version.ts";

export interface CompileOptions {
  /** Folder that relative paths start from; the working directory without it. */
  readonly configFolder?: string;
  readonly signal?: AbortSignal;
  /** Told what happens while it happens. */
  readonly onProgress?: (event: ProgressEvent) => void;
}

export type ProgressEvent =
  | { readonly kind: "source-started"; readonly source: number; readonly label: string }
  | {
      readonly kind: "source-read";
      readonly source: number;
      readonly label: string;
      readonly bytes: number;
    }
  | { readonly kind: "source-failed"; readonly source: number; readonly label: string }
  | { readonly kind: "compiling"; readonly lines: number }
  /** A transformation is done, for one source or (without a label) for the whole list. */
  | { readonly kind: "step"; readonly name: string; readonly label?: string; readonly ms: number };

export interface CompileResult {
  /** The list, ready to be written. */
  readonly bytes: Uint8Array;
  /** Every row that was read, with its fate. */
  readonly rules: RuleTable;
  readonly report: CompileReport;
  readonly diagnostics: readonly Diagnostic[];
}

const READS_AT_ONCE = 8;

/** Reads every source, compiles the list and returns it; writes nothing. Rejects with a `CompilerError` when a source fails. */
export async function compileList(
  config: Config,
  host: Host,
  options: CompileOptions = {},
): Promise<CompileResult> {
  const plan = planOf(config);
  const reader = new ListReader(host, options);
  const lists = await reader.sources(plan);
  const listFilters = await reader.filters(plan.list);
  const sourceFilters = await Promise.all(plan.sources.map(({ passes }) => reader.filters(passes)));
  options.signal?.throwIfAborted();

  const pool = new ChunkPool();
  const notes = new Notes(pool);
  const scanner = usesWasm() ? new LineScanner() : undefined;
  const tables = plan.sources.map((source, index) => tableOf(pool, lists[index]!, source, scanner));
  await prepare(plan, tables);
  for (const [index, source] of plan.sources.entries()) {
    runPasses(tables[index]!, source.passes, sourceFilters[index]!, notes, {
      above: listFilters,
      onStep: stepTimer(host, options, source.label),
    });
  }
  const list = joinTables(
    pool,
    tables,
    plan.sources,
    config.sources.map(({ name }) => name),
  );
  options.onProgress?.({ kind: "compiling", lines: list.length });
  runPasses(list, plan.list, listFilters, notes, { onStep: stepTimer(host, options) });

  const bytes = adblock.write(list, headerLines(config, VERSION, timeOf(host)));
  const counted = reportOf(
    list,
    plan.sources,
    lists.map(({ bytesRead }) => bytesRead),
  );
  return {
    bytes,
    rules: list,
    report: {
      name: config.name,
      ...counted,
      lines: counted.sources.reduce((sum, { lines }) => sum + lines, 0),
      kept: counted.sources.reduce((sum, { kept }) => sum + kept, 0),
      bytes: bytes.length,
    },
    diagnostics: [
      ...reader.diagnostics,
      ...notes.diagnostics(plan.sources.map(({ label }) => label)),
    ],
  };
}

/** Lets the transformations load what they need for these lists. */
async function prepare(plan: Plan, tables: readonly RuleTable[]): Promise<void> {
  for (const { transformation } of plan.list.steps) await transformation.prepare?.(tables);
  for (const [index, { passes }] of plan.sources.entries())
    for (const { transformation } of passes.steps) await transformation.prepare?.([tables[index]!]);
}

/** Reports each step with the time since the one before. */
function stepTimer(host: Host, options: CompileOptions, label?: string): (name: string) => void {
  let last = host.now().getTime();
  return (name) => {
    const now = host.now().getTime();
    options.onProgress?.({
      kind: "step",
      name,
      ms: now - last,
      ...(label === undefined ? {} : { label }),
    });
    last = now;
  };
}

/** Now, or the moment that a reproducible build asks for (https://reproducible-builds.org/specs/source-date-epoch). */
function timeOf(host: Host): Date {
  const epoch = host.env["SOURCE_DATE_EPOCH"];
  return epoch !== undefined && /^\d{1,12}$/.test(epoch)
    ? new Date(Number(epoch) * 1000)
    : host.now();
}

class ListReader {
  readonly diagnostics: Diagnostic[] = [];
  private readonly host: Host;
  private readonly options: CompileOptions;

  constructor(host: Host, options: CompileOptions) {
    this.host = host;
    this.options = options;
  }

  /** All sources, several at a time. Every failing one is reported, not only the first. */
  async sources(plan: Plan): Promise<LoadedList[]> {
    const failures: Diagnostic[] = [];
    const lists = await inParallel(
      plan.sources,
      READS_AT_ONCE,
      async ({ index, source, label }) => {
        this.options.onProgress?.({ kind: "source-started", source: index, label });
        try {
          const list = await this.read(source);
          this.options.onProgress?.({
            kind: "source-read",
            source: index,
            label,
            bytes: list.bytesRead,
          });
          return list;
        } catch (error) {
          if (!(error instanceof CompilerError)) throw error;
          this.options.onProgress?.({ kind: "source-failed", source: index, label });
          failures.push(...error.diagnostics);
          return undefined;
        }
      },
    );
    if (failures.length > 0) throw new CompilerError([...this.diagnostics, ...failures]);
    return lists.filter((list) => list !== undefined);
  }

  async filters({ exclusions, inclusions }: Passes): Promise<Filters> {
    const [excluded, included] = await Promise.all([
      Promise.all(exclusions.files.map((file) => this.read(file))),
      Promise.all(inclusions.files.map((file) => this.read(file))),
    ]);
    return {
      exclusions: await filterOf(exclusions.inline, excluded),
      inclusions: await filterOf(inclusions.inline, included),
    };
  }

  private async read(source: string): Promise<LoadedList> {
    const { host, options } = this;
    const location = await locate(source, options.configFolder ?? host.cwd, host, this.diagnostics);
    const label = withoutCredentials(source);
    const list = await loadList(location, label, host, options.signal);
    this.diagnostics.push(...list.diagnostics);
    return list;
  }
}
