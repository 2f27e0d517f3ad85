import { compileList } from "../engine/compile-list.ts";
import type { Config } from "../config/config.ts";
import type { SourceType, Trust } from "../config/fields.ts";
import type { Host } from "../host/host.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { rowOf } from "../rules/rule-table.ts";
import { cancelledName } from "./redundant-lines.ts";

/** Transformations that nearly every configuration uses. */
export const LINT_TRANSFORMATIONS: readonly string[] = [
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "TrimLines",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
];

export interface LineFate {
  /** The fate of each rule in the line; a hosts line may have several names. */
  readonly fates: number[];
  /** The line of the same file that made it redundant. */
  cause?: number;
  /** Its fate, if a rule of an included file makes it redundant. */
  causeElsewhere?: number;
}

export interface LineFates {
  /** By line of the file itself, from 1, without included lines. */
  readonly lines: ReadonlyMap<number, LineFate>;
  /** Names that `$badfilter` rules of included files cancel. */
  readonly cancelledElsewhere: ReadonlySet<string>;
}

/** The fate of every line of a file that is compiled alone. */
export async function lineFates(
  path: string,
  type: SourceType,
  trust: Trust,
  host: Host,
): Promise<LineFates> {
  const config: Config = {
    name: "lint",
    sources: [{ source: path, type, trust }],
    transformations: [...LINT_TRANSFORMATIONS],
  };
  const compiled = await compileList(config, host, () => {}, { memory: Infinity });
  const lines = new Map<number, LineFate>();
  const cancelledElsewhere = new Set<string>();
  try {
    const { chunks, pool } = compiled.rules;
    const first = pool.origins.findIndex(({ place }) => place !== undefined);
    for (const chunk of chunks) {
      const isOwn = chunk.origin === first;
      for (let row = 0; row < chunk.length; row++) {
        const fate = chunk.fate[row]!;
        if (!isOwn) {
          const name =
            chunk.kind[row] === Kind.Rule ? cancelledName(textOf(chunk, row)) : undefined;
          if (name !== undefined) cancelledElsewhere.add(name);
          continue;
        }
        if (fate === Fate.Spare) continue;
        const line = chunk.lineOf(row);
        const known: LineFate = lines.get(line) ?? { fates: [] };
        known.fates.push(fate);
        lines.set(line, known);
        if (!hasCause(fate) || chunk.by === undefined) continue;
        const by = chunk.by[row]!;
        const other = pool.chunkOf(by);
        const isName = (chunk.flags[row]! & Flag.AsBlock) !== 0;
        // Compress reads a hosts line as a rule for all names below it. Other programs do not.
        const isByName = (other.flags[rowOf(by)]! & Flag.AsBlock) !== 0;
        if (other.origin === first) known.cause ??= other.lineOf(rowOf(by));
        else if (!isByName || (isName && fate === Fate.SameHost)) known.causeElsewhere ??= fate;
      }
    }
  } finally {
    compiled.close();
  }
  return { lines, cancelledElsewhere };
}
