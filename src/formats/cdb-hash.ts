/** The hash function of constant databases. */
export function cdbHash(key: Uint8Array, length: number): number {
  let hash = 5381;
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 33) ^ key[at]!) | 0;
  return hash >>> 0;
}
