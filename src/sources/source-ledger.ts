import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";
import { type FreedNow, freedLately, freedWith, tooManyFreed } from "./freed-budget.ts";
import { overlapOf } from "./name-sketch.ts";
import {
  type HoldWay,
  type LedgerState,
  type SourceHistory,
  type SourceHold,
  isLedgerState,
  readHistories,
  writeHistories,
} from "./ledger-state.ts";
import { type PublishedSource, historyOf } from "./published-sources.ts";
import {
  type Change,
  type Compare,
  DAY_MS,
  PAST_SIZE,
  type PastText,
  type SizeLimits,
  type SizeVerdict,
  type TextSize,
  changeOf,
  isSameDay,
  judgeSize,
  textsWith,
} from "./size-judge.ts";
import { sizeProblem } from "./size-problem.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { StoredFile } from "./source-store.ts";

/** A text that a source offers. */
export interface Offer {
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
  readonly rewrite?: Change | undefined;
}

/** A text that this run uses. */
export interface TakenText {
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
      this.histories.set(key, { ...history, ...next, ...hold, seenAt: now });
    }
    if (file === undefined || this.taken.size === 0 || this.histories.size === 0) return false;
    // Another configuration may have written the histories of other sources meanwhile.
    const state = await file.look();
    const others = typeof state === "string" ? [] : readHistories(state, now, this.taken);
    for (const [key, history] of others) this.histories.set(key, history);
    await file.tryReplace(writeHistories(this.histories, now));
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
  rewrite: Change | undefined,
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
function inNewForm(text: PastText, last: PastText, now: PastText, exact: Change): PastText {
  const until = text === last ? { lost: 0, gained: 0 } : changeOf(text, last);
  return {
    ...text,
    names: now.names,
    sketch: now.sketch,
    kept: (1 - until.lost) * (1 - exact.lost),
    gained: until.gained,
  };
}
