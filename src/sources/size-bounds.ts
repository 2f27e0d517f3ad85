const SLACK = 100;
/** Lists below this size grow as they like: whoever begins adds a list a thousand times as large. */
const GROWTH_FROM = 1000;
/** Per cent by which the limits are wider over thirty days than since the last time. */
const LONG_SHRINK = 10;
const LONG_GROWTH = 100;

/** Two sizes that may be compared. */
export interface SizePair {
  readonly before: number;
  readonly now: number;
}

/** Per cent that may be gone, or may have come. */
export interface SizeLimits {
  readonly shrink: number;
  readonly growth: number;
  /** A few more or less are not a sign of anything; without it 100. */
  readonly slack?: number;
}

/** What is wrong with a size, and what it was compared with. */
export interface SizeFinding extends SizePair {
  readonly way: "shrunk" | "grown";
  /** Per cent. */
  readonly limit: number;
  /** Whether it was compared with the last thirty days, and not with the last time. */
  readonly isLong: boolean;
}

/** `last` is the size at the last time, `days` are those of the last thirty days, the oldest first. */
export interface SizeMemory {
  readonly last: SizePair | undefined;
  readonly days: readonly SizePair[];
}

/**
 * Whether a size is out of bounds, first by the last time and then by the last thirty days: a list that loses a little less
 * than the limit every day is soon below what it was at its best. What it had before is not growth when it comes back.
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
