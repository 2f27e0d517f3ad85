import { SOURCE_BOUNDS } from "../../src/engine/compile-options.ts";
import { HeldError, takeOrHold } from "../../src/sources/source-hold.ts";
import { SketchMaker } from "../../src/sources/name-sketch.ts";
import type { SourceMeasure } from "../../src/sources/source-gauge.ts";
import type { SourceRecord } from "../../src/sources/source-store.ts";

/** An edition of a source: its names, as numbers. */
export type Edition = readonly number[];

/** What happened on a day. */
export interface ReplayedDay {
  readonly isHeld: boolean;
  /** The names of the source that the published list has. */
  readonly published: Edition;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/**
 * A list that is built once a day of one source from the web. Everything about it that is remembered is remembered; the clock is
 * ours.
 */
export class GuardReplay {
  private now = Date.UTC(2026, 0, 1, 3);
  private record: SourceRecord | undefined;
  private copy: Edition = [];
  private readonly isVolatile: boolean;

  constructor(isVolatile = false) {
    this.isVolatile = isVolatile;
  }

  /** Builds the list with what the source has on the next day. */
  day(edition: Edition): ReplayedDay {
    this.now += DAY_MS;
    const isHeld = this.acquire(edition);
    return { isHeld, published: this.copy };
  }

  private acquire(edition: Edition): boolean {
    const measure = measureOf(edition);
    const bounds = { ...SOURCE_BOUNDS, isVolatile: this.isVolatile };
    const asked = { label: "a", measure, bytes: 0, bounds, accept: [], maxStaleMs: WEEK_MS };
    try {
      const known = takeOrHold(asked, this.record, new Date(this.now));
      this.copy = edition;
      this.record = { version: 2, source: "a", files: [], size: 0, goodAt: this.now, ...known };
      return false;
    } catch (error) {
      if (!(error instanceof HeldError)) throw error;
      this.record = { ...this.record!, offer: error.offer };
      return true;
    }
  }
}

function measureOf(names: Edition): SourceMeasure {
  const sketch = new SketchMaker();
  for (const name of names) {
    let hash = Math.imul(name ^ (name >>> 16), 0x7feb352d);
    hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
    sketch.add((hash ^ (hash >>> 16)) >>> 0);
  }
  return { entries: names.length, salt: 1, sketch: sketch.sketch, watched: [] };
}
