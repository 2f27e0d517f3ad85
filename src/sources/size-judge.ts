import { DAY_MS } from "../diagnostics/text.ts";
import { OPEN_SIZE, type Sketch, overlapOf } from "./names-of-source.ts";

/** Percentages that a source may lose or gain from one publish to the next. */
export interface SizeLimits {
  readonly shrink: number;
  readonly growth: number;
}

/** The size of a text and a sample of its names. */
export interface TextSize {
  readonly names: number;
  readonly sketch: Sketch;
}

/** A text that was published. */
export interface PastText extends TextSize {
  /** When it was published first, in milliseconds. */
  readonly at: number;
  /** If the form of the list changed since, `sketch` is of its new form: the shares that were kept and gained until then. */
  readonly kept?: number;
  readonly gained?: number;
  /** Whether a change was accepted since that is beyond the limits. Such a text excuses a return to it, and holds nothing. */
  readonly isBefore?: true;
  /** Whether `sketch` is the one that is published beside the list. */
  readonly isOpen?: true;
}

/** How much a source changed from one of its versions to the next. */
export interface SizeStep {
  readonly days: number;
  /** The share of names that were replaced by others. */
  readonly share: number;
}

/** How much a text changed: shares of the names that it had. */
export interface TextChange {
  readonly lost: number;
  readonly gained: number;
}

/** Finds the exact change since the last publish; undefined if its text is lost. */
export type Compare = () => Promise<TextChange | undefined>;

/** What is known about a source when a new text is offered. */
export interface SizeMemory {
  /** Published texts, oldest first. */
  readonly texts: readonly PastText[];
  readonly steps: readonly SizeStep[];
}

export type SizeWay = "shrunk" | "grown" | "replaced";

/** A limit that a text exceeds. */
export interface SizeFinding {
  readonly way: SizeWay;
  /** In percent. */
  readonly limit: number;
  /** The days of the comparison. */
  readonly days: number;
  /** Names before and now, and how many of them were lost, gained or shared. */
  readonly before: number;
  readonly now: number;
  readonly count: number;
  /** Whether the count is estimated by samples of the names. */
  readonly isEstimate: boolean;
}

interface EstimatedChange extends TextChange {
  readonly isEstimate?: boolean;
}

export interface SizeVerdict {
  readonly findings: readonly SizeFinding[];
  /** Whether the text has another form with about the same names: the exact change since the last publish. */
  readonly rewrite?: TextChange | undefined;
}

/** Losses up to this number of names are ignored. */
const LOSS_SLACK = 100;
/** Gains up to this number of names are ignored. */
const GAIN_SLACK = 1000;
/** Percentage points that the limits over 7 and 30 days are wider. */
const LONG_SHRINK = 10;
const LONG_GROWTH = 100;
/** The percentage of names that a text must share with the one before. */
const SHARED = 30;
/** If more of its names are replaced from one version to the next, a source is judged by its size, too. */
const FAST = 0.3;
const WEEK = 7;
const MONTH = 30;
/** Sketches of published texts are cut to this size. */
export const PAST_SIZE = 256;

/** Whether two timestamps are on one day, in UTC. */
export function isSameDay(one: number, other: number): boolean {
  return Math.floor(one / DAY_MS) === Math.floor(other / DAY_MS);
}

/**
 * Judges a text by the names that it lost and gained since the last publish of an earlier day, within 7 and within 30 days. Each
 * comparison is with several texts, and only a limit that is exceeded against all of them counts: so one bad night in the past
 * does no harm, and a source may return to what it was a few days ago. `compare` gives the exact change since the last publish,
 * by the names that are covered; it is called only if the samples are suspicious, and not for a held source, whose last publish may be
 * made of two texts.
 */
export async function judgeSize(
  offer: TextSize,
  memory: SizeMemory,
  {
    limits,
    now,
    compare,
  }: Pick<Scale, "limits" | "now"> & { readonly compare: Compare | undefined },
): Promise<SizeVerdict> {
  const pace = paceOf(memory.steps);
  const windows = windowsOf(memory.texts, now);
  const estimate = (text: PastText): EstimatedChange => ({
    ...changeOf(text, offer),
    isEstimate: true,
  });
  const half = { limits, pace, factor: 0.5, offer, now };
  if (windows.every((window) => findingsIn(window, estimate, half).length === 0))
    return { findings: [] };
  const last = memory.texts.at(-1)!;
  const exact = await compare?.();
  const rough = changeOf({ ...last, kept: 1, gained: 0 }, offer);
  const isRewrite = exact !== undefined && rough.lost > 0.2 && exact.lost < rough.lost / 2;
  const change = (text: PastText): EstimatedChange => {
    if (exact === undefined) return estimate(text);
    if (text === last && text.kept === undefined) return exact;
    if (!isRewrite) return estimate(text);
    const until = changeOf(text, last);
    return {
      lost: 1 - (1 - until.lost) * (1 - exact.lost),
      gained: until.gained + exact.gained * (last.names / Math.max(1, text.names)),
      isEstimate: true,
    };
  };
  const whole = { ...half, factor: 1 };
  const found = windows.map((window) => findingsIn(window, change, whole));
  const findings = found.find((one) => one.length > 0) ?? [];
  return { findings, rewrite: isRewrite ? exact : undefined };
}

/** The change from a published text to another one, by their sketches. */
export function changeOf(text: PastText, { names, sketch }: TextSize): TextChange {
  const size = text.isOpen === true ? OPEN_SIZE : PAST_SIZE;
  const { kept, known } = overlapOf(text.sketch, sketch.slice(0, size), size);
  const share = text.names === 0 ? 0 : names / text.names;
  return {
    lost: 1 - (text.kept ?? 1) * kept,
    gained: (text.gained ?? 0) + (1 - known) * share,
  };
}

interface Window {
  readonly days: number;
  readonly texts: readonly PastText[];
  /** Texts that a source may return to. */
  readonly excuses: readonly PastText[];
}

/** The texts that a new one is compared with. */
function windowsOf(texts: readonly PastText[], now: number): Window[] {
  const fresh = texts.filter(({ isBefore }) => isBefore !== true);
  const [oldest] = fresh;
  if (oldest === undefined) return [];
  const excuses = texts.filter(({ isBefore, at }) => isBefore === true && now - at < WEEK * DAY_MS);
  const earlier = fresh.filter(({ at }) => at < now && !isSameDay(at, now));
  /** The texts that were the published one at some time between so many days ago. */
  const between = (from: number, to: number): readonly PastText[] => {
    const old = earlier.filter(({ at }) => now - at >= to * DAY_MS);
    const first = old.findLastIndex(({ at }) => now - at >= from * DAY_MS);
    const found = old.slice(Math.max(0, first));
    return found.length === 0 ? [oldest] : found;
  };
  return [
    { days: 1, texts: between(WEEK, 0), excuses },
    { days: WEEK, texts: between(2 * WEEK, WEEK), excuses },
    { days: MONTH, texts: between(MONTH, MONTH), excuses },
  ];
}

interface Scale {
  readonly limits: SizeLimits;
  readonly pace: SizeStep;
  readonly factor: number;
  readonly offer: TextSize;
  readonly now: number;
}

function findingsIn(
  { days, texts, excuses }: Window,
  change: (text: PastText) => EstimatedChange,
  scale: Scale,
): SizeFinding[] {
  const { limits } = scale;
  const isLong = days > 1;
  const shrink = isLong ? Math.min(100, limits.shrink + LONG_SHRINK) : limits.shrink;
  const growth = isLong ? limits.growth + LONG_GROWTH : limits.growth;
  const found: SizeFinding[] = [];
  for (const [way, isOver] of WAYS) {
    if (way === "replaced" && isLong) continue;
    const all = texts.every((text) => isOver(text, change(text), { shrink, growth }, scale));
    const none = excuses.every((text) => isOver(text, change(text), limits, scale));
    if (!all || !none) continue;
    const text = texts.at(-1)!;
    const { lost, gained, isEstimate = false } = change(text);
    const now = scale.offer.names;
    const count =
      way === "grown"
        ? Math.round(gained * text.names)
        : Math.round((way === "shrunk" ? lost : 1 - lost) * text.names);
    const limit = way === "shrunk" ? shrink : way === "grown" ? growth : SHARED;
    found.push({ way, limit, days, before: text.names, now, count, isEstimate });
  }
  // A text that was replaced has lost its names, too.
  const isReplaced = found.some(({ way }) => way === "replaced");
  return isReplaced ? found.filter(({ way }) => way !== "shrunk") : found;
}

type Test = (text: PastText, change: TextChange, limits: SizeLimits, scale: Scale) => boolean;

const WAYS: readonly (readonly [SizeWay, Test])[] = [
  [
    "shrunk",
    (text, { lost }, { shrink }, scale) => {
      const least = 1 - (shrink / 100) * scale.factor;
      const isSmall = scale.pace.share > FAST && scale.offer.names < text.names * least;
      return (
        lost * text.names > LOSS_SLACK * scale.factor &&
        (isSmall || 1 - lost < least * keptUntil(text, scale))
      );
    },
  ],
  [
    "grown",
    ({ names }, { gained }, { growth }, { factor, pace }) =>
      gained * names > GAIN_SLACK * factor && gained * 100 > (growth + pace.share * 100) * factor,
  ],
  [
    "replaced",
    (text, { lost, gained }, _limits, scale) => {
      const kept = (1 - lost) * text.names;
      const smaller = Math.min(text.names, scale.offer.names);
      const least = (SHARED / 100) * keptUntil(text, scale);
      return (
        Math.min(lost, gained) * text.names > LOSS_SLACK * scale.factor &&
        kept < smaller * (1 - (1 - least) * scale.factor)
      );
    },
  ],
];

/** How fast the names of a source are normally replaced by others; not at all, until that is known. */
function paceOf(steps: readonly SizeStep[]): SizeStep {
  if (steps.length < 3) return { days: 1, share: 0 };
  return {
    days: median(steps.map(({ days }) => days)),
    share: median(steps.map(({ share }) => share)),
  };
}

/** The share of its names that a source replaces within 30 days. */
export function turnoverOf(steps: readonly SizeStep[]): number {
  const { days, share } = paceOf(steps);
  return 1 - (1 - share) ** (30 / Math.max(1, days));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** The share of a text's names that is left if the source goes on as it did. A feed that drops its oldest names first may have none left. */
function keptUntil({ at }: PastText, { pace, now }: Scale): number {
  const days = Math.max(1, (now - at) / DAY_MS);
  const steps = Math.max(1, days / pace.days);
  return pace.share * steps > 1 ? 0 : (1 - pace.share) ** steps;
}

/** Keeps the last text of each day, and the first one since a change was accepted. */
export function textsWith(
  texts: readonly PastText[],
  text: PastText,
  isBeyond: boolean,
): PastText[] {
  if (isBeyond)
    return thinned([...texts.map((one) => ({ ...one, isBefore: true as const })), text], text.at);
  const fresh = texts.findIndex(({ isBefore }) => isBefore !== true);
  const isReplaced = texts.length - 1 > fresh && isSameDay(texts.at(-1)!.at, text.at);
  return thinned([...(isReplaced ? texts.slice(0, -1) : texts), text], text.at);
}

/**
 * Daily for a week, then about every third day up to thirty days, and one that is older. A run whose clock is far ahead of the run
 * before must not make all texts old.
 */
function thinned(texts: readonly PastText[], timestamp: number): PastText[] {
  const now = Math.min(timestamp, (texts.at(-2)?.at ?? timestamp) + WEEK * DAY_MS);
  const daysAgo = ({ at }: PastText): number => (now - at) / DAY_MS;
  const kept: PastText[] = [];
  for (const [index, text] of texts.entries()) {
    const isBefore = text.isBefore === true;
    if (isBefore && daysAgo(text) > 7) continue;
    const following = texts[index + 1];
    const isOld = daysAgo(text) > 7 && following !== undefined && !isBefore;
    const isSuperseded = isOld && daysAgo(following) >= MONTH;
    const last = kept.at(-1);
    const isClose = isOld && last !== undefined && text.at - last.at < 3 * DAY_MS;
    if (!isSuperseded && !isClose) kept.push(text);
  }
  return kept;
}
