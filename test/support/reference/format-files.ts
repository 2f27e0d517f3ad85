/** The text of an output; `allow` is the second file of formats that keep exceptions apart. */
export interface FormatFiles {
  readonly block: string;
  readonly allow: string;
}

/** Whether software that loads the files refuses to resolve a name, given in lower case. */
export type BlockTest = (name: string) => boolean;

/** Reads the files as the software would, by its documentation. Throws where it would refuse to start. */
export type FormatReader = (files: FormatFiles) => BlockTest;

/**
 * What the software answers for a name by itself: records such as `A 1.2.3.4` in alphabetical order, a response code, `NOERROR` for
 * nothing; "" if it asks other servers.
 */
export type AnswerTest = (name: string) => string;

/** The answer with these records, which have a comma and a blank between them. */
export function answerOf(records: readonly string[]): string {
  return [...new Set(records)].toSorted().join(", ");
}
