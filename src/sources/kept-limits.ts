import { hashBytes } from "../bytes/hash.ts";
import { LF, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import type { OpenFile } from "../host/host.ts";

/** How much a source may have together with what is kept of it. */
interface KeptLimits {
  readonly bytes: number;
  /** The percentage that may be added to what is kept in a day. */
  readonly growth: number;
}

const DAY = 86_400;
/** As for sources, less is not limited. */
const FREE = 1000;

/**
 * Decides which entries are kept that a source has no longer: those that it had last. What it added within a day does not displace what was
 * known before. First `add` all entries, then `settle`, then ask for each in the same order.
 */
export class KeptCount {
  /** How many entries are not kept, by each limit. */
  readonly forgotten: Record<keyof KeptLimits, number> = { bytes: 0, growth: 0 };
  private readonly limits: KeptLimits;
  private readonly dayAgo: number;
  private readonly bytes = new NewestFirst();
  private readonly growth = new NewestFirst();
  /** Entries that were known a day ago. */
  private known = 0;
  /** Bytes of what the source has. */
  private own = 0;

  constructor(limits: KeptLimits, now: number) {
    this.limits = limits;
    this.dayAgo = now - DAY;
  }

  add({ first, last, isGone }: MergedEntry, bytes: number): void {
    if (first <= this.dayAgo) this.known++;
    else if (isGone) this.growth.add(last, 1);
    if (isGone) this.bytes.add(last, bytes);
    else this.own += bytes;
  }

  /** Whether all entries are kept. */
  settle(): boolean {
    const { limits, known, own } = this;
    // Of a new source, nothing is known to compare with.
    const most = known === 0 ? Infinity : Math.max(FREE, (known * limits.growth) / 100);
    const areAllNew = this.growth.settle(most);
    return this.bytes.settle(limits.bytes - own) && areAllNew;
  }

  keeps({ first, last, isGone }: MergedEntry, bytes: number): boolean {
    if (!isGone) return true;
    const isNew = first > this.dayAgo;
    const by = isNew && !this.growth.takes(last, 1) ? "growth" : "bytes";
    if (by === "bytes" && this.bytes.takes(last, bytes)) return true;
    this.forgotten[by]++;
    return false;
  }
}

/** Gives room to what was seen last. */
class NewestFirst {
  private readonly amounts = new Map<number, number>();
  /** All that was seen after this time has room. */
  private full = -Infinity;
  /** The room for what was seen at this time. */
  private room = 0;

  add(time: number, amount: number): void {
    this.amounts.set(time, (this.amounts.get(time) ?? 0) + amount);
  }

  /** Whether there is room for all. */
  settle(most: number): boolean {
    this.room = most;
    for (const [time, amount] of [...this.amounts].toSorted(([one], [other]) => other - one)) {
      if (amount > this.room) {
        this.full = time;
        return false;
      }
      this.room -= amount;
    }
    return true;
  }

  takes(time: number, amount: number): boolean {
    if (time > this.full) return true;
    if (time < this.full || amount > this.room) return false;
    this.room -= amount;
    return true;
  }
}

/** An entry of a source, and when it was seen, in seconds since 1970. */
interface LedgerEntry {
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

/** The window of a ledger: entries that were last seen before it are forgotten. In seconds since 1970. */
export interface LedgerWindow {
  readonly now: number;
  readonly from: number;
}

const HEAD = "rules-compiler ledger 1";
const PIECE = 256 * 1024;
const LINE = /^(?<first>[0-9a-z]{1,8}) (?<last>[0-9a-z]{1,8}) (?<text>.+)$/;

/**
 * A ledger is a text file: its first line names the form, each other line is `first last text`, with times in base 36, in the order of
 * `ledgerHash` and then of the texts. The order lets two ledgers be merged while they are read.
 */
export async function* readLedger(
  file: OpenFile,
  { now, from }: LedgerWindow,
): AsyncGenerator<LedgerEntry> {
  let isHead = true;
  for await (const line of linesOf(file)) {
    if (isHead) {
      isHead = false;
      if (line !== HEAD) return;
      continue;
    }
    const { first, last, text } = LINE.exec(line)?.groups ?? {};
    if (text === undefined) continue;
    // Times of a clock that was ahead count as now.
    const seen = Math.min(now, Number.parseInt(last!, 36));
    if (seen < from) continue;
    yield { first: Math.min(now, Number.parseInt(first!, 36)), last: seen, text };
  }
}

export const LEDGER_HEAD: Uint8Array = encodeUtf8(`${HEAD}\n`);

export function ledgerLine({ first, last, text }: LedgerEntry): Uint8Array {
  return encodeUtf8(`${first.toString(36)} ${last.toString(36)} ${text}\n`);
}

/** An entry of the merged ledger. */
export interface MergedEntry extends LedgerEntry {
  /** Whether the source has it no longer. */
  readonly isGone: boolean;
}

/** Adds what a source has at a timestamp to what was seen before. Both are in the order of ledgers. */
export async function* mergeLedger(
  before: AsyncIterable<LedgerEntry>,
  present: Iterable<string>,
  seenAt: number,
): AsyncGenerator<MergedEntry> {
  const texts = present[Symbol.iterator]();
  let next = texts.next();
  for await (const entry of before) {
    while (next.done !== true && compareTexts(next.value, entry.text) < 0) {
      yield { first: seenAt, last: seenAt, text: next.value, isGone: false };
      next = texts.next();
    }
    const isPresent = next.done !== true && next.value === entry.text;
    if (isPresent) next = texts.next();
    yield {
      first: Math.min(entry.first, isPresent ? seenAt : entry.first),
      last: isPresent ? Math.max(entry.last, seenAt) : entry.last,
      text: entry.text,
      isGone: !isPresent,
    };
  }
  for (; next.done !== true; next = texts.next())
    yield { first: seenAt, last: seenAt, text: next.value, isGone: false };
}

/** Negative if a text comes before another one in a ledger. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  const order = hashOfText(one) - hashOfText(other);
  return order === 0 ? (one < other ? -1 : 1) : order;
}

/** The same order for many texts, with one hash each. */
export function* inLedgerOrder(texts: Iterable<string>): Generator<string> {
  const hashed = Array.from(texts, (text) => ({ text, hash: hashOfText(text) }));
  hashed.sort((one, other) => one.hash - other.hash || (one.text < other.text ? -1 : 1));
  for (const { text } of hashed) yield text;
}

/** The same for every run, because ledgers are stored in its order. */
export function ledgerHash(bytes: Uint8Array, start: number, end: number): number {
  return hashBytes(0x811c9dc5, bytes, start, end) >>> 0;
}

function hashOfText(text: string): number {
  const bytes = encodeUtf8(text);
  return ledgerHash(bytes, 0, bytes.length);
}

async function* linesOf(file: OpenFile): AsyncGenerator<string> {
  const buffer = new Uint8Array(Math.min(PIECE, Math.max(4096, file.size)));
  let rest = new Uint8Array(0);
  for (let at = 0; ;) {
    const count = await file.read(buffer, at);
    if (count === 0) return;
    at += count;
    const bytes = new Uint8Array(rest.length + count);
    bytes.set(rest);
    bytes.set(buffer.subarray(0, count), rest.length);
    const end = bytes.lastIndexOf(LF) + 1;
    rest = bytes.slice(end);
    if (end > 0) yield* decodeUtf8(bytes, 0, end - 1).split("\n");
  }
}
