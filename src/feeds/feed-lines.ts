import { HASH, LF, SPACE } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { Fate } from "../rules/fate.ts";

/** The fates of rows without a rule, by the letter that marks them. */
const FATE_OF: ReadonlyMap<number, Fate> = new Map(
  Object.entries({
    n: Fate.NoValue,
    w: Fate.NotChosen,
    p: Fate.UrlPath,
    s: Fate.SharedHost,
    i: Fate.IpAddress,
    h: Fate.BadHost,
    x: Fate.BadSyntax,
  }).map(([letter, fate]) => [letter.charCodeAt(0), fate]),
);
const LETTER_OF: ReadonlyMap<Fate, number> = new Map(
  [...FATE_OF].map(([letter, fate]) => [fate, letter]),
);

/**
 * The lines of a feed: `name`; `name #p` or `#n` for a row that is not a rule, where the letter means its fate; `# text` for a
 * comment; nothing for a blank line.
 */
export class FeedLines extends ByteBuffer {
  blank(): void {
    this.push(LF);
  }

  /** A row that is not a rule. */
  dropped(fate: Fate, name = ""): void {
    for (let at = 0; at < name.length; at++) this.push(name.charCodeAt(at));
    if (name !== "") this.push(SPACE);
    this.push(HASH);
    this.push(LETTER_OF.get(fate)!);
    this.push(LF);
  }

  name(name: string): void {
    for (let at = 0; at < name.length; at++) this.push(name.charCodeAt(at));
    this.push(LF);
  }

  /** Keeps the visible ASCII characters of a comment. */
  comment(bytes: Uint8Array, from: number, end: number): void {
    let start = from;
    while (start < end && bytes[start]! <= SPACE) start++;
    this.reserve(end - start + 4);
    this.push(HASH);
    this.push(SPACE);
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      this.push(byte >= SPACE && byte < 127 ? byte : SPACE);
    }
    this.push(LF);
  }

  clear(): void {
    this.length = 0;
  }
}

/** The fate of a line; `Live` if it has none of its own. */
export function fateOfLine(bytes: Uint8Array, start: number, end: number): Fate {
  if (end - start < 2 || bytes[end - 2] !== HASH) return Fate.Kept;
  if (bytes[start] === HASH && end - start !== 2) return Fate.Kept;
  return FATE_OF.get(bytes[end - 1]!) ?? Fate.Kept;
}
