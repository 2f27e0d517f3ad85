import type { BuildRecord } from "../record/build-record.ts";
import { FATE_ENTRIES } from "./glossary.ts";
import { type Cover, carriedRules, neededOf, overlapMatrix, smallestCover } from "./overlap.ts";

/** What a source contributes to a list. */
export interface SourceStats {
  readonly source: string;
  readonly lines: number;
  /** Lines that are in the list. */
  readonly kept: number;
  /** Lines that are not in the list, by fate. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Dropped lines that the list does not need. */
  readonly redundant: number;
  /** Rules of the list that one of its lines gives. */
  readonly rules: number;
  /** Rules that would leave the list if this source went away. */
  readonly onlyHere: number;
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

/** The statistics of a build, from its record. */
export function statsOf(record: BuildRecord): ListStats {
  const { sources, name, rules, lines, minSources = 1 } = record.header;
  const groups = carriedRules(record);
  const overlap = overlapMatrix(groups, sources.length);
  const onlyHere = sources.map((_, index) =>
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
    sources: sources.map(({ label, lines: read, kept, dropped, state }, index) => ({
      source: label,
      lines: read,
      kept,
      dropped,
      redundant: redundantIn(dropped),
      rules: overlap[index]![index]!,
      onlyHere: onlyHere[index]!,
      state,
    })),
    overlap,
    cover: {
      sources: cover.sources.map((index) => sources[index]!.label),
      isSmallest: cover.isSmallest,
    },
  };
}

function redundantIn(dropped: Readonly<Record<string, number>>): number {
  return Object.entries(dropped)
    .filter(([fate]) => FATE_ENTRIES.get(fate)?.rank === "redundant")
    .reduce((sum, [, count]) => sum + count, 0);
}
