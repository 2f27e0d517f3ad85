import { CARET, PIPE } from "../bytes/ascii.ts";
import { HashPlaces } from "../bytes/hash-places.ts";

/** A rule, as part of a buffer. */
export interface RuleSlice {
  readonly bytes: Uint8Array;
  start: number;
  end: number;
  /** Whether it is only the name of a rule `||name^`. */
  readonly isName: boolean;
}

/** Numbers for rules: for rules `||name^` by their name, for others by their text. */
export class RulePlaces {
  private readonly byName = new HashPlaces();
  private readonly byText = new HashPlaces();

  /** The number of a rule; -1 if it has none. */
  get({ bytes, start, end, isName }: RuleSlice): number {
    if (isName) return this.byName.get(bytes, start, end);
    const place = this.byText.get(bytes, start, end);
    const isFramed = bytes[start] === PIPE && bytes[start + 1] === PIPE && bytes[end - 1] === CARET;
    return place === -1 && isFramed ? this.byName.get(bytes, start + 2, end - 1) : place;
  }

  /** Replaces the number of a name or of a text by what `next` returns for it; -1 means that it has no number. */
  update({ bytes, start, end, isName }: RuleSlice, next: (place: number) => number): void {
    const places = isName ? this.byName : this.byText;
    const before = places.get(bytes, start, end);
    const after = next(before);
    if (after !== before) places.set(after);
  }
}
