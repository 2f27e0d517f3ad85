import { decodeUtf8 } from "../bytes/utf8.ts";
import { canaryIn } from "../syntax/canary-name.ts";

/** The end of a list, where its canary is. */
const END_BYTES = 4096;

/** The canary at the end of a list. */
export function canaryOf(bytes: Uint8Array): string | undefined {
  return canaryIn(decodeUtf8(bytes, Math.max(0, bytes.length - END_BYTES), bytes.length));
}

/** Keeps the end of a list while it is written. */
export class ListEnd {
  private bytes: Uint8Array = new Uint8Array(0);

  push(piece: Uint8Array): void {
    const old = this.bytes.subarray(Math.max(0, this.bytes.length + piece.length - END_BYTES));
    const last = piece.subarray(Math.max(0, piece.length - END_BYTES));
    const bytes = new Uint8Array(old.length + last.length);
    bytes.set(old);
    bytes.set(last, old.length);
    this.bytes = bytes;
  }

  get canary(): string | undefined {
    return canaryOf(this.bytes);
  }
}
