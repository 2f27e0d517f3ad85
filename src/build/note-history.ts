import { createHash } from "node:crypto";
import { warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import type { CompileReport } from "../engine/report.ts";
import { type Host, HostError } from "../host/host.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { type HistoryEntry, HistoryLog } from "../record/history-log.ts";
import { nextNumber } from "../record/kept-builds.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { digestOfFile } from "../sources/source-store.ts";
import { askedBy } from "./asked-by.ts";
import type { BuildContext } from "./build-context.ts";
import type { BuildOptions } from "./build-options.ts";

type Fact = Omit<HistoryEntry, "at" | "build" | "by" | "to" | "from">;

/** That a list was published, and the guards that the caller accepted. */
export function publishedFact(
  { rules }: Pick<CompileReport, "rules">,
  { accept }: Pick<BuildOptions, "accept">,
): Fact {
  if (accept.length === 0) return { event: "published", rules };
  return { event: "accepted", rules, guards: accept };
}

/** Writes an event into the log of a list. The caller holds the locks. A failure is reported and does not stop the run. */
export async function noteHistory(
  files: readonly OutputFile[],
  fact: Fact & Pick<HistoryEntry, "from">,
  context: BuildContext,
): Promise<void> {
  for (const file of files) await attempt(file, context, () => append(file, fact, context));
}

/** Writes that a list was published, unless the log says so already. `header` names its sources. */
export async function notePublished(
  files: readonly OutputFile[],
  fact: Fact,
  header: RecordHeader | undefined,
  context: BuildContext,
): Promise<void> {
  const { host } = context;
  for (const file of files)
    await attempt(file, context, async () => {
      const to = await digestOfFile(file.path, host);
      const isKnown = to === (await new HistoryLog(file.path, host).lastDigest());
      if (to === undefined || (isKnown && fact.event !== "rolled-back")) return;
      const from = header === undefined ? {} : { from: await digestsOf(header, context) };
      await append(file, { ...fact, ...from, to }, context);
    });
}

async function append(
  { path }: OutputFile,
  fact: Omit<HistoryEntry, "at" | "build" | "by">,
  { options, host }: BuildContext,
): Promise<void> {
  const at = host.now().toISOString();
  const build = await nextNumber(path, host);
  await new HistoryLog(path, host).append({ at, build, by: askedBy(options, host), ...fact });
}

async function attempt(
  { name }: OutputFile,
  { emit }: BuildContext,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const cause = reasonOf(error.code, error.message);
    const message = `Cannot write the log of ${printable(name)}`;
    emit({ kind: "diagnostic", diagnostic: warningOf("log-failed", message, { cause }) });
  }
}

/** Reading larger local files a second time would cost a tenth of a large build. */
const LARGEST_LOCAL = 1024 * 1024;

/** Undefined if the file has changed since it was read. */
async function localDigest(
  path: string | undefined,
  stamp: string | undefined,
  host: Host,
): Promise<string | undefined> {
  if (path === undefined || (await host.stampOf(path))?.text !== stamp) return undefined;
  return (await host.sizeOf(path)) > LARGEST_LOCAL ? undefined : await digestOfFile(path, host);
}

/** The sources, with the SHA-256 of what was read if it is known. For several files of a source, that of their digests. */
export async function digestsOf(
  { sources, files }: RecordHeader,
  { host }: Pick<BuildContext, "host">,
): Promise<NonNullable<HistoryEntry["from"]>> {
  const read = new Map<number, (string | undefined)[]>();
  for (const { source, sha256, path, stamp, isOwn } of files) {
    if (isOwn === true) continue;
    const digest = sha256 ?? (await localDigest(path, stamp, host));
    read.set(source, [...(read.get(source) ?? []), digest]);
  }
  return [...read].map(([source, digests]) => {
    const label = sources[source]?.label ?? "";
    if (digests.includes(undefined)) return { source: label };
    const [only] = digests;
    const sha256 =
      digests.length === 1 ? only! : createHash("sha256").update(digests.join("\n")).digest("hex");
    return { source: label, sha256 };
  });
}
