import { SOURCE_BOUNDS } from "../../src/engine/compile-options.ts";
import { type GuardContext, guardLimits } from "../../src/build/guards/guard.ts";
import { guardList } from "../../src/build/guards/registry.ts";
import { type LastPublish, publishRecord } from "../../src/build/state/last-publish.ts";
import { NO_FINDINGS } from "../../src/engine/list-findings.ts";
import type { Config } from "./internals.ts";
import { HeldError, takeOrHold } from "../../src/sources/hold.ts";
import { SketchMaker } from "../../src/sources/name-sketch.ts";
import type { SourceMeasure } from "../../src/sources/source-gauge.ts";
import type { SourceRecord } from "../../src/sources/source-store.ts";

/** An edition of a source: its names, as numbers. */
export type Edition = readonly number[];

/** What happened on a day. */
export interface ReplayedDay {
  readonly isHeld: boolean;
  readonly isRefused: boolean;
  /** The names of the source that the published list has. */
  readonly published: Edition;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/**
 * A list that is built once a day, of one source from the web and others that stay as they are. Everything that the guards
 * remember is remembered; the clock is ours.
 */
export class GuardReplay {
  private now = Date.UTC(2026, 0, 1, 3);
  private record: SourceRecord | undefined;
  private copy: Edition = [];
  private last: LastPublish | undefined;
  private published: Edition = [];
  private readonly others: number;
  private readonly config: Config;
  private readonly isVolatile: boolean;

  /** `others` is how many rules the other sources have. */
  constructor(others: number, isVolatile = false) {
    this.others = others;
    this.isVolatile = isVolatile;
    this.config = { name: "N", sources: [{ source: "a" }, { source: "b" }] };
  }

  /** Builds the list with what the source has on the next day. */
  day(edition: Edition): ReplayedDay {
    this.now += DAY_MS;
    const isHeld = this.acquire(edition);
    const limits = guardLimits(this.config);
    const report = this.report(isHeld);
    const context = { report, findings: NO_FINDINGS, limits, last: this.last };
    const isRefused = guardList(context, []).some(({ severity }) => severity === "error");
    if (!isRefused) {
      this.last = publishRecord(this.last, report, limits, new Date(this.now));
      this.published = this.copy;
    }
    return { isHeld, isRefused, published: this.published };
  }

  /** Somebody looks at a refusal and publishes the list once all the same. */
  accept(): void {
    const report = this.report(false);
    this.last = publishRecord(this.last, report, guardLimits(this.config), new Date(this.now));
    this.published = this.copy;
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

  private report(isHeld: boolean): GuardContext["report"] {
    const size = this.copy.length;
    const rules = size + this.others;
    return {
      name: "N",
      sources: [
        sourceOf("a", size, isHeld ? "held" : "fetched"),
        sourceOf("b", this.others, "fetched"),
      ],
      lines: rules,
      kept: rules,
      rules,
      bytes: 0,
      degraded: isHeld,
    };
  }
}

function sourceOf(
  label: string,
  lines: number,
  state: "held" | "fetched",
): GuardContext["report"]["sources"][number] {
  return { label, source: label, state, bytes: 0, lines, kept: lines, dropped: {} };
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
