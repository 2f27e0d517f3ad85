/** An output file: its name for users, and its path. */
export interface OutputFile {
  readonly name: string;
  readonly path: string;
}
