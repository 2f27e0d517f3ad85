import type { BuildRecord } from "../record/build-record.ts";
import type { FateName } from "../rules/fate.ts";
import { carriedRules, overlapMatrix, smallestCover } from "./overlap.ts";

/** What a source brings to a list, and what it costs to drop it. */
export interface SourceStats {
  readonly source: string;
  readonly lines: number;
  /** Lines that are no rules, or may not be: comments, what Validate took, what is excluded. */
  readonly rejected: Readonly<Record<string, number>>;
  readonly rejectedLines: number;
  /** Lines that say what another line says. */
  readonly duplicate: number;
  /** Lines that a rule for a parent covers. */
  readonly covered: number;
  /** Rules of the list that it has a line for, ... */
  readonly rules: number;
  /** ... and those that no other source has: what is lost without it. */
  readonly unique: number;
  readonly state: string;
}

export interface ListStats {
  readonly name: string;
  readonly rules: number;
  readonly lines: number;
  readonly sources: readonly SourceStats[];
  /** Rules that each pair of sources both carry. */
  readonly overlap: readonly (readonly number[])[];
  /** The fewest sources that carry every rule, and whether it is certain that they are. */
  readonly cover: { readonly sources: readonly string[]; readonly isSmallest: boolean };
}

const DUPLICATE: readonly FateName[] = ["duplicate", "same-host"];

/** Figures of the last build, from its record. */
export function statsOf(record: BuildRecord): ListStats {
  const { sources, name, rules, lines } = record.header;
  const groups = carriedRules(record);
  const overlap = overlapMatrix(groups, sources.length);
  const unique = sources.map((_, index) =>
    groups
      .filter((group) => group.sources.length === 1 && group.sources[0] === index)
      .reduce((sum, group) => sum + group.rules, 0),
  );
  const cover = smallestCover(groups);
  return {
    name,
    rules,
    lines,
    sources: sources.map(({ label, lines: read, dropped, state }, index): SourceStats => {
      const duplicate = DUPLICATE.reduce((sum, fate) => sum + (dropped[fate] ?? 0), 0);
      const covered = dropped["covered"] ?? 0;
      const rejected = Object.fromEntries(
        Object.entries(dropped).filter(
          ([fate]) => fate !== "covered" && !(DUPLICATE as readonly string[]).includes(fate),
        ),
      );
      return {
        source: label,
        lines: read,
        rejected,
        rejectedLines: Object.values(rejected).reduce((sum, count) => sum + count, 0),
        duplicate,
        covered,
        rules: overlap[index]![index]!,
        unique: unique[index]!,
        state,
      };
    }),
    overlap,
    cover: {
      sources: cover.sources.map((index) => sources[index]!.label),
      isSmallest: cover.isSmallest,
    },
  };
}
