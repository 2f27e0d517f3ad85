import type { Fate } from "../../rules/fate.ts";

/**
 * Takes the meaning of a line: a rule in adblock syntax, or the line itself and the fate that explains why it is not a rule. It is
 * called once per rule of the line. `isAdblockSyntax` marks rules that the file has in adblock syntax, with its precedence.
 */
export type RowTaker = (text: string, line: number, fate?: Fate, isAdblockSyntax?: boolean) => void;

/** Reads one file of another format from start to end. Rows come in the order of their lines. */
export interface ConfigReader {
  /** Takes complete lines; `line` is the number of the first one. Returns the number of the next line. */
  read(bytes: Uint8Array, line: number, take: RowTaker): number;
  /** Called before lines of an included file, or a skipped part: a held line must not wait for the next one. */
  pause(take: RowTaker): void;
  end(take: RowTaker): void;
}

/** A format of sources. */
export interface ForeignFormat {
  open(): ConfigReader;
  /** The most specific name decides, so that a name below an exception can be blocked again. */
  readonly nests?: true;
  /** Its records may answer with another name or address, by which it blocks if most of them do. */
  readonly hasTargets?: true;
  /** The complete name occurs in its line, so that a text search finds it. */
  readonly hasWholeNames?: true;
}
