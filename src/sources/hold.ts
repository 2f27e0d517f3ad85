import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { commonShare } from "./name-sketch.ts";
import { type SizeFinding, type SizeLimits, outOfBounds } from "./size-bounds.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { HeldOffer, SourceDay, SourceRecord } from "./source-store.ts";
import { dayOf, ofThirtyDays } from "./thirty-days.ts";

/** How much a source may differ from its last good copy. */
export interface SourceBounds {
  readonly size: SizeLimits;
  /** How long the same edition is held, in milliseconds. */
  readonly holdMs: number;
  /** Whether its names may all be others from one day to the next. */
  readonly isVolatile: boolean;
}

/** A source that has, or had, fewer entries may become another one. */
const REPLACED_FROM = 1000;
/** How many of its names a source has to have in common with its last good copy, of a hundred. */
const COMMON = 30;

/** A source that is too different from its last good copy to be taken at once. */
export class HeldError extends CompilerError {
  readonly offer: HeldOffer;

  constructor(diagnostics: readonly Diagnostic[], offer: HeldOffer) {
    super(diagnostics);
    this.offer = offer;
  }
}

/** What is judged: an edition of a source, and what is known of it. */
export interface Edition {
  readonly label: string;
  readonly measure: SourceMeasure;
  readonly bytes: number;
  readonly bounds: SourceBounds;
  /** Deviations that somebody accepts this time, by code. */
  readonly accept: readonly string[];
  /** How old the copy may be. */
  readonly maxStaleMs: number;
}

/**
 * Decides whether an edition takes the place of the last good copy; throws a `HeldError` when it does not. One that stays the
 * same for as long as it is held is taken, and so is one whose copy has become too old. Returns what is to be remembered.
 */
export function takeOrHold(
  edition: Edition,
  record: SourceRecord | undefined,
  now: Date,
): Pick<SourceRecord, "measure" | "days"> {
  const { measure, bounds, maxStaleMs } = edition;
  const found = record === undefined ? [] : deviations(edition, record, now);
  if (record === undefined || found.length === 0)
    return { measure, days: daysWith(record?.days ?? [], measure.entries, now) };
  const open = found.filter(({ code }) => !edition.accept.includes(code));
  const moment = now.getTime();
  const since = sinceWhen(record.offer, edition, moment);
  const isOver = moment - since >= bounds.holdMs || moment - record.goodAt > maxStaleMs;
  if (open.length > 0 && !isOver) throw new HeldError(open, { measure, since });
  return { measure, days: daysWith([], measure.entries, now) };
}

/** Since when the server has sent what is much the same as this. */
function sinceWhen(offer: HeldOffer | undefined, edition: Edition, now: number): number {
  if (offer === undefined || offer.since > now) return now;
  const { measure, bounds } = edition;
  const sizes = { before: offer.measure.entries, now: measure.entries };
  const isSame =
    outOfBounds({ last: sizes, days: [] }, bounds.size) === undefined &&
    (bounds.isVolatile || !isReplaced(offer.measure, measure));
  return isSame ? offer.since : now;
}

function deviations(edition: Edition, record: SourceRecord, now: Date): Diagnostic[] {
  const { label, measure, bounds } = edition;
  const size = sizeFinding(edition, record, now);
  const found = size === undefined ? [] : [sizeProblem(label, size)];
  const before = record.measure;
  if (before !== undefined && !bounds.isVolatile && isReplaced(before, measure)) {
    const share = Math.round(commonShare(before.sketch, measure.sketch) * 100);
    found.push(
      errorOf(
        "source-replaced",
        `${label} shares less than ${COMMON} % of its names with its last good copy`,
        { cause: `about ${share} % are shared` },
      ),
    );
  }
  return found;
}

function isReplaced(before: SourceMeasure, now: SourceMeasure): boolean {
  // Of sets of very different sizes a sketch tells little.
  const least = Math.min(before.entries, now.entries);
  if (before.salt !== now.salt || least < REPLACED_FROM) return false;
  return commonShare(before.sketch, now.sketch) * 100 < COMMON;
}

function sizeFinding(
  { measure, bytes, bounds }: Edition,
  { measure: before, days = [], size }: SourceRecord,
  now: Date,
): SizeFinding | undefined {
  // Earlier versions wrote down nothing but the bytes.
  if (before === undefined)
    return outOfBounds(
      { last: { before: size, now: bytes }, days: [] },
      {
        ...bounds.size,
        growth: Infinity,
      },
    );
  const pairOf = (entries: number): { before: number; now: number } => ({
    before: entries,
    now: measure.entries,
  });
  const young = ofThirtyDays(days, now).map(({ entries }) => pairOf(entries));
  return outOfBounds({ last: pairOf(before.entries), days: young }, bounds.size);
}

function sizeProblem(label: string, finding: SizeFinding): Diagnostic {
  const { way, limit, isLong, before, now } = finding;
  const within = isLong ? " within 30 days" : "";
  const cause = `it has ${numberText(now)} entries; it had ${numberText(before)}`;
  return way === "shrunk"
    ? errorOf("source-shrunk", `${label} lost more than ${limit} % of its entries${within}`, {
        cause,
      })
    : errorOf("source-grown", `${label} grew by more than ${limit} %${within}`, { cause });
}

function daysWith(days: readonly SourceDay[], entries: number, now: Date): SourceDay[] {
  const day = dayOf(now);
  const young = ofThirtyDays(days, now);
  const today = young.find((one) => one.day === day);
  return [
    ...young.filter((one) => one !== today),
    { day, entries: Math.max(entries, today?.entries ?? 0) },
  ];
}
