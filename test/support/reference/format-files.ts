/** The text of an output; `allow` is the second file of formats that keep exceptions apart. */
export interface FormatFiles {
  readonly block: string;
  readonly allow: string;
}

/** Whether software that loads the files refuses to resolve a name, given in lower case. */
export type BlockTest = (name: string) => boolean;

/** Reads the files as the software would, by its documentation. Throws where it would refuse to start. */
export type FormatReader = (files: FormatFiles) => BlockTest;
