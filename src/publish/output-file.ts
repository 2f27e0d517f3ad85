/** A file that was written: as it was named, and where it is. */
export interface OutputFile {
  readonly name: string;
  readonly path: string;
}
