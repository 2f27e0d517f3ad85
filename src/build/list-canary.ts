import { decodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { canaryIn } from "../syntax/canary-name.ts";

/** The end of a list, where its canary is. */
const END_BYTES = 4096;

/** The canary at the end of a list. */
export function canaryOf(bytes: Uint8Array): string | undefined {
  return canaryIn(decodeUtf8(bytes, Math.max(0, bytes.length - END_BYTES), bytes.length));
}

/** The canary of the published list, from its end; undefined if the list has no canary or does not exist. */
export async function publishedCanary(path: string, host: Host): Promise<string | undefined> {
  try {
    const file = await host.openFile(path);
    try {
      const length = Math.min(END_BYTES, file.size);
      return canaryOf(await readFully(file, new Uint8Array(length), file.size - length));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return undefined;
    throw error;
  }
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
