import { type Sketch, readSketch, sketchText } from "./name-sketch.ts";
import { DAY_MS, type PastText, type SizeWay, type Step, type TextSize } from "./size-judge.ts";
import { type StoredFile, isStoredFile } from "./source-store.ts";

/** What is known about the text of a source over time. */
export interface SourceHistory {
  /** For people. */
  readonly name: string;
  /** The salt of its sketches. */
  readonly salt: number;
  /** The files of the text that was published last. While a source is held, they may be made of two texts. */
  readonly files: readonly StoredFile[];
  /** The texts that were accepted and published, which its limits refer to, oldest first. */
  readonly texts: readonly PastText[];
  /** What its server offered last, on the day of the last step. */
  readonly offered?: (TextSize & { readonly at: number; readonly text: string }) | undefined;
  /** How it changed from offer to offer, oldest first. */
  readonly steps: readonly Step[];
  readonly hold?: SourceHold | undefined;
  /** The names that new entries of a file of names freed, by publish. */
  readonly freed?: readonly FreedThen[] | undefined;
  /** When it was last part of a run. */
  readonly seenAt: number;
}

export interface FreedThen {
  readonly at: number;
  readonly names: readonly string[];
}

/** The limit that a held text exceeds: of its size, or of the names that it frees. */
export type HoldWay = SizeWay | "freed";

/** A text is offered that exceeds a limit; meanwhile, the published one is used. */
export interface SourceHold {
  readonly since: number;
  readonly ways: readonly HoldWay[];
  /** Since when about the same text has been offered, and what it was. */
  readonly offer: TextSize & { readonly since: number };
}

/** The ledger as JSON. */
export interface LedgerState {
  readonly version: 1;
  readonly sources: Readonly<Record<string, unknown>>;
}

/** A source that was in no run for so long is forgotten. */
const FORGOTTEN_MS = 60 * DAY_MS;

export function isLedgerState(state: unknown): state is LedgerState {
  const { version, sources } = (state ?? {}) as Partial<LedgerState>;
  return version === 1 && typeof sources === "object" && sources !== null;
}

export function writeHistories(
  histories: ReadonlyMap<string, SourceHistory>,
  now: number,
): LedgerState {
  const young = [...histories].filter(([, { seenAt }]) => now - seenAt < FORGOTTEN_MS);
  const sorted = young.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sources = sorted.map(([key, history]) => [key, mapped(history, writtenField)]);
  return { version: 1, sources: Object.fromEntries(sources) as LedgerState["sources"] };
}

function writtenField(field: string, value: unknown): unknown {
  return field === "sketch" ? sketchText(value as Sketch) : undefined;
}

/** The histories of a state, except some. Each one is checked, because other programs may have changed the file. */
export function readHistories(
  { sources }: LedgerState,
  now: number,
  except?: Pick<ReadonlyMap<string, unknown>, "has">,
): Map<string, SourceHistory> {
  const found = new Map<string, SourceHistory>();
  for (const [key, value] of Object.entries(sources)) {
    if (except?.has(key) === true) continue;
    const history = mapped(value, (field, one) => readField(field, one, now));
    if (isHistory(history as Partial<SourceHistory>)) found.set(key, history as SourceHistory);
  }
  return found;
}

function readField(field: string, value: unknown, now: number): unknown {
  if (field === "sketch") return readSketch(value);
  // A wrong clock in an earlier run must not make anything younger than now.
  const isMoment = field === "at" || field === "since";
  return isMoment && typeof value === "number" ? Math.min(value, now) : undefined;
}

/** A copy with other values for the fields for which `change` has one. */
function mapped(value: unknown, change: (field: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([field, one]) => [field, change(field, one) ?? mapped(one, change)]),
  );
}

function isHistory(history: Partial<SourceHistory>): history is SourceHistory {
  const { name, salt, files, texts, offered, steps, hold, freed = [], seenAt } = history;
  return (
    typeof name === "string" &&
    areNumbers([salt, seenAt]) &&
    Array.isArray(files) &&
    files.every(isStoredFile) &&
    Array.isArray(texts) &&
    texts.length > 0 &&
    texts.every(isPast) &&
    (offered === undefined ||
      (isSize(offered) && areNumbers([offered.at]) && typeof offered.text === "string")) &&
    Array.isArray(steps) &&
    steps.every((step: Partial<Step> | null) => areNumbers([step?.days, step?.share])) &&
    (hold === undefined || isHold(hold)) &&
    Array.isArray(freed) &&
    freed.every(
      (one: Partial<FreedThen> | null) => areNumbers([one?.at]) && Array.isArray(one?.names),
    )
  );
}

function isHold({ since, ways, offer }: Partial<SourceHold>): boolean {
  return areNumbers([since, offer?.since]) && Array.isArray(ways) && isSize(offer);
}

function isPast(text: Partial<PastText> | null): boolean {
  const { at, kept = 1, gained = 0 } = text ?? {};
  return isSize(text) && areNumbers([at, kept, gained]);
}

function isSize(size: Partial<TextSize> | null | undefined): boolean {
  return areNumbers([size?.names]) && Array.isArray(size?.sketch);
}

function areNumbers(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "number" && Number.isFinite(value));
}
