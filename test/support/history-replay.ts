import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Diagnostic } from "../../src/diagnostics/render.ts";
import { Fate } from "../../src/rules/fate.ts";
import type { StoredFile } from "../../src/sources/copies.ts";
import {
  type Rereadable,
  exactChange,
  isMixed,
  writeHeldText,
} from "../../src/sources/held-text.ts";
import { SourceLedger } from "../../src/sources/ledger.ts";
import { SourceGauge, refuseTruncated } from "../../src/sources/names-of-source.ts";
import { refuseEmpty, refuseOther } from "../../src/sources/read-file.ts";
import { DAY_MS } from "../../src/diagnostics/text.ts";
import { type SizeLimits } from "../../src/sources/size-judge.ts";
import { CompilerError, memoryHost } from "./internals.ts";

const KEY = "k";
const LIMITS: SizeLimits = { shrink: 50, growth: 200 };

/** A time during which a source was held. */
export interface ReplayedHold {
  readonly from: number;
  to: number | undefined;
  readonly causes: readonly string[];
  end: "within its limits" | "accepted" | "end of history";
}

/** A text that counts as a failed fetch. */
export interface ReplayedFailure {
  readonly at: number;
  readonly cause: string;
}

/** A source that offers texts, and a list that is published of it after each run. */
export class HistoryReplay {
  now: number;
  readonly ledger: SourceLedger;
  readonly holds: ReplayedHold[] = [];
  readonly failures: ReplayedFailure[] = [];
  /** The text that the list has. */
  published: Uint8Array = new Uint8Array(0);
  private measured: { readonly text: Uint8Array; readonly gauge: SourceGauge } | undefined;
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

  /** A run with this text. Returns the codes of the limits that hold it, or of what makes it a failed fetch. */
  async run(text: Uint8Array, accept: readonly string[] = []): Promise<string[]> {
    const { ledger, published } = this;
    ledger.next();
    const gauge = this.gaugeOf(text);
    const { measure } = gauge;
    const problem = problemOf(text, gauge);
    if (problem !== undefined) {
      const [{ code, message, cause }] = problem.diagnostics as [Diagnostic];
      this.failures.push({ at: this.now, cause: `${message}: ${cause}` });
      return [code];
    }
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
    const own = used === text ? measure : this.gaugeOf(used).measure;
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

  private gaugeOf(text: Uint8Array): SourceGauge {
    if (this.measured?.text === text) return this.measured.gauge;
    const gauge = new SourceGauge(this.salt, new Set());
    gauge.look(text, 0, text.length);
    this.measured = { text, gauge };
    return gauge;
  }
}

/** Runs once for each of these versions, and once a day while it is held. Files are named after the day of their version. */
export async function replayFiles(paths: readonly string[]): Promise<HistoryReplay> {
  const replay = new HistoryReplay();
  for (const [index, path] of paths.entries()) {
    const text = readFileSync(path);
    replay.now = timestampOf(path);
    await replay.run(text);
    const next = paths[index + 1];
    await replay.wait(text, next === undefined ? replay.now + 10 * DAY_MS : timestampOf(next));
  }
  return replay;
}

/** When a version is read: at four in the morning. */
export function timestampOf(path: string): number {
  return Date.parse(basename(path, ".txt")) + DAY_MS / 6;
}

/** A hold as a line for people. */
export function holdText({ from, to, end, causes }: ReplayedHold): string {
  const days = to === undefined ? "" : `, ${Math.round((to - from) / DAY_MS)} days`;
  return `${dayOf(from)}${days}, ${end}: ${causes.join("; ")}`;
}

export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, "2026-11-01".length);
}

/** Why a text is not an offer; undefined if it is one. */
function problemOf(text: Uint8Array, gauge: SourceGauge): CompilerError | undefined {
  try {
    refuseOther(text, true, "list");
    refuseTruncated("list", gauge.counted, gauge.declared?.number);
    const list = { hasText: text.length > 0 };
    refuseEmpty(list, { label: "list", mayBeEmpty: false, isLines: true }, gauge.measure);
    return undefined;
  } catch (error) {
    if (error instanceof CompilerError) return error;
    throw error;
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
