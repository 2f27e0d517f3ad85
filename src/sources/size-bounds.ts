const SLACK = 100;
/** Smaller lists may grow without limit: a new user may add a list that is a thousand times as large. */
const GROWTH_FROM = 1000;
/** Percentage points that the limits over thirty days are wider than those since the last build. */
const LONG_SHRINK = 10;
const LONG_GROWTH = 100;

/** Two sizes that may be compared. */
export interface SizePair {
  readonly before: number;
  readonly now: number;
}

/** Percentages that a size may shrink or grow. */
export interface SizeLimits {
  readonly shrink: number;
  readonly growth: number;
  /** Differences up to this number are ignored; 100 by default. */
  readonly slack?: number;
}

/** A size that is out of bounds, and the size that it was compared with. */
export interface SizeFinding extends SizePair {
  readonly way: "shrunk" | "grown";
  /** In percent. */
  readonly limit: number;
  /** Whether it was compared with the last thirty days instead of the last build. */
  readonly isLong: boolean;
}

/** `last` compares with the last build, `days` with each of the last thirty days, oldest first. */
export interface SizeMemory {
  readonly last: SizePair | undefined;
  readonly days: readonly SizePair[];
}

/**
 * Checks a size against the last build, then against the last thirty days: a list that loses a little less than the
 * limit every day must be noticed too. Entries that come back do not count as growth.
 */
export function outOfBounds(
  { last, days }: SizeMemory,
  limits: SizeLimits,
): SizeFinding | undefined {
  const { slack = SLACK } = limits;
  if (last !== undefined) {
    if (isShrunk(last, limits.shrink, slack))
      return { ...last, way: "shrunk", limit: limits.shrink, isLong: false };
    const isBack = days.some(({ before, now }) => now <= before * (1 + limits.growth / 100));
    if (isGrown(last, limits.growth, slack) && !isBack)
      return { ...last, way: "grown", limit: limits.growth, isLong: false };
  }
  const shrink = Math.min(100, limits.shrink + LONG_SHRINK);
  const [best] = days
    .filter((day) => isShrunk(day, shrink, slack))
    .toSorted((a, b) => b.before - a.before);
  if (best !== undefined) return { ...best, way: "shrunk", limit: shrink, isLong: true };
  const growth = limits.growth + LONG_GROWTH;
  const [oldest] = days;
  if (oldest !== undefined && isGrown(oldest, growth, slack))
    return { ...oldest, way: "grown", limit: growth, isLong: true };
  return undefined;
}

function isShrunk({ before, now }: SizePair, limit: number, slack: number): boolean {
  return now < before * (1 - limit / 100) && before - now > slack;
}

function isGrown({ before, now }: SizePair, limit: number, slack: number): boolean {
  return before >= GROWTH_FROM && now > before * (1 + limit / 100) && now - before > slack;
}
