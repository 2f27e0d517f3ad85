import type { OpenFile, Scratch } from "../host/host.ts";

/** What a server says to tell a later version from this one. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** The text of a file from the web, as bytes outside memory. */
export interface WebText {
  /** The address that answered, after redirects: what relative includes are resolved against. */
  readonly url: string;
  readonly size: number;
  readonly validators: Validators;
  /** SHA-256 of the bytes, where it is known. */
  readonly sha256?: string | undefined;
  open(): Promise<OpenFile>;
  close(): void;
}

/** Reads a scratch file from its start; it stays open. */
export function openScratchFile(scratch: Scratch, size: number): OpenFile {
  let position = 0;
  return {
    size,
    stamp: { text: "", changed: 0 },
    async read(into) {
      const count = Math.min(into.length, size - position);
      if (count > 0) scratch.read(position, into.subarray(0, count));
      position += count;
      return count;
    },
    close: async () => {},
  };
}
