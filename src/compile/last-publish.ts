import { basename, join } from "node:path";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { removeLeftovers, writeWhole } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { CompileReport } from "./report.ts";

/** What is remembered of the list that was published last, beside it. */
export interface LastPublish {
  readonly version: 1;
  readonly published: string;
  readonly rules: number;
  /** Protected names that the list blocks. */
  readonly blocked?: readonly string[];
  readonly sources: readonly {
    readonly label: string;
    readonly source: string;
    readonly lines: number;
    readonly kept: number;
  }[];
}

function recordOf(output: string): string {
  return join(recordFolder(output), `${basename(output)}.json`);
}

/** Undefined the first time, when the list itself is gone, and when the record cannot be read. */
export async function readLastPublish(
  output: string,
  host: Host,
): Promise<LastPublish | undefined> {
  try {
    if (!(await host.exists(output))) return undefined;
    const record: unknown = JSON.parse(decodeUtf8(await host.readFile(recordOf(output))));
    return isRecord(record) ? record : undefined;
  } catch (error) {
    if (error instanceof HostError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A publish that cannot be remembered was still made; the next one is compared with the one before. */
export async function rememberPublish(
  output: string,
  { rules, sources, blocked }: CompileReport,
  host: Host,
): Promise<void> {
  const last = await readLastPublish(output, host);
  const record: LastPublish = {
    version: 1,
    published: host.now().toISOString(),
    rules,
    ...(blocked !== undefined && { blocked }),
    sources: sources.flatMap(({ label, source, lines, kept, state }) => {
      // One that is left out this time is compared with what it was when it comes back.
      if (state !== "dropped") return [{ label, source, lines, kept }];
      return last?.sources.filter((one) => one.source === source) ?? [];
    }),
  };
  const text = encodeUtf8(`${JSON.stringify(record, undefined, 1)}\n`);
  try {
    await removeLeftovers(recordOf(output), host);
    await writeWhole(recordOf(output), host, (file) => file.write(text));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

/** Somebody else may have written to it. */
function isRecord(record: unknown): record is LastPublish {
  if (typeof record !== "object" || record === null) return false;
  const { version, rules, sources, blocked = [] } = record as Partial<LastPublish>;
  if (version !== 1 || typeof rules !== "number") return false;
  return Array.isArray(sources) && Array.isArray(blocked);
}
