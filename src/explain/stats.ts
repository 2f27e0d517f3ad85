import type { BuildRecord } from "../record/build-record.ts";
import type { FateName } from "../rules/fate.ts";
import { type Cover, carriedRules, neededOf, overlapMatrix, smallestCover } from "./overlap.ts";

/** What a source contributes to a list. */
export interface SourceStats {
  readonly source: string;
  readonly lines: number;
  /** Lines that are not rules of the list: comments, invalid and excluded lines, by fate. */
  readonly rejected: Readonly<Record<string, number>>;
  readonly rejectedLines: number;
  /** Lines that are equivalent to another line. */
  readonly duplicate: number;
  /** Lines that a rule for a parent domain covers. */
  readonly covered: number;
  /** Rules of the list that the source has. */
  readonly rules: number;
  /** Rules that would leave the list if this source went away. */
  readonly unique: number;
  /** How it was obtained. */
  readonly state: string;
}

/** What the sources of a list contribute and share. */
export interface ListStats {
  readonly name: string;
  readonly rules: number;
  readonly lines: number;
  readonly sources: readonly SourceStats[];
  /** The number of sources that a rule needs, if it is more than one. */
  readonly minSources?: number;
  /** The number of rules that each pair of sources shares. */
  readonly overlap: readonly (readonly number[])[];
  /** The smallest set of sources with every rule, and whether it is proven to be the smallest. */
  readonly cover: { readonly sources: readonly string[]; readonly isSmallest: boolean };
}

const DUPLICATE: readonly FateName[] = ["duplicate", "same-host"];

/** The statistics of a build, from its record. */
export function statsOf(record: BuildRecord): ListStats {
  const { sources, name, rules, lines, minSources = 1 } = record.header;
  const groups = carriedRules(record);
  const overlap = overlapMatrix(groups, sources.length);
  const unique = sources.map((_, index) =>
    groups
      .filter((group) => neededOf(group).includes(index))
      .reduce((sum, group) => sum + group.rules, 0),
  );
  // A rule with fewer sources than it needs is in the list twice, so that which sources it has is not known.
  const isKnown = groups.every(({ sources: own, least }) => own.length >= least);
  const all: Cover = { sources: [...sources.keys()], isSmallest: false };
  const cover = isKnown ? smallestCover(groups) : all;
  return {
    name,
    rules,
    lines,
    ...(minSources > 1 && { minSources }),
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
