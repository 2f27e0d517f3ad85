import { cancelledKey } from "../meaning/rule.ts";
import { hashBytes } from "../bytes/hash.ts";
import { ByteBuffer, SPACE, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, printable } from "../diagnostics/text.ts";
import { type ListFeature, type ListWork, type SourceRun, stageNamed } from "../engine/feature.ts";
import type { PlannedSource } from "../engine/plan.ts";
import { storeKeyOf } from "../engine/source-state.ts";
import { type Host, HostError } from "../host/host.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { SourceState } from "../sources/acquire.ts";
import {
  SeenTexts,
  type SourceStore,
  type StoredFile,
  type WebText,
  digestOf,
  openAgain,
} from "../sources/copies.ts";
import {
  KeptCount,
  LEDGER_HEAD,
  type LedgerWindow,
  type MergedEntry,
  ledgerLine,
  mergeLedger,
  readLedger,
} from "../sources/kept-limits.ts";
import { DownloadedBody, type FetchLimits, sourceError } from "../sources/limits.ts";
import { type LineSink, SourceList } from "../sources/source-list.ts";
import { RuleStage, type StageContext } from "../transformations/stage.ts";

/** Rules that a source had within the time of `remember` stay; those that are older than `max_age` go. */
export const remember: ListFeature = {
  name: "remember",
  open(list) {
    if (list.plan.sources.every(({ keepMs }) => keepMs === undefined)) return undefined;
    return { source: (source) => sourceRun(source, list) };
  },
};

async function sourceRun(
  source: PlannedSource,
  { reader, options, host, context }: ListWork,
): Promise<SourceRun | undefined> {
  if (source.keepMs === undefined) return undefined;
  const { store } = reader;
  if (store === undefined) {
    const message = `${printable(source.label)} keeps nothing: there is no cache`;
    reader.diagnostics.push(warningOf("keep-needs-cache", message));
    return undefined;
  }
  const isOwn = reader.states[source.index]?.kind === "local";
  const keeping = new Keeping(source, {
    host,
    folder: options.configFolder ?? host.cwd,
    store,
    now: reader.now,
    locked: options.lock?.files.get(storeKeyOf(source.source, source)),
    limits: isOwn ? undefined : reader.limitsOf(source),
    warn: (warning) => reader.diagnostics.push(warning),
    onStoreError: (error) => reader.tellStoreError(error),
  });
  return {
    read: stageNamed("max_age", await keeping.stage(context)),
    see: (chunk) => keeping.see(chunk),
    async end(sink) {
      const state = reader.states[source.index]!;
      reader.noteFiles(source, await keeping.end(sink, state));
    },
    close: () => keeping.close(),
  };
}

/** Where the entries of a source are kept. */
interface KeepPlace {
  readonly host: Host;
  /** The folder of the configuration: other configurations have ledgers of their own. */
  readonly folder: string;
  readonly store: SourceStore;
  readonly now: Date;
  /** The files of a locked build, among them the ledger and the kept entries. */
  readonly locked: readonly StoredFile[] | undefined;
  /** Undefined for the user's own files. */
  readonly limits: Pick<FetchLimits, "maxBytes"> | undefined;
  readonly warn: (warning: Diagnostic) => void;
  readonly onStoreError: (error: HostError) => void;
}

const BUFFER = 64 * 1024;

/**
 * Remembers when the rules of a source were first and last seen, and adds those that it had within the time of `remember`. Exceptions and
 * rules that cancel others are not kept: they act only while the source has them.
 */
class Keeping {
  private readonly source: PlannedSource;
  private readonly place: KeepPlace;
  private readonly seen: SeenTexts;
  private readonly window: LedgerWindow;
  private readonly key: string;
  private readonly locked: readonly StoredFile[] | undefined;
  private isNoting = true;

  constructor(source: PlannedSource, place: KeepPlace) {
    this.source = source;
    this.place = place;
    this.seen = new SeenTexts(place.host);
    const now = secondsOf(place.now.getTime());
    this.window = { now, from: now - source.keepMs! / 1000 };
    this.key = storeKeyOf(source.source, source);
    const locked = place.locked?.filter(({ role }) => role !== undefined) ?? [];
    this.locked = locked.length === 0 ? undefined : locked;
  }

  /** Drops rules that were first seen too long ago; undefined if they may have any age. */
  async stage(context: StageContext): Promise<AgeStage | undefined> {
    const { maxAgeMs } = this.source;
    if (maxAgeMs === undefined) return undefined;
    const oldest = this.window.now - maxAgeMs / 1000;
    const old = new OldTexts();
    const ledger = await this.ledger();
    if (ledger !== undefined)
      for await (const { first, text } of readLedger(await ledger.open(), this.window))
        if (first < oldest) old.add(text);
    ledger?.close();
    return new AgeStage(old, context);
  }

  /** Notes the rules of a chunk, before any stage changes them. */
  see(chunk: Chunk): void {
    if (!this.isNoting) return;
    const { bytes, start, end, fate, flags, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] !== Fate.Kept || kind[row]! < Kind.Hosts) continue;
      if ((flags[row]! & (Flag.Allow | Flag.Generated | Flag.Continued)) !== 0) continue;
      let [from, to] = [start[row]!, end[row]!];
      while (from < to && bytes[from]! <= SPACE) from++;
      while (to > from && bytes[to - 1]! <= SPACE) to--;
      if (kind[row] === Kind.Rule && cancelledKey(decodeUtf8(bytes, from, to)) !== undefined)
        continue;
      this.seen.add(bytes, from, to);
    }
  }

  /** Adds the kept rules after those of the source itself, and returns what to store about them. */
  async end(sink: LineSink, state: SourceState): Promise<readonly StoredFile[]> {
    this.isNoting = false;
    const { locked } = this;
    if (locked !== undefined) {
      const kept = await this.lockedText("kept");
      await this.read(kept, sink);
      return locked;
    }
    const { host, limits } = this.place;
    let texts = new MergedTexts(host);
    try {
      const { growth } = this.source.bounds;
      const count = limits && new KeptCount({ bytes: limits.maxBytes, growth }, this.window.now);
      await this.merge(state, texts, (entry, bytes) => {
        count?.add(entry, bytes);
        return true;
      });
      if (count?.settle() === false) {
        texts.close();
        texts = new MergedTexts(host);
        await this.merge(state, texts, (entry, bytes) => count.keeps(entry, bytes));
        this.tell(count.forgotten);
      }
      const ledger = await textIn(texts.ledger, this.id("ledger"));
      const kept = await textIn(texts.kept, this.id("kept"));
      const stored = await this.keep([ledger, kept]);
      await this.read(kept, sink);
      return stored;
    } finally {
      texts.close();
    }
  }

  close(): void {
    this.seen.close();
  }

  private tell({ bytes, growth }: KeptCount["forgotten"]): void {
    const { label, shown } = this.source;
    const count = countText(bytes + growth, "rule");
    const key = bytes > 0 ? "max_bytes of the source" : "guards.max_growth";
    const message = `${printable(label)} may not keep so much: ${count} that it had before ${bytes + growth === 1 ? "is" : "are"} forgotten`;
    const hint = `Shorten remember, or raise ${key}`;
    this.place.warn(warningOf("keep-limited", message, { subject: shown, hint }));
  }

  private async merge(
    state: SourceState,
    { ledger, kept }: MergedTexts,
    keeps: (entry: MergedEntry, bytes: number) => boolean,
  ): Promise<void> {
    const { window, seen } = this;
    const { goodAt } = state as { goodAt?: number };
    // A copy shows what the source had then.
    const seenAt = goodAt === undefined ? window.now : Math.min(window.now, secondsOf(goodAt));
    const before = await this.ledger();
    const old = before === undefined ? nothing() : readLedger(await before.open(), window);
    const [all, gone] = [new ByteBuffer(), new ByteBuffer()];
    all.append(LEDGER_HEAD, 0, LEDGER_HEAD.length);
    for await (const entry of mergeLedger(old, seen.inOrder(), seenAt)) {
      const line = ledgerLine(entry);
      const start = line.indexOf(SPACE, line.indexOf(SPACE) + 1) + 1;
      if (!keeps(entry, line.length - start)) continue;
      all.append(line, 0, line.length);
      if (entry.isGone) gone.append(line, start, line.length);
      flush(all, ledger, BUFFER);
      flush(gone, kept, BUFFER);
    }
    flush(all, ledger, 1);
    flush(gone, kept, 1);
    before?.close();
  }

  /** The ledger of the last build, or of the locked one. */
  private async ledger(): Promise<WebText | undefined> {
    const { store, warn } = this.place;
    if (this.locked !== undefined) return await this.lockedText("ledger");
    const id = this.id("ledger");
    const record = await store.recordOf(this.recordName);
    const text = record && (await store.textOf(record, { url: "", id }));
    if (record !== undefined && text === undefined)
      warn(warningOf("ledger-damaged", `${printable(this.source.label)} has lost what it kept`));
    return text;
  }

  private async lockedText(role: "ledger" | "kept"): Promise<WebText> {
    const files = this.locked ?? [];
    const text = await this.place.store.textOf({ files }, { url: "", id: this.id(role) });
    if (text !== undefined) return text;
    throw sourceError(
      "lock-mismatch",
      `The kept entries of ${printable(this.source.label)} are not cached`,
    );
  }

  private async keep(texts: readonly WebText[]): Promise<readonly StoredFile[]> {
    const { store, onStoreError } = this.place;
    try {
      const place = { url: this.recordName, shown: this.source.shown };
      const [ledger, kept] = await store.keep(place, texts);
      return [
        { ...ledger!, role: "ledger" },
        { ...kept!, role: "kept" },
      ];
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      onStoreError(error);
      return [];
    }
  }

  private async read(text: WebText, sink: LineSink): Promise<void> {
    if (text.size === 0) return;
    const location = { kind: "web", url: text.url, id: this.id("kept") } as const;
    const texts = { knowsPlaces: false, get: async () => text, close() {} };
    const { label } = this.source;
    await new SourceList({ location, label: `${label} (kept)`, texts }, this.place.host, {
      json: true,
    }).readInto(sink);
  }

  private get recordName(): string {
    return `ledger of ${this.place.folder} ${this.key}`;
  }

  private id(role: "ledger" | "kept"): string {
    return `${role} ${this.key}`;
  }
}

/** The ledger of a run, and the rules in it that the source has no longer. */
class MergedTexts {
  readonly ledger: DownloadedBody;
  readonly kept: DownloadedBody;

  constructor(host: Host) {
    this.ledger = new DownloadedBody(host);
    this.kept = new DownloadedBody(host);
  }

  close(): void {
    this.ledger.close();
    this.kept.close();
  }
}

/** Writes a buffer out if it has at least so many bytes. */
function flush(buffer: ByteBuffer, body: DownloadedBody, least: number): void {
  if (buffer.length < least) return;
  body.append(buffer.view());
  buffer.length = 0;
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

async function* nothing(): AsyncGenerator<never> {}

async function textIn(body: DownloadedBody, id: string): Promise<WebText> {
  return {
    url: id,
    key: await digestOf(id),
    isMoved: false,
    isCut: false,
    size: body.size,
    validators: {},
    open: async () => openAgain(body.size, (position, into) => body.read(position, into)),
    close() {},
  };
}

/** Texts of rules, by 53 bits of a hash: eight bytes a rule. */
class OldTexts {
  private hashes = new Float64Array(64);
  private size = 0;
  private isSorted = true;

  add(text: string): void {
    if (this.size === this.hashes.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.hashes);
      this.hashes = grown;
    }
    const bytes = encodeUtf8(text);
    this.hashes[this.size++] = hashOf(bytes, 0, bytes.length);
    this.isSorted = false;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  has(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.isSorted) {
      this.hashes = this.hashes.subarray(0, this.size).toSorted();
      this.isSorted = true;
    }
    const wanted = hashOf(bytes, start, end);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.hashes[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.hashes[low] === wanted;
  }
}

/** Drops the rules of a source that were first seen too long ago. Exceptions have no age. */
class AgeStage extends RuleStage {
  protected readonly keepsOrdinary: boolean;
  private readonly old: OldTexts;

  constructor(old: OldTexts, context: StageContext) {
    super(context);
    this.old = old;
    this.keepsOrdinary = old.isEmpty;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    if (this.old.isEmpty || chunk.kind[row]! < Kind.Hosts) return true;
    if ((chunk.flags[row]! & (Flag.Allow | Flag.Generated)) !== 0) return true;
    const bytes = chunk.bytesOf(row);
    let [start, end] = [chunk.start[row]!, chunk.end[row]!];
    while (start < end && bytes[start]! <= SPACE) start++;
    while (end > start && bytes[end - 1]! <= SPACE) end--;
    if (!this.old.has(bytes, start, end)) return true;
    chunk.drop(row, Fate.TooOld);
    return false;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  const high = hashBytes(0x2545f491, bytes, start, end) >>> 0;
  const low = hashBytes(0x5bd1e995, bytes, start, end) >>> 11;
  return high * 0x20_0000 + low;
}
