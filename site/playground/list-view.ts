import { type Diagnostic, locationText } from "../../src/diagnostics/render.ts";
import type { CompileReport } from "../../src/documents/facts.ts";
import { FATE_ENTRIES, byRank, statsOf } from "../../src/explain/glossary.ts";
import type { BuildRecord } from "../../src/record/build-record.ts";
import type { BrowserHost } from "./browser-host.ts";
import type { AlarmView, KnownFile, ListView, Problem } from "./calls.ts";

/** The files that exist, with their sizes. */
export function filesOf(paths: readonly string[], { files }: BrowserHost): KnownFile[] {
  return paths.flatMap((name) => {
    const bytes = files.get(name)?.length;
    return bytes === undefined ? [] : [{ name, bytes }];
  });
}

/** The lines that would have done harm, one for each source and fate. */
export function alarmViews({ sources }: CompileReport): AlarmView[] {
  return sources.flatMap(({ alarms = [], dropped }) =>
    alarms.map(({ file, line, text, fate }) => ({
      at: `${file}:${line}`,
      text,
      fate,
      meaning: FATE_ENTRIES.get(fate)?.meaning ?? "",
      more: (dropped[fate] ?? 1) - 1,
    })),
  );
}

/** A list as the page shows it, without its alarms. */
export function listView(
  record: BuildRecord,
  path: string,
  files: readonly KnownFile[],
): Omit<ListView, "alarms"> {
  const { name, rules, lines, bytes, sources } = record.header;
  const stats = statsOf(record);
  return {
    name,
    path,
    rules,
    lines,
    bytes,
    sources: sources.map(({ label, lines: read, kept, dropped }, index) => ({
      name: label,
      lines: read,
      kept,
      rules: stats.sources[index]!.rules,
      onlyHere: stats.sources[index]!.onlyHere,
      dropped: byRank(dropped).map(
        ([fate, count]) => [fate, count, FATE_ENTRIES.get(fate)?.meaning ?? ""] as const,
      ),
    })),
    overlap: stats.overlap,
    cover: stats.cover.sources,
    files,
  };
}

/** A problem without what cannot be cloned. */
export function problemOf({ severity, code, message, at, hint, cause }: Diagnostic): Problem {
  return {
    severity,
    code,
    message,
    ...(at && { at: locationText(at) }),
    ...(at?.frame !== undefined && { frame: at.frame }),
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  };
}
