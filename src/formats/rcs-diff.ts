/** The difference of two texts in RCS format (`diff -n`): `d3 2` deletes two lines from line 3 on, `a5 1` adds one after line 5. */
export function rcsDiff(old: string, fresh: string): string {
  const before = linesWithEnds(old);
  const after = linesWithEnds(fresh);
  let out = "";
  let from = 0;
  let to = 0;
  const flush = (untilOld: number, untilFresh: number): void => {
    if (untilOld > from) out += `d${from + 1} ${untilOld - from}\n`;
    if (untilFresh > to)
      out += `a${untilOld} ${untilFresh - to}\n${after.slice(to, untilFresh).join("")}`;
  };
  for (const [oldAt, freshAt, length] of commonRuns(before, after)) {
    flush(oldAt, freshAt);
    from = oldAt + length;
    to = freshAt + length;
  }
  flush(before.length, after.length);
  return out;
}

/** Lines with their line feeds; the last may have none. */
function linesWithEnds(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  const whole = lines.map((line) => `${line}\n`);
  return last === "" ? whole : [...whole, last];
}

type CommonRun = readonly [oldAt: number, freshAt: number, length: number];

/** The common runs of lines, in order. Lines that occur once in both texts anchor them; each run is as long as possible. */
function* commonRuns(old: readonly string[], fresh: readonly string[]): Generator<CommonRun> {
  let start = 0;
  const shorter = Math.min(old.length, fresh.length);
  while (start < shorter && old[start] === fresh[start]) start++;
  if (start > 0) yield [0, 0, start];
  let oldEnd = old.length;
  let freshEnd = fresh.length;
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  let oldAt = start;
  let freshAt = start;
  for (const [anchorOld, anchorFresh] of anchors(
    uniqueLines(old, start, oldEnd),
    uniqueLines(fresh, start, freshEnd),
  )) {
    if (anchorOld < oldAt || anchorFresh < freshAt) continue;
    let back = 0;
    while (
      anchorOld - back > oldAt &&
      anchorFresh - back > freshAt &&
      old[anchorOld - back - 1] === fresh[anchorFresh - back - 1]
    )
      back++;
    let on = 1;
    while (
      anchorOld + on < oldEnd &&
      anchorFresh + on < freshEnd &&
      old[anchorOld + on] === fresh[anchorFresh + on]
    )
      on++;
    yield [anchorOld - back, anchorFresh - back, back + on];
    oldAt = anchorOld + on;
    freshAt = anchorFresh + on;
  }
  if (oldEnd < old.length) yield [oldEnd, freshEnd, old.length - oldEnd];
}

/** The longest series of lines that are unique in both texts and have the same order. */
function anchors(
  old: ReadonlyMap<string, number>,
  fresh: ReadonlyMap<string, number>,
): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (const [line, freshAt] of fresh) {
    const oldAt = old.get(line);
    if (oldAt !== undefined && oldAt !== -1 && freshAt !== -1) pairs.push([oldAt, freshAt]);
  }
  return longestRising(pairs.toSorted((a, b) => a[1] - b[1]));
}

/** The index of each line; -1 for a line that occurs twice. */
function uniqueLines(lines: readonly string[], start: number, end: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = start; at < end; at++) found.set(lines[at]!, found.has(lines[at]!) ? -1 : at);
  return found;
}

/** The longest subsequence of the pairs in which the first numbers increase, by patience sorting. */
function longestRising(
  pairs: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, [value]] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]!]![0] < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1]!;
    tails[low] = index;
  }
  const found: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at !== -1; at = before[at]!) found.push(pairs[at]!);
  return found.toReversed();
}
