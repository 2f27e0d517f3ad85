import type { OpenFile } from "../host/host.ts";

/** What a server says to tell a later version from this one. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** A file that a source consists of: where it is asked for, and what it is called wherever it is. */
export interface WebPlace {
  readonly url: string;
  /** The address as the configuration or an include names it, before redirects and mirrors. */
  readonly id: string;
}

/** The text of a file from the web, as bytes outside memory. */
export interface WebText {
  /** The address that answered, after redirects, if it is known: what relative includes are resolved against. */
  readonly url: string;
  /** SHA-256 of its id. */
  readonly key: string;
  /** Whether another address answered than its id says. */
  readonly isMoved: boolean;
  /** Whether the answer may have ended too early, within a line. */
  readonly isCut: boolean;
  readonly size: number;
  readonly validators: Validators;
  /** SHA-256 of the bytes, where it is known. */
  readonly sha256?: string | undefined;
  open(): Promise<OpenFile>;
  close(): void;
}

/** A longer one cannot be sent back: servers refuse such requests, and the source would never be fetched again. */
const LONGEST_VALIDATOR = 1024;

/** The validators that can be sent back. */
export function usableValidators({ etag, lastModified }: Validators): Validators {
  return { etag: usable(etag), lastModified: usable(lastModified) };
}

function usable(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= LONGEST_VALIDATOR ? text : undefined;
}

/** Reads bytes from their start, as one of any number of readers; what they are read from stays open. */
export function openAgain(
  size: number,
  read: (position: number, into: Uint8Array) => void | Promise<void>,
): OpenFile {
  let next = 0;
  return {
    size,
    stamp: { text: "", changed: 0 },
    async read(into, position = next) {
      const count = Math.max(0, Math.min(into.length, size - position));
      if (count > 0) await read(position, into.subarray(0, count));
      next = position + count;
      return count;
    },
    close: async () => {},
  };
}
