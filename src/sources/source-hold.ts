import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { commonShare } from "./name-sketch.ts";
import { type SizeFinding, type SizeLimits, outOfBounds } from "./size-bounds.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { HeldOffer, SourceDay, SourceRecord } from "./source-store.ts";
import { dayOf, ofThirtyDays } from "./thirty-days.ts";

/** How much a source may differ from its last good copy. */
export interface SourceBounds {
  readonly size: SizeLimits;
  /** How long the same version is held, in milliseconds. */
  readonly holdMs: number;
  /** Whether all its names may change from one day to the next. */
  readonly isVolatile: boolean;
}

/** Sources with fewer entries, now or before, may change completely. */
const REPLACED_FROM = 1000;
/** The percentage of names that a source must share with its last good copy. */
const COMMON = 30;

/** A source differs too much from its last good copy to be accepted at once. */
export class HeldError extends CompilerError {
  readonly offer: HeldOffer;

  constructor(diagnostics: readonly Diagnostic[], offer: HeldOffer) {
    super(diagnostics);
    this.offer = offer;
  }
}

/** A new version of a source, with the limits that it must keep to. */
export interface SourceVersion {
  readonly label: string;
  readonly measure: SourceMeasure;
  readonly bytes: number;
  readonly bounds: SourceBounds;
  /** Codes of the deviations that the user accepts for this run. */
  readonly accept: readonly string[];
  /** The maximum age of the copy. */
  readonly maxStaleMs: number;
}

/**
 * Decides whether a version replaces the last good copy; throws a `HeldError` if it does not. A version that stays the same
 * for the whole holding time is accepted, and so is one whose copy has become too old. Returns what to store.
 */
export function takeOrHold(
  version: SourceVersion,
  record: SourceRecord | undefined,
  now: Date,
): Pick<SourceRecord, "measure" | "days"> {
  const { measure, bounds, maxStaleMs } = version;
  const found = record === undefined ? [] : deviations(version, record, now);
  if (record === undefined || found.length === 0)
    return { measure, days: daysWith(record?.days ?? [], measure.entries, now) };
  const open = found.filter(({ code }) => !version.accept.includes(code));
  const moment = now.getTime();
  const since = sinceWhen(record.offer, version, moment);
  const isOver = moment - since >= bounds.holdMs || moment - record.goodAt > maxStaleMs;
  if (open.length > 0 && !isOver) throw new HeldError(open, { measure, since });
  return { measure, days: daysWith([], measure.entries, now) };
}

/** The moment since which the server has sent about the same version. */
function sinceWhen(offer: HeldOffer | undefined, version: SourceVersion, now: number): number {
  if (offer === undefined || offer.since > now) return now;
  const { measure, bounds } = version;
  const sizes = { before: offer.measure.entries, now: measure.entries };
  const isSame =
    outOfBounds({ last: sizes, days: [] }, bounds.size) === undefined &&
    (bounds.isVolatile || !isReplaced(offer.measure, measure));
  return isSame ? offer.since : now;
}

function deviations(version: SourceVersion, record: SourceRecord, now: Date): Diagnostic[] {
  const { label, measure, bounds } = version;
  const size = sizeFinding(version, record, now);
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
  // Sketches of sets of very different sizes are not comparable.
  const least = Math.min(before.entries, now.entries);
  if (before.salt !== now.salt || least < REPLACED_FROM) return false;
  return commonShare(before.sketch, now.sketch) * 100 < COMMON;
}

function sizeFinding(
  { measure, bytes, bounds }: SourceVersion,
  { measure: before, days = [], size }: SourceRecord,
  now: Date,
): SizeFinding | undefined {
  // Earlier versions of the program stored only the bytes.
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
  const cause = `it has ${countText(now, "entry", "entries")}; it had ${numberText(before)}`;
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
