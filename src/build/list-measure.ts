import type { SizePair } from "../sources/size-bounds.ts";
import type { CompileReport, SourceReport } from "../engine/report.ts";
import type { SettingsDigest } from "./settings-digest.ts";

/** What the size of a build is compared by. */
export interface ListMeasure {
  readonly rules: number;
  /** Rules of each source, by its key. */
  readonly sources: Readonly<Record<string, number>>;
}

/** A source that is left out is not part of the build. */
export function measureOf(
  { rules, sources }: Pick<CompileReport, "rules" | "sources">,
  settings: SettingsDigest,
): ListMeasure {
  const own: Record<string, number> = {};
  for (const [index, source] of sources.entries()) {
    if (source.state === "dropped") continue;
    const key = `${settings.sources[index] ?? ""} ${source.source}`;
    own[key] = (own[key] ?? 0) + userRules(source);
  }
  return { rules, sources: own };
}

/** Rules that the source has whatever else is in the list: which of two sources keeps a rule that both have depends on their order. */
function userRules({ kept, dropped }: SourceReport): number {
  const { duplicate = 0, covered = 0, "same-host": sameHost = 0 } = dropped;
  return kept + duplicate + covered + sameHost;
}

/** With the same sources, the lists; otherwise the sources that both have. Undefined when they have none in common. */
export function comparable(before: ListMeasure, now: ListMeasure): SizePair | undefined {
  const keys = Object.keys(now.sources);
  const common = keys.filter((key) => before.sources[key] !== undefined);
  if (common.length === keys.length && keys.length === Object.keys(before.sources).length)
    return { before: before.rules, now: now.rules };
  if (common.length === 0) return undefined;
  const sumOf = ({ sources }: ListMeasure): number =>
    common.reduce((sum, key) => sum + sources[key]!, 0);
  return { before: sumOf(before), now: sumOf(now) };
}
