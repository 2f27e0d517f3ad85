import type { OpenFile } from "../host/host.ts";

/** HTTP validators of a version. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** A file of a source: the address that is requested, and an id that does not depend on it. */
export interface WebAddress {
  readonly url: string;
  /** The address as the configuration or an include names it, before redirects and mirrors. */
  readonly id: string;
}

/** The text of a file from the web, stored outside memory. */
export interface WebText {
  /** The address that answered, after redirects, if known. Relative includes are resolved against it. */
  readonly url: string;
  /** SHA-256 of its id. */
  readonly key: string;
  /** Whether another address answered than the one in its id. */
  readonly isMoved: boolean;
  /** Whether the response may be truncated within a line. */
  readonly isCut: boolean;
  readonly size: number;
  readonly validators: Validators;
  /** SHA-256 of the bytes, if known. */
  readonly sha256?: string | undefined;
  open(): Promise<OpenFile>;
  close(): void;
}

/** Servers reject requests with longer validators, and the source could never be fetched again. */
const LONGEST_VALIDATOR = 1024;

/** The validators that can be sent back. */
export function usableValidators({ etag, lastModified }: Validators): Validators {
  return { etag: usable(etag), lastModified: usable(lastModified) };
}

function usable(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= LONGEST_VALIDATOR ? text : undefined;
}

/** An independent reader of shared bytes; closing it does not close them. */
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
