import { LF } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { recordFolder } from "./record-folder.ts";

/** What happened to a list. */
export const HISTORY_EVENTS = [
  "published",
  "accepted",
  "refused",
  "rolled-back",
  "held",
  "hold-ended",
  "began",
  "ended",
] as const;

/** One event of a list. */
export interface HistoryEntry {
  readonly at: string;
  readonly event: (typeof HISTORY_EVENTS)[number];
  /** The number of the build that was kept next, which orders events and builds: a clock may be wrong. */
  readonly build: number;
  /** Who asked. */
  readonly by: string;
  readonly rules?: number;
  /** The sources of the list, with the SHA-256 of what was read; without it if a file changed since, or is large. */
  readonly from?: readonly { readonly source: string; readonly sha256?: string }[];
  /** SHA-256 of the published list. */
  readonly to?: string;
  /** When the build was made that was published again or held. */
  readonly of?: string;
  /** The guards that refused the list, or that were overruled. */
  readonly guards?: readonly string[];
  /** The condition that began or ended, for a person. */
  readonly what?: string;
}

/** The log of a list: one line of JSON per event, only ever appended to. The caller holds the lock of the list. */
export class HistoryLog {
  private readonly path: string;
  private readonly host: Host;

  constructor(list: string, host: Host) {
    this.path = host.path.join(recordFolder(list, host), `${host.path.basename(list)}.log.jsonl`);
    this.host = host;
  }

  /** The digest of the list that was published last; undefined if unknown. */
  async lastDigest(): Promise<string | undefined> {
    return (await this.entries()).findLast(({ to }) => to !== undefined)?.to;
  }

  /** The entries, oldest first. Lines that are damaged or cut are skipped. Rejects with a `HostError`. */
  async entries(): Promise<HistoryEntry[]> {
    const bytes = await this.bytes();
    return decodeUtf8(bytes, 0, bytes.length).split("\n").flatMap(readEntry);
  }

  /** Appends an entry. It begins on a new line, also after a run that was killed while it wrote. Rejects with a `HostError`. */
  async append(entry: HistoryEntry): Promise<void> {
    const { host, path } = this;
    await host.makeFolder(host.path.dirname(path));
    const last = (await this.bytes()).at(-1);
    const isCut = last !== undefined && last !== LF;
    await host.appendFile(path, encodeUtf8(`${isCut ? "\n" : ""}${JSON.stringify(entry)}\n`));
  }

  private async bytes(): Promise<Uint8Array> {
    try {
      return await this.host.readFile(this.path);
    } catch (error) {
      if (error instanceof HostError && error.code === "ENOENT") return new Uint8Array(0);
      throw error;
    }
  }
}

function readEntry(line: string): HistoryEntry[] {
  try {
    const entry = JSON.parse(line) as Partial<HistoryEntry> | null;
    return isEntry(entry) ? [entry] : [];
  } catch {
    return [];
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isEntry(entry: Partial<HistoryEntry> | null): entry is HistoryEntry {
  const { at, build, by, event, rules, from, to, of, guards, what } = entry ?? {};
  return (
    isText(at) &&
    Number.isSafeInteger(build) &&
    !Number.isNaN(Date.parse(at!)) &&
    isText(by) &&
    HISTORY_EVENTS.some((known) => known === event) &&
    (rules === undefined || Number.isSafeInteger(rules)) &&
    [to, of, what].every((value) => value === undefined || isText(value)) &&
    (guards === undefined || (Array.isArray(guards) && guards.every(isText))) &&
    (from === undefined || (Array.isArray(from) && from.every((one) => isText(one?.source))))
  );
}
