import { HASH_SEED } from "../bytes/hash.ts";
import type { Config } from "../config/config.ts";
import {
  FATE_NAMES,
  RECORD_VERSION,
  type RecordHeader,
  type RecordedFile,
} from "../record/record-format.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { feedOf } from "../engine/plan.ts";
import { storeKeyOf } from "../engine/source-key.ts";
import type { CompiledList } from "../engine/compiled-list.ts";
import { VERSION } from "../diagnostics/version.ts";

/** The header of a build record: the list, its sources, and the files that were read. */
export function recordHeader(config: Config, list: CompiledList, seconds: number): RecordHeader {
  const { report, builtAt } = list;
  const { min_sources: minSources = 1 } = config;
  const ledgers = list.sources.map(
    (one) =>
      list.files.get(storeKeyOf(one.source, one))?.find(({ role }) => role === "ledger")?.sha256,
  );
  return {
    version: RECORD_VERSION,
    tool: VERSION,
    name: report.name,
    builtAt: builtAt.toISOString(),
    seconds,
    rules: report.rules,
    lines: report.lines,
    ...(minSources > 1 && { minSources }),
    bytes: report.bytes,
    hashSeed: HASH_SEED,
    sources: report.sources.map(
      ({ label, source, state, goodAt, lines, kept, dropped, household }, index) => ({
        label,
        source,
        type: config.sources[index]!.type ?? "adblock",
        state,
        ...(goodAt === undefined ? {} : { goodAt }),
        ...(ledgers[index] !== undefined && { ledger: ledgers[index] }),
        lines,
        kept,
        dropped,
        ...(household !== undefined && { household }),
      }),
    ),
    files: recordedFiles(config, list),
    fates: FATE_NAMES,
  };
}

function recordedFiles(
  config: Config,
  { rules, inputs, files, sources }: CompiledList,
): RecordedFile[] {
  const stamps = new Map(inputs.map(({ path, stamp }) => [path, stamp?.text]));
  // Two sources may read the same address in different ways.
  const copies = sources.map((one) => files.get(storeKeyOf(one.source, one)) ?? []);
  return rules.pool.origins.map(({ source, file, place }): RecordedFile => {
    const own = config.sources[source];
    const format = own?.type ?? "adblock";
    const feed = own && feedOf(own);
    const known = {
      source,
      file,
      ...(feed !== undefined ? { feed } : foreignFormats.has(format) ? { format } : {}),
    };
    if (place === undefined) return { ...known, isOwn: true };
    const stamp = stamps.get(place);
    const { member } = own ?? {};
    if (stamp !== undefined)
      return { ...known, path: place, stamp, ...(member !== undefined && { member }) };
    const { sha256, role } = copies[source]?.find(({ key }) => key === place) ?? {};
    if (sha256 === undefined) return known;
    return role === "kept" ? { source, file, sha256, isKept: true } : { ...known, sha256 };
  });
}
