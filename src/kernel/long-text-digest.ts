/** SHA-256 of texts that are too long to be kept for a comparison. Loaded for lists that have such lines: it costs 6 ms. */
let createHash: typeof import("node:crypto").createHash | undefined;

export async function loadDigest(): Promise<void> {
  ({ createHash } = await import("node:crypto"));
}

/** Must have been loaded: raw texts beside digests would never be equal to them. */
export function digestOf(text: Uint8Array): Uint8Array {
  if (createHash === undefined) throw new Error("a long line was not noted when it was read");
  return createHash("sha256").update(text).digest();
}

/** Lines of this length may need it, and lines that are not ASCII; other passes add a few bytes at the most. */
export const LONG_LINE = 4000;
