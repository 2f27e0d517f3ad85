/** SHA-256 for texts that are too long to keep for a comparison. Loaded only for lists with such lines: it costs 6 ms. */
let createHash: typeof import("node:crypto").createHash | undefined;

export async function loadDigest(): Promise<void> {
  ({ createHash } = await import("node:crypto"));
}

/** Requires `loadDigest`: a raw text never equals a digest. */
export function digestOf(text: Uint8Array): Uint8Array {
  if (createHash === undefined) throw new Error("a long line was not noted when it was read");
  return createHash("sha256").update(text).digest();
}

/** Lines of this length may need a digest, as may lines that are not ASCII; other passes add only a few bytes. */
export const LONG_LINE = 4000;
