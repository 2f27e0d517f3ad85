import { LF } from "../bytes/ascii.ts";
import { equalBytes } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";
import { removeLeftovers } from "../host/write-whole.ts";
import {
  type HistoryEntry,
  type HistoryFact,
  NO_HASH,
  historyLine,
  readHistoryLine,
} from "./history-entry.ts";
import { recordFolder } from "./record-folder.ts";

/** The end of a log, in a file of its own: it tells when the log was cut. */
interface HistoryHead {
  readonly version: 1;
  readonly entries: number;
  readonly bytes: number;
  /** The hash of the last entry. */
  readonly hash: string;
  /** The digest of the list that was published last. */
  readonly to?: string;
  /** The line that is being appended. A killed run leaves it here, and less than the whole line in the log. */
  readonly pending?: string;
}

const EMPTY: HistoryHead = { version: 1, entries: 0, bytes: 0, hash: NO_HASH };

/** A log and what is wrong with it. */
export interface HistoryCheck {
  /** The entries that are as they were written. */
  readonly entries: readonly HistoryEntry[];
  /** Why the log is not as it was written; empty if it is. */
  readonly problems: readonly string[];
  /** Whether a run was stopped while it wrote the last entry. The next entry completes it. */
  readonly isUnfinished: boolean;
  /** The digest of the list that was published last. */
  readonly to?: string;
}

/** The log of a list: one line of JSON per event, never rewritten. The caller holds the lock of the list. */
export class HistoryLog {
  private readonly path: string;
  private readonly host: Host;
  private readonly headFile: StateFile<HistoryHead>;

  constructor(list: string, host: Host) {
    const stem = host.path.join(recordFolder(list, host), host.path.basename(list));
    this.path = `${stem}.history.jsonl`;
    this.headFile = new StateFile(`${stem}.history.json`, isHead, host);
    this.host = host;
  }

  /** The digest of the list that was published last; undefined if unknown. */
  async lastDigest(): Promise<string | undefined> {
    const head = await this.headFile.read();
    return head?.pending === undefined ? head?.to : undefined;
  }

  /** Rejects with a `HostError` if the log cannot be read. */
  async check(): Promise<HistoryCheck> {
    return checked(await this.bytes(), await this.headFile.look());
  }

  /** Appends an entry. Rejects with a `HostError`. */
  async append(fact: HistoryFact): Promise<void> {
    await this.host.makeFolder(this.host.path.dirname(this.path));
    await removeLeftovers(this.headFile.path, this.host);
    const { head, notes } = await this.readied(fact);
    let last = head;
    for (const one of [...notes, fact]) last = await this.appendOne(one, last);
    await this.headFile.write(last);
  }

  private async appendOne(fact: HistoryFact, head: HistoryHead): Promise<HistoryHead> {
    const { text, hash } = historyLine(fact, head.entries + 1, head.hash);
    await this.headFile.write({ ...head, pending: text });
    const bytes = encodeUtf8(text);
    await this.host.appendFile(this.path, bytes);
    const to = fact.to ?? head.to;
    return {
      version: 1,
      entries: head.entries + 1,
      bytes: head.bytes + bytes.length,
      hash,
      ...(to !== undefined && { to }),
    };
  }

  /** Completes what a killed run left. A log that was changed stays as it is: the new entry says so. */
  private async readied({
    at,
    by,
  }: HistoryFact): Promise<{ head: HistoryHead; notes: readonly HistoryFact[] }> {
    const bytes = await this.bytes();
    const found = await this.headFile.look();
    const known = typeof found === "object" ? found : undefined;
    const rest = restOf(bytes, known ?? EMPTY);
    if (rest !== undefined && (known !== undefined || found === "missing")) {
      const head = known === undefined ? EMPTY : settled(known);
      if (rest.length === 0) return { head, notes: [] };
      await this.host.appendFile(this.path, rest);
      return { head, notes: [{ at, event: "repaired", by }] };
    }
    const { entries, problems } = checked(bytes, found);
    const last = entries.at(-1);
    const isOpen = bytes.length > 0 && bytes.at(-1) !== LF;
    if (isOpen) await this.host.appendFile(this.path, Uint8Array.of(LF));
    const head = {
      ...(known === undefined
        ? { ...EMPTY, entries: last?.n ?? 0, hash: last?.hash ?? NO_HASH }
        : settled(known)),
      bytes: bytes.length + Number(isOpen),
    };
    return { head, notes: [{ at, event: "damaged", by, found: problems.join("; ") }] };
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

/** What must still be appended to the log; undefined if the log does not end as the head says. */
function restOf(log: Uint8Array, { bytes, pending = "" }: HistoryHead): Uint8Array | undefined {
  const line = encodeUtf8(pending);
  const tail = log.subarray(bytes);
  const isPrefix =
    log.length >= bytes &&
    tail.length <= line.length &&
    equalBytes(tail, line.subarray(0, tail.length));
  return isPrefix ? line.subarray(tail.length) : undefined;
}

/** The head after its pending line is in the log. */
function settled({ pending, ...head }: HistoryHead): HistoryHead {
  const line = pending === undefined ? undefined : encodeUtf8(pending);
  const entry = line && readHistoryLine(line.subarray(0, -1));
  if (line === undefined || entry === undefined) return head;
  const to = entry.to ?? head.to;
  return {
    version: 1,
    entries: entry.n,
    bytes: head.bytes + line.length,
    hash: entry.hash,
    ...(to !== undefined && { to }),
  };
}

function checked(log: Uint8Array, found: HistoryHead | "missing" | "damaged"): HistoryCheck {
  const head = typeof found === "object" ? found : EMPTY;
  const rest = restOf(log, head);
  const { entries, problems } = chain(rest === undefined ? log : log.subarray(0, head.bytes));
  const end = entries.at(-1);
  if (found === "damaged") problems.push("the file with the hash of the last entry is damaged");
  else if (found === "missing" && log.length > 0)
    problems.push("the file with the hash of the last entry is missing");
  else if (log.length < head.bytes)
    problems.push(`the end is missing: ${log.length} of ${head.bytes} bytes are left`);
  else if (rest === undefined) problems.push("there is more than the last entry that was written");
  else if ((end?.n ?? 0) !== head.entries || (end?.hash ?? NO_HASH) !== head.hash)
    problems.push("the last entry is not the one that was written last");
  for (const { n, event, found: what } of entries)
    if (event === "damaged") problems.push(`entry ${n} says: ${what ?? ""}`);
  const { to } = settled(head);
  const pending = head.pending === undefined ? undefined : lineOf(head.pending);
  if (pending === null) problems.push("the entry that was being written is damaged");
  return {
    entries: rest === undefined || !pending ? entries : [...entries, pending],
    problems,
    isUnfinished: rest !== undefined && rest.length > 0,
    ...(to !== undefined && { to }),
  };
}

function lineOf(text: string): HistoryEntry | null {
  return readHistoryLine(encodeUtf8(text).subarray(0, -1)) ?? null;
}

/** The entries of a log, and where the chain is broken. */
function chain(log: Uint8Array): { entries: HistoryEntry[]; problems: string[] } {
  const entries: HistoryEntry[] = [];
  const problems: string[] = [];
  let prev = NO_HASH;
  let n = 0;
  for (let at = 0; at < log.length;) {
    const end = log.indexOf(LF, at);
    const line = log.subarray(at, end === -1 ? log.length : end);
    at += line.length + 1;
    n++;
    const entry = end === -1 ? undefined : readHistoryLine(line);
    if (entry === undefined) {
      problems.push(`entry ${n} was changed`);
      continue;
    }
    if (entry.n !== n || entry.prev !== prev)
      problems.push(`entry ${n} does not follow the one before`);
    entries.push(entry);
    ({ hash: prev } = entry);
  }
  return { entries, problems };
}

function isHead(value: unknown): value is HistoryHead {
  const { version, entries, bytes, hash, to, pending } = (value ?? {}) as Partial<HistoryHead>;
  return (
    version === 1 &&
    Number.isSafeInteger(entries) &&
    Number.isSafeInteger(bytes) &&
    typeof hash === "string" &&
    [to, pending].every((text) => text === undefined || typeof text === "string")
  );
}
