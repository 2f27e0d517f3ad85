import { decodeUtf8 } from "../bytes/text.ts";
import { type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { DAY_MS, countText, numberText, someOf } from "../diagnostics/text.ts";
import {
  StateFile,
  arrayOf,
  ifAvailable,
  isAnything,
  isDate,
  isNumber,
  isText,
  objectOf,
  oneOf,
} from "../host/files.ts";
import type { Host } from "../host/host.ts";
import { type StoredFile, isStoredFile } from "./copies.ts";
import {
  type Sketch,
  type SourceMeasure,
  freshSalt,
  overlapOf,
  readSketch,
  sketchText,
} from "./names-of-source.ts";
import {
  type TextChange,
  type Compare,
  PAST_SIZE,
  type PastText,
  type SizeFinding,
  type SizeLimits,
  type SizeVerdict,
  type SizeWay,
  type SizeStep,
  type TextSize,
  changeOf,
  isSameDay,
  judgeSize,
  textsWith,
} from "./size-judge.ts";

/** A text that a source offers. */
interface Offer {
  readonly key: string;
  readonly label: string;
  readonly measure: SourceMeasure;
  readonly files: readonly StoredFile[];
  readonly limits: SizeLimits;
  /** Codes of the limits that the user permits it to exceed in this run. */
  readonly accept: readonly string[];
  readonly compare?: Compare | undefined;
  /** The names of the published list that the new entries of a file of names free. */
  readonly frees?: (() => Promise<FreedNow>) | undefined;
}

/** The decision about an offer. */
export interface OfferVerdict {
  /** Why it is held. Empty if it is accepted. */
  readonly causes: readonly Diagnostic[];
  readonly ways: readonly HoldWay[];
  /** When it will be accepted if it stays as it is; for a held one. */
  readonly until: number;
  readonly next: Pick<SourceHistory, "offered" | "steps" | "hold">;
  /** Whether it exceeds a limit and is accepted anyway. */
  readonly isBeyond: boolean;
  /** The names that it frees, within the limit. */
  readonly freed?: readonly string[] | undefined;
  readonly rewrite?: TextChange | undefined;
}

/** A text that this run uses. */
interface TakenText {
  readonly label: string;
  readonly files: readonly StoredFile[];
  readonly measure: SourceMeasure | undefined;
  readonly verdict: OfferVerdict | undefined;
}

/** A text that stays as it is for so long is accepted, and any text after the longer time. */
const HOLD_MS = 3 * DAY_MS;
const LONGEST_HOLD_MS = 7 * DAY_MS;
/** The share of the offered names that must stay for it to be the same offer. */
const SAME = 0.8;
const MOST_STEPS = 15;
const FREED = ["freed"] as const;

/**
 * What was published of each source, and what its limits compare with. One file for all lists of a folder. A source is judged
 * once a run. What a run takes becomes part of the history when a list with it is published; a hold counts from the first run that sees it.
 */
export class SourceLedger {
  private readonly file: StateFile<LedgerState> | undefined;
  private readonly host: Pick<Host, "now">;
  private readonly histories = new Map<string, SourceHistory>();
  private readonly taken = new Map<string, TakenText>();
  /** Whether the state could not be read, although it exists. */
  isDamaged = false;
  /** Whether there is no state. */
  isLost = false;

  /** Without a path, the ledger is only in memory. */
  constructor(host: Host, path?: string) {
    this.host = host;
    this.file = path === undefined ? undefined : new StateFile(path, isLedgerState, host);
  }

  static async open(host: Host, path: string): Promise<SourceLedger> {
    const ledger = new SourceLedger(host, path);
    const state = await ledger.file!.look();
    ledger.isDamaged = state === "damaged";
    ledger.isLost = typeof state === "string";
    if (typeof state === "string") return ledger;
    for (const [key, history] of readHistories(state, ledger.now))
      ledger.histories.set(key, history);
    return ledger;
  }

  get now(): number {
    return this.host.now().getTime();
  }

  get path(): string | undefined {
    return this.file?.path;
  }

  /**
   * Takes over what lies beside the lists where this ledger has something else or nothing: its state may be lost, and `rollback`, `apply`
   * and a run that was killed publish without it.
   */
  follow(sources: readonly PublishedSource[]): void {
    for (const [key, found] of Map.groupBy(sources, (one) => one.key)) {
      const history = this.histories.get(key);
      const known = history && digestsOf(history.files);
      if (found.some(({ files }) => digestsOf(files) === known)) continue;
      this.histories.set(key, { ...historyOf(found[0]!, this.now), steps: history?.steps ?? [] });
    }
  }

  /** Since when a source has been as it is: held, or with the text of this run. */
  sinceOf(key: string): number {
    const history = this.histories.get(key);
    const taken = this.taken.get(key);
    const { hold } = taken?.verdict?.next ?? {};
    if (hold !== undefined) return hold.since;
    const isKnown =
      history !== undefined && taken !== undefined && isPublished(history, taken.files);
    return isKnown ? history.texts.at(-1)!.at : this.now;
  }

  historyOf(key: string): SourceHistory | undefined {
    return this.histories.get(key);
  }

  /** What this run uses of a source. */
  takenOf(key: string): TakenText | undefined {
    return this.taken.get(key);
  }

  /** Judges an offer by the history of its source. Changes nothing. */
  async judge(offer: Offer): Promise<OfferVerdict> {
    const history = this.histories.get(offer.key);
    const { now } = this;
    const isOpen = history?.texts[0]?.isOpen === true;
    const { entries: names, open: sketch } = offer.measure;
    const size = isOpen ? { names, sketch } : sizeOf(offer.measure);
    const since = { ...size, at: now, text: digestsOf(offer.files) };
    if (history === undefined)
      return { ...ACCEPTED, next: { offered: since, steps: [], hold: undefined } };
    const isSame = digestsOf(history.files) === since.text;
    const compare = history.hold === undefined ? offer.compare : undefined;
    const { findings, rewrite }: SizeVerdict = isSame
      ? { findings: [] }
      : await judgeSize(size, history, { limits: offer.limits, now, compare });
    const walked = stepOf(history, since, rewrite);
    const frees = isSame ? undefined : await offer.frees?.();
    const tooFree = frees && tooManyFreed(offer.label, frees, freedLately(history.freed, now));
    const freed = tooFree === undefined ? frees?.names : undefined;
    if (findings.length === 0 && tooFree === undefined)
      return { ...ACCEPTED, rewrite, freed, next: { ...walked, hold: undefined } };
    const ways: readonly HoldWay[] = [...findings.map(({ way }) => way), ...(tooFree ? FREED : [])];
    const sizes = findings.map((one) => sizeProblem(offer.label, one));
    const problems = tooFree === undefined ? sizes : [...sizes, tooFree];
    const hold = holdOf(history.hold, { size, ways }, now);
    const until = Math.min(hold.offer.since + HOLD_MS, hold.since + LONGEST_HOLD_MS);
    const causes = problems.filter(({ code }) => !offer.accept.includes(code));
    if (causes.length === 0 || now >= until)
      return { ...ACCEPTED, isBeyond: true, freed, next: { ...walked, hold: undefined } };
    return { causes, ways, until, isBeyond: false, next: { ...walked, hold } };
  }

  /** Records what this run uses of a source. */
  take(key: string, text: TakenText): void {
    this.taken.set(key, text);
  }

  /** A list with these sources was published. */
  publish(keys: Iterable<string>): void {
    for (const key of keys) {
      const text = this.taken.get(key);
      const next = text && publishedHistory(this.histories.get(key), text, this.now);
      if (next !== undefined) this.histories.set(key, next);
    }
  }

  /** Saves the ledger. What this run learned about offers counts even if no list was published. Returns whether there is anything to save. */
  async save(): Promise<boolean> {
    const { file, now } = this;
    for (const [key, text] of this.taken) {
      const history = this.histories.get(key);
      if (history === undefined) continue;
      const next = text.verdict?.next ?? {};
      // An accepted text ends the hold when it is published.
      const isOpen = text.verdict?.causes.length === 0 && !isPublished(history, text.files);
      const hold = isOpen ? { hold: history.hold } : {};
      // A run that finds nothing new changes no file.
      const seenAt = now - history.seenAt < SEEN_MS ? history.seenAt : now;
      this.histories.set(key, { ...history, ...next, ...hold, seenAt });
    }
    if (file === undefined || this.taken.size === 0 || this.histories.size === 0) return false;
    // Another configuration may have written the histories of other sources meanwhile.
    const state = await file.look();
    const others = typeof state === "string" ? [] : readHistories(state, now, this.taken);
    for (const [key, history] of others) this.histories.set(key, history);
    const next = writeHistories(this.histories, now);
    if (JSON.stringify(next) !== JSON.stringify(state)) await file.tryReplace(next);
    return true;
  }

  /** Prepares for another run of the same session. */
  next(): void {
    this.taken.clear();
  }
}

const ACCEPTED: Omit<OfferVerdict, "next"> = { causes: [], ways: [], until: 0, isBeyond: false };

function sizeOf({ entries, sketch }: SourceMeasure): TextSize {
  return { names: entries, sketch: sketch.slice(0, PAST_SIZE) };
}

/** Identifies a text. */
function digestsOf(files: readonly Pick<StoredFile, "sha256">[]): string {
  return files.map(({ sha256 }) => sha256.slice(0, 32)).join();
}

function isPublished(history: SourceHistory, files: readonly StoredFile[]): boolean {
  return digestsOf(history.files) === digestsOf(files);
}

/** Adds the step from the last offer of an earlier day to this one. */
function stepOf(
  { offered, steps }: SourceHistory,
  offer: NonNullable<SourceHistory["offered"]>,
  rewrite: TextChange | undefined,
): Pick<SourceHistory, "offered" | "steps"> {
  if (offered === undefined) return { offered: offer, steps };
  if (offered.text === offer.text || isSameDay(offered.at, offer.at)) return { offered, steps };
  const { lost, gained } = rewrite ?? changeOf(offered, offer);
  const days = Math.max(1, Math.round((offer.at - offered.at) / DAY_MS));
  const share = Math.round(Math.min(lost, gained, 1) * 1000) / 1000;
  return { offered: offer, steps: [...steps, { days, share }].slice(-MOST_STEPS) };
}

/** The hold of an offer. About the same offer continues; another one begins again, within the longest time. */
function holdOf(
  before: SourceHold | undefined,
  { size, ways }: { readonly size: TextSize; readonly ways: SourceHold["ways"] },
  now: number,
): SourceHold {
  const since = before?.since ?? now;
  if (before !== undefined) {
    const { kept, known } = overlapOf(before.offer.sketch, size.sketch, PAST_SIZE);
    if (Math.min(kept, known) >= SAME) return { since, ways, offer: before.offer };
  }
  return { since, ways, offer: { ...size, since: now } };
}

/** The history after a publish; undefined if nothing is known about the text. */
function publishedHistory(
  history: SourceHistory | undefined,
  { label, files, measure, verdict }: TakenText,
  now: number,
): SourceHistory | undefined {
  const isOpen = history?.texts[0]?.isOpen === true && measure !== undefined;
  if (history !== undefined && isPublished(history, files) && !isOpen)
    return { ...history, name: label };
  if (history !== undefined && verdict !== undefined && verdict.causes.length > 0)
    return { ...history, name: label, files };
  if (measure === undefined) return undefined;
  const text: PastText = { ...sizeOf(measure), at: now };
  const own = { name: label, salt: measure.salt, files, seenAt: now };
  if (history === undefined || isOpen || history.salt !== measure.salt)
    return { steps: [], ...verdict?.next, ...own, texts: [text] };
  const freed = freedWith(history.freed, verdict ?? {}, now);
  const last = history.texts.at(-1)!;
  const rewrite = verdict?.rewrite;
  const before = history.texts.map((one) => (rewrite ? inNewForm(one, last, text, rewrite) : one));
  const texts = textsWith(before, text, verdict?.isBeyond === true);
  return { ...history, ...own, texts, freed };
}

/** Describes a text by the sketch of its new form, which has about the same names. */
function inNewForm(text: PastText, last: PastText, now: PastText, exact: TextChange): PastText {
  const until = text === last ? { lost: 0, gained: 0 } : changeOf(text, last);
  return {
    ...text,
    names: now.names,
    sketch: now.sketch,
    kept: (1 - until.lost) * (1 - exact.lost),
    gained: until.gained,
  };
}

/** How many of so many names of others the new exceptions of a source, or the new entries of a file, may free in 30 days. */
export function mostFreed(names: number): number {
  return Math.max(20, Math.floor(names * 0.001));
}

const MONTH_MS = 30 * DAY_MS;

/** What a file of names frees. */
export interface FreedNow {
  readonly names: readonly string[];
  /** How many names the published list has. */
  readonly of: number;
}

/** What a file of names freed in the last 30 days. */
function freedLately(freed: readonly FreedThen[] | undefined, now: number): readonly FreedThen[] {
  return freed?.filter(({ at }) => now - at < MONTH_MS) ?? [];
}

/** Adds what a text frees. Once a text was accepted that frees too much, only later ones count. */
function freedWith(
  freed: readonly FreedThen[] | undefined,
  {
    freed: names,
    isBeyond,
  }: { readonly freed?: readonly string[] | undefined; readonly isBeyond?: boolean },
  at: number,
): readonly FreedThen[] | undefined {
  const before = names === undefined && isBeyond === true ? [] : freedLately(freed, at);
  const again = new Set(names);
  const older = before.map((one) => ({
    ...one,
    names: one.names.filter((name) => !again.has(name)),
  }));
  const all = [...older, { at, names: names ?? [] }].filter((one) => one.names.length > 0);
  return all.length === 0 ? undefined : all;
}

/** The problem of a file of names that frees too many, with those that it freed before; undefined for any other. */
function tooManyFreed(
  label: string,
  { names, of }: FreedNow,
  lately: readonly FreedThen[],
): Diagnostic | undefined {
  const before = new Set(lately.flatMap((one) => one.names));
  for (const name of names) before.delete(name);
  const most = mostFreed(of);
  if (names.length === 0 || names.length + before.size <= most) return undefined;
  const count = countText(names.length, "name");
  const after = before.size === 0 ? "" : ` after ${numberText(before.size)} others`;
  const message = `${label} would free more than ${countText(most, "name")} within 30 days`;
  const cause = `its new entries would free ${count} of the published list${after}: ${someOf(names)}`;
  return errorOf("names-freed", message, { cause, all: names });
}

/** What is known about the text of a source over time. */
interface SourceHistory {
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
  readonly steps: readonly SizeStep[];
  readonly hold?: SourceHold | undefined;
  /** The names that new entries of a file of names freed, by publish. */
  readonly freed?: readonly FreedThen[] | undefined;
  /** When it was last part of a run. */
  readonly seenAt: number;
}

interface FreedThen {
  readonly at: number;
  readonly names: readonly string[];
}

/** The limit that a held text exceeds: of its size, or of the names that it frees. */
export type HoldWay = SizeWay | "freed";

/** A text is offered that exceeds a limit; meanwhile, the published one is used. */
interface SourceHold {
  readonly since: number;
  readonly ways: readonly HoldWay[];
  /** Since when about the same text has been offered, and what it was. */
  readonly offer: TextSize & { readonly since: number };
}

/** The ledger as JSON. */
interface LedgerState {
  readonly version: 1;
  readonly sources: Readonly<Record<string, unknown>>;
}

/** A source that was in no run for so long is forgotten. */
const FORGOTTEN_MS = 60 * DAY_MS;
/** How exactly it is known when a source was read last. */
const SEEN_MS = 7 * DAY_MS;

const isLedgerState = objectOf<LedgerState>({ version: oneOf([1]), sources: objectOf({}) });

function writeHistories(histories: ReadonlyMap<string, SourceHistory>, now: number): LedgerState {
  const young = [...histories].filter(([, { seenAt }]) => now - seenAt < FORGOTTEN_MS);
  const sorted = young.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sources = sorted.map(([key, history]) => [key, mapped(history, writtenField)]);
  return { version: 1, sources: Object.fromEntries(sources) as LedgerState["sources"] };
}

function writtenField(field: string, value: unknown): unknown {
  return field === "sketch" ? sketchText(value as Sketch) : undefined;
}

/** The histories of a state, except some. Each one is checked, because other programs may have changed the file. */
function readHistories(
  { sources }: LedgerState,
  now: number,
  except?: Pick<ReadonlyMap<string, unknown>, "has">,
): Map<string, SourceHistory> {
  const found = new Map<string, SourceHistory>();
  for (const [key, value] of Object.entries(sources)) {
    if (except?.has(key) === true) continue;
    const history = mapped(value, (field, one) => readField(field, one, now));
    if (isHistory(history)) found.set(key, history);
  }
  return found;
}

function readField(field: string, value: unknown, now: number): unknown {
  if (field === "sketch") return readSketch(value);
  // A wrong clock in an earlier run must not make anything younger than now.
  const isTimestamp = field === "at" || field === "since";
  return isTimestamp && typeof value === "number" ? Math.min(value, now) : undefined;
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

const SIZE = { names: isNumber, sketch: arrayOf(isAnything) };
const isPast = objectOf<PastText>({ ...SIZE, at: isNumber }, { kept: isNumber, gained: isNumber });

const isHistory = objectOf<SourceHistory>(
  {
    name: isText,
    salt: isNumber,
    seenAt: isNumber,
    files: arrayOf(isStoredFile),
    texts: (value) => Array.isArray(value) && value.length > 0 && value.every(isPast),
    steps: arrayOf(objectOf<SizeStep>({ days: isNumber, share: isNumber })),
  },
  {
    offered: objectOf({ ...SIZE, at: isNumber, text: isText }),
    hold: objectOf<SourceHold>({
      since: isNumber,
      ways: arrayOf(isAnything),
      offer: objectOf({ ...SIZE, since: isNumber }),
    }),
    freed: arrayOf(objectOf<FreedThen>({ at: isNumber, names: arrayOf(isAnything) })),
  },
);

/** What is published about a source beside the list: the baseline where the ledger is lost. */
export interface PublishedSource {
  readonly name: string;
  /** Its key in the ledger. */
  readonly key: string;
  /** Number of names. */
  readonly names: number;
  /** How it was read, and since when. */
  readonly state: string;
  readonly since: string;
  readonly files: readonly Pick<StoredFile, "key" | "sha256" | "size">[];
  /** A sample of its names. */
  readonly sketch: string;
  /** How many names that people need it blocks, by kind. */
  readonly kinds?: Readonly<Record<string, number>> | undefined;
}

/** `my-list.txt` has `my-list.sources.json` beside it. */
export function sourcesPath(list: string): string {
  return `${list.replace(/\.txt$/, "")}.sources.json`;
}

/** The file of sources, as JSON. Of a source that was not read, the text stays as it was in `before`. */
export function sourcesText(
  list: string,
  sources: readonly Pick<PublishedSource, "key" | "state" | "kinds">[],
  {
    ledger,
    before,
  }: { readonly ledger: SourceLedger; readonly before: readonly PublishedSource[] },
): string {
  const found = sources.flatMap(({ key, state, kinds }): PublishedSource[] => {
    const taken = ledger.takenOf(key);
    if (taken?.measure === undefined)
      return before
        .filter((one) => one.key === key)
        .map((one) => (one.state === state ? one : { ...one, state, since: dayOf(ledger.now) }));
    const { label: name, measure } = taken;
    const files = taken.files.map(({ key: id, sha256, size }) => ({ key: id, sha256, size }));
    const since = dayOf(ledger.sinceOf(key));
    const sketch = sketchText(measure.open);
    return [{ name, key, names: measure.entries, state, since, files, sketch, kinds }];
  });
  return `${JSON.stringify({ version: 1, list, sources: found }, undefined, 1)}\n`;
}

function dayOf(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, "2026-11-01".length);
}

/** The sources in such a file; undefined if it cannot be read. Each one is checked, because other programs may have changed it. */
export async function readSources(
  path: string,
  host: Pick<Host, "readFile">,
): Promise<PublishedSource[] | undefined> {
  const bytes = await ifAvailable(() => host.readFile(path));
  return bytes && sourcesIn(decodeUtf8(bytes));
}

function sourcesIn(text: string): PublishedSource[] {
  try {
    const { version, sources } = JSON.parse(text) as { version?: unknown; sources?: unknown };
    return version === 1 && Array.isArray(sources) ? sources.filter(isSource) : [];
  } catch {
    return [];
  }
}

const isSource = objectOf<PublishedSource>(
  {
    name: isText,
    key: isText,
    names: isNumber,
    since: isDate,
    files: arrayOf((file) => isStoredFile({ validators: {}, ...(file as object | null) })),
    sketch: (value) => readSketch(value) !== undefined,
  },
  { kinds: objectOf({}) },
);

/** The history that a published source gives. */
function historyOf(source: PublishedSource, now: number): SourceHistory {
  const at = Math.min(now, Date.parse(source.since));
  const { name, names, files } = source;
  return {
    name,
    salt: freshSalt(),
    files: files.map((file) => ({ ...file, validators: {} })),
    texts: [{ names, sketch: readSketch(source.sketch)!, at, isOpen: true }],
    steps: [],
    seenAt: now,
  };
}

/** Describes a limit that a source exceeds. */
function sizeProblem(label: string, finding: SizeFinding): Diagnostic {
  const { way, limit, days, before, now, count, isEstimate } = finding;
  const within = days === 1 ? "" : ` within ${days} days`;
  const size = `it has ${countText(now, "name")}, the published text has ${numberText(before)}`;
  const [message, part] = {
    shrunk: [`lost more than ${limit} % of its names${within}`, ", of which {} are gone"],
    grown: [`grew by more than ${limit} %${within}`, "; {} are new"],
    replaced: [
      `shares less than ${limit} % of its names with its published text`,
      "; {} are in both",
    ],
  }[way] as [string, string];
  const shown = isEstimate
    ? `about ${numberText(Number(count.toPrecision(2)))}`
    : numberText(count);
  const cause = size + part.replace("{}", shown);
  return errorOf(`source-${way}`, `${label} ${message}`, { cause });
}
