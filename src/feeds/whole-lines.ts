import { CR, LF } from "../bytes/ascii.ts";
import { FeedError, LONGEST_ROW } from "./feed-reader.ts";

export type LineTaker = (bytes: Uint8Array, start: number, end: number) => void;

/** Cuts bytes that end anywhere into lines. LF, CRLF and a lone CR end a line. */
export class WholeLines {
  private rest: Uint8Array = new Uint8Array(0);
  private readonly longest: number;
  private count = 0;

  constructor(longest: number = LONGEST_ROW) {
    this.longest = longest;
  }

  take(bytes: Uint8Array, line: LineTaker): void {
    const text = joined(this.rest, bytes);
    let start = 0;
    // A CR at the end may be the first half of CRLF.
    const last = text.at(-1) === CR ? text.length - 1 : text.length;
    for (let at = this.rest.length > 0 ? Math.max(0, this.rest.length - 1) : 0; at < last; at++) {
      const byte = text[at]!;
      if (byte !== LF && byte !== CR) continue;
      line(text, start, at);
      this.count++;
      if (byte === CR && text[at + 1] === LF) at++;
      start = at + 1;
    }
    if (text.length - start > this.longest)
      throw new FeedError(`line ${this.count + 1} is longer than ${this.longest} bytes`);
    this.rest = new Uint8Array(text.subarray(start));
  }

  end(line: LineTaker): void {
    const { rest } = this;
    const end = rest.at(-1) === CR ? rest.length - 1 : rest.length;
    if (rest.length > 0) line(rest, 0, end);
    this.rest = new Uint8Array(0);
  }
}

export function joined(rest: Uint8Array, more: Uint8Array): Uint8Array {
  if (rest.length === 0) return more;
  const all = new Uint8Array(rest.length + more.length);
  all.set(rest);
  all.set(more, rest.length);
  return all;
}
