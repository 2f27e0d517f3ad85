import { LF, CR } from "../bytes/ascii.ts";
import { Fate } from "../rules/fate.ts";
import { CoveredNames } from "./covered-names.ts";
import { LINE_COUNT } from "./line-count.ts";
import type { HoldWay } from "./ledger-state.ts";
import type { Change } from "./size-judge.ts";
import { freshSalt } from "./source-gauge.ts";
import type { LineSink } from "./source-list.ts";

/** A text that can be read several times. */
export interface Rereadable {
  readAhead(sink: LineSink): Promise<void>;
}

type Taker = (bytes: Uint8Array, start: number, end: number) => void;

async function eachPart(text: Rereadable, take: Taker): Promise<void> {
  await text.readAhead({
    ...LINE_COUNT,
    read(file, block, stretch) {
      void LINE_COUNT.read(file, block, stretch);
      if (stretch.fate === Fate.Kept) take(block.bytes, stretch.start, stretch.end);
    },
  });
}

async function namesOf(text: Rereadable, seed: number): Promise<CoveredNames> {
  const names = new CoveredNames(seed);
  await eachPart(text, (bytes, start, end) => names.add(bytes, start, end));
  return names;
}

/** The exact change from one text to another: the shares of its names that are no longer covered, or newly covered. */
export async function exactChange(before: Rereadable, now: Rereadable): Promise<Change> {
  const seed = freshSalt();
  const [old, fresh] = [await namesOf(before, seed), await namesOf(now, seed)];
  let [lost, gained] = [0, 0];
  await eachPart(before, (bytes, start, end) => {
    lost += old.countMissing(bytes, { start, end }, fresh);
  });
  await eachPart(now, (bytes, start, end) => {
    gained += fresh.countMissing(bytes, { start, end }, old);
  });
  const size = Math.max(1, old.size);
  return { lost: lost / size, gained: gained / size };
}

/** Whether the text of a held source is made of both texts, line by line. */
export function isMixed(ways: readonly HoldWay[]): boolean {
  return ways.length === 1 && (ways[0] === "grown" || ways[0] === "shrunk");
}

/**
 * Writes the text of a source that is held for one limit: for growth, the published lines that the offer still has; for
 * shrinking, the offer and the published lines that it lacks.
 */
export async function writeHeldText(
  way: HoldWay,
  { published, offer }: { readonly published: Rereadable; readonly offer: Rereadable },
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const known = await namesOf(offer, freshSalt());
  if (way === "shrunk") {
    let last = LF;
    await eachPart(offer, (bytes, start, end) => {
      if (end === start) return;
      write(bytes.subarray(start, end));
      last = bytes[end - 1]!;
    });
    if (last !== LF) write(NEW_LINE);
  }
  await eachPart(published, (bytes, start, end) => {
    let from = start;
    known.explain(bytes, { start, end }, (line, isKnown) => {
      if (isKnown) return;
      const next = nextLine(bytes, line, end);
      if (way === "grown") write(bytes.subarray(from, line));
      else {
        write(bytes.subarray(line, next));
        if (bytes[next - 1] !== LF) write(NEW_LINE);
      }
      from = next;
    });
    if (way === "grown") write(bytes.subarray(from, end));
  });
}

const NEW_LINE = Uint8Array.of(LF);

function nextLine(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
  while (at < end && (bytes[at] === LF || bytes[at] === CR)) at++;
  return at;
}
