import type { SizePair } from "../sources/size-bounds.ts";
import type { CompileReport, SourceReport } from "../engine/report.ts";
import type { SettingsDigest } from "./settings-digest.ts";

/** The sizes by which builds are compared. */
export interface ListMeasure {
  readonly rules: number;
  /** Number of rules of each source, by its key. */
  readonly sources: Readonly<Record<string, number>>;
}

/** The measure of a build. Skipped sources are not part of it. */
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

/** Includes duplicates: if two sources have the same rule, their order decides which one keeps it. */
function userRules({ kept, dropped }: SourceReport): number {
  const { duplicate = 0, covered = 0, "same-host": sameHost = 0 } = dropped;
  return kept + duplicate + covered + sameHost;
}

/** The sizes of the lists if both have the same sources, else of the sources in both. Undefined if they share none. */
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
