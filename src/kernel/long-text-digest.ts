/** SHA-256 of texts that are too long to be kept for a comparison. Loaded for lists that have such lines: it costs 6 ms. */
let createHash: typeof import("node:crypto").createHash | undefined;

export async function loadDigest(): Promise<void> {
  ({ createHash } = await import("node:crypto"));
}

/** Undefined while it was not loaded: no line that was read is as long. */
export function digestOf(text: Uint8Array): Uint8Array | undefined {
  return createHash?.("sha256").update(text).digest();
}

/** Lines of this length may need it. Passes make lines longer by a few bytes at the most. */
export const LONG_LINE = 4000;
