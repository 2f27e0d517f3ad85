import { createHash } from "node:crypto";
import {
  exactChange,
  isMixed,
  writeHeldText,
  type Rereadable,
} from "../../src/sources/held-text.ts";
import { DAY_MS, type SizeLimits } from "../../src/sources/size-judge.ts";
import { SourceGauge, type SourceMeasure } from "../../src/sources/source-gauge.ts";
import { SourceLedger } from "../../src/sources/source-ledger.ts";
import type { StoredFile } from "../../src/sources/source-store.ts";
import { Fate } from "../../src/rules/fate.ts";
import { memoryHost } from "./internals.ts";

const KEY = "k";
const LIMITS: SizeLimits = { shrink: 50, growth: 200 };

/** A time during which a source was held. */
export interface ReplayedHold {
  readonly from: number;
  to: number | undefined;
  readonly causes: readonly string[];
  end: "within its limits" | "accepted" | "end of history";
}

/** A source that offers texts, and a list that is published of it after each run. */
export class HistoryReplay {
  now: number;
  readonly ledger: SourceLedger;
  readonly holds: ReplayedHold[] = [];
  /** The text that the list has. */
  published: Uint8Array = new Uint8Array(0);
  private readonly salt: number;
  private readonly limits: SizeLimits;

  constructor(
    start: number = Date.UTC(2026, 0, 1, 3),
    salt: number = 7,
    limits: SizeLimits = LIMITS,
  ) {
    this.now = start;
    this.salt = salt;
    this.limits = limits;
    const host = { ...memoryHost({}), now: () => new Date(this.now) };
    this.ledger = new SourceLedger(host);
  }

  get isHeld(): boolean {
    return this.ledger.historyOf(KEY)?.hold !== undefined;
  }

  /** A run with this text. Returns the codes of the limits that hold it. */
  async run(text: Uint8Array, accept: readonly string[] = []): Promise<string[]> {
    const { ledger, published } = this;
    ledger.next();
    const measure = this.measureOf(text);
    const verdict = await ledger.judge({
      key: KEY,
      label: "list",
      measure,
      files: [fileOf(text)],
      limits: this.limits,
      accept,
      compare: () => exactChange(readable(published), readable(text)),
    });
    const { causes, ways } = verdict;
    const used = causes.length === 0 ? text : await heldText(ways, published, text);
    const own = used === text ? measure : this.measureOf(used);
    ledger.take(KEY, { label: "list", files: [fileOf(used)], measure: own, verdict });
    ledger.publish([KEY]);
    await ledger.save();
    this.published = used;
    this.note(
      causes.map(({ message, cause }) => `${message}: ${cause}`),
      verdict.isBeyond,
    );
    return causes.map(({ code }) => code);
  }

  private note(causes: readonly string[], isBeyond: boolean): void {
    const last = this.holds.at(-1);
    const open = last?.to === undefined ? last : undefined;
    if (causes.length > 0 && open === undefined)
      this.holds.push({ from: this.now, to: undefined, causes, end: "end of history" });
    if (causes.length > 0 || open === undefined) return;
    open.to = this.now;
    open.end = isBeyond ? "accepted" : "within its limits";
  }

  /** A run on the next day. */
  async day(text: Uint8Array): Promise<string[]> {
    this.now += DAY_MS;
    return await this.run(text);
  }

  /** Runs once a day with the same text while it is held, until a moment. */
  async wait(text: Uint8Array, until: number): Promise<void> {
    while (this.isHeld && this.now + DAY_MS < until) {
      this.now += DAY_MS;
      await this.run(text);
    }
  }

  private measureOf(text: Uint8Array): SourceMeasure {
    const gauge = new SourceGauge(this.salt, new Set());
    gauge.look(text, 0, text.length);
    return gauge.measure;
  }
}

/** A list of numbered names. */
export function textOf(names: readonly number[]): Uint8Array {
  return Buffer.from(names.map((name) => `||n${name}.example^\n`).join(""));
}

/** The numbers of the names in such a list. */
export function namesIn(text: Uint8Array): number[] {
  return [
    ...Buffer.from(text)
      .toString()
      .matchAll(/n(\d+)\./g),
  ].map(([, number]) => Number(number));
}

function fileOf(text: Uint8Array): StoredFile {
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { key: "0".repeat(64), sha256, size: text.length, validators: {} };
}

function readable(bytes: Uint8Array): Rereadable {
  return {
    async readAhead(sink) {
      const file = sink.begin("", "");
      const block = { bytes, position: 0, listStart: 0, listEnd: bytes.length, isLast: true };
      await sink.read(file, block, { start: 0, end: bytes.length, fate: Fate.Kept });
    },
  };
}

async function heldText(
  ways: Parameters<typeof isMixed>[0],
  published: Uint8Array,
  offer: Uint8Array,
): Promise<Uint8Array> {
  if (!isMixed(ways)) return published;
  const parts: Uint8Array[] = [];
  const texts = { published: readable(published), offer: readable(offer) };
  await writeHeldText(ways[0]!, texts, (bytes) => parts.push(bytes.slice()));
  return Buffer.concat(parts);
}
