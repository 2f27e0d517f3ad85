import { isDigit } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { hostOf } from "../rules/row-text.ts";
import { Suffix, publicSuffixKind } from "./public-suffix.ts";
import { type ValidatorOptions, judgeRule } from "./validate-rule.ts";

/** The fate of a row `||host^`. Creates a string only for unusual hosts. */
export function judgeBlockRow(chunk: Chunk, row: number, options: ValidatorOptions): Fate {
  if (!isPlainName(chunk, row)) return judgeRule(`||${hostOf(chunk, row)}^`, options);
  return judgeSuffix(suffixOf(chunk, row), options);
}

/** The same for a separate name in lower case. */
export function judgeBlockName(
  name: Uint8Array,
  isPlain: boolean,
  options: ValidatorOptions,
): Fate {
  if (!isPlain || isDigit(name[name.length - 1]!))
    return judgeRule(`||${decodeUtf8(name)}^`, options);
  return judgeSuffix(publicSuffixKind(name, 0, name.length), options);
}

/** A host of two or more plain labels that is certainly not an address. It can only be invalid as a public suffix. */
export function isPlainName(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & Flag.PlainHost) === 0) return false;
  return !isDigit(chunk.bytesOf(row)[chunk.hostEnd[row]! - 1]!);
}

export function suffixOf(chunk: Chunk, row: number): Suffix {
  return publicSuffixKind(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
}

export function judgeSuffix(suffix: Suffix, options: ValidatorOptions): Fate {
  return suffix === Suffix.Icann && !options.allowPublicSuffix ? Fate.PublicSuffix : Fate.Kept;
}
