import { withoutCredentials } from "../diagnostics/printable.ts";
import { Fate, type FateName, fateName } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { PlannedSource } from "./plan.ts";

/** What became of a source's lines: `lines` is the sum of `kept` and everything in `dropped`. */
export interface SourceReport {
  readonly label: string;
  readonly source: string;
  readonly bytes: number;
  readonly lines: number;
  readonly kept: number;
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
}

export interface CompileReport {
  readonly name: string;
  readonly sources: readonly SourceReport[];
  readonly lines: number;
  readonly kept: number;
  /** Rules in the list; differs from `kept` where one line gave several. Comments, blank lines and banners do not count. */
  readonly rules: number;
  readonly bytes: number;
}

/** Counts the fate of every line of the input, by source, and the rules of the list. */
export function reportOf(
  rules: RuleTable,
  sources: readonly PlannedSource[],
  bytesRead: readonly number[],
): { sources: SourceReport[]; rules: number } {
  const counts = sources.map(() => new Uint32Array(256));
  const live = countFates(rules, counts);
  const reports = sources.map((source, index): SourceReport => {
    const dropped: Partial<Record<FateName, number>> = {};
    let lines = 0;
    for (const [fate, count] of counts[index]!.entries()) {
      lines += count;
      if (fate !== Fate.Live && count > 0) dropped[fateName(fate)] = count;
    }
    const { label, source: address } = source;
    const kept = counts[index]![Fate.Live]!;
    return {
      label,
      source: withoutCredentials(address),
      bytes: bytesRead[index] ?? 0,
      lines,
      kept,
      dropped,
    };
  });
  return { sources: reports, rules: live };
}

/** A hosts line that became several rules counts once, and as kept if one of them is. Returns the number of rules. */
function countFates(rules: RuleTable, counts: readonly Uint32Array[]): number {
  let live = 0;
  let lineFate: number = Fate.Live;
  for (const chunk of rules.chunks) {
    const count = counts[rules.pool.origins[chunk.origin]!.source]!;
    for (let row = 0; row < chunk.length; row++) {
      const flags = chunk.flags[row]!;
      const fate = chunk.fate[row]!;
      if ((flags & Flag.Generated) !== 0) continue;
      if (fate === Fate.Live && chunk.kind[row]! >= Kind.Hosts) live++;
      if ((flags & Flag.Continued) === 0) {
        count[fate]!++;
        lineFate = fate;
      } else if (fate === Fate.Live && lineFate !== Fate.Live) {
        count[lineFate]!--;
        count[Fate.Live]!++;
        lineFate = Fate.Live;
      }
    }
  }
  return live;
}
