import { DOT } from "../bytes/ascii.ts";
import { HASH_SEED, hashEnd, hashLabel } from "../bytes/hash.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { ICANN_RULES } from "./public-suffix-list.ts";
import { isIcannSuffix } from "./public-suffix.ts";

/** The longest public suffixes have four labels. */
const MOST_LABELS = 5;
const MASK = 0xffff;

let deep: Uint8Array | undefined;

/**
 * Where the registrable domain of a name begins: one label more than its public suffix, or the last two labels below an unknown
 * top-level domain. -1 if the name has no label more. Names are in lower case, without a final dot. Below most top-level domains, the second dot from
 * the right decides; elsewhere, hashes rule out nearly all candidates. The dozen exceptions of the suffix list count as parts of
 * their parents.
 */
export function registrableStart(bytes: Uint8Array, start: number, end: number): number {
  const deepOnes = deepDomains();
  let dot = end - 1;
  while (dot >= start && bytes[dot] !== DOT) dot--;
  if (dot < start) return -1;
  const top = hashLabel(HASH_SEED, bytes, dot + 1, end);
  let second = dot - 1;
  while (second >= start && bytes[second] !== DOT) second--;
  if (deepOnes[top & MASK] === 0) return second + 1;
  let state = top;
  let parentHash = hashEnd(top);
  let labelEnd = dot;
  let found = second + 1;
  let isOpen = true;
  for (let at = second, labels = 1; labels < MOST_LABELS; labels++) {
    state = hashLabel(state, bytes, at + 1, labelEnd);
    const hash = hashEnd(state);
    if (isOpen) found = at + 1;
    isOpen = isIcannSuffix(bytes, at + 1, labelEnd + 1, end, hash, parentHash);
    parentHash = hash;
    labelEnd = at;
    if (at < start) break;
    at--;
    while (at >= start && bytes[at] !== DOT) at--;
  }
  return isOpen ? -1 : found;
}

/** By the hash of a top-level domain, whether it may have longer public suffixes. */
export function deepDomains(): Uint8Array {
  deep ??= findDeepDomains();
  return deep;
}

function findDeepDomains(): Uint8Array {
  const found = new Uint8Array(MASK + 1);
  for (const rule of ICANN_RULES.split(" ")) {
    const dot = rule.lastIndexOf(".");
    if (dot === -1) continue;
    const label = encodeUtf8(rule.slice(dot + 1));
    found[hashLabel(HASH_SEED, label, 0, label.length) & MASK] = 1;
  }
  return found;
}
